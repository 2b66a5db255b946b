//! Splits a C function into its paths: statements, and the places where paths meet.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use quote::quote;

use crate::lower::{CType, Expr, Function, Kind, Stmt};
use crate::translate::block::{Block, JoinId, Var};
use crate::translate::value::{Place, State, Val, common};
use crate::translate::world::{Convention, ParamKind, Returns, World};

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

/// Where `break` and `continue` lead.
#[derive(Clone, Default)]
pub(crate) struct Ways {
    pub(crate) brk: Option<K>,
    pub(crate) cont: Option<K>,
}

/// What a translation learns of the function itself.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
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
pub(super) enum Label {
    /// To the statement at an index of a list; with what follows the list, and where its `break` and `continue` lead.
    There(Rc<[Stmt]>, usize, K, Ways),
    /// Back to the label whose statements are under way: the start of their loop.
    Again(K),
}

/// The translation of one function under way.
pub struct Paths {
    pub(crate) world: Rc<World>,
    pub(crate) function: Rc<Function>,
    pub(crate) convention: Convention,
    pub(crate) hints: Vec<String>,
    pub(crate) learnt: Learnt,
    pub(crate) types: BTreeMap<String, CType>,
    pub(crate) structs: BTreeMap<String, String>,
    /// Variables that are structs, not pointers to them.
    pub(crate) local_structs: BTreeSet<String>,
    pub(crate) leaves: Vec<(usize, State)>,
    pub(crate) scopes: usize,
    pub(crate) joins: usize,
    pub(super) labels: BTreeMap<String, Label>,
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
            learnt: Learnt::default(),
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
        self.learnt.partial.insert(reason.clone());
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

    /// Translates the body; the parameters' variables come first.
    pub fn run(&mut self) -> Result<(Vec<Option<Var>>, Block), Refusal> {
        let mut state = State::default();
        let mut params = Vec::new();
        let function = self.function.clone();
        for (param, kind) in function.signature.params.iter().zip(self.convention.params.clone()) {
            self.types.insert(param.name.clone(), param.ctype.clone());
            self.structs.insert(param.name.clone(), param.structure.clone());
            let var = self.fresh(&param.name);
            let (value, keep) = match kind {
                ParamKind::Object(false) => (Val::Object(Place::by_ref(var)), true),
                ParamKind::Object(true) => (Val::MaybeObject(Place::by_ref(var)), true),
                ParamKind::Int(int) => (Val::Int(Place::owned(var), int, false), true),
                ParamKind::Double => (Val::Double(Place::owned(var)), true),
                ParamKind::Str(false) => (Val::Str(Place::by_ref(var)), true),
                ParamKind::Str(true) => (Val::MaybeStr(Place::by_ref(var)), true),
                ParamKind::Slice => (Val::Slice(Place::by_ref(var)), true),
                ParamKind::Function(name, false) => (Val::Function(Place::by_ref(var), name), true),
                ParamKind::Function(name, true) => (Val::MaybeFunction(Place::by_ref(var), name), true),
                ParamKind::OutObject(nullable) | ParamKind::OutInt(_, nullable) => {
                    let target = format!("*{}", param.name);
                    state.vars.insert(target.clone(), Val::Uninit);
                    (if nullable { Val::MaybeAddress(target) } else { Val::Address(target) }, true)
                }
                ParamKind::Nothing => (Val::Thread, false),
                ParamKind::Arguments | ParamKind::Parsed | ParamKind::Pending => {
                    return self.no("variadic function", function.range.start);
                }
                ParamKind::Ints(int) => (Val::Buffer(Place::by_ref(var), int, None), true),
                ParamKind::Chars => return self.no("room for characters as a parameter", function.range.start),
                ParamKind::Strings => return self.no("array of strings as a parameter", function.range.start),
                ParamKind::Unsupported(text) => {
                    return self.no(format!("parameter of type {text}"), function.range.start);
                }
            };
            state.vars.insert(param.name.clone(), value);
            params.push(keep.then_some(var));
        }
        if function.signature.variadic {
            return self.no("variadic function", function.range.start);
        }
        if let Returns::Unsupported(text) = &self.convention.returns {
            return self.no(format!("result of type {text}"), function.range.start);
        }
        let end = function.range.end;
        let last: K = Rc::new(move |this, state| match this.convention.returns {
            _ if this.function.signature.returns == CType::Void => this.give(Val::Unit, state, end),
            _ => this.no("end of a function that returns a value", end),
        });
        let block = self.list(function.body.clone(), 0, state, Ways::default(), last)?;
        Ok((params, block))
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
    pub(super) fn leaves_of(&self, tree: &Block, scope: usize) -> Vec<usize> {
        let mut holes = Vec::new();
        tree.holes(&mut holes);
        holes.retain(|id| self.leaves[*id].0 == scope);
        holes.dedup();
        holes
    }

    /// Statements from `index` on.
    pub(super) fn list(&mut self, list: Rc<[Stmt]>, index: usize, state: State, ways: Ways, k: K) -> Out {
        if index == 0 {
            self.note_labels(&list, &ways, &k);
        }
        let Some(stmt) = list.get(index) else { return k(self, state) };
        if let Stmt::Label(name) = stmt
            && list[index + 1..].iter().any(|stmt| super::labels::jumps(stmt, name))
        {
            return self.again(name.clone(), list.clone(), index + 1, state, ways, k);
        }
        let rest = list.clone();
        let after = ways.clone();
        let next: K = Rc::new(move |this, state| this.list(rest.clone(), index + 1, state, after.clone(), k.clone()));
        self.stmt(&stmt.clone(), state, ways, next)
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt, state: State, ways: Ways, k: K) -> Out {
        self.steps += 1;
        self.depth += 1;
        if self.steps > 6000 || self.depth > 400 {
            self.depth -= 1;
            return self.no("more paths than the translation follows", self.function.range.start);
        }
        let out = self.stmt_inner(stmt, state, ways, k);
        self.depth -= 1;
        out
    }

    fn stmt_inner(&mut self, stmt: &Stmt, mut state: State, ways: Ways, k: K) -> Out {
        match stmt {
            Stmt::Expr(Expr { kind: Kind::Name(name), at }) => self.bare(name, *at, state, k),
            Stmt::Expr(Expr { kind: Kind::Call(callee, args), at }) if matches!(&callee.kind, Kind::Name(name) if name == "Py_RETURN_RICHCOMPARE" || name == "Py_UNREACHABLE") => {
                self.return_macro(callee, args.clone(), *at, state)
            }
            Stmt::Expr(expr) => self.eval(expr, state, Rc::new(move |this, _, state| k(this, state))),
            Stmt::Declare { name, ctype, structure, array, init, at } => {
                self.structs.insert(name.clone(), structure.clone());
                self.declare(name, ctype, structure, array.as_ref(), init.as_ref(), *at, state, k)
            }
            Stmt::Static { name, ctype, structure, array, at } => {
                self.structs.insert(name.clone(), structure.clone());
                self.declare_static(name, ctype, array.as_ref(), *at, state, k)
            }
            Stmt::Block(list) => self.list(list.clone(), 0, state, ways, k),
            Stmt::If(condition, yes, no) => self.conditional(condition, yes.clone(), no.clone(), state, ways, k),
            Stmt::While { condition, step, body, at } => {
                self.looped(condition.clone(), step.clone(), body.clone(), false, *at, state, ways, k)
            }
            Stmt::DoWhile(body, condition) => {
                self.looped(Some(condition.clone()), None, body.clone(), true, condition.at, state, ways, k)
            }
            Stmt::Switch(value, body) => self.switch(value, body.clone(), state, ways, k),
            Stmt::Case(_) | Stmt::Label(_) => k(self, state),
            Stmt::Goto(label, at) => self.goto(label, *at, state),
            Stmt::Break => match ways.brk {
                Some(way) => way(self, state),
                None => self.no("break outside of a loop", 0),
            },
            Stmt::Continue => match ways.cont {
                Some(way) => way(self, state),
                None => self.no("continue outside of a loop", 0),
            },
            Stmt::Return(value, at) => {
                let at = *at;
                match value {
                    Some(value) => {
                        self.eval(value, state, Rc::new(move |this, value, state| this.give(value, state, at)))
                    }
                    None => {
                        state.memo.clear();
                        self.give(Val::Unit, state, at)
                    }
                }
            }
            Stmt::Unknown(what, at) => self.no(what.clone(), *at),
        }
    }

    /// A statement that is a bare macro.
    fn bare(&mut self, name: &str, at: usize, state: State, k: K) -> Out {
        let value = match name {
            "Py_RETURN_NONE" => Val::Global("Py_None".to_owned()),
            "Py_RETURN_TRUE" => Val::Global("Py_True".to_owned()),
            "Py_RETURN_FALSE" => Val::Global("Py_False".to_owned()),
            "Py_RETURN_NOTIMPLEMENTED" => Val::Global("Py_NotImplemented".to_owned()),
            _ if self.world.contracts.meaning(name) == "nothing" => return k(self, state),
            _ => return self.no(format!("statement {name}"), at),
        };
        self.give(value, state, at)
    }

    fn return_macro(&mut self, callee: &Expr, args: Vec<Expr>, at: usize, state: State) -> Out {
        if matches!(&callee.kind, Kind::Name(name) if name == "Py_UNREACHABLE") {
            return Ok(Block::Return(quote!(Err(c.unsupported("Py_UNREACHABLE")))));
        }
        let names = ["?val1", "?val2", "?op"];
        if args.len() != names.len() {
            return self.no("Py_RETURN_RICHCOMPARE", at);
        }
        self.all(
            &args,
            state,
            Rc::new(move |this, values, mut state| {
                for (name, value) in names.iter().zip(values) {
                    state.set(name, value);
                }
                let way: K = Rc::new(move |this, _| this.no("Py_RETURN_RICHCOMPARE", at));
                let op = Expr { kind: Kind::Name("?op".to_owned()), at };
                this.switch(&op, crate::lower::rich_comparison(at).into(), state, Ways::default(), way)
            }),
        )
    }

    fn conditional(
        &mut self,
        condition: &Expr,
        yes: Rc<Stmt>,
        no: Option<Rc<Stmt>>,
        state: State,
        ways: Ways,
        k: K,
    ) -> Out {
        let (scope, leaf) = self.scope();
        let (no_ways, no_leaf) = (ways.clone(), leaf.clone());
        let kt: K = Rc::new(move |this, state| this.stmt(&yes, state, ways.clone(), leaf.clone()));
        let kf: K = Rc::new(move |this, state| match &no {
            Some(no) => this.stmt(no, state, no_ways.clone(), no_leaf.clone()),
            None => no_leaf(this, state),
        });
        let tree = self.split(condition, state, kt, kf)?;
        self.meet(tree, scope, k)
    }

    /// Branches on a condition, each side translated once where that is possible.
    pub(crate) fn split(&mut self, condition: &Expr, state: State, kt: K, kf: K) -> Out {
        let (yes, leaf_yes) = self.scope();
        let (no, leaf_no) = self.scope();
        let mut tree = self.branch(condition, state, leaf_yes, leaf_no)?;
        for (scope, k) in [(yes, kt), (no, kf)] {
            let leaves = self.leaves_of(&tree, scope);
            let states: Vec<State> = leaves.iter().map(|id| self.leaves[*id].1.clone()).collect();
            let mut filled = BTreeMap::new();
            let joined = states
                .split_first()
                .and_then(|(first, rest)| rest.iter().try_fold(first.clone(), |all, one| all.forget(one)));
            match joined {
                Some(state) if leaves.len() > 1 => {
                    // Every leaf becomes the same hole, so that the tests around it can be merged.
                    let Block::Hole(id) = self.hole(scope, state.clone())? else { continue };
                    let mut same = leaves.iter().map(|leaf| (*leaf, Block::Hole(id))).collect();
                    tree.fill(&mut same);
                    crate::translate::block::merge(&mut tree);
                    let block = k(self, state)?;
                    filled.insert(id, block);
                }
                _ => {
                    for (leaf, state) in leaves.iter().zip(states) {
                        let block = k(self, state)?;
                        filled.insert(*leaf, block);
                    }
                }
            }
            tree.fill(&mut filled);
        }
        Ok(tree)
    }

    /// Goes on behind a tree: paths without a pending exception meet, the others go on by themselves.
    pub(crate) fn meet(&mut self, mut tree: Block, scope: usize, k: K) -> Out {
        let leaves = self.leaves_of(&tree, scope);
        let (failed, normal): (Vec<_>, Vec<_>) = leaves.into_iter().partition(|id| self.leaves[*id].1.error.is_some());
        let mut filled = BTreeMap::new();
        for id in failed {
            let state = self.leaves[id].1.clone();
            let block = k(self, state)?;
            filled.insert(id, block);
        }
        tree.fill(&mut filled);
        match normal.as_slice() {
            [] => Ok(tree),
            [only] if !in_loop(&tree, *only) => {
                let state = self.leaves[*only].1.clone();
                let block = k(self, state)?;
                tree.fill(&mut BTreeMap::from([(*only, block)]));
                Ok(tree)
            }
            several => {
                let (several, kept) = (several.to_vec(), tree.clone());
                match self.join(tree, &several, k.clone()) {
                    Ok(block) => Ok(block),
                    Err(refusal) if self.steps < 3000 && !several.iter().any(|id| in_loop(&kept, *id)) => {
                        let mut tree = kept;
                        let mut filled = BTreeMap::new();
                        for id in several {
                            let state = self.leaves[id].1.clone();
                            filled.insert(id, k(self, state).map_err(|_| refusal.clone())?);
                        }
                        tree.fill(&mut filled);
                        Ok(tree)
                    }
                    Err(refusal) => Err(refusal),
                }
            }
        }
    }

    /// Joins normal paths: values that differ are carried along in variables; those that nobody needs are dropped in the end.
    fn join(&mut self, tree: Block, leaves: &[usize], k: K) -> Out {
        let (mut before, mut tree) = peel(tree);
        let states: Vec<State> = leaves.iter().map(|id| self.leaves[*id].1.clone()).collect();
        let mut inside = Vec::new();
        crate::translate::block::definitions(&tree, &mut inside);
        let (mut joined, carried) = self.joined(&states, &inside.into_iter().collect());
        joined.error = None;
        self.joins += 1;
        let id: JoinId = self.joins;
        let mut filled = BTreeMap::new();
        for (leaf, state) in leaves.iter().zip(&states) {
            let values = carried.iter().map(|(name, _, like)| {
                let value = state.vars.get(name).cloned().unwrap_or(Val::Uninit);
                self.carry(&value, like).unwrap_or_default()
            });
            filled.insert(*leaf, Block::Value(id, values.collect()));
        }
        tree.fill(&mut filled);
        let rest = k(self, joined)?;
        let vars = carried.into_iter().map(|(_, var, _)| var).collect();
        let block = Block::Join { id, vars, tree: Box::new(tree), rest: Box::new(rest) };
        before.fill(&mut BTreeMap::from([(usize::MAX, block)]));
        Ok(before)
    }

    /// The state behind several, and the variables that it needs: C name, Rust variable, value.
    fn joined(&mut self, states: &[State], inside: &BTreeSet<Var>) -> (State, Vec<(String, Var, Val)>) {
        let mut joined = State::default();
        let mut carried = Vec::new();
        let Some(first) = states.first() else { return (joined, carried) };
        joined.memo = states
            .iter()
            .skip(1)
            .fold(first.memo.clone(), |memo, state| State { memo, ..State::default() }.common_memo(state));
        joined.memo.retain(|_, value| !value.mentions(inside));
        for name in first.vars.keys() {
            let all: Vec<_> = states.iter().map(|state| state.vars.get(name).cloned().unwrap_or(Val::Uninit)).collect();
            let value = match self.one_of(name, &all, states) {
                Ok(value) if value.mentions(inside) => Err(crate::translate::value::kind(&all)),
                other => other,
            };
            let value = match value {
                Ok(value) => value,
                Err(like) => {
                    let like = self.typed(name, like);
                    let var = self.fresh(&last_part(name));
                    match with_var(&like, var).filter(|_| all.iter().all(|value| self.carry(value, &like).is_some())) {
                        Some(value) => {
                            carried.push((name.clone(), var, like));
                            value
                        }
                        None => Val::Uninit,
                    }
                }
            };
            joined.vars.insert(name.clone(), value);
        }
        (joined, carried)
    }

    /// A value known for all paths, or the kind of value that a variable must carry.
    fn one_of(&self, name: &str, all: &[Val], states: &[State]) -> Result<Val, Val> {
        let Some(first) = all.first() else { return Ok(Val::Uninit) };
        if all.contains(&Val::Uninit) {
            return Ok(Val::Uninit);
        }
        let bases = states.first().and_then(|state| state.bases.get(name)).cloned();
        let shared =
            all.iter().zip(states).skip(1).try_fold((first.clone(), bases), |(mine, base), (theirs, state)| {
                common(&mine, base.as_ref(), theirs, state.bases.get(name)).map(|value| (value, None))
            });
        if let Some((value, _)) = shared {
            return Ok(value);
        }
        Err(crate::translate::value::kind(all))
    }

    /// A kind with the C type of its variable where only constants were seen.
    pub(super) fn typed(&self, name: &str, like: Val) -> Val {
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

    pub(super) fn learnt_mark(&self) -> (bool, bool, bool, bool, BTreeSet<Option<i128>>) {
        let l = &self.learnt;
        (l.optional, l.negative, l.returns, l.raises, l.errors.clone())
    }

    pub(super) fn learnt_reset(&mut self, mark: (bool, bool, bool, bool, BTreeSet<Option<i128>>)) {
        let l = &mut self.learnt;
        (l.optional, l.negative, l.returns, l.raises, l.errors) = mark;
    }
}

/// The name of a variable without pointers and scope numbers.
pub(super) fn last_part(name: &str) -> String {
    name.trim_start_matches('*').split('.').next().unwrap_or(name).to_owned()
}

/// A value of the given kind held by a variable.
pub(super) fn with_var(like: &Val, var: Var) -> Option<Val> {
    crate::translate::value::held(like, var)
}

/// What a tree does before its paths part, and the rest of it.
fn peel(tree: Block) -> (Block, Block) {
    match tree {
        Block::Let { var, mutable, value, rest } => {
            let (before, after) = peel(*rest);
            (Block::Let { var, mutable, value, rest: Box::new(before) }, after)
        }
        Block::Do { code, rest } => {
            let (before, after) = peel(*rest);
            (Block::Do { code, rest: Box::new(before) }, after)
        }
        Block::Join { id, vars, tree, rest } => {
            let (before, after) = peel(*rest);
            (Block::Join { id, vars, tree, rest: Box::new(before) }, after)
        }
        tree => (Block::Hole(usize::MAX), tree),
    }
}

/// Whether a leaf lies inside a loop of the tree.
fn in_loop(tree: &Block, leaf: usize) -> bool {
    if let Block::Loop { body, .. } = tree {
        let mut holes = Vec::new();
        body.holes(&mut holes);
        if holes.contains(&leaf) {
            return true;
        }
    }
    tree.parts().into_iter().any(|part| in_loop(part, leaf))
}
