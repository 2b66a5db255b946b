//! Renders translations as Rust files: one per C file, and the dispatcher.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::unparse::unparse;
use crate::translate::driver::{Left, Translated, Translation, translate};
use crate::translate::units::UNITS;
use crate::translate::world::{Convention, Elsewhere, Method, ParamKind, Returns, Vocabulary, module};

/// A Rust file: path below `generated/` and text without a header.
pub type Rendered = (String, String);

/// The files of a release: a module per C file and `dispatch.rs`.
pub fn release_files(translation: &Translation, folder: &str) -> Result<(Vec<Rendered>, Vocabulary), String> {
    let mut out = Vec::new();
    let dispatch = unparse(dispatch(translation))?;
    for one in translation.translated.values().flatten() {
        translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    }
    let vocabulary = vocabulary(translation);
    for (file, functions) in &translation.translated {
        let items = functions.iter().map(|one| function(translation, one, &vocabulary));
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
    out.push((format!("{folder}dispatch.rs"), dispatch));
    out.push((format!("{folder}calls.rs"), unparse(super::calls::calls(translation))?));
    out.push((format!("{folder}members.rs"), unparse(super::members::members(translation))?));
    Ok((out, vocabulary))
}

fn function(translation: &Translation, one: &Translated, vocabulary: &Vocabulary) -> TokenStream {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let id = format_ident!("{id}");
    let name = format_ident!("{}", one.function.name);
    let doc = format!(" CPython: {}, `{}`.", one.function.file, one.function.name);
    let returns = returned(&one.convention.returns);
    let body = renamed(tidy(&one.body), translation, vocabulary);
    let text = body.to_string();
    let kinds = one.convention.params.iter().filter(|kind| **kind != ParamKind::Nothing);
    let names: Vec<String> = one
        .params
        .iter()
        .zip(kinds)
        .map(|(name, kind)| match mentions(&body, name) {
            true if is_lent(kind) && text.contains(&format!("{name} . as_deref_mut")) => format!("mut {name}"),
            true => name.clone(),
            false => format!("_{}", name.trim_start_matches('_')),
        })
        .collect();
    let params = params(&one.convention.params, &names);
    quote! {
        #[doc = #doc]
        pub fn #name<C: CApi>(c: &mut C, #(#params),*) -> Result<#returns, C::Error> { c.enter(FunctionId::#id); #body }
    }
}

/// Whether a parameter is a variable of the caller's that may be missing: it is borrowed anew for each use.
fn is_lent(kind: &ParamKind) -> bool {
    matches!(kind, ParamKind::OutObject(true) | ParamKind::OutInt(_, true))
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
            let name = names.next().map_or("_", String::as_str);
            let (mutable, name) = match name.strip_prefix("mut ") {
                Some(name) => (quote!(mut), format_ident!("{name}")),
                None => (quote!(), format_ident!("{name}")),
            };
            let ty = param_type(kind, &quote!(C));
            quote!(#mutable #name: #ty)
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
        ParamKind::OutObject(false) => quote!(&mut Option<#c::Object>),
        ParamKind::OutObject(true) => quote!(Option<&mut Option<#c::Object>>),
        ParamKind::OutInt(int, nullable) => {
            let int = format_ident!("{int}");
            if *nullable { quote!(Option<&mut #int>) } else { quote!(&mut #int) }
        }
        ParamKind::Function(_, false) => quote!(&#c::Function),
        ParamKind::Function(_, true) => quote!(Option<&#c::Function>),
        ParamKind::Arguments => quote!(&[Argument<#c::Object>]),
        ParamKind::Parsed => quote!(&mut [Parsed<'_, #c::Object>]),
        ParamKind::Strings => quote!(&[&str]),
        ParamKind::Ints(int) => {
            let int = format_ident!("{int}");
            quote!(&[#int])
        }
        ParamKind::Chars => quote!(&mut [i8]),
        ParamKind::Pending => quote!(&#c::Error),
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
        Returns::Optionals => quote!(Vec<Option<#c::Object>>),
        Returns::Double => quote!(f64),
        Returns::Str => quote!(String),
        Returns::Function(_) => quote!(Option<#c::Function>),
        Returns::Error => quote!(#c::Error),
    }
}

/// The slot typedefs with their conventions.
fn typedefs(translation: &Translation) -> BTreeMap<String, Convention> {
    let world = &translation.world;
    let mut names: BTreeSet<String> = world.slots().into_iter().map(|(_, slot, _)| slot.function).collect();
    // Those that are no slots, but are called.
    let vocabulary = world.vocabulary.borrow();
    let called = vocabulary.keys().filter_map(|name| name.strip_prefix("call_"));
    names.extend(called.filter(|name| world.declarations.functions.contains_key(*name)).map(str::to_owned));
    names
        .into_iter()
        .filter_map(|name| world.slot_convention(&name).map(|convention| (name, convention)))
        .filter(|(_, convention)| {
            !matches!(convention.returns, Returns::Unsupported(_)) && convention.params.iter().all(usable)
        })
        .collect()
}

fn usable(kind: &ParamKind) -> bool {
    !matches!(
        kind,
        ParamKind::Unsupported(_)
            | ParamKind::Arguments
            | ParamKind::Parsed
            | ParamKind::Strings
            | ParamKind::Ints(_)
            | ParamKind::Chars
    )
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
        #![allow(non_snake_case, clippy::all)]
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
            (ParamKind::Object(true), ParamKind::Object(false))
            | (ParamKind::OutObject(true), ParamKind::OutObject(false)) => quote!(Some(#arg)),
            (ParamKind::OutInt(a, true), ParamKind::OutInt(b, false)) if a == b => quote!(Some(#arg)),
            (ParamKind::Object(false), ParamKind::Object(true)) => quote!(#arg?),
            (ParamKind::Function(_, false), ParamKind::Function(_, false)) => quote!(#arg),
            (ParamKind::Function(_, true), ParamKind::Function(_, false)) => quote!(Some(#arg)),
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

/// What a translation asks of its world.
pub fn vocabulary(translation: &Translation) -> Vocabulary {
    let world = &translation.world;
    let mut methods: BTreeMap<String, Convention> = BTreeMap::new();
    for (name, mut convention) in typedefs(translation) {
        convention.params.insert(0, ParamKind::Function(name.clone(), false));
        methods.insert(format!("call_{name}"), convention);
    }
    methods.extend(world.vocabulary.borrow().iter().map(|(name, convention)| (name.clone(), convention.clone())));
    methods.retain(|name, convention| {
        !super::capi::OWN.contains(&name.as_str())
            && convention.params.iter().all(|kind| !matches!(kind, ParamKind::Unsupported(_)))
    });
    let methods = methods.iter().map(|(name, convention)| {
        let names = if convention.params.first() == Some(&ParamKind::Pending) {
            let rest = names_of(translation, name, convention.params.len() - 1);
            [vec!["error".to_owned()], rest].concat()
        } else {
            names_of(translation, name, convention.params.len())
        };
        let rust = world.contracts.get(name).map_or("", |row| &row.rust);
        let mut method = Method::new(convention, &names, rust);
        method.asked = super::defaults::can_be_asked(convention, world.declarations.prototypes.get(name));
        let read = name.strip_prefix("set_").unwrap_or(name);
        method.member = world.fields.borrow().contains_key(read);
        let newer = world.elsewhere.newer.methods.get(name);
        let own = newer.is_some_and(|newer| !newer.is_called_like(&method));
        (if own { format!("{name}{}", world.elsewhere.suffix) } else { name.clone() }, method)
    });
    Vocabulary {
        methods: methods.collect(),
        globals: world.globals.borrow().clone(),
        functions: world.ids.borrow().clone(),
    }
}

/// A body that calls methods by the names that they have in this release, where newer ones call them otherwise.
fn renamed(body: TokenStream, translation: &Translation, vocabulary: &Vocabulary) -> TokenStream {
    let suffix = &translation.world.elsewhere.suffix;
    if suffix.is_empty() {
        return body;
    }
    let mut before = [String::new(), String::new()];
    body.into_iter()
        .map(|tree| {
            let text = match &tree {
                TokenTree::Group(_) => String::new(),
                tree => tree.to_string(),
            };
            let tree = match tree {
                TokenTree::Group(group) => {
                    let inner = renamed(group.stream(), translation, vocabulary);
                    TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner))
                }
                TokenTree::Ident(_)
                    if before == ["c", "."] && vocabulary.methods.contains_key(&format!("{text}{suffix}")) =>
                {
                    TokenTree::Ident(format_ident!("{text}{suffix}"))
                }
                tree => tree,
            };
            before = [std::mem::take(&mut before[1]), text];
            tree
        })
        .collect()
}

/// The names that the headers give to the parameters of a method.
fn names_of(translation: &Translation, name: &str, count: usize) -> Vec<String> {
    let known = (|| {
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
    })();
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
            let name = crate::translate::block::safe(name.split('.').next().unwrap_or_default());
            if seen.insert(name.clone()) { name } else { format!("{name}{index}") }
        })
        .collect()
}

/// The files of a release for the writer, and what was left out as warnings.
pub fn files(
    tree: &crate::source::Tree,
    configuration: &crate::preprocess::Configuration,
    header: &crate::emit::Header,
    folder: &str,
    elsewhere: Elsewhere,
) -> Result<Output, String> {
    let pre = crate::preprocess::Preprocessor::new(tree, configuration).map_err(|error| error.to_string())?;
    let mut diagnostics = crate::diagnostics::Diagnostics::default();
    let translation = translate(tree, &pre, UNITS, elsewhere, &mut diagnostics)?;
    let mut files: Vec<crate::emit::File> = Vec::new();
    let (all, vocabulary) = release_files(&translation, folder)?;
    for (path, text) in all {
        files.push(crate::emit::File { path, text: format!("{header}\n\n{text}") });
    }
    Ok(Output { files, diagnostics, vocabulary, left: translation.left })
}

/// What a translation gives to the driver.
pub struct Output {
    /// Files below `generated/`.
    pub files: Vec<crate::emit::File>,
    /// Findings about the sources.
    pub diagnostics: crate::diagnostics::Diagnostics,
    /// What the release asks of its world.
    pub vocabulary: Vocabulary,
    /// Functions left out.
    pub left: Vec<Left>,
}
