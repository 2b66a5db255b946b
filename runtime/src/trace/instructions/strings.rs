//! Strings of f-strings.
use crate::bytecode::{Code, Op};
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;

/// Operations that format a part.
const FORMATS: [Op; 3] = [Op::FORMAT_SIMPLE, Op::FORMAT_WITH_SPEC, Op::FORMAT_VALUE];

impl<'py> Tracer<'py> {
    /// The text of a symbolic number that the graph makes, for the line that the number is part of seems to hold one that contents decide: no
    /// trace for each number.
    fn text_in_line(&mut self, frame: &Frame, value: ValueId, spec: Option<ValueId>) -> Traced<Option<ValueId>> {
        let is_open = |entry: &StackEntry| match entry {
            StackEntry::Object(part) => self.is_unread_text(*part),
            _ => false,
        };
        if !self.is_symbolic(value) || self.is_unread(value) {
            return Ok(None);
        }
        let Some((before, formats)) = parts_of_line(&frame.code, frame.pc) else { return Ok(None) };
        let has_open = frame.stack.iter().rev().take(before).any(is_open);
        match has_open || formats {
            true => self.text_of_symbolic(value, spec),
            false => Ok(None),
        }
    }

    pub(crate) fn build_string(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let parts = frame.pop_many(count as usize)?;
        if let Some(joined) = self.join_unread(&parts)? {
            self.fix_numbers_of_texts(&parts)?;
            frame.push(joined);
            return Ok(Flow::Next);
        }
        if let Some(joined) = self.join_computed(&parts)? {
            frame.push(joined);
            return Ok(Flow::Next);
        }
        let mut text = String::new();
        for part in parts {
            match self.known_str(part) {
                Some(part) => text.push_str(&part),
                None => return unsupported("f-string of an unknown value", "BUILD_STRING"),
            }
        }
        let text = pyo3::types::PyString::new(self.py, &text).into_any();
        let text = self.constant(text);
        frame.push(text);
        Ok(Flow::Next)
    }

    /// Conversion and format in one, up to 3.12.
    pub(crate) fn format_value(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let spec = if arg & 4 == 4 { Some(frame.pop()?) } else { None };
        if arg & 3 != 0 {
            self.convert_value(frame, arg & 3)?;
        }
        let Some(spec) = spec else { return self.format_simple(frame) };
        frame.push(spec);
        self.format_with_spec(frame)
    }

    pub(crate) fn format_simple(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.pop()?;
        let result = match self.text_in_line(frame, value, None)? {
            Some(text) => text,
            None if self.is_computed_text(value) || !self.is_symbolic(value) && self.known_str(value).is_some() => {
                value
            }
            None => self.call_builtin("format", &[value])?,
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn format_with_spec(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let spec = frame.pop()?;
        let value = frame.pop()?;
        let result = match self.text_in_line(frame, value, Some(spec))? {
            Some(text) => text,
            None => self.call_builtin("format", &[value, spec])?,
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(crate) fn convert_value(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let value = frame.pop()?;
        let name = match arg {
            1 => "str",
            2 => "repr",
            _ => "ascii",
        };
        let result = self.call_builtin(name, &[value])?;
        frame.push(result);
        Ok(Flow::Next)
    }
}

/// Of the f-string that a part at `at` is formatted for: how many parts stand before that one, and whether others are formatted after it.
/// `None`: it is no part of one, or what comes first may go elsewhere.
fn parts_of_line(code: &Code, at: usize) -> Option<(usize, bool)> {
    let depths = code.depths().ok()?.before;
    let after = |index: usize| depths.get(index).copied().flatten();
    let below = after(at + 1)?.checked_sub(1)?;
    let mut formats = false;
    for index in at + 1..code.instrs.len() {
        let (instr, depth) = (code.instrs.get(index)?, after(index)?);
        if instr.op == Op::BUILD_STRING && depth.checked_sub(instr.arg)? <= below {
            return Some(((below + instr.arg).checked_sub(depth)? as usize, formats));
        }
        formats |= FORMATS.contains(&instr.op);
        if instr.target.is_some() || after(index + 1)? <= below {
            return None;
        }
    }
    None
}
