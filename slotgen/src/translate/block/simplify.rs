//! Makes the tree of blocks into code that reads like the C: merges tests, drops what is unused, puts values where they are used.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::tree::{Block, Test, Var, calls, count, ident};

/// Merges nested tests whose other sides are the same hole: `if a { if b { x } else { y } } else { y }`.
pub fn merge(block: &mut Block) {
    for part in block.parts_mut() {
        merge(part);
    }
    let Block::If { tests, yes, no } = block else { return };
    // Bring single uses of bindings into the inner test, so that it can move into the outer one.
    inline(yes);
    inline(no);
    if let (Block::Hole(outer), Block::If { tests: inner, yes: both, no: other }) = (&**no, &**yes)
        && matches!(**other, Block::Hole(id) if id == *outer)
    {
        let mut all = std::mem::take(tests);
        all.extend(inner.iter().cloned());
        *block = Block::If { tests: all, yes: both.clone(), no: no.clone() };
        return;
    }
    if let (Block::Hole(outer), Block::If { tests: inner, yes: other, no: both }) = (&**no, &**yes)
        && let (true, Some(negated)) = (matches!(**other, Block::Hole(id) if id == *outer), negate(inner))
    {
        let mut all = std::mem::take(tests);
        all.push(negated);
        *block = Block::If { tests: all, yes: both.clone(), no: no.clone() };
        return;
    }
    if let (Block::Hole(outer), Block::If { tests: inner, yes: same, no: rest }) = (&**yes, &**no)
        && matches!(**same, Block::Hole(id) if id == *outer)
        && let (Some(a), Some(b)) = (plain(tests), plain(inner))
    {
        *block = Block::If { tests: vec![Test::Bool(quote!(#a || #b))], yes: yes.clone(), no: rest.clone() };
        return;
    }
    if let (Block::Hole(outer), Block::If { tests: inner, yes: rest, no: same }) = (&**yes, &**no)
        && matches!(**same, Block::Hole(id) if id == *outer)
        && let (Some(a), Some(b)) = (plain(tests), negate(inner).and_then(|test| plain(&[test])))
    {
        *block = Block::If { tests: vec![Test::Bool(quote!(#a || #b))], yes: yes.clone(), no: rest.clone() };
    }
}

/// The negation of a single test.
fn negate(tests: &[Test]) -> Option<Test> {
    match tests {
        [Test::Bool(code)] => Some(Test::Bool(not(code))),
        _ => None,
    }
}

/// Tests as one `bool`, if they bind nothing.
fn plain(tests: &[Test]) -> Option<TokenStream> {
    let mut parts = Vec::new();
    for test in tests {
        match test {
            Test::Bool(code) => parts.push(code.clone()),
            Test::Some(..) => return None,
        }
    }
    match parts.as_slice() {
        [only] => Some(only.clone()),
        several => Some(quote!((#(#several)&&*))),
    }
}

fn strip_ref(code: &TokenStream) -> TokenStream {
    let text = code.to_string();
    text.strip_prefix('&').and_then(|rest| rest.trim().parse().ok()).unwrap_or_else(|| code.clone())
}

/// `!code`, double negations removed.
pub fn not(code: &TokenStream) -> TokenStream {
    let trees: Vec<_> = code.clone().into_iter().collect();
    if let [proc_macro2::TokenTree::Group(group)] = trees.as_slice() {
        let inner: Vec<_> = group.stream().into_iter().collect();
        if let Some(proc_macro2::TokenTree::Punct(punct)) = inner.first()
            && punct.as_char() == '!'
            && inner.len() == 2
        {
            let rest = &inner[1];
            return quote!(#rest);
        }
        return quote!(!#code);
    }
    if let Some(proc_macro2::TokenTree::Punct(punct)) = trees.first()
        && punct.as_char() == '!'
        && !has_operator(&trees[1..])
    {
        let rest: TokenStream = trees[1..].iter().cloned().collect();
        return rest;
    }
    if has_operator(&trees) { quote!(!(#code)) } else { quote!(!#code) }
}

fn has_operator(trees: &[proc_macro2::TokenTree]) -> bool {
    trees.iter().any(|tree| matches!(tree, proc_macro2::TokenTree::Punct(punct) if matches!(punct.as_char(), '|' | '&' | '=' | '<' | '>' | '+' | '-' | '*')))
        || matches!(trees.first(), Some(proc_macro2::TokenTree::Ident(word)) if word == "match")
}

/// Puts a binding that is used once, in the very next construct, where it is used.
pub fn inline(block: &mut Block) {
    for part in block.parts_mut() {
        inline(part);
    }
    while let Block::Let { var, mutable: false, value, rest } = block {
        let mut uses = BTreeMap::new();
        rest.uses(&mut uses);
        if uses.get(var).copied().unwrap_or(0) != 1 {
            break;
        }
        let Some(first) = first_tokens(rest) else { break };
        let mut here = BTreeMap::new();
        count(first, &mut here);
        if here.get(var) != Some(&1) || !fits(first, *var, value) {
            break;
        }
        let (var, value) = (*var, value.clone());
        let mut inner = (**rest).clone();
        inner.replace(var, &value);
        *block = inner;
    }
}

/// The tokens that a block evaluates first.
fn first_tokens(block: &Block) -> Option<&TokenStream> {
    match block {
        Block::If { tests, .. } => match tests.first() {
            Some(Test::Bool(code) | Test::Some(_, code)) => Some(code),
            None => None,
        },
        Block::Let { value, .. } | Block::Switch { value, .. } => Some(value),
        Block::Do { code, .. } => Some(code),
        Block::Match { call, .. } => Some(call),
        Block::Return(code) => Some(code),
        Block::Value(_, values) if values.len() == 1 => values.first(),
        _ => None,
    }
}

/// Whether a value can stand in the place of the variable: two calls of the world cannot be nested, nor change their order.
fn fits(tokens: &TokenStream, var: Var, value: &TokenStream) -> bool {
    let name = ident(var).to_string();
    let text = tokens.to_string();
    if text.starts_with("match")
        || value.to_string().starts_with("match") && text != name && text != format!("Ok ({name})")
    {
        return false;
    }
    if calls(value) && (calls(tokens) || text.contains("|") || text.contains("&&")) {
        return text.starts_with(&format!("{name} ")) && !calls(&first_operand_rest(tokens));
    }
    if text.contains(&format!("{name} . clone")) {
        return false;
    }
    true
}

fn first_operand_rest(tokens: &TokenStream) -> TokenStream {
    tokens.clone().into_iter().skip(1).collect()
}

/// Drops bindings that nobody uses and simplifies truth values.
pub fn clean(block: &mut Block) {
    for part in block.parts_mut() {
        clean(part);
    }
    tests(block);
    truth(block);
    hand_on(block);
    match block {
        Block::Let { var, value, rest, .. } if !rest.mentions(*var) => {
            let rest = std::mem::replace(&mut **rest, Block::Hole(0));
            let value = if value.to_string().starts_with('!') {
                value.clone().into_iter().skip(1).collect()
            } else {
                value.clone()
            };
            let statement = value.to_string().ends_with('?') || value.to_string().starts_with("match");
            let value = if statement { value } else { quote!(let _ = #value) };
            *block = if pure(&value) { rest } else { Block::Do { code: value, rest: Box::new(rest) } };
        }
        _ => {}
    }
}

/// `match call { Ok(x) => …, Err(error) => return Err(error) }` becomes `call?`.
fn hand_on(block: &mut Block) {
    let Block::Match { call, ok, yes, err, no } = block else { return };
    let name = ident(*err);
    if !matches!(&**no, Block::Return(code) if code.to_string() == quote!(Err(#name)).to_string()) {
        return;
    }
    let (value, rest) = (quote!(#call?), std::mem::replace(yes, Box::new(Block::Hole(0))));
    *block = Block::Let { var: *ok, mutable: false, value, rest };
}

/// A value that only names something, or asks what has no effect.
fn pure(value: &TokenStream) -> bool {
    let text = value.to_string();
    !calls(value)
        || text.starts_with("c . global")
        || text.starts_with("c . _Py_ID")
        || text.starts_with("c . Py_TYPE")
        || text.starts_with("c . function")
        || text.starts_with("c . slot")
        || text.starts_with("c . has_suite")
        || text.ends_with(". clone ()")
}

/// `let Some(x) = y` whose `x` is not used becomes `y.is_some()`; `if a {} else {b}` becomes `if !a {b}`.
fn tests(block: &mut Block) {
    let Block::If { tests, yes, .. } = block else { return };
    for index in 0..tests.len() {
        if let Test::Some(var, code) = &tests[index] {
            let var = *var;
            let later = tests[index + 1..].iter().any(|test| {
                let (Test::Bool(code) | Test::Some(_, code)) = test;
                let mut uses = BTreeMap::new();
                count(code, &mut uses);
                uses.contains_key(&var)
            });
            if !later && !yes.mentions(var) {
                let code = strip_ref(code);
                tests[index] = Test::Bool(quote!(#code.is_some()));
            }
        }
    }
}

/// `let x = if test { true } else { false };` becomes `let x = test;`.
fn truth(block: &mut Block) {
    let Block::Join { id, vars, tree, rest } = block else { return };
    let [var] = vars.as_slice() else { return };
    let Some(value) = as_bool(tree, *id) else { return };
    *block = Block::Let { var: *var, mutable: false, value, rest: rest.clone() };
    inline(block);
}

fn as_bool(tree: &Block, join: usize) -> Option<TokenStream> {
    let constant = |block: &Block| match block {
        Block::Value(id, values) if *id == join => match values.as_slice() {
            [only] => match only.to_string().as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let Block::If { tests, yes, no } = tree else { return None };
    let bools: Option<Vec<_>> = tests.iter().map(|test| plain(std::slice::from_ref(test))).collect();
    match (constant(yes), constant(no)) {
        (Some(true), Some(false)) => {
            let bools = bools?;
            Some(quote!(#(#bools)&&*))
        }
        (Some(false), Some(true)) => {
            let bools = bools?;
            let all = quote!(#(#bools)&&*);
            Some(not(&all))
        }
        _ => None,
    }
}

/// Drops the values of joins and the variables of loops that nobody uses.
pub fn prune(block: &mut Block) {
    loop {
        let mut uses = BTreeMap::new();
        used(block, &mut uses);
        let mut gone: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
        if !drop_vars(block, &uses, &mut gone) {
            return;
        }
        drop_values(block, &gone);
    }
}

/// Uses of variables, those in a loop's own assignments to the same variable left out.
fn used(block: &Block, into: &mut BTreeMap<Var, usize>) {
    match block {
        Block::Continue(_, assigns) => {
            for (var, value) in assigns {
                let mut own = BTreeMap::new();
                count(value, &mut own);
                own.remove(var);
                own.into_iter().for_each(|(var, n)| *into.entry(var).or_default() += n);
            }
        }
        _ => block.tokens().into_iter().for_each(|tokens| count(tokens, into)),
    }
    block.parts().into_iter().for_each(|part| used(part, into));
}

fn drop_vars(block: &mut Block, uses: &BTreeMap<Var, usize>, gone: &mut BTreeMap<usize, Vec<bool>>) -> bool {
    let mut changed = false;
    match block {
        Block::Join { id, vars, .. } => {
            let keep: Vec<bool> = vars.iter().map(|var| uses.contains_key(var)).collect();
            if keep.contains(&false) {
                changed = true;
                let mut flags = keep.iter();
                vars.retain(|_| flags.next().copied().unwrap_or(true));
                gone.insert(*id, keep);
            }
        }
        Block::Loop { id, vars, .. } => {
            let keep: Vec<bool> = vars.iter().map(|var| uses.contains_key(&var.0)).collect();
            if keep.contains(&false) {
                changed = true;
                let lost: Vec<Var> = vars.iter().zip(&keep).filter(|(_, keep)| !**keep).map(|(var, _)| var.0).collect();
                vars.retain(|var| !lost.contains(&var.0));
                gone.insert(*id, Vec::new());
                drop_assigns(block, &lost);
            }
        }
        _ => {}
    }
    for part in block.parts_mut() {
        changed |= drop_vars(part, uses, gone);
    }
    changed
}

fn drop_assigns(block: &mut Block, lost: &[Var]) {
    if let Block::Continue(_, assigns) = block {
        assigns.retain(|assign| !lost.contains(&assign.0));
    }
    block.parts_mut().into_iter().for_each(|part| drop_assigns(part, lost));
}

fn drop_values(block: &mut Block, gone: &BTreeMap<usize, Vec<bool>>) {
    if let Block::Value(id, values) = block
        && let Some(keep) = gone.get(id).filter(|keep| keep.len() == values.len())
    {
        let mut flags = keep.iter();
        values.retain(|_| flags.next().copied().unwrap_or(true));
    }
    block.parts_mut().into_iter().for_each(|part| drop_values(part, gone));
}
