//! Modes that take over calls of a library's functions while they are active (PyTorch: `TorchFunctionMode`). The trace goes through the
//! method of the innermost one, as the library would: that mode is not active meanwhile.
//!
//! In the thread something stands for each mode that is active in the trace, so that the library itself says what it hands to modes. The modes
//! from outside are set aside while the compiler works, and while the graph runs.
use crate::domain::{Callee, Domain, ModeStep};
use crate::ffi::callee;
use crate::guard::source::Source;
use crate::trace::state::outcome::{Effect, LockHold};
use crate::trace::state::process::{BoundCall, ModeInForce, TakingModes};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Begins with the modes that the program has made active around the call.
    pub(crate) fn begin_taking_modes(&mut self) -> Traced<()> {
        for domain in self.state.domains.clone() {
            let outer = domain.taking_modes().map(|modes| modes.outer(self.py)).unwrap_or_default();
            for mode in outer {
                let source = Source::constant(&mode);
                let mode = self.sourced(mode, source);
                self.activate(&domain, mode)?;
            }
            if !self.state.taking_modes.active.is_empty() {
                let outer = self.state.taking_modes.active.clone();
                self.state.taking_modes.outer = outer;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether any is active for the trace.
    pub(crate) fn has_taking_modes(&self) -> bool {
        !self.state.taking_modes.active.is_empty()
    }

    /// Whether the program has made some active around the call, whether or not they are so now.
    pub(crate) fn has_modes_from_outside(&self) -> bool {
        !self.state.taking_modes.outer.is_empty()
    }

    /// A function that makes a mode active, or no longer, or that gives one; `None`: it is another.
    pub(crate) fn step_modes(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        const KIND: &str = "modes that take over calls";
        let Callee::Function(function) = callee else { return Ok(None) };
        let Some((modes, step)) = domain.taking_modes().and_then(|modes| Some((modes, modes.step(function)?))) else {
            return Ok(None);
        };
        self.rely_on_surroundings(domain)?;
        let active = self.state.taking_modes.active.clone();
        if !modes.are_of_trace(self.py, active.len()) {
            return unsupported(KIND, "of several kinds");
        }
        match (step, args) {
            (ModeStep::Begin, [mode]) => {
                self.activate(domain, *mode)?;
                Ok(Some(self.none()))
            }
            (ModeStep::End, []) if !active.is_empty() => self.deactivate(domain).map(Some),
            (ModeStep::Get, [index]) => {
                let index = self.known(*index).and_then(|index| index.extract::<usize>().ok());
                match index.and_then(|index| active.get(index)) {
                    Some(mode) => Ok(Some(*mode)),
                    None => unsupported(KIND, "one that is not active"),
                }
            }
            _ => unsupported(KIND, callee::name_of(function)),
        }
    }

    fn activate(&mut self, domain: &Arc<dyn Domain>, mode: ValueId) -> Traced<()> {
        self.step_marker(domain, true)?;
        self.state.taking_modes.active.push(mode);
        Ok(())
    }

    fn deactivate(&mut self, domain: &Arc<dyn Domain>) -> Traced<ValueId> {
        self.step_marker(domain, false)?;
        self.state.taking_modes.active.pop().map_or_else(|| internal("no mode is active"), Ok)
    }

    /// Adds something that stands for a mode, or takes it away.
    fn step_marker(&mut self, domain: &Arc<dyn Domain>, begins: bool) -> Traced<()> {
        let Some(modes) = domain.taking_modes() else { return internal("a library without modes") };
        let bind = |(callable, args): (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)| -> PyResult<BoundCall> {
            Ok((callable.unbind(), PyTuple::new(self.py, args)?.unbind()))
        };
        let kept = || {
            let change = modes.marker(self.py, begins)?;
            let (set, args) = change.set;
            set.call1(PyTuple::new(self.py, args)?)?;
            let questions = change.questions.into_iter().map(bind).collect::<PyResult<_>>()?;
            PyResult::Ok(ModeInForce { undo: change.undo.map(bind).transpose()?, questions })
        };
        let kept = kept().or_else(|error| internal(error.to_string()))?;
        self.state.mode_changes.push(kept);
        Ok(())
    }

    /// What the innermost mode gives for a call; `None`: none takes it over.
    pub(crate) fn call_of_mode(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<Option<ValueId>> {
        let Some(modes) = domain.taking_modes().filter(|modes| self.has_taking_modes() && modes.take_over(self.py))
        else {
            return Ok(None);
        };
        if !modes.see(callee).map_err(Unwind::Break)? {
            return Ok(None);
        }
        self.rely_on_surroundings(domain)?;
        let (positional, named, known) = self.arguments_like(domain, args, keywords)?;
        let handed = modes.handed(callee, positional, &named).map_err(Unwind::Break)?;
        let Some(handed) = handed else { return Ok(None) };
        let given = self.given_over(domain, &handed, &known)?;
        let mode = self.deactivate(domain)?;
        let method = self.get_attr(mode, handed.method)?;
        let result = self.call_deeper(method, given.arguments());
        if matches!(result, Ok(_) | Err(Unwind::Raised(_))) {
            self.activate(domain, mode)?;
        }
        let result = result?;
        match self.is_not_implemented(result) {
            true => unsupported("call that no mode takes over", callee::name_of(&handed.function)),
            false => Ok(Some(result)),
        }
    }

    /// At the end compiled code makes those active that are so for the trace.
    pub(crate) fn leave_taking_modes(&mut self) -> Traced<()> {
        let TakingModes { outer, active } = std::mem::take(&mut *self.state.taking_modes);
        let domains = self.state.domains.clone();
        let relied = |domain: &&Arc<dyn Domain>| self.state.guarded_domains.set.contains(domain.name());
        let Some(modes) = domains.iter().filter(relied).find_map(|domain| domain.taking_modes()) else {
            return Ok(());
        };
        if outer.is_empty() && active.is_empty() {
            return Ok(());
        }
        let functions = modes.functions(self.py).or_else(|error| internal(error.to_string()));
        let [begin, end, aside, back] = functions?;
        if !outer.is_empty() {
            let (acquire, release) = (self.constant(aside), self.constant(back));
            let hold = LockHold { acquire, release, lock: None };
            self.state.acquired_first.push(hold);
            self.state.effects.push(hold.give_back());
        }
        let kept = outer.iter().zip(&active).take_while(|(one, other)| one == other).count();
        for _ in &outer[kept..] {
            let callable = self.constant(end.clone());
            self.state.effects.push(Effect::Call { callable, args: Vec::new() });
        }
        for mode in &active[kept..] {
            let callable = self.constant(begin.clone());
            self.state.effects.push(Effect::Call { callable, args: vec![*mode] });
        }
        Ok(())
    }
}
