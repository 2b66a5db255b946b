//! The translation of one function under way: its paths so far, and what it learns of the function.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::quote;

use crate::lower::{CType, Function, Stmt};
use crate::translate::block::{Block, Var};
use crate::translate::value::{State, Val};
use crate::translate::world::{Convention, World};

/// Why a function is left out.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The construct.
    pub construct: String,
    /// Byte offset in the unit's text.
    pub at: usize,
}

pub(crate) type Out = Result<Block, Refusal>;

/// What is done with a state.
pub(crate) type K = Rc<dyn Fn(&mut Paths, State) -> Out>;

/// What is done with a value.
pub(crate) type KV = Rc<dyn Fn(&mut Paths, Val, State) -> Out>;

/// What is done with several values.
pub(crate) type KVs = Rc<dyn Fn(&mut Paths, Vec<Val>, State) -> Out>;

/// Where `break` and `continue` lead.
#[derive(Clone, Default)]
pub(crate) struct JumpTargets {
    pub(crate) brk: Option<K>,
    pub(crate) cont: Option<K>,
}

/// What a translation learns of the function itself.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) optional: bool,
    pub(crate) negative: bool,
    pub(crate) returns: bool,
    pub(crate) raises: bool,
    pub(crate) errors: BTreeSet<Option<i128>>,
    /// Parameters of other functions that may be NULL: `(function, index)`.
    pub(crate) nullable: BTreeSet<(String, usize)>,
    /// Parameters tested for NULL for another reason than to refuse it.
    pub(crate) calls: BTreeSet<String>,
    /// Paths that end in `unsupported`.
    pub(crate) partial: BTreeSet<String>,
}

/// Where a `goto` leads.
#[derive(Clone)]
pub(crate) enum Label {
    /// To the statement at an index of a list; with what follows the list, and where its `break` and `continue` lead.
    There(Rc<[Stmt]>, usize, K, JumpTargets),
    /// Back to the label whose statements are under way: the start of their loop.
    Again(K),
}

/// The translation of one function under way.
pub struct Paths {
    pub(crate) world: Rc<World>,
    pub(crate) function: Rc<Function>,
    pub(crate) convention: Convention,
    pub(crate) hints: Vec<String>,
    pub(crate) summary: Summary,
    pub(crate) types: BTreeMap<String, CType>,
    pub(crate) structs: BTreeMap<String, String>,
    /// Variables that are structs, not pointers to them.
    pub(crate) local_structs: BTreeSet<String>,
    pub(crate) leaves: Vec<(usize, State)>,
    pub(crate) scopes: usize,
    pub(crate) joins: usize,
    pub(crate) labels: BTreeMap<String, Label>,
    pub(crate) running: Vec<String>,
    pub(crate) steps: usize,
    pub(crate) depth: usize,
    pub(crate) expansions: usize,
    /// Bytes of local arrays.
    pub(crate) sizes: BTreeMap<String, i128>,
    /// Which arguments of the call under way are written as NULL.
    pub(crate) nulls: Vec<bool>,
}

impl Paths {
    /// A translation of `function` under `convention`.
    pub fn new(world: Rc<World>, function: Rc<Function>, convention: Convention) -> Self {
        Self {
            world,
            function,
            convention,
            hints: Vec::new(),
            summary: Summary::default(),
            types: BTreeMap::new(),
            structs: BTreeMap::new(),
            local_structs: BTreeSet::new(),
            leaves: Vec::new(),
            scopes: 0,
            joins: 0,
            labels: BTreeMap::new(),
            running: Vec::new(),
            steps: 0,
            depth: 0,
            expansions: 0,
            sizes: BTreeMap::new(),
            nulls: Vec::new(),
        }
    }

    /// A refusal.
    pub(crate) fn no<T>(&self, construct: impl Into<String>, at: usize) -> Result<T, Refusal> {
        Err(Refusal { construct: construct.into(), at })
    }

    /// A path that the translation does not follow: whoever takes it learns why.
    pub(crate) fn stop(&mut self, reason: impl Into<String>) -> Out {
        let reason = format!("{}: {}", self.function.name, reason.into());
        self.summary.partial.insert(reason.clone());
        Ok(Block::Return(quote!(Err(c.unsupported(#reason)))))
    }

    /// A new Rust variable, called like `hint` if possible.
    pub(crate) fn fresh(&mut self, hint: &str) -> Var {
        let hint: String = hint.split('.').next().unwrap_or(hint).trim_start_matches('*').to_owned();
        let fine =
            hint.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ')) && !hint.is_empty() && hint != "_";
        self.hints.push(if fine { hint } else { "value".to_owned() });
        self.hints.len() - 1
    }

    /// A leaf of scope `scope`.
    pub(crate) fn hole(&mut self, scope: usize, state: State) -> Out {
        self.leaves.push((scope, state));
        Ok(Block::Hole(self.leaves.len() - 1))
    }

    /// A new scope of leaves and the continuation that makes leaves of it.
    pub(crate) fn scope(&mut self) -> (usize, K) {
        self.scopes += 1;
        let scope = self.scopes;
        (scope, Rc::new(move |this, state| this.hole(scope, state)))
    }

    /// The leaves of `tree` that belong to `scope`.
    pub(crate) fn leaves_of(&self, tree: &Block, scope: usize) -> Vec<usize> {
        let mut holes = Vec::new();
        tree.holes(&mut holes);
        holes.retain(|id| self.leaves[*id].0 == scope);
        holes.dedup();
        holes
    }

    /// A kind with the C type of its variable where only constants were seen.
    pub(crate) fn typed(&self, name: &str, like: Val) -> Val {
        match (like, self.types.get(name)) {
            (Val::Int(place, "const", positive), Some(CType::Int(int))) => Val::Int(place, int, positive),
            (Val::Int(place, "const", positive), Some(CType::Opaque(text))) if text == "bool" => {
                let _ = positive;
                Val::Bool(place)
            }
            (Val::Int(place, "const", positive), _) => Val::Int(place, "i32", positive),
            (like, _) => like,
        }
    }

    pub(crate) fn summary_mark(&self) -> (bool, bool, bool, bool, BTreeSet<Option<i128>>) {
        let l = &self.summary;
        (l.optional, l.negative, l.returns, l.raises, l.errors.clone())
    }

    pub(crate) fn summary_reset(&mut self, mark: (bool, bool, bool, bool, BTreeSet<Option<i128>>)) {
        let l = &mut self.summary;
        (l.optional, l.negative, l.returns, l.raises, l.errors) = mark;
    }

    /// `let hint = code;`, then `k` with the variable.
    pub(crate) fn bind(&mut self, hint: &str, code: TokenStream, k: &mut dyn FnMut(&mut Self, usize) -> Out) -> Out {
        let var = self.fresh(hint);
        let rest = k(self, var)?;
        Ok(Block::Let { var, mutable: false, value: code, rest: Box::new(rest) })
    }
}
