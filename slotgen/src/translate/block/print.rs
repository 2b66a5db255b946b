//! Prints blocks as Rust: flattens what diverges, gives names, and labels joins that are left from inside.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::simplify::not;
use super::tree::{Block, JoinId, Test, Var, count, ident, rewrite, var_of};

/// Where the value of a path goes.
#[derive(Clone, Default)]
struct Place {
    /// The join whose value is the value of the block being printed.
    tail: Option<JoinId>,
    /// Joins of loops that `break` reaches.
    inside_loop: Option<(JoinId, Option<JoinId>)>,
}

/// Prints a function body.
pub fn body(block: &Block, hints: &[String], params: &[Option<Var>]) -> TokenStream {
    let mut printer = Printer { labels: BTreeSet::new() };
    let code = printer.block(block, &Place::default());
    let names = Names::give(block, hints, params);
    rewrite(code, &mut |ident| var_of(ident).map(|var| names.of(var, hints)))
}

struct Printer {
    labels: BTreeSet<JoinId>,
}

impl Printer {
    fn block(&mut self, block: &Block, place: &Place) -> TokenStream {
        match block {
            Block::Let { var, mutable, value, rest } => {
                let (var, rest) = (ident(*var), self.block(rest, place));
                let mutable = mutable.then(|| quote!(mut));
                quote!(let #mutable #var = #value; #rest)
            }
            Block::Do { code, rest } => {
                let rest = self.block(rest, place);
                quote!(#code; #rest)
            }
            Block::Join { id, vars, tree, rest } => self.join(*id, vars, tree, rest, place),
            Block::If { tests, yes, no } => self.conditional(tests, yes, no, place),
            Block::Match { call, ok, yes, err, no } => {
                let used = yes.mentions(*ok);
                let (ok, err) = (ident(*ok), ident(*err));
                let caught = self.block(no, place);
                let pattern = if used { quote!(#ok) } else { quote!(_) };
                if no.diverges() {
                    let rest = self.block(yes, place);
                    let binding = if used { quote!(let #ok =) } else { quote!() };
                    let value = if used { quote!(#ok) } else { quote!({}) };
                    return quote! {
                        #binding match #call {
                            Ok(#pattern) => #value,
                            Err(#err) if c.is_exception(&#err) => { #caught }
                            Err(#err) => return Err(#err),
                        };
                        #rest
                    };
                }
                let fine = self.block(yes, place);
                quote! {
                    match #call {
                        Ok(#pattern) => { #fine }
                        Err(#err) if c.is_exception(&#err) => { #caught }
                        Err(#err) => return Err(#err),
                    }
                }
            }
            Block::Loop { id, vars, body } => {
                let inner = Place { tail: None, inside_loop: Some((*id, place.tail)) };
                let code = self.block(body, &inner);
                let label = self.labels.contains(id).then(|| {
                    let label = label(*id);
                    quote!(#label:)
                });
                let mut assigned = BTreeSet::new();
                assignments(body, &mut assigned);
                let lets = vars.iter().map(|(var, value)| {
                    let mutable = assigned.contains(var).then(|| quote!(mut));
                    let var = ident(*var);
                    quote!(let #mutable #var = #value;)
                });
                quote!(#(#lets)* #label loop { #code })
            }
            Block::Switch { value, arms, default } => {
                let arms = arms.iter().map(|(numbers, block)| {
                    let numbers = numbers.iter().map(|number| {
                        let literal = proc_macro2::Literal::i128_unsuffixed(number.abs());
                        if *number < 0 { quote!(-#literal) } else { quote!(#literal) }
                    });
                    let code = self.block(block, place);
                    quote!(#(#numbers)|* => { #code })
                });
                let arms: Vec<_> = arms.collect();
                let default = self.block(default, place);
                quote!(match #value { #(#arms)* _ => { #default } })
            }
            Block::Hole(_) => quote!(compile_error!("unfilled hole")),
            Block::Value(id, values) => {
                let value = match values.as_slice() {
                    [] => quote!(),
                    [only] => quote!(#only),
                    several => quote!((#(#several),*)),
                };
                match place.inside_loop {
                    _ if place.tail == Some(*id) => value,
                    Some((_, Some(behind))) if behind == *id => quote!(break #value),
                    _ => {
                        self.labels.insert(*id);
                        let label = label(*id);
                        quote!(break #label #value)
                    }
                }
            }
            Block::Continue(id, assigns) => {
                let moved = simultaneous(assigns);
                match place.inside_loop {
                    Some((inner, _)) if inner == *id => quote!(#moved continue;),
                    _ => {
                        self.labels.insert(*id);
                        let label = label(*id);
                        quote!(#moved continue #label;)
                    }
                }
            }
            Block::Return(value) => quote!(return #value;),
        }
    }

    fn join(&mut self, id: JoinId, vars: &[Var], tree: &Block, rest: &Block, place: &Place) -> TokenStream {
        let is_loop = leads_to_loop(tree);
        let inner = Place { tail: Some(id), inside_loop: place.inside_loop.map(|(inner, _)| (inner, None)) };
        let code = self.block(tree, &inner);
        let code = if self.labels.contains(&id) {
            let label = label(id);
            quote!(#label: { #code })
        } else if is_loop
            || matches!(tree, Block::Let { .. } | Block::Do { .. } | Block::Join { .. })
            || matches!(tree, Block::If { .. } | Block::Match { .. }) && flat(tree)
        {
            quote!({ #code })
        } else {
            code
        };
        let rest = self.block(rest, place);
        match vars {
            [] => quote!(#code; #rest),
            [only] => {
                let var = ident(*only);
                quote!(let #var = #code; #rest)
            }
            several => {
                let vars = several.iter().map(|var| ident(*var));
                quote!(let (#(#vars),*) = #code; #rest)
            }
        }
    }

    fn conditional(&mut self, tests: &[Test], yes: &Block, no: &Block, place: &Place) -> TokenStream {
        let condition = condition(tests);
        let empty = |code: &TokenStream| code.is_empty();
        if yes.diverges() && !no.diverges()
            || yes.diverges() && no.size() > yes.size()
            || yes.diverges() && matches!(no, Block::Return(_))
        {
            let (yes, no) = (self.block(yes, place), self.block(no, place));
            return quote!(if #condition { #yes } #no);
        }
        if no.diverges() {
            if let [Test::Some(var, value)] = tests {
                let var = ident(*var);
                let (yes, no) = (self.block(yes, place), self.block(no, place));
                return quote!(let Some(#var) = #value else { #no }; #yes);
            }
            if let Some(condition) = inverse(tests) {
                let (yes, no) = (self.block(yes, place), self.block(no, place));
                return quote!(if #condition { #no } #yes);
            }
        }
        let (yes, no) = (self.block(yes, place), self.block(no, place));
        if empty(&no) {
            return quote!(if #condition { #yes });
        }
        if empty(&yes)
            && let Some(condition) = inverse(tests)
        {
            return quote!(if #condition { #no });
        }
        quote!(if #condition { #yes } else { #no })
    }
}

/// The variables that a loop assigns.
fn assignments(block: &Block, into: &mut BTreeSet<Var>) {
    if let Block::Continue(_, assigns) = block {
        into.extend(assigns.iter().map(|assign| assign.0));
    }
    block.parts().into_iter().for_each(|part| assignments(part, into));
}

/// Whether printing a tree gives several statements in a row.
fn flat(tree: &Block) -> bool {
    match tree {
        Block::If { tests, yes, no } => {
            yes.diverges()
                || no.diverges() && (inverse(tests).is_some() || matches!(tests.as_slice(), [Test::Some(..)]))
        }
        Block::Match { no, .. } => no.diverges(),
        _ => false,
    }
}

fn leads_to_loop(tree: &Block) -> bool {
    match tree {
        Block::Loop { .. } => true,
        Block::Let { rest, .. } | Block::Do { rest, .. } => leads_to_loop(rest),
        _ => false,
    }
}

fn condition(tests: &[Test]) -> TokenStream {
    let several = tests.len() > 1;
    let parts = tests.iter().map(|test| match test {
        Test::Bool(code) if several && has_or(code) => quote!((#code)),
        Test::Bool(code) => bare(code, several),
        Test::Some(var, value) => {
            let var = ident(*var);
            quote!(let Some(#var) = #value)
        }
    });
    quote!(#(#parts)&&*)
}

fn has_or(code: &TokenStream) -> bool {
    code.clone().into_iter().any(|tree| matches!(tree, proc_macro2::TokenTree::Punct(punct) if punct.as_char() == '|'))
}

/// Without the parentheses around the whole.
fn bare(code: &TokenStream, several: bool) -> TokenStream {
    let trees: Vec<_> = code.clone().into_iter().collect();
    match trees.as_slice() {
        [proc_macro2::TokenTree::Group(group)] if group.delimiter() == proc_macro2::Delimiter::Parenthesis => {
            let inner = group.stream();
            if several && has_or(&inner) { code.clone() } else { inner }
        }
        _ => code.clone(),
    }
}

fn inverse(tests: &[Test]) -> Option<TokenStream> {
    match tests {
        [Test::Bool(code)] => Some(bare(&not(code), false)),
        _ => None,
    }
}

/// Assignments that happen at once.
fn simultaneous(assigns: &[(Var, TokenStream)]) -> TokenStream {
    let targets: BTreeSet<Var> = assigns.iter().map(|assign| assign.0).collect();
    let dependent = assigns.len() > 1
        && assigns.iter().any(|(var, value)| {
            let mut uses = BTreeMap::new();
            count(value, &mut uses);
            uses.keys().any(|used| used != var && targets.contains(used))
        });
    let names: Vec<_> = assigns.iter().map(|assign| ident(assign.0)).collect();
    let values: Vec<_> = assigns.iter().map(|assign| &assign.1).collect();
    if dependent {
        return quote!((#(#names),*) = (#(#values),*););
    }
    quote!(#(#names = #values;)*)
}

fn label(id: JoinId) -> syn::Lifetime {
    syn::Lifetime::new(&format!("'join{id}"), proc_macro2::Span::call_site())
}

/// Names of variables.
struct Names(BTreeMap<Var, String>);

impl Names {
    fn give(block: &Block, hints: &[String], params: &[Option<Var>]) -> Self {
        let mut uses = BTreeMap::new();
        block.uses(&mut uses);
        let mut names = BTreeMap::new();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut all: Vec<Var> = params.iter().flatten().copied().collect();
        let mut defined = Vec::new();
        definitions(block, &mut defined);
        all.extend(defined);
        for var in all {
            if names.contains_key(&var) {
                continue;
            }
            let base = safe(&hints[var]);
            let count = taken.entry(base.clone()).or_default();
            *count += 1;
            names.insert(var, if *count == 1 { base } else { format!("{base}_{count}") });
        }
        Self(names)
    }

    fn of(&self, var: Var, hints: &[String]) -> TokenStream {
        let name = self.0.get(&var).cloned().unwrap_or_else(|| safe(&hints[var]));
        let name = format_ident!("{name}");
        quote!(#name)
    }
}

/// Variables in the order of their definition.
pub fn definitions(block: &Block, into: &mut Vec<Var>) {
    match block {
        Block::Let { var, .. } => into.push(*var),
        Block::If { tests, .. } => into.extend(tests.iter().filter_map(|test| match test {
            Test::Some(var, _) => Some(*var),
            _ => None,
        })),
        Block::Match { ok, err, .. } => into.extend([*ok, *err]),
        Block::Loop { vars, .. } => into.extend(vars.iter().map(|var| var.0)),
        _ => {}
    }
    match block {
        Block::Join { vars, tree, rest, .. } => {
            definitions(tree, into);
            into.extend(vars);
            definitions(rest, into);
        }
        _ => block.parts().into_iter().for_each(|part| definitions(part, into)),
    }
}

/// A name that Rust accepts and that hides nothing.
pub fn safe(name: &str) -> String {
    match name {
        "type" | "self" | "fn" | "ref" | "in" | "mod" | "move" | "impl" | "match" | "use" | "where" | "yield"
        | "loop" | "let" | "crate" | "super" | "dyn" | "async" | "await" | "true" | "false" | "box" | "try"
        | "final" | "override" | "abstract" | "become" | "do" | "macro" | "priv" | "typeof" | "unsized" | "virtual"
        | "pub" | "trait" | "struct" | "as" | "c" | "mut" | "gen" | "Self" => format!("{name}_"),
        name => name.to_owned(),
    }
}
