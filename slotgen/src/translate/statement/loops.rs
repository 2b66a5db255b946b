//! Loops and switches: where paths come together again.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use quote::quote;

use crate::lower::{Expr, Stmt, in_expr, in_stmt};
use crate::translate::block::{Block, JoinId, Var};
use crate::translate::paths::{JumpTargets, K, Out, Paths, last_part, with_var};
use crate::translate::value::{State, Val, kind, same_kind};

/// One turn of a loop, from a state at its head: with what goes on with the next turn, and what leaves the loop.
pub(crate) type Turn = Rc<dyn Fn(&mut Paths, State, K, K) -> Out>;

impl Paths {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn looped(
        &mut self,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Rc<Stmt>,
        first_body: bool,
        at: usize,
        state: State,
        ways: JumpTargets,
        k: K,
    ) -> Out {
        if state.error.is_some() {
            return self.stop("loop while an exception is pending");
        }
        let text = format!("{condition:?} {step:?} {body:?}");
        let used = |name: &str| text.contains(&format!("Name({name:?})"));
        if state.vars.iter().any(|(name, value)| matches!(value, Val::Unmade(_)) && used(name)) {
            let again: K = Rc::new(move |this, state| {
                let (condition, step, body) = (condition.clone(), step.clone(), body.clone());
                this.looped(condition, step, body, first_body, at, state, ways.clone(), k.clone())
            });
            return self.make_used(&used, state, again);
        }
        let mut names = BTreeSet::new();
        in_stmt(&body, &mut names);
        for expr in condition.iter().chain(&step) {
            in_expr(expr, &mut names);
        }
        let turn: Turn = Rc::new(move |this, head, again, out| {
            this.round(condition.as_ref(), step.clone(), body.clone(), first_body, head, again, out)
        });
        self.spin(&names, &turn, at, state, k)
    }

    /// A loop: its turn is translated until the kinds of what it changes (`names`) no longer do.
    pub(crate) fn spin(&mut self, names: &BTreeSet<String>, turn: &Turn, at: usize, state: State, k: K) -> Out {
        let mut widened: BTreeMap<String, Val> = BTreeMap::new();
        for _ in 0..5 {
            let mut head = state.clone();
            head.memo.clear();
            let mut mutable: Vec<(String, Var, Val)> = Vec::new();
            for name in names {
                let Some(value) = state.vars.get(name).cloned() else { continue };
                let like = widened.get(name).cloned().unwrap_or_else(|| kind(&[value.clone(), value.clone()]));
                let like = self.typed(name, like);
                let var = self.fresh(&last_part(name));
                if let Some(value) = with_var(&like, var) {
                    mutable.push((name.clone(), var, like));
                    head.set(name, value);
                } else {
                    head.set(name, if value == like { value } else { Val::Uninit });
                }
            }
            let before = self.summary_mark();
            let (again, leaf_again) = self.scope();
            let (out, leaf_out) = self.scope();
            let tree = turn(self, head, leaf_again, leaf_out)?;
            let back: Vec<State> = self
                .leaves_of(&tree, again)
                .iter()
                .map(|id| self.leaves[*id].1.clone())
                .filter(|state| state.error.is_none())
                .collect();
            let mut changed = false;
            for name in names {
                let Some(start) = state.vars.get(name) else { continue };
                let mut all: Vec<Val> = vec![widened.get(name).cloned().unwrap_or_else(|| start.clone())];
                all.extend(back.iter().map(|state| state.vars.get(name).cloned().unwrap_or(Val::Uninit)));
                let like = kind(&all);
                let current = widened.get(name).cloned().unwrap_or_else(|| kind(&[start.clone(), start.clone()]));
                if !same_kind(&like, &current) {
                    widened.insert(name.clone(), like);
                    changed = true;
                }
            }
            if changed {
                self.summary_reset(before);
                continue;
            }
            return self.close(tree, again, out, mutable, &state, at, k);
        }
        self.no("loop whose values keep changing their kind", at)
    }

    /// One round of a loop.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn round(
        &mut self,
        condition: Option<&Expr>,
        step: Option<Expr>,
        body: Rc<Stmt>,
        first_body: bool,
        head: State,
        again: K,
        out: K,
    ) -> Out {
        let test = condition.cloned();
        let next: K = if first_body {
            let (again, out) = (again.clone(), out.clone());
            Rc::new(move |this, state| match &test {
                Some(test) => this.split(test, state, again.clone(), out.clone()),
                None => again(this, state),
            })
        } else {
            let again = again.clone();
            Rc::new(move |this, state| match &step {
                Some(step) => {
                    let again = again.clone();
                    this.eval(step, state, Rc::new(move |this, _, state| again(this, state)))
                }
                None => again(this, state),
            })
        };
        let ways = JumpTargets { brk: Some(out.clone()), cont: Some(next.clone()) };
        let run: K = Rc::new(move |this, state| this.stmt(&body, state, ways.clone(), next.clone()));
        match condition {
            Some(condition) if !first_body => self.split(condition, head, run, out),
            _ => run(self, head),
        }
    }

    /// Puts a loop together.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn close(
        &mut self,
        mut tree: Block,
        again: usize,
        out: usize,
        mutable: Vec<(String, Var, Val)>,
        start: &State,
        at: usize,
        k: K,
    ) -> Out {
        self.joins += 1;
        let id: JoinId = self.joins;
        let mut filled = BTreeMap::new();
        for leaf in self.leaves_of(&tree, again) {
            let state = self.leaves[leaf].1.clone();
            if state.error.is_some() {
                let block = self.stop("loop that goes on with an exception pending")?;
                filled.insert(leaf, block);
                continue;
            }
            let mut assigns = Vec::new();
            for (name, var, like) in &mutable {
                let value = state.vars.get(name).cloned().unwrap_or(Val::Uninit);
                let own = with_var(like, *var);
                if own.as_ref() == Some(&value) {
                    continue;
                }
                match self.carry(&value, like) {
                    Some(code) => assigns.push((*var, code)),
                    None => return self.no(format!("{name} differs between rounds of a loop"), at),
                }
            }
            filled.insert(leaf, Block::Continue(id, assigns));
        }
        tree.fill(&mut filled);
        let mut vars = Vec::new();
        for (name, var, like) in &mutable {
            let value = start.vars.get(name).cloned().unwrap_or(Val::Uninit);
            match self.carry(&value, like) {
                Some(code) if code.to_string() == "None" => vars.push((
                    *var,
                    match like {
                        Val::MaybeFunction(..) => quote!(None::<C::Function>),
                        _ => quote!(None::<C::Object>),
                    },
                )),
                Some(code) => vars.push((*var, code)),
                None => return self.no(format!("{name} is not set before a loop"), at),
            }
        }
        let tree = Block::Loop { id, vars, body: Box::new(tree) };
        self.meet(tree, out, k)
    }

    pub(crate) fn switch(&mut self, value: &Expr, body: Rc<[Stmt]>, state: State, ways: JumpTargets, k: K) -> Out {
        let (scope, leaf) = self.scope();
        let at = value.at;
        let way = leaf.clone();
        let tree = self.eval(
            value,
            state,
            Rc::new(move |this, value, state| {
                this.arms(
                    value,
                    body.clone(),
                    state,
                    JumpTargets { brk: Some(way.clone()), cont: ways.cont.clone() },
                    way.clone(),
                    at,
                )
            }),
        )?;
        self.meet(tree, scope, k)
    }

    pub(crate) fn arms(
        &mut self,
        value: Val,
        body: Rc<[Stmt]>,
        state: State,
        ways: JumpTargets,
        leaf: K,
        at: usize,
    ) -> Out {
        let mut cases: Vec<(Vec<i128>, bool, usize)> = Vec::new();
        let mut in_labels = false;
        for (index, stmt) in body.iter().enumerate() {
            let Stmt::Case(label) = stmt else {
                in_labels = false;
                continue;
            };
            if !in_labels {
                cases.push((Vec::new(), false, index));
            }
            in_labels = true;
            let Some(case) = cases.last_mut() else { continue };
            match label {
                None => case.1 = true,
                Some(label) => match self.world.constant_of(label) {
                    Some(number) => case.0.push(number),
                    None => return self.no("case that is no known number", label.at),
                },
            }
        }
        if let Val::Const(number, _) = value {
            let found = cases.iter().find(|case| case.0.contains(&number)).or_else(|| cases.iter().find(|case| case.1));
            return match found {
                Some(case) => self.list(body.clone(), case.2, state, ways, leaf),
                None => leaf(self, state),
            };
        }
        let Val::Int(place, ..) = value else { return self.no("switch over something else than an integer", at) };
        let mut arms = Vec::new();
        let mut default = None;
        for (numbers, is_default, index) in cases {
            let block = self.list(body.clone(), index, state.clone(), ways.clone(), leaf.clone())?;
            if is_default {
                default = Some(block);
            } else {
                arms.push((numbers, block));
            }
        }
        let default = match default {
            Some(default) => default,
            None => leaf(self, state)?,
        };
        Ok(Block::Switch { value: place.code, arms, default: Box::new(default) })
    }
}
