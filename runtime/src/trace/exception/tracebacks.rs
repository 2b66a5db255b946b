//! Tracebacks of exceptions that the trace raised: linked nodes, shared as CPython shares traceback objects. CPython: `Python/traceback.c`.
//!
//! A node becomes a value once the program looks at it. It leaves the trace only with its exception.
use crate::bytecode::{Instr, Op, flag};
use crate::trace::state::frame::Frame;
use crate::trace::state::materialised::Escape;
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::tracebacks::{FrameRef, LastPosition, TracebackNode};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{InlinedFrame, New, TracebackFrame, Value, ValueId};
use pyo3::exceptions::PyBaseException;
use pyo3::intern;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// `_PyInterpreterFrame_LASTI`, in bytes: what raises again goes back to where the exception came from.
    pub(crate) fn stands_at(&self, frame: &Frame, instr: &Instr) -> i32 {
        let own = match frame.outermost {
            true => frame.code.root_unit(self.py, frame.pc).map(|unit| unit * 2),
            false => instr.offset,
        };
        let own = own.and_then(|offset| i32::try_from(offset).ok()).unwrap_or(-1);
        if instr.op != Op::RERAISE || instr.arg == 0 {
            return own;
        }
        let entry = frame.stack.len().checked_sub(instr.arg as usize).and_then(|index| frame.stack.get(index));
        let Some(StackEntry::Object(unit)) = entry else { return own };
        let unit = self.real(*unit).and_then(|unit| unit.extract::<i32>().ok());
        unit.map_or(own, |unit| unit.saturating_mul(2))
    }

    /// `PyTraceBack_Here`; what raises again adds nothing.
    pub(crate) fn pass(&mut self, frame: &Frame, instr: &Instr, value: ValueId) {
        let again = match instr.op {
            Op::RERAISE | Op::CLEANUP_THROW | Op::END_ASYNC_FOR => true,
            Op::RAISE_VARARGS => instr.arg == 0 && self.state.handled() == Some(value),
            _ => false,
        };
        if again || is_incomplete(frame) {
            return;
        }
        let mark = FrameRef {
            serial: frame.serial,
            code: std::sync::Arc::new(frame.code.original.clone_ref(self.py)),
            globals: std::sync::Arc::new(frame.globals.clone_ref(self.py).into_any()),
            inlined: !frame.outermost,
        };
        let step = self.state.outer_step.saturating_sub(1);
        let tracebacks = &mut *self.state.tracebacks;
        tracebacks.named.insert(frame.serial);
        let next = tracebacks.heads.get(&value).copied();
        let lasti = instr.offset.and_then(|offset| i32::try_from(offset).ok()).unwrap_or(-1);
        tracebacks.nodes.push(TracebackNode { frame: mark, lasti, position: instr.position, next, value: None, step });
        tracebacks.heads.insert(value, tracebacks.nodes.len() - 1);
    }

    /// An exception from outside that has passed through frames of the trace: its traceback grows, which compiled code does not do.
    pub(crate) fn passed_from_outside(&self) -> Option<Escape> {
        let heads = self.state.tracebacks.heads.iter().filter(|(value, _)| self.real(**value).is_some());
        let nodes = heads
            .flat_map(|(_, head)| std::iter::successors(Some(*head), |node| self.state.tracebacks.nodes[*node].next));
        let step = nodes.map(|node| self.state.tracebacks.nodes[node].step).min()?;
        Some(Escape { step, what: "a longer traceback of an exception from outside".into() })
    }

    /// Whether a traceback names the frame.
    pub(crate) fn is_named(&self, serial: u64) -> bool {
        self.state.tracebacks.named.contains(&serial)
    }

    /// Notes where a frame that a traceback names has ended or been suspended.
    pub(crate) fn rest_at(&mut self, frame: &Frame) {
        if self.is_named(frame.serial) {
            let at = frame.code.instrs.get(frame.pc);
            let lasti = at.map_or(-1, |instr| self.stands_at(frame, instr));
            let from = |instr: &&Instr| instr.offset.is_some_and(|offset| i32::try_from(offset) == Ok(lasti));
            let from = frame.code.instrs.iter().find(from).filter(|from| at.is_some_and(|at| at.id != from.id));
            let line = match from {
                Some(instr) => instr.position.line,
                None => self.state.places.last().map_or(-1, |place| i32::try_from(place.line).unwrap_or(-1)),
            };
            self.state.tracebacks.ended.insert(frame.serial, LastPosition { lasti, line });
            self.keep_variables(frame);
        }
    }

    /// `exception.__traceback__`.
    pub(crate) fn traceback_of(&mut self, exception: ValueId) -> Traced<ValueId> {
        if self.owned(exception).is_none() {
            return unsupported("traceback of an exception", "the exception is from outside");
        }
        match self.state.tracebacks.heads.get(&exception).copied() {
            Some(node) => Ok(self.traceback_value(node)),
            None => Ok(self.none()),
        }
    }

    fn traceback_value(&mut self, node: usize) -> ValueId {
        if let Some(value) = self.state.tracebacks.nodes[node].value {
            return value;
        }
        let value = self.push(Value::New(New::Opaque("traceback")));
        self.state.tracebacks.nodes[node].value = Some(value);
        self.state.tracebacks.values.insert(value, node);
        value
    }

    /// `exception.__traceback__ = traceback`. CPython: `BaseException_set_tb`.
    pub(crate) fn set_traceback(&mut self, exception: ValueId, traceback: Option<ValueId>) -> Traced<()> {
        let Some(traceback) = traceback else {
            return self.raise("TypeError", "__traceback__ may not be deleted");
        };
        if self.owned(exception).is_none() {
            return unsupported("traceback of an exception", "the exception is from outside");
        }
        if self.is_none(traceback)? {
            self.state.tracebacks.heads.remove(&exception);
            return Ok(());
        }
        match self.state.tracebacks.values.get(&traceback).copied() {
            Some(node) => {
                self.state.tracebacks.heads.insert(exception, node);
                Ok(())
            }
            None if crate::ffi::types::is_c_class(&self.class_of(traceback)?, "traceback") => {
                unsupported("traceback of an exception", "a traceback from outside")
            }
            None => self.raise("TypeError", "__traceback__ must be a traceback or None"),
        }
    }

    /// Whether the value is an exception that the trace made.
    pub(crate) fn is_own_exception(&self, value: ValueId) -> bool {
        self.owned(value).is_some_and(|object| object.is_instance_of::<PyBaseException>())
    }

    /// An attribute of a traceback or of a frame of the trace; `None` for other values.
    pub(crate) fn traceback_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        if let Some(mark) = self.state.tracebacks.frames.get(&object).cloned() {
            return self.frame_attr(&mark, name).map(Some);
        }
        let Some(node) = self.state.tracebacks.values.get(&object).copied() else { return Ok(None) };
        let node = &self.state.tracebacks.nodes[node];
        let (lasti, line, next, mark) = (node.lasti, node.position.line, node.next, node.frame.clone());
        Ok(Some(match (name, next) {
            ("tb_next", Some(next)) => self.traceback_value(next),
            ("tb_next", None) => self.none(),
            ("tb_lineno", _) if line >= 0 => self.number(line),
            ("tb_lineno", _) => self.none(),
            ("tb_lasti", _) if lasti >= 0 => self.number(lasti),
            ("tb_frame", _) => self.frame_value(mark),
            _ => return unsupported("traceback of an exception", name),
        }))
    }

    pub(crate) fn number(&mut self, number: i32) -> ValueId {
        let number = pyo3::types::PyInt::new(self.py, number).into_any();
        self.constant(number)
    }

    fn frame_value(&mut self, mark: FrameRef) -> ValueId {
        if let Some(value) = self.state.tracebacks.frame_values.get(&mark.serial) {
            return *value;
        }
        let value = self.push(Value::New(New::Opaque("frame")));
        self.state.tracebacks.frame_values.insert(mark.serial, value);
        self.state.tracebacks.frames.insert(value, mark);
        value
    }

    /// `sys._getframe(depth)` within the trace; who called it is not known.
    pub(crate) fn frame_above(&mut self, depth: usize) -> Traced<Option<ValueId>> {
        let Some(place) = self.state.places.iter().rev().nth(depth) else { return Ok(None) };
        let (serial, function) = (place.serial, place.function.bind(self.py).clone());
        let (code, globals) =
            (function.getattr(intern!(self.py, "__code__")), function.getattr(intern!(self.py, "__globals__")));
        let (Ok(code), Ok(globals)) = (code, globals) else { return Ok(None) };
        let mark = FrameRef {
            serial,
            code: std::sync::Arc::new(code.unbind()),
            globals: std::sync::Arc::new(globals.unbind()),
            inlined: self.state.places.len() > depth + 1,
        };
        Ok(Some(self.frame_value(mark)))
    }

    fn frame_attr(&mut self, mark: &FrameRef, name: &str) -> Traced<ValueId> {
        match name {
            "f_code" => {
                let code = mark.code.bind(self.py).clone();
                Ok(self.constant(code))
            }
            "f_lineno" => {
                let running = self.state.places.iter().rev().find(|place| place.serial == mark.serial);
                let line = match running {
                    Some(place) => i32::try_from(place.line).ok(),
                    None => self.state.tracebacks.ended.get(&mark.serial).map(|place| place.line),
                };
                match line {
                    Some(line) if line >= 0 => Ok(self.number(line)),
                    _ => unsupported("frame of a traceback", name),
                }
            }
            "f_builtins" => {
                let builtins = mark.globals.bind(self.py).get_item("__builtins__").ok();
                let dict = builtins.map(|found| found.getattr(intern!(self.py, "__dict__")).unwrap_or(found));
                match dict.and_then(|dict| dict.cast_into::<pyo3::types::PyDict>().ok()) {
                    Some(dict) if !self.are_of_one_call(mark.globals.bind(self.py)) => self.globals_value(&dict),
                    _ => unsupported("frame of a traceback", name),
                }
            }
            "f_locals" => self.frame_variables(mark.serial),
            "f_globals" => match mark.globals.bind(self.py).clone().cast_into::<pyo3::types::PyDict>() {
                Ok(globals) => self.globals_value(&globals),
                Err(_) => unsupported("frame of a traceback", name),
            },
            _ => unsupported("frame of a traceback", name),
        }
    }

    /// Whether the traceback of an exception names the outermost frame.
    pub(crate) fn names_outermost(&self, exception: ValueId) -> bool {
        let tracebacks = &self.state.tracebacks;
        let first = tracebacks.heads.get(&exception).and_then(|node| tracebacks.nodes.get(*node));
        let mut nodes = std::iter::successors(first, |node| tracebacks.nodes.get(node.next?));
        nodes.any(|node| !node.frame.inlined)
    }

    /// Whether the traceback of an exception names a frame whose globals are a dict that the caller gave.
    pub(crate) fn passed_given_globals(&self, exception: ValueId) -> bool {
        let tracebacks = &self.state.tracebacks;
        let first = tracebacks.heads.get(&exception).and_then(|node| tracebacks.nodes.get(*node));
        let mut nodes = std::iter::successors(first, |node| tracebacks.nodes.get(node.next?));
        let given = &self.state.given_globals;
        nodes.any(|node| given.contains_key(&(node.frame.globals.as_ptr() as usize)))
    }

    /// Where an exception passed through, innermost first, for emitted code.
    pub(crate) fn passed(&self, exception: ValueId) -> Vec<TracebackFrame> {
        let mut passed = Vec::new();
        let mut node = self.state.tracebacks.heads.get(&exception).copied();
        while let Some((at, TracebackNode { frame, lasti, position, next, .. })) =
            node.and_then(|node| Some((node, self.state.tracebacks.nodes.get(node)?)))
        {
            let rest = self.state.tracebacks.ended.get(&frame.serial).map_or(*lasti, |place| place.lasti);
            let inlined = frame.inlined.then(|| InlinedFrame {
                rest,
                code: frame.code.clone(),
                globals: match self.is_made_here(frame.globals.bind(self.py)) {
                    true => std::sync::Arc::new(pyo3::types::PyDict::new(self.py).into_any().unbind()),
                    false => frame.globals.clone(),
                },
                lasti: *lasti,
                variables: self.rested_variables(frame.serial),
                namespace: self.rested_namespace(frame.serial),
            });
            passed.push(TracebackFrame { inlined, position: *position, node: at });
            node = *next;
        }
        passed.reverse();
        passed
    }
}

/// `_PyFrame_IsIncomplete`: a frame whose generator is not made yet; from 3.15 on a generator expression asks its iterable for an iterator there.
fn is_incomplete(frame: &Frame) -> bool {
    let coming = || Some(frame.code.instrs.get(frame.pc..frame.code.start()?)?.iter());
    frame.code.flags & flag::GENERATOR_LIKE != 0
        && coming().is_some_and(|mut coming| coming.any(|instr| instr.op == Op::RETURN_GENERATOR))
}
