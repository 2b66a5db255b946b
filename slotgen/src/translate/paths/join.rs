//! Where paths part and come together again: values that differ are carried along in variables.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{K, Out, Paths};
use crate::lower::Expr;
use crate::translate::block::{Block, JoinId, Var, definitions, merge};
use crate::translate::value::{State, Val, common, held, kind};

impl Paths {
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
                    merge(&mut tree);
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
        definitions(&tree, &mut inside);
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
                Ok(value) if value.mentions(inside) => Err(kind(&all)),
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
        Err(kind(all))
    }
}

/// The name of a variable without pointers and scope numbers.
pub(crate) fn last_part(name: &str) -> String {
    name.trim_start_matches('*').split('.').next().unwrap_or(name).to_owned()
}

/// A value of the given kind held by a variable.
pub(crate) fn with_var(like: &Val, var: Var) -> Option<Val> {
    held(like, var)
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
