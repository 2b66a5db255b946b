//! Renders translations as Rust files: one per C file, the dispatcher, and the vocabulary trait.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::contracts::{Convention, ParamKind, Returns};
use super::driver::{Translated, Translation};
use super::world::module;

/// A Rust file: path below `generated/` and text without a header.
pub type Rendered = (String, String);

fn unparse(tokens: TokenStream) -> Result<String, String> {
    let file = syn::parse2::<syn::File>(tokens).map_err(|error| format!("generated code does not parse: {error}"))?;
    Ok(prettyplease::unparse(&file))
}

/// The files of a release: a module per C file and `dispatch.rs`.
pub fn release_files(translation: &Translation, folder: &str) -> Result<Vec<Rendered>, String> {
    let mut out = Vec::new();
    for (file, functions) in &translation.translated {
        let items = functions.iter().map(|one| function(translation, one));
        let doc = format!(" {file}, its functions in C's order.");
        let tokens = quote! {
            #![doc = #doc]
            #![allow(non_snake_case, unused_comparisons, clippy::all)]
            #[allow(unused_imports)]
            use crate::capi::{Argument, CApi, FunctionId, Global, Parsed, Slot, Suite, offsetof};
            #(#items)*
        };
        out.push((format!("{folder}{}.rs", module(file)), unparse(tokens)?));
    }
    out.push((format!("{folder}dispatch.rs"), unparse(dispatch(translation))?));
    Ok(out)
}

fn function(translation: &Translation, one: &Translated) -> TokenStream {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let id = format_ident!("{id}");
    let name = format_ident!("{}", one.function.name);
    let doc = format!(" CPython: {}, `{}`.", one.function.file, one.function.name);
    let returns = returned(&one.convention.returns);
    let body = tidy(&one.body);
    let names: Vec<String> = one
        .params
        .iter()
        .map(|name| if mentions(&body, name) { name.clone() } else { format!("_{}", name.trim_start_matches('_')) })
        .collect();
    let params = params(&one.convention.params, &names);
    quote! {
        #[doc = #doc]
        pub fn #name<C: CApi>(c: &mut C, #(#params),*) -> Result<#returns, C::Error> { c.enter(FunctionId::#id); #body }
    }
}

/// Whether tokens contain a name.
fn mentions(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        proc_macro2::TokenTree::Ident(ident) => ident == name,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), name),
        _ => false,
    })
}

/// A body without parentheses that Rust does not need.
fn tidy(body: &TokenStream) -> TokenStream {
    let Ok(mut block) = syn::parse2::<syn::Block>(quote!({ #body })) else { return body.clone() };
    syn::visit_mut::VisitMut::visit_block_mut(&mut Parentheses, &mut block);
    let stmts = &block.stmts;
    quote!(#(#stmts)*)
}

struct Parentheses;

impl Parentheses {
    fn open(expr: &mut syn::Expr) {
        while let syn::Expr::Paren(paren) = expr {
            *expr = (*paren.expr).clone();
        }
    }
}

impl syn::visit_mut::VisitMut for Parentheses {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        syn::visit_mut::visit_local_mut(self, local);
        if let Some(init) = &mut local.init {
            Self::open(&mut init.expr);
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        match expr {
            syn::Expr::Call(call) => call.args.iter_mut().for_each(Self::open),
            syn::Expr::MethodCall(call) => call.args.iter_mut().for_each(Self::open),
            syn::Expr::Index(index) => Self::open(&mut index.index),
            syn::Expr::Assign(assign) => Self::open(&mut assign.right),
            syn::Expr::Match(one) => Self::open(&mut one.expr),
            syn::Expr::Return(syn::ExprReturn { expr: Some(expr), .. })
            | syn::Expr::Break(syn::ExprBreak { expr: Some(expr), .. }) => Self::open(expr),
            syn::Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(Self::open),
            syn::Expr::If(one) if !matches!(&*one.cond, syn::Expr::Let(_)) => Self::open(&mut one.cond),
            _ => {}
        }
    }
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        syn::visit_mut::visit_block_mut(self, block);
        if let Some(syn::Stmt::Expr(expr, None)) = block.stmts.last_mut() {
            Self::open(expr);
        }
    }
}

/// Parameters that do not vanish, with types.
fn params(kinds: &[ParamKind], names: &[String]) -> Vec<TokenStream> {
    let mut names = names.iter();
    kinds
        .iter()
        .filter(|kind| **kind != ParamKind::Nothing)
        .map(|kind| {
            let name = format_ident!("{}", names.next().map_or("_", String::as_str));
            let ty = param_type(kind, &quote!(C));
            quote!(#name: #ty)
        })
        .collect()
}

fn param_type(kind: &ParamKind, c: &TokenStream) -> TokenStream {
    match kind {
        ParamKind::Object(false) => quote!(&#c::Object),
        ParamKind::Object(true) => quote!(Option<&#c::Object>),
        ParamKind::Int(int) => {
            let int = format_ident!("{int}");
            quote!(#int)
        }
        ParamKind::Double => quote!(f64),
        ParamKind::Str(false) => quote!(&str),
        ParamKind::Str(true) => quote!(Option<&str>),
        ParamKind::Slice => quote!(&[#c::Object]),
        ParamKind::OutObject => quote!(&mut Option<#c::Object>),
        ParamKind::OutInt(int) => {
            let int = format_ident!("{int}");
            quote!(&mut #int)
        }
        ParamKind::Function(_, false) => quote!(&#c::Function),
        ParamKind::Function(_, true) => quote!(Option<&#c::Function>),
        ParamKind::Arguments => quote!(&[Argument<#c::Object>]),
        ParamKind::Parsed => quote!(&mut [Parsed<'_, #c::Object>]),
        ParamKind::Strings => quote!(&[&str]),
        ParamKind::Nothing | ParamKind::Unsupported(_) => quote!(()),
    }
}

fn returned(returns: &Returns) -> TokenStream {
    returned_by(returns, &quote!(C))
}

fn returned_by(returns: &Returns, c: &TokenStream) -> TokenStream {
    match returns {
        Returns::Unit | Returns::Unsupported(_) => quote!(()),
        Returns::Object => quote!(#c::Object),
        Returns::Optional => quote!(Option<#c::Object>),
        Returns::Int(int, _) => {
            let int = format_ident!("{int}");
            quote!(#int)
        }
        Returns::Bool => quote!(bool),
        Returns::Objects => quote!(Vec<#c::Object>),
        Returns::Double => quote!(f64),
        Returns::Str => quote!(String),
        Returns::Function(_) => quote!(Option<#c::Function>),
        Returns::Error => quote!(#c::Error),
    }
}

/// The slot typedefs with their conventions.
fn typedefs(translation: &Translation) -> BTreeMap<String, Convention> {
    let world = &translation.world;
    let names: BTreeSet<String> = world.slots().into_iter().map(|(_, slot, _)| slot.function).collect();
    names
        .into_iter()
        .filter_map(|name| world.slot_convention(&name).map(|convention| (name, convention)))
        .filter(|(_, convention)| {
            !matches!(convention.returns, Returns::Unsupported(_)) && convention.params.iter().all(usable)
        })
        .collect()
}

fn usable(kind: &ParamKind) -> bool {
    !matches!(kind, ParamKind::Unsupported(_) | ParamKind::Arguments | ParamKind::Parsed | ParamKind::Strings)
}

/// `dispatch.rs`: from the identity of a C function to its translation, per slot signature.
fn dispatch(translation: &Translation) -> TokenStream {
    let mut items = Vec::new();
    for (typedef, convention) in typedefs(translation) {
        let signature = translation.world.declarations.functions.get(&typedef);
        let Some(signature) = signature else { continue };
        let names: Vec<_> = (0..convention.params.len()).map(|index| format!("a{index}")).collect();
        let mut arms = Vec::new();
        for one in translation.translated.values().flatten() {
            let head = &one.function.signature;
            let same = head.returns == signature.returns
                && head.params.len() == signature.params.len()
                && !head.variadic
                && head.params.iter().zip(&signature.params).all(|(a, b)| a.ctype == b.ctype);
            if !same {
                continue;
            }
            if let Some(arm) = arm(translation, one, &convention, &names) {
                arms.push(arm);
            }
        }
        let function = format_ident!("{typedef}");
        let params = params(&convention.params, &names);
        let returns = returned(&convention.returns);
        let doc = format!(" Runs the translation of `id` as a `{typedef}`; `None` if there is none.");
        items.push(quote! {
            #[doc = #doc]
            #[allow(unused_variables)]
            pub fn #function<C: CApi>(c: &mut C, id: FunctionId, #(#params),*) -> Option<Result<#returns, C::Error>> {
                match id { #(#arms)* _ => None }
            }
        });
    }
    quote! {
        //! From the identity of a C function to its translation.
        #![allow(clippy::all)]
        use crate::capi::{CApi, FunctionId};
        #(#items)*
    }
}

fn arm(translation: &Translation, one: &Translated, convention: &Convention, names: &[String]) -> Option<TokenStream> {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let (id, path, name) = (
        format_ident!("{id}"),
        format_ident!("{}", module(&one.function.file)),
        format_ident!("{}", one.function.name),
    );
    let mut args = Vec::new();
    for ((wanted, given), arg) in one.convention.params.iter().zip(&convention.params).zip(names) {
        let arg = format_ident!("{arg}");
        args.push(match (wanted, given) {
            (a, b) if a == b => quote!(#arg),
            (ParamKind::Object(true), ParamKind::Object(false)) => quote!(Some(#arg)),
            (ParamKind::Object(false), ParamKind::Object(true)) => quote!(#arg?),
            _ => return None,
        });
    }
    let call = quote!(super::#path::#name(c, #(#args),*));
    let result = match (&one.convention.returns, &convention.returns) {
        (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => call,
        (Returns::Error, _) => quote!(match #call { Ok(error) | Err(error) => Err(error) }),
        (Returns::Object, Returns::Optional) => quote!(#call.map(Some)),
        (Returns::Optional, Returns::Object) => {
            quote!(match #call { Ok(Some(object)) => Ok(object), Ok(None) => Err(c.unsupported("NULL without an exception")), Err(error) => Err(error) })
        }
        _ => return None,
    };
    Some(quote!(FunctionId::#id => Some(#result),))
}

/// `capi.rs`: the trait and its value types, the union of what the given translations need.
pub fn capi(translations: &[&Translation]) -> Result<String, String> {
    let mut methods: BTreeMap<String, Convention> = BTreeMap::new();
    let mut globals: BTreeSet<String> = BTreeSet::new();
    let mut ids: BTreeMap<String, (String, String)> = BTreeMap::new();
    for translation in translations {
        for (name, convention) in typedefs(translation) {
            let mut convention = convention;
            convention.params.insert(0, ParamKind::Function(name.clone(), false));
            methods.insert(format!("call_{name}"), convention);
        }
        methods.extend(
            translation.world.vocabulary.borrow().iter().map(|(name, convention)| (name.clone(), convention.clone())),
        );
        globals.extend(translation.world.globals.borrow().iter().cloned());
        ids.extend(translation.world.ids.borrow().iter().map(|(id, key)| (id.clone(), key.clone())));
    }
    for own in ["Py_Is", "PyErr_ExceptionMatches", "_Py_ID", "_Py_STR"] {
        methods.remove(own);
    }
    let methods = methods
        .iter()
        .filter(|(_, convention)| convention.params.iter().all(|kind| !matches!(kind, ParamKind::Unsupported(_))))
        .map(|(name, convention)| method(name, convention, &names_of(translations, name, convention.params.len())));
    let methods: Vec<_> = methods.collect();
    let global_names: Vec<_> = globals.iter().map(|name| format_ident!("{name}")).collect();
    let global_texts: Vec<_> = globals.iter().collect();
    let id_names: Vec<_> = ids.keys().map(|name| format_ident!("{name}")).collect();
    let id_files: Vec<_> = ids.values().map(|key| key.0.clone()).collect();
    let id_functions: Vec<_> = ids.values().map(|key| key.1.clone()).collect();
    let id_docs: Vec<_> = ids.values().map(|key| format!(" `{}` of `{}`.", key.1, key.0)).collect();
    let global_docs: Vec<_> = globals.iter().map(|name| format!(" `{name}`.")).collect();
    unparse(quote! {
        //! The vocabulary of translated functions: one method per C function or macro that they use.
        #![allow(non_snake_case, non_camel_case_types, unused_variables, clippy::all)]

        /// An argument of a format string.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Argument<O> {
            /// A C string.
            Str(String),
            /// An object (`%R`, `%S`, `%U`, `%A`, `%V`, `%p`).
            Object(O),
            /// An integer.
            Int(i64),
        }

        /// What a parser of arguments is given for a unit of its format.
        #[derive(Debug)]
        pub enum Parsed<'a, O> {
            /// An object to set.
            Object(&'a mut Option<O>),
            /// An `int` to set.
            Int(&'a mut i32),
            /// A `Py_ssize_t` to set.
            Size(&'a mut isize),
            /// A `double` to set.
            Double(&'a mut f64),
            /// A value that the format asks for, such as the type of `O!`.
            Given(Argument<O>),
        }

        /// A global object of C.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Global { #(#[doc = #global_docs] #global_names,)* }

        impl Global {
            /// All of them.
            pub const ALL: &'static [Global] = &[#(Global::#global_names),*];
            /// The C name.
            pub const fn name(self) -> &'static str { match self { #(Global::#global_names => #global_texts,)* } }
        }

        /// A C function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum FunctionId { #(#[doc = #id_docs] #id_names,)* }

        impl FunctionId {
            /// All of them.
            pub const ALL: &'static [FunctionId] = &[#(FunctionId::#id_names),*];
            /// The C name.
            pub const fn name(self) -> &'static str { match self { #(FunctionId::#id_names => #id_functions,)* } }
            /// The C file that defines it; empty if that is not among the files translated.
            pub const fn file(self) -> &'static str { match self { #(FunctionId::#id_names => #id_files,)* } }
        }

        pub use crate::slots::{Slot, Suite};

        /// The offset of a slot within its suite, as C's `offsetof` gives it.
        pub const fn offsetof(slot: Slot) -> i32 { slot.offset() as i32 }

        /// A world in which translated functions run.
        pub trait CApi: Sized {
            /// A non-null pointer: a `PyObject *` (types are objects too), or one to another struct of C that the world handed out.
            type Object: Clone + std::fmt::Debug;
            /// A C function pointer found in a slot.
            type Function: Clone + PartialEq + std::fmt::Debug;
            /// A Python exception, or the world's own reason to stop.
            type Error;

            /// The reason to stop at a C function that this world does not know.
            fn unsupported(&mut self, name: &'static str) -> Self::Error;
            /// Whether an error is a Python exception; all else passes through every handler.
            fn is_exception(&self, error: &Self::Error) -> bool;

            /// Told when a translated function begins; for worlds that keep a record of the way through C.
            fn enter(&mut self, _function: FunctionId) {}

            /// A global object.
            fn global(&mut self, name: Global) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name.name())) }
            /// Whether an object is a certain global.
            fn is(&mut self, object: &Self::Object, name: Global) -> Result<bool, Self::Error> {
                let global = self.global(name)?;
                self.Py_Is(object, &global)
            }
            /// A struct of C by name, zero everywhere.
            fn new_struct(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name)) }
            /// An element of an array.
            fn item(&mut self, array: &[Self::Object], index: usize) -> Result<Self::Object, Self::Error> {
                match array.get(index) { Some(object) => Ok(object.clone()), None => Err(self.unsupported("element outside of an array")) }
            }
            /// Whether two pointers are one.
            fn Py_Is(&mut self, x: &Self::Object, y: &Self::Object) -> Result<bool, Self::Error> { Err(self.unsupported("Py_Is")) }
            /// An interned string.
            fn _Py_ID(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported("_Py_ID")) }
            /// An interned string that is no identifier.
            fn _Py_STR(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported("_Py_STR")) }
            /// The address of a variable of C that is a struct, or an array of structs.
            fn variable(&mut self, name: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported(name)) }
            /// A pointer some structs further in an array.
            fn step(&mut self, pointer: &Self::Object, by: isize, structure: &'static str) -> Result<Self::Object, Self::Error> { Err(self.unsupported(structure)) }
            /// What a `PyObject **` points to.
            fn read(&mut self, pointer: &Self::Object) -> Result<Option<Self::Object>, Self::Error> { Err(self.unsupported("PyObject **")) }
            /// Sets what a `PyObject **` points to.
            fn write(&mut self, pointer: &Self::Object, value: Option<&Self::Object>) -> Result<(), Self::Error> { Err(self.unsupported("PyObject **")) }
            /// What a slot of a type holds; `None` also if the suite is not there.
            fn slot(&mut self, tp: &Self::Object, slot: Slot) -> Result<Option<Self::Function>, Self::Error> { Err(self.unsupported(slot.name())) }
            /// What the slot at an offset of a suite holds.
            fn slot_at(&mut self, tp: &Self::Object, suite: Suite, offset: i32) -> Result<Option<Self::Function>, Self::Error> {
                match usize::try_from(offset).ok().and_then(|offset| Slot::from_suite_offset(suite, offset)) { Some(slot) => self.slot(tp, slot), None => Err(self.unsupported("slot_at")) }
            }
            /// Whether a type has a suite.
            fn has_suite(&mut self, tp: &Self::Object, suite: Suite) -> Result<bool, Self::Error> { Err(self.unsupported("has_suite")) }
            /// Fills or empties a slot of a type.
            fn set_slot(&mut self, tp: &Self::Object, slot: Slot, function: Option<&Self::Function>) -> Result<(), Self::Error> { Err(self.unsupported("set_slot")) }
            /// The pointer to a C function.
            fn function(&mut self, id: FunctionId) -> Result<Self::Function, Self::Error> { Err(self.unsupported(id.name())) }
            /// Whether a slot holds a certain C function.
            fn is_function(&mut self, function: Option<&Self::Function>, id: FunctionId) -> Result<bool, Self::Error> {
                match function { Some(function) => { let other = self.function(id)?; Ok(*function == other) } None => Ok(false) }
            }
            /// Whether a pending exception matches.
            fn PyErr_ExceptionMatches(&mut self, error: &Self::Error, exc: &Self::Object) -> Result<bool, Self::Error> { Err(self.unsupported("PyErr_ExceptionMatches")) }

            #(#methods)*
        }
    })
}

/// The names that the headers give to the parameters of a method.
fn names_of(translations: &[&Translation], name: &str, count: usize) -> Vec<String> {
    let known = translations.iter().find_map(|translation| {
        let declarations = &translation.world.declarations;
        let plain = |names: Vec<String>| (!names.iter().any(String::is_empty)).then_some(names);
        if let Some(function) = name.strip_prefix("call_").and_then(|name| declarations.functions.get(name)) {
            let own = function.params.iter().map(|param| param.name.clone()).collect();
            return plain(own).map(|own| ["function".to_owned()].into_iter().chain(own).collect());
        }
        match (declarations.prototypes.get(name), translation.world.function_macros.get(name)) {
            (Some(head), _) => plain(head.params.iter().map(|param| param.name.clone()).collect()),
            (None, Some((params, _))) => Some(params.clone()),
            _ => None,
        }
    });
    let setter = name.starts_with("set_");
    let mut names = known.unwrap_or_else(|| match (count, setter, name.starts_with("call_")) {
        (2, true, _) => vec!["object".to_owned(), "value".to_owned()],
        (3, true, _) => vec!["object".to_owned(), "index".to_owned(), "value".to_owned()],
        (1, ..) => vec!["object".to_owned()],
        (2, false, false) if name.ends_with("_at") => vec!["object".to_owned(), "index".to_owned()],
        (count, _, true) => {
            let letters = ["function", "v", "w", "x", "y", "z"];
            letters.iter().take(count).map(|name| (*name).to_owned()).collect()
        }
        _ => Vec::new(),
    });
    for index in names.len()..count {
        names.push(if index + 1 == count && index > 0 { "args".to_owned() } else { format!("a{index}") });
    }
    let mut seen = BTreeSet::new();
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            let name = super::print::safe(name.split('.').next().unwrap_or_default());
            if seen.insert(name.clone()) { name } else { format!("{name}{index}") }
        })
        .collect()
}

fn method(name: &str, convention: &Convention, names: &[String]) -> TokenStream {
    let function = format_ident!("{name}");
    let doc = format!(" `{name}`.");
    let named = convention.params.iter().zip(names).filter(|(kind, _)| **kind != ParamKind::Nothing);
    let params = named.map(|(kind, name)| {
        let name = format_ident!("{name}");
        let ty = param_type(kind, &quote!(Self));
        quote!(#name: #ty)
    });
    let params: Vec<_> = params.collect();
    let returns = returned_by(&convention.returns, &quote!(Self));
    if convention.returns == Returns::Error {
        return quote! {
            #[doc = #doc]
            fn #function(&mut self, #(#params),*) -> Self::Error { self.unsupported(#name) }
        };
    }
    quote! {
        #[doc = #doc]
        fn #function(&mut self, #(#params),*) -> Result<#returns, Self::Error> { Err(self.unsupported(#name)) }
    }
}

/// The files of a release for the writer, and what was left out as warnings.
pub fn files(
    tree: &crate::source::Tree,
    configuration: &crate::preprocess::Configuration,
    header: &crate::emit::Header,
    folder: &str,
) -> Result<Output, String> {
    let pre = crate::preprocess::Preprocessor::new(tree, configuration).map_err(|error| error.to_string())?;
    let mut diagnostics = crate::diagnostics::Diagnostics::default();
    let translation = super::translate(tree, &pre, super::UNITS, &mut diagnostics)?;
    let mut files: Vec<crate::emit::File> = Vec::new();
    let mut all = release_files(&translation, folder)?;
    all.push(("src/capi.rs".to_owned(), capi(&[&translation])?));
    for (path, text) in all {
        files.push(crate::emit::File { path, text: format!("{header}\n\n{text}") });
    }
    Ok(Output { files, diagnostics, left: translation.left })
}

/// What a translation gives to the driver.
pub struct Output {
    /// Files below `generated/`.
    pub files: Vec<crate::emit::File>,
    /// Findings about the sources.
    pub diagnostics: crate::diagnostics::Diagnostics,
    /// Functions left out.
    pub left: Vec<super::Left>,
}
