//! Splits a C function into its paths: statements, and the places where paths meet.

use std::rc::Rc;

use quote::quote;

use crate::lower::{CType, Expr, Kind, Stmt, rich_comparison};
use crate::translate::block::{Block, Var};
use crate::translate::paths::{JumpTargets, K, Out, Paths, Refusal};
use crate::translate::value::{Place, State, Val};
use crate::translate::world::{ParamKind, Returns};

impl Paths {
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
                ParamKind::Arguments | ParamKind::Parsed | ParamKind::Pending(_) => {
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
        let block = self.list(function.body.clone(), 0, state, JumpTargets::default(), last)?;
        Ok((params, block))
    }

    /// Statements from `index` on.
    pub(super) fn list(&mut self, list: Rc<[Stmt]>, index: usize, state: State, ways: JumpTargets, k: K) -> Out {
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

    pub(super) fn stmt(&mut self, stmt: &Stmt, state: State, ways: JumpTargets, k: K) -> Out {
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

    fn stmt_inner(&mut self, stmt: &Stmt, mut state: State, ways: JumpTargets, k: K) -> Out {
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
                this.switch(&op, rich_comparison(at).into(), state, JumpTargets::default(), way)
            }),
        )
    }

    fn conditional(
        &mut self,
        condition: &Expr,
        yes: Rc<Stmt>,
        no: Option<Rc<Stmt>>,
        state: State,
        ways: JumpTargets,
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
}
