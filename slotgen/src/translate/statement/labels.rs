//! Labels: what a `goto` leads to, and the loops that a `goto` backwards makes.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::lower::{Stmt, in_stmt};
use crate::translate::paths::{JumpTargets, K, Label, Out, Paths};
use crate::translate::value::State;

impl Paths {
    /// Notes the labels of a list that is entered, those of blocks inside it included.
    pub(crate) fn note_labels(&mut self, list: &Rc<[Stmt]>, ways: &JumpTargets, k: &K) {
        for (at, stmt) in list.iter().enumerate() {
            match stmt {
                Stmt::Label(name) => {
                    self.labels.insert(name.clone(), Label::There(list.clone(), at, k.clone(), ways.clone()));
                }
                Stmt::If(..) | Stmt::Block(_) => {
                    let (rest, after, k) = (list.clone(), ways.clone(), k.clone());
                    let next: K =
                        Rc::new(move |this, state| this.list(rest.clone(), at + 1, state, after.clone(), k.clone()));
                    self.note_inside(stmt, ways, &next);
                }
                _ => {}
            }
        }
    }

    /// Notes the labels of a block that a `goto` may enter from outside.
    fn note_inside(&mut self, stmt: &Stmt, ways: &JumpTargets, next: &K) {
        match stmt {
            Stmt::Block(list) => self.note_labels(list, ways, next),
            Stmt::If(_, yes, no) => {
                self.note_inside(yes, ways, next);
                no.iter().for_each(|no| self.note_inside(no, ways, next));
            }
            _ => {}
        }
    }

    pub(crate) fn goto(&mut self, label: &str, at: usize, state: State) -> Out {
        let (list, index, k, ways) = match self.labels.get(label).cloned() {
            Some(Label::There(list, index, k, ways)) => (list, index, k, ways),
            Some(Label::Again(k)) => return k(self, state),
            None => return self.no(format!("goto {label}, which is inside a loop or a switch"), at),
        };
        if self.running.iter().filter(|name| *name == label).count() > 1 {
            return self.no(format!("goto {label}, backwards"), at);
        }
        self.running.push(label.to_owned());
        let out = self.list(list, index, state, ways, k);
        self.running.pop();
        out
    }

    /// The statements behind a label to which some of them go back: a loop.
    pub(crate) fn again(
        &mut self,
        label: String,
        list: Rc<[Stmt]>,
        index: usize,
        state: State,
        ways: JumpTargets,
        k: K,
    ) -> Out {
        let at = self.function.range.start;
        let mut names = BTreeSet::new();
        list[index..].iter().for_each(|stmt| in_stmt(stmt, &mut names));
        let turn: super::loops::Turn = Rc::new(move |this, head, again, out| {
            let before = this.labels.insert(label.clone(), Label::Again(again));
            let tree = this.list(list.clone(), index, head, ways.clone(), out);
            match before {
                Some(before) => this.labels.insert(label.clone(), before),
                None => this.labels.remove(&label),
            };
            tree
        });
        self.spin(&names, &turn, at, state, k)
    }
}

/// Whether a statement goes to a label.
pub(crate) fn jumps(stmt: &Stmt, label: &str) -> bool {
    match stmt {
        Stmt::Goto(name, _) => name == label,
        Stmt::Block(list) | Stmt::Switch(_, list) => list.iter().any(|stmt| jumps(stmt, label)),
        Stmt::If(_, yes, no) => jumps(yes, label) || no.as_ref().is_some_and(|no| jumps(no, label)),
        Stmt::While { body, .. } | Stmt::DoWhile(body, _) => jumps(body, label),
        _ => false,
    }
}
