//! A residual program as it runs where no other program needs what its steps find: what only tests look at is not kept.
use crate::ffi::Args;
use crate::ffi::held::Held;
use crate::ffi::watch::Kept;
use crate::guard::load::{Load, Registers};
use crate::guard::step::{Action, Step};
use crate::guard::test::Test;
use pyo3::prelude::*;
use std::sync::Arc;

/// The same steps in the same order.
#[derive(Debug, Default)]
pub(in crate::guard) struct Quick {
    steps: Box<[QuickStep]>,
    registers: usize,
}

#[derive(Debug)]
enum QuickStep {
    Argument(usize, Arc<Test>),
    Kept(Kept, Arc<Test>),
    Constant(Arc<Held>, Arc<Test>),
    /// One that reads or fills a register that others read, too.
    Step(Step),
}

impl Quick {
    /// The steps of a program with this many registers.
    pub fn of(steps: &[Step], registers: usize, py: Python<'_>) -> Self {
        let sources = sources(steps, registers);
        let mut homes: Vec<Option<usize>> = vec![None; registers];
        let mut filled = 0;
        let mut home = |register: usize| {
            *homes[register].get_or_insert_with(|| {
                filled += 1;
                filled - 1
            })
        };
        let mut quick = Vec::with_capacity(steps.len());
        for (index, step) in steps.iter().enumerate() {
            if is_asked_again(step, steps.get(index + 1), py) {
                continue;
            }
            quick.push(match &step.action {
                Action::Load { into, .. } if sources[*into].is_some() => continue,
                Action::Check { register, test } => match sources[*register] {
                    Some(Load::Argument(index)) => QuickStep::Argument(*index, Arc::clone(test)),
                    Some(Load::Kept(kept)) => QuickStep::Kept(kept.clone(), Arc::clone(test)),
                    Some(Load::Constant(object)) => QuickStep::Constant(Arc::clone(object), Arc::clone(test)),
                    _ => QuickStep::Step(step.with(&mut home)),
                },
                Action::Load { .. } | Action::Compare { .. } => QuickStep::Step(step.with(&mut home)),
            });
        }
        Self { steps: quick.into(), registers: filled }
    }

    /// Whether all of them hold.
    pub fn holds<'py>(&self, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> bool {
        let py = args.py();
        let mut registers = Registers::from_elem(None, self.registers);
        self.steps.iter().all(|step| match step {
            QuickStep::Argument(index, test) => args.get(*index).is_some_and(|value| test.holds(&value)),
            QuickStep::Kept(kept, test) => kept.get(py).is_some_and(|value| test.holds(&value)),
            QuickStep::Constant(object, test) => object.with(py, |object| test.holds(object).then_some(())).is_some(),
            QuickStep::Step(step) => step.run(&mut registers, args, function),
        })
    }
}

/// Whether a step asks for the class of a value, and the next one does so, too, with more.
fn is_asked_again(step: &Step, next: Option<&Step>, py: Python<'_>) -> bool {
    let (Action::Check { register, test }, Some(Action::Check { register: same, test: next })) =
        (&step.action, next.map(|next| &next.action))
    else {
        return false;
    };
    match (&**test, &**next) {
        (Test::TypeIs(class), Test::Domain(check)) if register == same => {
            check.class().is_some_and(|asked| class.is(asked.bind(py).as_any()))
        }
        _ => false,
    }
}

/// Of each register, how it is loaded, if that costs nothing and nothing but tests looks at it: one at least, for a load shows by itself that
/// there is something.
fn sources(steps: &[Step], registers: usize) -> Vec<Option<&Load>> {
    let mut sources = vec![None; registers];
    let (mut tested, mut needed) = (vec![false; registers], vec![false; registers]);
    for step in steps {
        match &step.action {
            Action::Load { from, into } => {
                if matches!(from, Load::Argument(_) | Load::Kept(_) | Load::Constant(_)) {
                    sources[*into] = Some(from);
                }
                let _ = from.with(|base| {
                    needed[base] = true;
                    base
                });
            }
            Action::Check { register, .. } => tested[*register] = true,
            Action::Compare { register, other, .. } => {
                needed[*register] = true;
                needed[*other] = true;
            }
        }
    }
    let of_tests = |(register, source): (usize, Option<_>)| source.filter(|_| tested[register] && !needed[register]);
    sources.into_iter().enumerate().map(of_tests).collect()
}
