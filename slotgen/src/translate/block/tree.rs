//! The Rust to be, as a tree of blocks in which every path ends: what the path splitting builds and the printer flattens.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

/// A Rust variable, before it has a name.
pub type Var = usize;
/// A place where paths meet.
pub type JoinId = usize;

/// The identifier that stands for a variable until names are given.
pub fn ident(var: Var) -> Ident {
    format_ident!("__v{var}")
}

/// The variable that an identifier stands for.
pub fn var_of(ident: &Ident) -> Option<Var> {
    ident.to_string().strip_prefix("__v")?.parse().ok()
}

/// One condition of a conjunction.
#[derive(Debug, Clone)]
pub enum Test {
    /// A Rust `bool`.
    Bool(TokenStream),
    /// `let Some(var) = value`.
    Some(Var, TokenStream),
}

/// A block; what follows a construct is inside of it (`rest`).
#[derive(Debug, Clone)]
pub enum Block {
    /// `let var = value;`
    Let { var: Var, mutable: bool, value: TokenStream, rest: Box<Block> },
    /// `let (vars) = tree;` where the tree's leaves give the values.
    Join { id: JoinId, vars: Vec<Var>, tree: Box<Block>, rest: Box<Block> },
    /// `code;`
    Do { code: TokenStream, rest: Box<Block> },
    /// `if tests { yes } else { no }`
    If { tests: Vec<Test>, yes: Box<Block>, no: Box<Block> },
    /// A call whose exception is looked at.
    Match { call: TokenStream, ok: Var, yes: Box<Block>, err: Var, no: Box<Block> },
    /// `loop { body }`, with the variables that it changes.
    Loop { id: JoinId, vars: Vec<(Var, TokenStream)>, body: Box<Block> },
    /// `match value { numbers => arm, _ => default }`
    Switch { value: TokenStream, arms: Vec<(Vec<i128>, Block)>, default: Box<Block> },
    /// A leaf that is still to be filled.
    Hole(usize),
    /// The end of a path that goes on behind the join.
    Value(JoinId, Vec<TokenStream>),
    /// The end of a path that starts the loop anew.
    Continue(JoinId, Vec<(Var, TokenStream)>),
    /// `return value`.
    Return(TokenStream),
}

impl Block {
    /// Calls `visit` on the direct parts.
    pub fn parts(&self) -> Vec<&Block> {
        match self {
            Self::Let { rest, .. } | Self::Do { rest, .. } => vec![rest],
            Self::Join { tree, rest, .. } => vec![tree, rest],
            Self::If { yes, no, .. } | Self::Match { yes, no, .. } => vec![yes, no],
            Self::Loop { body, .. } => vec![body],
            Self::Switch { arms, default, .. } => arms.iter().map(|arm| &arm.1).chain([&**default]).collect(),
            Self::Hole(_) | Self::Value(..) | Self::Continue(..) | Self::Return(_) => Vec::new(),
        }
    }

    /// The direct parts, to change them.
    pub fn parts_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Self::Let { rest, .. } | Self::Do { rest, .. } => vec![rest],
            Self::Join { tree, rest, .. } => vec![tree, rest],
            Self::If { yes, no, .. } | Self::Match { yes, no, .. } => vec![yes, no],
            Self::Loop { body, .. } => vec![body],
            Self::Switch { arms, default, .. } => {
                arms.iter_mut().map(|arm| &mut arm.1).chain([&mut **default]).collect()
            }
            Self::Hole(_) | Self::Value(..) | Self::Continue(..) | Self::Return(_) => Vec::new(),
        }
    }

    /// The tokens of this node alone.
    pub fn tokens(&self) -> Vec<&TokenStream> {
        match self {
            Self::Let { value, .. } | Self::Switch { value, .. } => vec![value],
            Self::Do { code, .. } => vec![code],
            Self::If { tests, .. } => tests
                .iter()
                .map(|test| match test {
                    Test::Bool(code) | Test::Some(_, code) => code,
                })
                .collect(),
            Self::Match { call, .. } => vec![call],
            Self::Loop { vars, .. } | Self::Continue(_, vars) => vars.iter().map(|var| &var.1).collect(),
            Self::Value(_, values) => values.iter().collect(),
            Self::Return(value) => vec![value],
            Self::Join { .. } | Self::Hole(_) => Vec::new(),
        }
    }

    fn tokens_mut(&mut self) -> Vec<&mut TokenStream> {
        match self {
            Self::Let { value, .. } | Self::Switch { value, .. } => vec![value],
            Self::Do { code, .. } => vec![code],
            Self::If { tests, .. } => tests
                .iter_mut()
                .map(|test| match test {
                    Test::Bool(code) | Test::Some(_, code) => code,
                })
                .collect(),
            Self::Match { call, .. } => vec![call],
            Self::Loop { vars, .. } | Self::Continue(_, vars) => vars.iter_mut().map(|var| &mut var.1).collect(),
            Self::Value(_, values) => values.iter_mut().collect(),
            Self::Return(value) => vec![value],
            Self::Join { .. } | Self::Hole(_) => Vec::new(),
        }
    }

    /// The number of nodes.
    pub fn size(&self) -> usize {
        1 + self.parts().into_iter().map(Block::size).sum::<usize>()
    }

    /// How often each variable is used.
    pub fn uses(&self, into: &mut BTreeMap<Var, usize>) {
        for tokens in self.tokens() {
            count(tokens, into);
        }
        for part in self.parts() {
            part.uses(into);
        }
    }

    /// Whether a variable is used.
    pub fn mentions(&self, var: Var) -> bool {
        let mut uses = BTreeMap::new();
        self.uses(&mut uses);
        uses.contains_key(&var)
    }

    /// All holes in it.
    pub fn holes(&self, into: &mut Vec<usize>) {
        if let Self::Hole(id) = self {
            into.push(*id);
        }
        for part in self.parts() {
            part.holes(into);
        }
    }

    /// Puts blocks into holes.
    pub fn fill(&mut self, with: &mut BTreeMap<usize, Block>) {
        if let Self::Hole(id) = self {
            if let Some(block) = with.get(id) {
                *self = block.clone();
            }
            return;
        }
        for part in self.parts_mut() {
            part.fill(with);
        }
    }

    /// Whether no path through it reaches a join or loop outside of it, or a hole.
    pub fn diverges(&self) -> bool {
        fn outside(block: &Block, inside: &mut BTreeSet<JoinId>) -> bool {
            match block {
                Block::Hole(_) => true,
                Block::Value(id, _) => !inside.contains(id),
                Block::Join { id, tree, rest, .. } => {
                    inside.insert(*id);
                    outside(tree, inside) || outside(rest, inside)
                }
                _ => block.parts().into_iter().any(|part| outside(part, inside)),
            }
        }
        !outside(self, &mut BTreeSet::new())
    }

    /// Replaces a variable by an expression.
    pub fn replace(&mut self, var: Var, by: &TokenStream) {
        for tokens in self.tokens_mut() {
            *tokens = substitute(tokens.clone(), var, by);
        }
        for part in self.parts_mut() {
            part.replace(var, by);
        }
    }
}

/// Counts the variables in tokens.
pub fn count(tokens: &TokenStream, into: &mut BTreeMap<Var, usize>) {
    for tree in tokens.clone() {
        match tree {
            TokenTree::Ident(ident) => {
                if let Some(var) = var_of(&ident) {
                    *into.entry(var).or_default() += 1;
                }
            }
            TokenTree::Group(group) => count(&group.stream(), into),
            _ => {}
        }
    }
}

/// Whether tokens talk to the interpreter (`c.…`).
pub fn calls(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == "c",
        TokenTree::Group(group) => calls(&group.stream()),
        _ => false,
    })
}

/// Replaces a variable by an expression in tokens.
pub fn substitute(tokens: TokenStream, var: Var, by: &TokenStream) -> TokenStream {
    rewrite(tokens, &mut |ident| (var_of(ident) == Some(var)).then(|| by.clone()))
}

/// Rewrites identifiers in tokens.
pub fn rewrite(tokens: TokenStream, with: &mut dyn FnMut(&Ident) -> Option<TokenStream>) -> TokenStream {
    tokens
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Ident(ident) => with(&ident).unwrap_or_else(|| quote!(#ident)),
            TokenTree::Group(group) => {
                let inner = rewrite(group.stream(), with);
                let group = proc_macro2::Group::new(group.delimiter(), inner);
                quote!(#group)
            }
            other => quote!(#other),
        })
        .collect()
}
