//! What the end of a suspended generator runs. CPython: `gen_close`, which throws `GeneratorExit` where the generator stands.
use crate::bytecode::{Instr, Op, STOPITERATION_ERROR};
use crate::trace::state::frame::Frame;
use crate::trace::state::generator::{Generator, GeneratorKind, GeneratorObject};
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::exceptions::{PyBaseException, PyGeneratorExit};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// How many instructions of handlers are looked at.
const MAX_STEPS: usize = 256;

/// Where an exception goes from an instruction of a handler.
enum Step {
    /// On to the instruction there.
    To(usize),
    /// Out of the handler.
    Out,
    /// The handler does something.
    Acts,
}

impl<'py> Tracer<'py> {
    /// Whether nothing but comparisons with other exceptions runs at the generator's end.
    pub(crate) fn closes_silently(&mut self, id: ValueId) -> Traced<bool> {
        // What a name means at the end may not be what it meant when the generator ended.
        let renamed = |effect: &Effect| matches!(effect, Effect::SetGlobal { .. } | Effect::DelGlobal { .. });
        if self.state.effects.iter().any(renamed) {
            return Ok(false);
        }
        let Some(GeneratorObject::Frame(Generator { kind: GeneratorKind::Generator, frame, .. })) =
            self.state.generators.get_mut(&id)
        else {
            return Ok(false);
        };
        let Some(suspended) = frame.take() else { return Ok(false) };
        let silent = self.frame_closes_silently(&suspended);
        if let Some(GeneratorObject::Frame(generator)) = self.state.generators.get_mut(&id) {
            generator.frame = Some(suspended);
        }
        silent
    }

    fn frame_closes_silently(&mut self, frame: &Frame) -> Traced<bool> {
        let names = frame.suspended_at().and_then(|instr| frame.names_compared_at_end(instr));
        let Some(names) = names.filter(|_| self.has_plain_names(frame)) else { return Ok(false) };
        for name in names {
            let text = PyString::new(self.py, &name);
            let Some(class) = self.frame_global(frame, &name, &text)? else { return Ok(false) };
            let Some(class) = self.known(class).and_then(|class| class.cast_into::<PyType>().ok()) else {
                return Ok(false);
            };
            let is_subclass =
                |one: &Bound<'py, PyType>, other: &Bound<'py, PyType>| crate::ffi::types::is_subtype(one, other);
            let exit = self.py.get_type::<PyGeneratorExit>();
            if !is_subclass(&class, &self.py.get_type::<PyBaseException>()) || is_subclass(&exit, &class) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Frame {
    /// The names of the classes with which handlers compare an exception that is thrown there and goes through all of them; `None` where a
    /// handler does anything else.
    fn names_compared_at_end(&self, instr: &Instr) -> Option<Vec<String>> {
        let mut names = Vec::new();
        let mut handler = instr.handler;
        let mut steps = 0;
        while let Some(entry) = handler {
            let mut at = self.code.index(entry.target)?;
            loop {
                steps += 1;
                let instr = self.code.instrs.get(at).filter(|_| steps < MAX_STEPS)?;
                match self.handler_step(at, instr, &mut names) {
                    Step::To(next) => at = next,
                    Step::Out => {
                        handler = instr.handler;
                        break;
                    }
                    Step::Acts => return None,
                }
            }
        }
        Some(names)
    }

    fn handler_step(&self, at: usize, instr: &Instr, names: &mut Vec<String>) -> Step {
        match instr.op {
            Op::CLEANUP_THROW | Op::RERAISE => Step::Out,
            Op::CALL_INTRINSIC_1 if instr.arg == STOPITERATION_ERROR => Step::To(at + 1),
            Op::PUSH_EXC_INFO | Op::BUILD_TUPLE | Op::CHECK_EXC_MATCH | Op::COPY | Op::POP_EXCEPT | Op::NOP => {
                Step::To(at + 1)
            }
            Op::LOAD_GLOBAL if instr.arg & 1 == 0 => match self.name(instr.arg >> 1) {
                Ok(name) => {
                    names.push(name.to_owned());
                    Step::To(at + 1)
                }
                Err(_) => Step::Acts,
            },
            // No class fits.
            Op::POP_JUMP_IF_FALSE | Op::POP_JUMP_FORWARD_IF_FALSE => {
                instr.target.and_then(|target| self.code.index(target)).map_or(Step::Acts, Step::To)
            }
            _ => Step::Acts,
        }
    }
}
