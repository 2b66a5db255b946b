//! Renders translated functions as Rust, and collects what they ask of their world.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::rendered::{Function, Head, Rendered, Unit};
use super::unparse::unparse;
use crate::translate::driver::{Translated, Translation};
use crate::translate::world::{Convention, Method, ParamKind, Returns, Vocabulary, module};

/// A translation as text: functions and the tables that lead to them.
pub fn rendered(translation: &Translation) -> Result<(Rendered, Vocabulary), String> {
    // Slots name their functions before the others do: the first of one name has it to itself.
    let dispatchers = super::dispatch::dispatchers(translation);
    for one in translation.translated.values().flatten() {
        translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    }
    let vocabulary = vocabulary(translation);
    let mut units = Vec::new();
    for (file, functions) in &translation.translated {
        let functions = functions.iter().map(|one| function(translation, one, &vocabulary));
        units.push(Unit {
            file: file.clone(),
            module: module(file),
            is_memory: translation.world.contracts.memory(file),
            functions: functions.collect::<Result<_, String>>()?,
        });
    }
    let (fields, structs) = super::members::members(translation);
    Ok((Rendered { units, dispatchers, fields, structs }, vocabulary))
}

fn function(translation: &Translation, one: &Translated, vocabulary: &Vocabulary) -> Result<Function, String> {
    let id = translation.world.note_id((one.function.file.clone(), one.function.name.clone()));
    let ident = format_ident!("{id}");
    let name = format_ident!("{}", one.function.name);
    let doc = format!(" CPython: {}, `{}`.", one.function.file, one.function.name);
    let returns = returned(&one.convention.returns);
    let body = renamed(tidy(&one.body), translation, vocabulary);
    let text = body.to_string();
    let kinds: Vec<_> = one.convention.params.iter().filter(|kind| **kind != ParamKind::Nothing).collect();
    let names: Vec<String> = one
        .params
        .iter()
        .zip(&kinds)
        .map(|(name, kind)| match mentions(&body, name) {
            true if is_lent(kind) && text.contains(&format!("{name} . as_deref_mut")) => format!("mut {name}"),
            true => name.clone(),
            false => format!("_{}", name.trim_start_matches('_')),
        })
        .collect();
    let params = params(&one.convention.params, &names);
    let mut calls = BTreeSet::new();
    called(&body, &mut calls);
    let text = unparse(quote! {
        #[doc = #doc]
        pub fn #name<C: CApi>(c: &mut C, #(#params),*) -> Result<#returns, C::Error> { c.enter(FunctionId::#ident); #body }
    })?;
    Ok(Function {
        name: one.function.name.clone(),
        text,
        head: Head::new(&one.convention),
        calls,
        row: super::calls::row(one, &id),
        arm: super::calls::arm(one, &id),
        id,
    })
}

/// The generated functions that a body calls: `super::module::name`.
fn called(body: &TokenStream, into: &mut BTreeSet<(String, String)>) {
    let mut path: Vec<String> = Vec::new();
    for tree in body.clone() {
        match tree {
            TokenTree::Group(group) => called(&group.stream(), into),
            TokenTree::Ident(ident) if ident == "super" => path = vec![String::new()],
            TokenTree::Ident(ident) if path.len() == 1 => path.push(ident.to_string()),
            TokenTree::Ident(ident) if path.len() == 2 => {
                into.insert((path.pop().unwrap_or_default(), ident.to_string()));
                path.clear();
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            _ => path.clear(),
        }
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
    let kinds = kinds.iter().filter(|kind| **kind != ParamKind::Nothing);
    kinds
        .zip(names)
        .map(|(kind, name)| {
            let (mutable, name) = match name.strip_prefix("mut ") {
                Some(name) => (quote!(mut), format_ident!("{name}")),
                None => (quote!(), format_ident!("{name}")),
            };
            let ty = tokens(&super::rendered::param(kind));
            quote!(#mutable #name: #ty)
        })
        .collect()
}

fn returned(returns: &Returns) -> TokenStream {
    tokens(&super::rendered::result(returns))
}

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// What a translation asks of its world.
pub fn vocabulary(translation: &Translation) -> Vocabulary {
    let world = &translation.world;
    let mut methods: BTreeMap<String, Convention> = BTreeMap::new();
    for (name, mut convention) in super::dispatch::typedefs(translation) {
        convention.params.insert(0, ParamKind::Function(name.clone(), false));
        methods.insert(format!("call_{name}"), convention);
    }
    methods.extend(world.vocabulary.borrow().iter().map(|(name, convention)| (name.clone(), convention.clone())));
    methods.retain(|name, convention| {
        !super::capi::OWN.contains(&name.as_str())
            && convention.params.iter().all(|kind| !matches!(kind, ParamKind::Unsupported(_)))
    });
    let methods = methods.iter().map(|(name, convention)| {
        let names = if matches!(convention.params.first(), Some(ParamKind::Pending(_))) {
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
