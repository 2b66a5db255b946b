//! How the frame goes on after the prologue: it returns, raises, or enters the native tail.
use super::failure::{Failure, fault};
use super::frame_packet::Packet;
use super::frame_state::{handled_at, state};
use super::host::Host;
use super::prologue::Arg;
use super::writer::Writer;
use crate::bytecode::shape::{Entry, State};
use crate::bytecode::{Code, Op};
use crate::guard::source::Source;
use crate::split::{Split, split};
use crate::trace::os_signals::PendingSignal;
use crate::trace::state::outcome::{End, Outcome, StackEntry};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// The body that a prologue is put before.
#[derive(Debug)]
pub enum Frame {
    /// Ends with the prologue; only the original's start is kept.
    Whole(Code),
    /// Goes on natively at the instruction that broke, or at the call that entered the frame that did.
    Tail(Box<Tail>),
}

/// A frame that goes on natively.
#[derive(Debug)]
pub struct Tail {
    /// Its code.
    pub split: Split,
    /// Before the instruction.
    state: State,
    /// How that is reached.
    pub way: TailEntry,
    /// The packets of the frames that it has entered, one in the other.
    pub(super) inner: Vec<Packet>,
}

/// How the native tail is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailEntry {
    /// By a jump.
    Jump,
    /// With signals waiting.
    Interrupted,
}

impl Frame {
    /// Splits the code where the trace broke.
    pub fn new(py: Python<'_>, code: &Code, outcome: &Outcome, host: &dyn Host) -> Result<Self, Failure> {
        let End::Break { at, stack, locals, inner, .. } = &outcome.end else {
            return Ok(Self::Whole(start_of(py, code)?));
        };
        let state = state(code, *at, stack, locals)?;
        let split = split(py, code, *at, &state, host.constants())?;
        let way = if outcome.signals.is_empty() { TailEntry::Jump } else { TailEntry::Interrupted };
        let inner = inner.iter().map(|entered| Packet::new(py, entered, host)).collect::<Result<_, _>>()?;
        Ok(Self::Tail(Box::new(Tail { split, state, way, inner })))
    }
}

/// A copy of the code that ends after `RESUME`.
fn start_of(py: Python<'_>, code: &Code) -> Result<Code, Failure> {
    let mut start = code.duplicate(py);
    let resume = start.start().ok_or_else(|| fault("the code has no RESUME".into()))?;
    start.instrs.truncate(resume + 1);
    Ok(start)
}

impl Writer<'_, '_> {
    /// Writes what comes last.
    pub fn finish(&mut self, frame: &Frame) -> Result<(), Failure> {
        match (&self.outcome.end, frame) {
            (End::Return { value, kept, line }, _) => {
                self.load(*value)?;
                if !kept.is_empty() {
                    self.locals(kept)?;
                    self.clear_temporaries();
                    self.at_line(*line);
                }
                self.plain(Op::RETURN_VALUE, 0);
                Ok(())
            }
            (End::Raise(value), _) => {
                self.load(*value)?;
                self.plain(Op::RAISE_VARARGS, 1);
                Ok(())
            }
            (End::Break { stack, locals, handled, inner, .. }, Frame::Tail(tail)) => {
                self.stack(stack, &tail.state, *handled, &|writer| writer.entered(inner, &tail.inner))?;
                self.locals(locals)?;
                self.clear_temporaries();
                self.signals()
            }
            (End::Break { .. }, Frame::Whole(_)) => Err(fault("a break without a tail".into())),
        }
    }

    /// Sends the pending signals again: what follows looks for them.
    fn signals(&mut self) -> Result<(), Failure> {
        for number in &self.outcome.signals {
            self.constant(self.py.None().into_bound(self.py));
            self.constant(Bound::new(self.py, PendingSignal)?.into_any());
            self.constant(PyInt::new(self.py, *number).into_any());
            self.plain(Op::STORE_SUBSCR, 0);
        }
        Ok(())
    }

    /// Pushes the value stack; handlers are entered as the interpreter enters them: the exception handled before is pushed and
    /// the one that is handled now comes next, unless the handler took it off already.
    fn stack(
        &mut self,
        stack: &[StackEntry],
        state: &State,
        handled: Option<ValueId>,
        callee: &dyn Fn(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let previous = |index: usize| state.stack.get(index) == Some(&Entry::PreviousException);
        let mut index = 0;
        while let Some(entry) = stack.get(index) {
            match (previous(index), entry) {
                (true, _) => {
                    let now = handled_at(index, stack, state, handled)?;
                    if self.is_none(now) {
                        self.handle_nothing();
                        index += 1;
                        continue;
                    }
                    self.load(now)?;
                    self.plain(Op::PUSH_EXC_INFO, 0);
                    if !previous(index + 1) && stack.get(index + 1) == Some(&StackEntry::Object(now)) {
                        index += 1;
                    } else {
                        self.plain(Op::POP_TOP, 0);
                    }
                }
                (false, StackEntry::Object(value)) => self.load(*value)?,
                (false, StackEntry::Null) => self.plain(Op::PUSH_NULL, 0),
                (false, StackEntry::Callee) => callee(self)?,
            }
            index += 1;
        }
        self.units(state)
    }

    fn is_none(&self, value: ValueId) -> bool {
        let value = self.outcome.values.get(value.0 as usize);
        matches!(value, Some(Value::Real { object, .. }) if object.bind(self.py).is_none())
    }

    /// Pushes the exception handled before, where none is handled now: the handler has ended already. `PUSH_EXC_INFO` takes an exception only,
    /// as CPython's debug builds check, so one is handled for as long as it takes.
    fn handle_nothing(&mut self) {
        self.constant(self.exception.clone());
        for (op, arg) in [(Op::PUSH_EXC_INFO, 0), (Op::POP_TOP, 0), (Op::COPY, 1), (Op::POP_EXCEPT, 0)] {
            self.plain(op, arg);
        }
    }

    /// Makes places in code of the objects that stand for them.
    fn units(&mut self, state: &State) -> Result<(), Failure> {
        let places: Vec<usize> = (0..state.stack.len()).filter(|index| state.stack[*index] == Entry::Unit).collect();
        if !places.is_empty() && self.code.isa().tags_units() {
            self.constant(self.unit_writer.clone());
            self.constant(PyTuple::new(self.py, places)?.into_any());
            let (op, arg) = self.code.isa().subscription();
            self.plain(op, arg);
            self.plain(Op::POP_TOP, 0);
        }
        Ok(())
    }

    /// Gives every slot its value: all are loaded before one is stored.
    fn locals(&mut self, locals: &[Option<ValueId>]) -> Result<(), Failure> {
        let mut stores = Vec::new();
        for (slot, value) in locals.iter().enumerate() {
            match value {
                Some(value) if !self.stays(slot, *value) => {
                    self.load(*value)?;
                    stores.push(slot);
                }
                Some(_) => {}
                None if slot < self.code.arguments() => {
                    self.plain(Op::PUSH_NULL, 0);
                    stores.push(slot);
                }
                None => {}
            }
        }
        stores.into_iter().rev().for_each(|slot| self.op(Op::STORE_FAST, Arg::Slot(slot)));
        Ok(())
    }

    /// Whether the slot holds the value already: an argument that was not assigned, a cell of the closure.
    fn stays(&self, slot: usize, value: ValueId) -> bool {
        let Ok(Value::Real { source: Some(source), .. }) = self.value(value) else { return false };
        match source {
            Source::Local(at) => self.place_of_argument(*at as usize) == slot && !self.is_boxed(slot),
            Source::FreeCell(index) => self.code.first_free() + *index as usize == slot,
            _ => false,
        }
    }
}
