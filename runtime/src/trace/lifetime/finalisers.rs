//! Objects whose end runs code of the program: an instruction that drops the last reference to one runs natively, so that the code runs where
//! plain Python runs it.
//!
//! A compiled frame holds its arguments until the trace is over, so a trace must not go past such an instruction. After each instruction of
//! the outermost frame the trace follows strong references from the frame, and from all that outlives it. If it no longer finds one of
//! these objects, the instruction is a graph break. Somebody unknown may still hold the object; then the break was not needed.
use crate::ffi::{referents, types};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::materialised::Escape;
use crate::trace::state::outcome::End;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, hints, stop};
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::finalisable::{MAX_KEPT, ending_runs_code, is_finalisable, is_lasting};
use pyo3::intern;
use pyo3::prelude::*;

/// References that the search for such objects looks at when a trace begins.
const MAX_LOOKED_AT: usize = 1_000;

/// What the state of [`EndsSilently`] is written as.
const ENDS_SILENTLY: &str = "ends silently";

/// The condition that has written this state under this name; `None`: it is not of this room.
///
/// # Errors
/// Where it is no state of such a condition.
pub fn check_of(name: &str, state: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> {
    if name != ENDS_SILENTLY {
        return Ok(None);
    }
    let whole = state.extract::<bool>()?;
    Ok(Some(Box::new(if whole { EndsSilently::Altogether } else { EndsSilently::Itself })))
}

/// How much of an object must be quiet at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndsSilently {
    /// The object, whatever it holds.
    Itself,
    /// What ends with it, too.
    Altogether,
}

impl EndsSilently {
    fn asked(self) -> GuardRequest {
        match self {
            Self::Itself => GuardRequest::END,
            Self::Altogether => GuardRequest::WHOLE_END,
        }
    }
}

impl DomainCheck for EndsSilently {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Itself => !is_finalisable(value),
            Self::Altogether => is_lasting(value) || !ending_runs_code(value, &|_| 0),
        }
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).downcast_ref::<Self>() == Some(self)
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let whole = *self == Self::Altogether;
        Some((ENDS_SILENTLY, pyo3::types::PyBool::new(py, whole).to_owned().into_any()))
    }

    fn describe(&self) -> String {
        "runs no code when it ends".to_owned()
    }
}

impl<'py> Tracer<'py> {
    /// Looks for such objects among what would end with the values that the outermost frame was given.
    pub(crate) fn find_finalisers(&mut self, frame: &Frame) {
        self.state.given = self.state.values.len();
        let given = frame.locals.iter().flatten().filter_map(|value| self.real(*value));
        let given: Vec<_> =
            given.filter(|object| !crate::trace::value::kinds::is_scalar(object) && !is_lasting(object)).collect();
        let ending = referents::freed_with(given, MAX_LOOKED_AT, &|_| 0);
        self.state.finalisers.objects =
            ending.iter().filter(|object| is_finalisable(object)).map(|object| object.clone().unbind()).collect();
    }

    /// After an instruction of the outermost frame that went well: a graph break if it let one of the objects go.
    pub(crate) fn check_finalisers(&mut self, frame: &Frame, flow: Flow) -> Traced<()> {
        if !matches!(flow, Flow::Next | Flow::Jump(_)) || frame.pc < frame.leave.first {
            return Ok(());
        }
        if self.state.finalisers.private_copies != self.state.private_copies.len() {
            self.find_in_private_copies();
        }
        if self.state.finalisers.objects.is_empty() || self.holds_all(frame) {
            return Ok(());
        }
        let Some(lost) = self.first_lost(self.held_by(frame)) else { return Ok(()) };
        let_go(&lost)
    }

    /// One of the objects that an inlined frame has let go, and nobody else holds where the trace ends; the outermost frame's
    /// instruction must run natively.
    pub(crate) fn lost_inside(&self, end: &End) -> Option<Escape> {
        let End::Break { inner, .. } = end else { return None };
        if inner.is_empty() || self.state.finalisers.objects.is_empty() {
            return None;
        }
        self.first_lost(end.values())?;
        Some(Escape { step: self.state.outermost_step, what: "an object whose end runs code is let go".into() })
    }

    /// Whether several such objects end when the outermost frame ends with this result: the order is that of its variables.
    pub(crate) fn several_end(&mut self, result: ValueId) -> bool {
        self.state.finalisers.objects.len() > 1 && {
            let alive = self.reached(vec![result]);
            self.state.finalisers.objects.iter().filter(|object| !alive.contains(&(object.as_ptr() as usize))).count()
                > 1
        }
    }

    /// What containers from outside hold can go by a change of the container.
    fn find_in_private_copies(&mut self) {
        let from = self.state.finalisers.private_copies.min(self.state.private_copies.len());
        let state_copies =
            self.state.private_copies[from..].iter().filter_map(|private_copy| self.real(private_copy.value));
        let state_copies: Vec<_> = state_copies.collect();
        self.state.finalisers.private_copies = self.state.private_copies.len();
        for object in state_copies {
            let held = referents::direct(&object, MAX_LOOKED_AT).into_iter();
            let held = held.filter(|held| !crate::trace::value::kinds::is_scalar(held) && !is_lasting(held));
            let ending = held
                .flat_map(|held| referents::freed_with(vec![held], MAX_KEPT, &|address| self.references_to(address)));
            for held in ending.filter(is_finalisable).collect::<Vec<_>>() {
                if !self.state.finalisers.objects.iter().any(|known| known.is(&held)) {
                    self.state.finalisers.objects.push(held.unbind());
                }
            }
        }
    }

    /// A graph break before a place outside lets go of what it holds, if code runs at the end of that; else a guard that none does.
    pub(crate) fn before_overwriting(&mut self, held: Option<ValueId>) -> Traced<()> {
        let Some(held) = held else { return Ok(()) };
        match self.real(held) {
            Some(object)
                if !is_lasting(&object) && ending_runs_code(&object, &|address| self.references_to(address)) =>
            {
                let_go(&object)
            }
            _ => {
                self.guard_end(held, EndsSilently::Altogether);
                Ok(())
            }
        }
    }

    /// The same for a slot of an object from outside, without a guard.
    pub(crate) fn before_overwriting_slot(&self, object: ValueId, slot: &Bound<'py, PyAny>) -> Traced<()> {
        let held = self.real(object).and_then(|object| slot.call_method1(intern!(self.py, "__get__"), (object,)).ok());
        match held {
            Some(held) if !is_lasting(&held) && ending_runs_code(&held, &|address| self.references_to(address)) => {
                let_go(&held)
            }
            _ => Ok(()),
        }
    }

    /// Guards that no code runs at the end of a value that is let go, unless its type says so.
    pub(crate) fn guard_end(&mut self, value: ValueId, quiet: EndsSilently) {
        let (Some(object), Some(source)) = (self.real(value), self.source(value)) else { return };
        let has_type = self.state.guard_requests.has_any(value, GuardRequest::SAYS_TYPE);
        if has_type && (crate::trace::value::kinds::is_scalar(&object) || is_lasting(&object)) {
            return;
        }
        self.guard_once(value, quiet.asked(), source, Check::Domain(Box::new(quiet)), "the trace let go of it");
    }

    /// The same of all that ends with it.
    pub(crate) fn guard_whole_end(&mut self, value: ValueId) {
        self.guard_end(value, EndsSilently::Altogether);
    }

    /// Guards that the arguments which no longer stand in their places at the end are quiet.
    pub(crate) fn guard_arguments(&mut self, locals: &[Option<ValueId>]) {
        for value in (0..self.state.given).map(|index| ValueId(index as u32)) {
            let Value::Real { object, source: Some(Source::Local(slot)) } = self.value(value) else { continue };
            let stays = locals.get(*slot as usize).copied().flatten() == Some(value);
            if !stays && !is_finalisable(object.bind(self.py)) {
                self.guard_end(value, EndsSilently::Itself);
            }
        }
    }

    /// Such an object that guards would hold on to, as what a path begins with.
    pub(crate) fn finaliser_in_guards(&self) -> Option<ValueId> {
        let mut last = std::ptr::null_mut();
        self.state.guards.iter().find_map(|guard| {
            let constant = guard.source.beginning()?.bind(self.py);
            if std::mem::replace(&mut last, constant.as_ptr()) == constant.as_ptr()
                || crate::trace::value::kinds::is_definition(constant)
                || !is_finalisable(constant)
            {
                return None;
            }
            self.state.identity.get(&(constant.as_ptr() as usize)).copied()
        })
    }

    /// A graph break of the outermost frame because of what it let go, with the trace where it was before the instruction.
    pub(crate) fn refused_end(&mut self, frame: &mut Frame, signal: Unwind) -> Unwind {
        match signal {
            Unwind::Break(reason) if self.state.go_back(frame) => Unwind::Here(reason),
            signal => {
                // Not within the instruction: who holds the object there is not asked.
                self.state.again_at = Some(self.state.outermost_step);
                signal
            }
        }
    }
}

fn let_go<T>(object: &Bound<'_, PyAny>) -> Traced<T> {
    stop(
        "object whose end runs code is let go",
        types::name(&object.get_type()),
        "the instruction runs natively, so that the object ends where the program lets it go",
        hints::COVERAGE,
    )
}
