//! Runs a frame symbolically: the loop over its instructions.
use crate::bytecode::{Code, Instr, Op, flag};
use crate::trace::state::frame::{Flow, Frame, FrameExit};
use crate::trace::state::tracer::{FramePosition, Tracer};
use crate::trace::state::unwind::{Traced, Unwind, fallback, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    pub(crate) fn decode(&self, code: &Bound<'py, PyAny>) -> Traced<Arc<Code>> {
        self.state
            .function_caches
            .decode(code)
            .or_else(|error| unsupported("code object that does not decode", error.to_string()))
    }

    /// Runs until the frame returns, yields, raises or stops.
    pub(crate) fn run(&mut self, frame: &mut Frame) -> Traced<FrameExit> {
        let line = u32::try_from(frame.code.firstlineno).unwrap_or(0);
        let function = frame.function.clone_ref(self.py);
        self.state.places.push(FramePosition {
            file: Arc::clone(&frame.code.file),
            line,
            op: Op::RESUME,
            at: frame.pc,
            function,
            serial: frame.serial,
            route: self.state.route.len(),
        });
        if self.state.track {
            self.state.held.push(crate::trace::state::lifetime::FrameReferences::default());
        }
        let stood_in = std::mem::take(&mut self.state.stood_in);
        let rest = self.run_here(frame);
        self.state.stood_in = stood_in;
        self.state.held.pop();
        self.rest_at(frame);
        match rest {
            // What lies under it is not compiled in its own right.
            Err(Unwind::Break(_)) if frame.whole => self.state.broken_frames.clear(),
            // The body of a class runs with the instruction that makes the class; what it calls is compiled in its own right.
            Err(Unwind::Break(_)) if !frame.outermost && frame.code.flags & flag::OPTIMIZED != 0 => {
                self.state.broken_frames.push(frame.code.original.clone_ref(self.py));
            }
            Err(Unwind::Here(_) | Unwind::Stopped) if !frame.outermost => self.nested_frames(frame),
            _ => {}
        }
        self.state.places.pop();
        rest
    }

    fn run_here(&mut self, frame: &mut Frame) -> Traced<FrameExit> {
        let code = Arc::clone(&frame.code);
        loop {
            let Some(instr) = code.instrs.get(frame.pc) else {
                return internal("control ran off the end of the code");
            };
            self.before(frame, instr)?;
            let flow = match self.ends_before(frame, instr) {
                Some(reason) => Err(Unwind::Break(reason)),
                None => self.step(frame, instr),
            };
            self.refuse_stand_in(matches!(flow, Err(Unwind::Raised(_))))?;
            self.refuse_stale_class()?;
            if frame.outermost
                && let Ok(next) = flow
            {
                self.check_finalisers(frame, next).map_err(|signal| self.refused_end(frame, signal))?;
            }
            match flow {
                Ok(Flow::Next) => frame.pc += 1,
                Ok(Flow::Jump(label)) => frame.pc = frame.code.index(label).map_or_else(|| internal("label"), Ok)?,
                Ok(Flow::Return(value)) => return Ok(FrameExit::Returned(value)),
                Ok(Flow::Yield(value)) => {
                    frame.pc += 1;
                    return Ok(FrameExit::Yielded(value));
                }
                Ok(Flow::Generator) => {
                    frame.pc += 1;
                    return Ok(FrameExit::Generator);
                }
                Err(Unwind::Raised(value)) => {
                    // A call in several instructions raises at its last.
                    let at = code.instrs.get(frame.pc).unwrap_or(instr);
                    if frame.leave.exposed && at.handler.is_none() && self.state.can_go_back(frame) {
                        let reason = Box::new(self.raises(value));
                        if self.state.go_back(frame) {
                            return Err(Unwind::Here(reason));
                        }
                    }
                    self.handle(frame, at, value)?;
                    if frame.outermost {
                        self.check_finalisers(frame, Flow::Next).map_err(|signal| self.refused_end(frame, signal))?;
                    }
                }
                Err(Unwind::Break(reason)) if self.state.go_back(frame) => {
                    return Err(Unwind::Here(reason));
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// A body that is another release's was no answer; nor was an error that is another release's.
    fn refuse_stand_in(&mut self, raised: bool) -> Traced<()> {
        let stood_in = std::mem::take(&mut self.state.stood_in);
        let Some(row) = stood_in.difference(raised) else { return Ok(()) };
        unsupported("C function that another release's does not stand in for", format!("{}: {}", row.name(), row.why))
    }

    fn before(&mut self, frame: &mut Frame, instr: &Instr) -> Traced<()> {
        #[cfg(debug_assertions)]
        if PyErr::occurred(self.py) {
            PyErr::take(self.py);
            return internal(format!("an exception was left set before {:?}", instr.op));
        }
        frame.began = frame.pc;
        let way = self.state.places.last().map_or(0, |place| place.route);
        self.state.route.truncate(way);
        if self.counts(frame) {
            if self.state.stop_at.is_some_and(|step| step <= self.state.outer_step) && frame.pc >= frame.leave.first {
                self.state.stopped_late = self.state.stop_at != Some(self.state.outer_step);
                return Err(Unwind::Stopped);
            }
            self.state.begin_instruction(frame);
            if frame.outermost {
                self.state.outermost_step = self.state.outer_step;
            }
            self.state.stop_places.passed.truncate(self.state.outer_step as usize);
            self.state.stop_places.passed.push(frame.outermost.then_some((instr.position, instr.op)));
            self.state.outer_step += 1;
        }
        if self.state.track {
            self.hold(frame, instr);
        }
        self.state.steps += 1;
        if self.state.steps > self.state.max_steps {
            return fallback(format!("more than {} instructions in one trace", self.state.max_steps));
        }
        if let Some(place) = self.state.places.last_mut() {
            if instr.position.line >= 0 {
                place.line = instr.position.line.unsigned_abs();
            }
            place.op = instr.op;
            place.at = frame.pc;
        }
        self.note_bound_of(frame, instr);
        self.note_seen_orders(frame, instr);
        Ok(())
    }

    /// Goes to the handler of an instruction that raised. CPython: `exception_unwind` in `Python/bytecodes.c`.
    pub(crate) fn handle(&mut self, frame: &mut Frame, instr: &Instr, value: ValueId) -> Traced<()> {
        self.pass(frame, instr, value);
        let Some(handler) = instr.handler else { return Err(Unwind::Raised(value)) };
        let unit = handler.lasti.then(|| self.stands_at(frame, instr).max(0) / 2);
        frame.stack.truncate(handler.depth as usize);
        if let Some(unit) = unit {
            let unit = pyo3::types::PyInt::new(self.py, unit).into_any();
            let unit = self.constant(unit);
            frame.push(unit);
        }
        frame.push(value);
        frame.pc = frame.code.index(handler.target).map_or_else(|| internal("handler label"), Ok)?;
        Ok(())
    }
}
