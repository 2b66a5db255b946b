//! Traces a frame. If an instruction breaks after a change that rollback cannot undo, the trace is made again up to that instruction.
use crate::bytecode::Code;
use crate::ffi::collector::Pause;
use crate::ffi::{callee, inspect, snapshot, types};
use crate::guard::source::Source;
use crate::trace::run::escapes::KIND;
use crate::trace::run::plan::{Attempt, Limit, Plan, Subject};
#[cfg(debug_assertions)]
use crate::trace::run::summary::{called_by_c, summary};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::caches::SharedCaches;
use crate::trace::state::frame::{Frame, FrameExit};
use crate::trace::state::materialised::Escape;
use crate::trace::state::numbers::FixedNumbers;
use crate::trace::state::options::{Options, Stop};
use crate::trace::state::outcome::{Break, End, NestedFrame, Outcome, RAISES};
use crate::trace::state::stop_points::StopPoints;
use crate::trace::state::tracer::{SpareState, State, Tracer};
use crate::trace::state::unwind::{Unwind, hints};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::mem::take;
use std::sync::Arc;

/// Traces a frame: `locals` are its fast locals as they are when it starts, parameters first.
pub fn trace(
    py: Python<'_>,
    shared_caches: &Arc<SharedCaches>,
    function: &Bound<'_, PyAny>,
    code: &Arc<Code>,
    locals: &[Option<Py<PyAny>>],
    options: &Options,
) -> Result<Outcome, Stop> {
    let _paused = Pause::new(py);
    let subject = Subject { function, code: Arc::clone(code), locals };
    let limit = options.stop_at.map(Limit::asked_for);
    let mut plan = Plan {
        domains: shared_caches.domains.loaded(py),
        shared_caches: Arc::clone(shared_caches),
        limit,
        ..Plan::default()
    };
    match attempts(py, &subject, options, &mut plan) {
        Ok(outcome) => {
            let repeated = plan.executed.saturating_sub(outcome.steps);
            Ok(Outcome { signals: crate::trace::process::os_signals::each(plan.signals), repeated, ..outcome })
        }
        Err(stop) => {
            let lost = |error| Stop::Internal(format!("a signal is lost: {error}"));
            crate::trace::process::os_signals::set_off(py, &plan.signals).map_err(lost)?;
            Err(stop)
        }
    }
}

/// How often ways are found to objects that are known under other ways, too. Where an object is made to hold itself, each trace finds one more.
const MAX_MERGES: usize = 64;

fn attempts(py: Python<'_>, subject: &Subject<'_, '_>, options: &Options, plan: &mut Plan) -> Result<Outcome, Stop> {
    loop {
        match attempt(py, subject, options, plan)? {
            Attempt::Done(outcome) => {
                #[cfg(debug_assertions)]
                confirm(py, subject, options, plan, &outcome)?;
                return Ok(*outcome);
            }
            Attempt::Track if plan.track => {
                return Err(Stop::Internal("the trace already keeps account of frames".into()));
            }
            Attempt::Track => plan.track = true,
            Attempt::Merge(paths) => {
                let before = plan.merged.len();
                plan.merged.extend(paths);
                if plan.merged.len() == before {
                    return Err(Stop::Internal("objects that have one value have several".into()));
                }
                plan.merges += 1;
                if plan.merges > MAX_MERGES {
                    return Err(Stop::Fallback(
                        "an object that the trace changes leads to itself in ever more ways".into(),
                    ));
                }
                // What came after the objects' values parted may be wrong.
                plan.limit = options.stop_at.map(Limit::asked_for);
                #[cfg(debug_assertions)]
                plan.went_back.take();
            }
            Attempt::Specialise(sources) => {
                let before = plan.fixed.len();
                plan.fixed.extend(sources);
                if plan.fixed.len() == before && std::mem::replace(&mut plan.all_known, true) {
                    return Err(Stop::Internal("numbers that are known are asked for again".into()));
                }
                plan.limit = options.stop_at.map(Limit::asked_for);
                #[cfg(debug_assertions)]
                plan.went_back.take();
            }
            Attempt::Close(most) if plan.left_open.replace(most).is_some_and(|before| before <= most) => {
                return Err(Stop::Internal("the trace leaves nothing open that contents decide".into()));
            }
            Attempt::LeaveBackward if std::mem::replace(&mut plan.native_backward, true) => {
                return Err(Stop::Internal("no call of the graph gives leaves their gradients".into()));
            }
            Attempt::Close(_) | Attempt::LeaveBackward | Attempt::Reread => {
                plan.limit = options.stop_at.map(Limit::asked_for);
                #[cfg(debug_assertions)]
                plan.went_back.take();
            }
            Attempt::ReplayedCall(next) => {
                #[cfg(debug_assertions)]
                plan.went_back.take();
                if plan.limit.as_ref().is_some_and(|limit| next.step >= limit.step) {
                    return Err(Stop::Internal(format!(
                        "the trace does not stop at step {}: {}",
                        next.step, next.reason.context
                    )));
                }
                plan.limit = Some(next);
            }
        }
    }
}

fn attempt(py: Python<'_>, subject: &Subject<'_, '_>, options: &Options, plan: &mut Plan) -> Result<Attempt, Stop> {
    let (limit, code) = (plan.limit.as_ref(), &subject.code);
    let mut state = State::roomy();
    state.domains.clone_from(&plan.domains);
    state.shared_caches = Arc::clone(&plan.shared_caches);
    state.function_caches = Arc::clone(&options.function_caches);
    state.stop_places.escaping = options.function_caches.escapes();
    state.stop_at = limit.map(|limit| limit.step);
    state.max_steps = options.max_steps;
    state.max_depth = options.max_depth;
    state.backend = options.backend;
    state.may_wait = options.may_wait;
    state.passing_states = options.passing_states;
    state.may_draw = options.may_draw;
    state.must_not_break = options.fullgraph;
    let globals = crate::ffi::inspect::globals(subject.function);
    state.outer_globals = globals.map_or(0, |globals| globals.as_ptr() as usize);
    let builtins = crate::ffi::inspect::builtins(subject.function);
    state.has_interpreter_builtins = builtins.is_some_and(|builtins| snapshot::is_builtins(&builtins));
    state.outer_code = Some(Arc::clone(code));
    state.trace = crate::trace::proxy::reentry::next_trace();
    state.track = plan.track;
    state.aliases.merged.clone_from(&plan.merged);
    state.numbers.all_known = plan.all_known;
    if !plan.all_known {
        state.numbers.changing = Arc::clone(&options.changing);
    }
    state.numbers.fixed.clone_from(&plan.fixed);
    state.numbers.left_open = plan.left_open;
    state.backward.are_native = plan.native_backward;
    let _nested = crate::trace::state::journal::NestedTrace;
    let mut tracer = Tracer { py, state, spare: SpareState::default() };
    tracer
        .refuse_left_alone(subject.function)
        .and_then(|()| tracer.refuse_record(subject.function))
        .map_err(to_stop)?;
    let mut frame = tracer.outer_frame(subject).map_err(to_stop)?;
    tracer.begin_taking_modes().map_err(to_stop)?;
    let rest = match subject.locals {
        [] => tracer.compiler_query(subject.function, &callee::qualname_of(subject.function), &Arguments::default()),
        _ => None,
    };
    let rest = rest.map_or_else(|| tracer.run(&mut frame), |answer| Ok(FrameExit::Returned(answer)));
    plan.signals.append(&mut tracer.state.signals);
    plan.executed += tracer.state.steps;
    tracer.switch_back().map_err(to_stop)?;
    if !matches!(rest, Ok(_) | Err(Unwind::Stopped | Unwind::Here(_))) {
        tracer.close_files();
    }
    if frame.pc < frame.leave.first
        && let Err(Unwind::Break(reason) | Unwind::Here(reason)) = &rest
    {
        return Err(Stop::Fallback(format!("before the frame can be left: {}: {}", reason.kind, reason.context)));
    }
    let mut inside = Vec::new();
    let mut end = match rest {
        Ok(FrameExit::Returned(value)) => End::Return { value, line: frame.code.line(frame.pc), kept: frame.locals },
        Ok(FrameExit::Yielded(_) | FrameExit::Generator) => {
            return Err(Stop::Internal("the outermost frame yielded".into()));
        }
        Err(Unwind::Stopped) => {
            let Some(limit) = limit else { return Err(Stop::Internal("stopped without a limit".into())) };
            inside = limit.inside.iter().map(|code| code.clone_ref(py)).collect();
            tracer.broken_at(frame, limit.reason.clone(), &mut inside)
        }
        Err(Unwind::Here(here)) => {
            inside = take(&mut tracer.state.broken_frames);
            #[cfg(debug_assertions)]
            {
                plan.went_back =
                    Some(Limit { step: tracer.state.outer_step, reason: (*here).clone(), inside: Vec::new() });
            }
            tracer.broken_at(frame, *here, &mut inside)
        }
        Err(Unwind::Track) => {
            // What is found here is found once more.
            plan.merged.extend(tracer.parted().into_iter().flatten());
            return Ok(Attempt::Track);
        }
        Err(Unwind::Reread) => return Ok(Attempt::Reread),
        Err(Unwind::Specialise) => return Ok(tracer.specialised(options.fullgraph && !plan.all_known)),
        // The trace is made again anyway.
        Err(Unwind::Break(_) | Unwind::Raised(_)) if let Some(parted) = tracer.parted() => {
            return Ok(Attempt::Merge(parted));
        }
        Err(Unwind::Break(reason)) => return Ok(tracer.again(*reason)),
        Err(Unwind::Raised(value)) => {
            let reason = tracer.raises(value);
            return Ok(tracer.again(reason));
        }
        Err(other) => return tracer.parted().map_or_else(|| Err(to_stop(other)), |parted| Ok(Attempt::Merge(parted))),
    };
    if let Some(parted) = tracer.parted() {
        return Ok(Attempt::Merge(parted));
    }
    let finished = match tracer.finish(&mut end) {
        Err(Unwind::Specialise) => return Ok(tracer.specialised(options.fullgraph && !plan.all_known)),
        finished => finished.map_err(to_stop)?,
    };
    // With numbers that are known it may go on, as in calls of backward.
    let is_worth = !plan.all_known && !tracer.state.numbers.inputs.is_empty();
    if is_worth && options.fullgraph && end.graph_break(code).is_some() {
        return Ok(Attempt::Specialise(FixedNumbers::default()));
    }
    match finished {
        Ok(()) => Ok(Attempt::Done(Box::new(tracer.outcome(end, inside)))),
        // Nobody asks how it goes on.
        Err(_) if options.fullgraph && end.graph_break(code).is_some() => {
            Ok(Attempt::Done(Box::new(tracer.outcome(end, inside))))
        }
        Err(_) if !tracer.state.numbers.open.is_empty() && plan.left_open != Some(0) => Ok(Attempt::Close(0)),
        Err(Escape { what, .. }) if tracer.state.stopped_late => {
            Err(Stop::Fallback(format!("value that cannot leave the trace, before the frame can be left: {what}")))
        }
        Err(Escape { step, what }) => {
            let step = plan.before(step, &tracer.state);
            Ok(Attempt::ReplayedCall(Limit { step, reason: escaped(what, &end), inside }))
        }
    }
}

/// A trace that went back to where it broke must be as one that was made again up to there.
#[cfg(debug_assertions)]
fn confirm(
    py: Python<'_>,
    subject: &Subject<'_, '_>,
    options: &Options,
    plan: &mut Plan,
    outcome: &Outcome,
) -> Result<(), Stop> {
    let Some(limit) = plan.went_back.take() else { return Ok(()) };
    // Other threads may have changed what the trace reads.
    if !crate::ffi::modules::import(py, "_thread")
        .and_then(|module| module.call_method0("_count")?.eq(0))
        .unwrap_or_default()
    {
        return Ok(());
    }
    plan.limit = Some(limit);
    let Attempt::Done(again) = attempt(py, subject, options, plan)? else {
        return Err(Stop::Internal("the trace, made again, does not end where it went back to".into()));
    };
    // What C kept from the first trace it does not ask for again.
    let whole = called_by_c(outcome) == called_by_c(&again);
    let (one, other) = (summary(outcome, whole), summary(&again, whole));
    if one != other {
        let why = match &again.end {
            End::Break { reason, .. } => format!("{}: {}", reason.kind, reason.context),
            _ => String::new(),
        };
        return Err(Stop::Internal(format!("going back gave\n{one}\nbut tracing again gives\n{other}\n{why}")));
    }
    Ok(())
}

/// The break that made the trace end is the reason; what could not leave is why it ends earlier still.
fn escaped(what: String, end: &End) -> Break {
    if let End::Break { reason, .. } = end
        && reason.kind != RAISES
    {
        let mut reason = reason.clone();
        let note = format!("; the trace ends before {what} is made, which compiled code could not make again");
        if !reason.explanation.contains(&note) {
            reason.explanation.push_str(&note);
        }
        return reason;
    }
    Break {
        kind: KIND.into(),
        context: what,
        explanation: "the value is made natively, because compiled code could not make it again".into(),
        hints: vec![hints::COVERAGE.into()],
    }
}

fn to_stop(signal: Unwind) -> Stop {
    match signal {
        Unwind::GivenUp(stop) => *stop,
        Unwind::Break(reason) => Stop::Fallback(format!("{}: {}", reason.kind, reason.context)),
        other => Stop::Internal(format!("unexpected {other:?}")),
    }
}

impl<'py> Tracer<'py> {
    /// The end of a trace whose outermost frame stands before the instruction that runs natively.
    fn broken_at(&mut self, mut frame: Frame, reason: Break, inside: &mut Vec<Py<PyAny>>) -> End {
        let NestedFrame { at, stack, locals, handled, .. } = self.entered(&mut frame);
        let mut inner = take(&mut self.state.nested_frames);
        inner.reverse();
        inside.retain(|code| !inner.iter().any(|entered| entered.code.original.is(code)));
        End::Break { at, stack, locals, handled, inner, reason }
    }

    /// What the next attempt knows; `may_know`: numbers may be known before the call of backward is left.
    fn specialised(&mut self, may_know: bool) -> Attempt {
        let may_know = may_know && !self.state.numbers.inputs.is_empty();
        match self.state.numbers.closing {
            _ if self.state.backward.giving_up && may_know => Attempt::Specialise(FixedNumbers::default()),
            _ if self.state.backward.giving_up => Attempt::LeaveBackward,
            Some(most) => Attempt::Close(most),
            None => Attempt::Specialise(self.state.numbers.take_to_fix()),
        }
    }

    fn again(&mut self, reason: Break) -> Attempt {
        let inside = take(&mut self.state.broken_frames);
        let step = self.state.again_at.unwrap_or_else(|| self.state.outer_step.saturating_sub(1));
        Attempt::ReplayedCall(Limit { step, reason, inside })
    }

    /// The instruction runs natively and raises again.
    pub(crate) fn raises(&mut self, value: ValueId) -> Break {
        let class = self.class_of(value).map_or_else(|_| "exception".to_owned(), |class| types::name(&class));
        let object = self.at_hand(value);
        // Not `str()`, which may run code of the program, and handles signals.
        let only = object.and_then(|object| inspect::exception_args(&object)?.get_item(0).ok());
        let message = only.filter(|only| only.is_instance_of::<PyString>());
        let message = message.map_or_else(String::new, |message| types::text(&message));
        Break {
            kind: RAISES.into(),
            context: format!("{class}: {message}"),
            explanation: "the instruction runs natively, so that the traceback is the program's own".into(),
            hints: Vec::new(),
        }
    }

    fn outer_frame(&mut self, subject: &Subject<'_, 'py>) -> Result<Frame, Unwind> {
        let Subject { function, code, locals } = subject;
        let mut values = Vec::with_capacity(locals.len());
        for (slot, local) in locals.iter().enumerate() {
            values.push(
                local.as_ref().map(|object| self.sourced(object.bind(self.py).clone(), Source::Local(slot as u32))),
            );
        }
        let cells = crate::ffi::inspect::function_closure(function)
            .and_then(|cells| cells.cast_into::<pyo3::types::PyTuple>().ok());
        let mut closure = Vec::new();
        for (index, cell) in cells.iter().flatten().enumerate() {
            closure.push(self.sourced(cell, Source::FreeCell(index as u32)));
        }
        let mut frame = self.frame_of(function, code.clone(), values)?;
        frame.closure = closure;
        frame.outermost = true;
        frame.leave = StopPoints::outermost(code.first_left_at(self.py));
        frame.put_in = code.put_in(self.py);
        self.find_finalisers(&frame);
        Ok(frame)
    }

    fn outcome(mut self, end: End, inside: Vec<Py<PyAny>>) -> Outcome {
        let (undo, breaks_are_errors) = (self.undo(), self.are_breaks_errors());
        let state = &mut *self.state;
        let mut outcome = Outcome {
            undo,
            values: take(&mut state.values),
            graph: take(&mut *state.graph),
            inputs: take(&mut *state.inputs),
            modes: take(&mut *state.restored_modes),
            symbols: take(&mut state.numbers.inputs).into_iter().map(|(source, _)| source).collect(),
            guards: take(&mut state.guards),
            acquired_first: take(&mut *state.acquired_first),
            effects: take(&mut *state.effects),
            end,
            breaks_are_errors,
            routes: take(&mut state.routes),
            steps: state.steps,
            seen: take(&mut state.seen),
            repeated: 0,
            inside,
            signals: Vec::new(),
        };
        state.make_room();
        crate::trace::finish::order::placeholders_first(&mut outcome, &self.state.dropped_nodes);
        crate::trace::finish::order::surroundings_first(&mut outcome);
        crate::trace::finish::order::system_first(&mut outcome);
        outcome
    }
}
