//! Compiles a frame: trace, record, emit, cache.
use super::cache::{Entry, KeptOfTrace};
use super::compiled::Compiled;
use super::dispatch::poisoned;
use super::emit_host::UnitHost;
use super::errors::graph_break;
use super::nested;
use super::report::record::{self, Frame, Times};
use crate::bytecode::{Code, flag};
use crate::emit::{self, Failure};
use crate::ffi::callable::Choice;
use crate::ffi::random_numbers::KeptGenerator;
use crate::ffi::{Args, eval_breaker, function};
use crate::graph_break::{Break, PASSING_STATE, SETS_OBSERVERS};
use crate::guard::{ChangeCounts, Program};
use crate::internal_error::InternalError;
use crate::split::metadata_in;
use crate::trace::os_signals::set_off;
use crate::trace::state::numbers::ChangingSources;
use crate::trace::state::outcome::{End, Outcome};
use crate::trace::{self, Stop};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Instant;

/// So many traces of a function may depend on numbers drawn at random: more of them than a few branches on such numbers make, and later ones
/// break where one is drawn.
const BRANCHES: usize = 4;

impl Compiled {
    /// Traces the frame and emits its code.
    pub(super) fn compile<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
        missed: Vec<String>,
    ) -> PyResult<Choice> {
        let domains = self.unit.shared.trace_caches.domains.loaded(args.py());
        if !self.unit.options.fullgraph && domains.iter().any(|domain| domain.is_watched(args.py())) {
            return Ok(Choice::Original);
        }
        self.undisturbed(args.py(), || self.compile_alone(function, args, missed))
    }

    /// Does what compiles: modes that would see what is called meanwhile are set aside, and nobody notices random numbers that are drawn: the
    /// compiler, and backends, call functions of the program on what stands for its tensors.
    pub(super) fn undisturbed<T>(&self, py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let mut aside = Vec::new();
        let domains = self.unit.shared.trace_caches.domains.loaded(py);
        for modes in domains.iter().filter_map(|domain| domain.taking_modes()) {
            aside.extend(modes.set_aside(py)?);
        }
        let generator = KeptGenerator::now(py);
        let done = work();
        generator.iter().for_each(KeptGenerator::put_back);
        drop(aside);
        done
    }

    fn compile_alone<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
        missed: Vec<String>,
    ) -> PyResult<Choice> {
        let py = args.py();
        let original = function.getattr("__code__")?;
        let kept = Arc::clone(&self.unit.kept);
        // A continuation's code runs nowhere but here: nothing asks for it again. Its control flow was followed when it was assembled.
        let code = if self.resumed.is_none() { kept.decode(&original)? } else { Arc::new(Code::read(&original)?) };
        let suspends = code.flags & flag::GENERATOR_LIKE != 0;
        if suspends && !code.is_continuation(py) {
            return match self.reads_frames(function, &code) {
                Some(reason) => self.skip(function, &code, original, reason),
                None => self.begin(function, &code, original),
            };
        }
        let locals: Vec<_> = args.iter().map(|value| Some(value.to_owned().unbind())).collect();
        let start = Instant::now();
        let entries = self.table()?.len();
        let passing_states = self.unit.options.fullgraph || entries == 0;
        let may_draw = self.unit.options.fullgraph || entries < BRANCHES && self.unit.may_draw();
        let stop_at = self.unit.shared.stop_at;
        let fullgraph = self.unit.options.fullgraph;
        // A continuation may break where an earlier trace has reported the break; no trace reports those of a generator's body.
        let refuses = fullgraph && (self.resumed.is_none() || suspends);
        let options = trace::Options {
            passing_states,
            may_draw,
            stop_at,
            fullgraph: refuses,
            may_wait: self.unit.may_wait(),
            backend: self.unit.options.backend.is_some(),
            changing: self.changing(&original, &code)?,
            function_caches: kept,
            ..trace::Options::of(fullgraph)
        };
        let traced = trace::trace(py, &self.unit.shared.trace_caches, function, &code, &locals, &options);
        let trace_ns = start.elapsed().as_nanos() as u64;
        let mut outcome = match traced {
            Ok(outcome) => outcome,
            Err(Stop::Internal(text)) => return Err(InternalError::new_err(text)),
            Err(Stop::Later) => {
                self.unit.wait();
                return Ok(Choice::Original);
            }
            Err(Stop::Fallback(reason)) => return self.skip(function, &code, original, reason),
        };
        self.unit.shared.add(|counters| &counters.instructions, outcome.steps);
        self.unit.shared.add(|counters| &counters.repeated, outcome.repeated);
        self.unit.shared.add(|counters| &counters.trace_ns, trace_ns);
        let waiting = outcome.signals.clone();
        if !waiting.is_empty() && self.unit.options.fullgraph {
            return run_interrupted(py, &waiting);
        }
        if !may_draw && matches!(&outcome.end, End::Break { reason, .. } if reason.kind == PASSING_STATE) {
            self.unit.break_at_draws();
        }
        if let End::Break { inner, .. } = &outcome.end
            && waiting.is_empty()
            && let Some(reason) = self.sees_breaks(function, &code, &outcome.end)
        {
            let inner = inner.iter().map(|frame| frame.code.original.clone_ref(py));
            nested::register(
                py,
                &self.unit,
                &outcome.inside.iter().map(|code| code.clone_ref(py)).chain(inner).collect::<Vec<_>>(),
            )?;
            return self.skip(function, &code, original, reason);
        }
        let stretch = self.resumed.is_some() && !suspends && emit::is_native_stretch(&code, &outcome);
        if !stretch {
            self.refuse_break(py, &code, &outcome)?;
        }
        nested::register(py, &self.unit, &outcome.inside)?;
        let frame = self
            .unit
            .shared
            .records()
            .then(|| {
                let told = if stretch { None } else { self.graph_break(&code, &outcome) };
                Frame::new(self.place(py), &code, &outcome, told)
            })
            .transpose()?;
        let words = match (&frame, self.is_near_limit()?) {
            (Some(frame), _) => Some(frame.words()),
            (None, true) => Some(record::words(py, &outcome.guards, &code)?),
            (None, false) => None,
        };
        let seen = std::mem::take(&mut outcome.seen);
        let inside = outcome.inside.iter().map(|code| code.clone_ref(py)).collect();
        let begun = emit::TracedFrame { function, arguments: &locals };
        let start = Instant::now();
        let host = UnitHost(Arc::clone(&self.unit));
        let emitted = match stretch {
            true => emit::emit_native_stretch(py, &code, function, &outcome, &host),
            false => emit::emit(py, &code, begun, outcome, &host),
        };
        let emitted = match emitted {
            Ok(emitted) => emitted,
            Err(Failure::Python(error)) => return Err(error),
            Err(Failure::Refused(_)) if !waiting.is_empty() => return run_interrupted(py, &waiting),
            Err(Failure::Refused(reason)) => return self.skip(function, &code, original, reason),
        };
        let emit_ns = start.elapsed().as_nanos() as u64;
        self.unit.shared.add(|counters| &counters.emit_ns, emit_ns);
        let times = Times { trace: trace_ns, backend: self.unit.take_backend_ns(), emit: emit_ns };
        let checked = emitted.guards.check(args, function);
        if let Some(mut frame) = frame {
            if let Ok(found) = &checked {
                frame.watch(&emitted.guards.residual(found, function, &ChangeCounts::default()).modes);
            }
            self.unit.shared.record(py, frame.finish(py, &emitted, times, missed)?);
        }
        // While the frame was traced, other threads and what ends objects may have changed what it reads.
        let is_right = checked.is_ok();
        if !waiting.is_empty() {
            return if is_right { Ok(Choice::Run(emitted.function)) } else { run_interrupted(py, &waiting) };
        }
        let kept = KeptOfTrace { seen, rebuild: emitted.rebuild, inside, ..KeptOfTrace::default() };
        let run = emitted.function;
        self.unit.shared.count(|counters| &counters.frames_compiled);
        self.forget_closure(run.bind(py))?;
        let entry = Entry::new(original.unbind(), emitted.guards, words, run.clone_ref(py), kept);
        self.keep(py, &entry)?;
        self.add(entry)?;
        if is_right && !eval_breaker::is_set(py) { Ok(Choice::Run(run)) } else { Ok(Choice::Original) }
    }

    /// Which numbers from outside the next trace takes for symbolic.
    fn changing(&self, original: &Bound<'_, PyAny>, code: &Code) -> PyResult<Arc<ChangingSources>> {
        let continuation = metadata_in(original)?;
        let mut loop_slots = continuation.map(|continuation| continuation.get().loop_slots(code)).unwrap_or_default();
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        cache.in_loop = !loop_slots.is_empty();
        if self.unit.options.dynamic == Some(false) {
            loop_slots.clear();
        }
        Ok(Arc::new(ChangingSources {
            keys: cache.changing.clone(),
            arguments: self.unit.options.dynamic == Some(true),
            loop_slots,
            again: cache.changed_again,
        }))
    }

    /// A generator's frame stays where it was made; its body runs in continuations, each traced when it begins.
    fn begin<'py>(&self, function: &Bound<'py, PyAny>, code: &Code, original: Bound<'py, PyAny>) -> PyResult<Choice> {
        let py = function.py();
        let run = match emit::begin(py, code, function, &UnitHost(Arc::clone(&self.unit))) {
            Ok(run) => run,
            Err(Failure::Python(error)) => return Err(error),
            Err(Failure::Refused(reason)) => return self.skip(function, code, original, reason),
        };
        self.forget_closure(run.bind(py))?;
        let guards = Program::new(py, Vec::new())?;
        let entry = Entry::new(original.unbind(), guards, None, run.clone_ref(py), KeptOfTrace::default());
        self.keep(py, &entry)?;
        self.add(entry)?;
        Ok(Choice::Run(run))
    }

    /// Compiled code must not keep the cells of a function alive that is made anew.
    pub(super) fn forget_closure(&self, run: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.any_closure { function::set_closure(run, None) } else { Ok(()) }
    }

    /// Under `fullgraph`, a break is an error; everywhere it is counted.
    fn refuse_break(&self, py: Python<'_>, code: &Code, outcome: &Outcome) -> PyResult<()> {
        let Some((reason, code, at)) = self.graph_break(code, outcome) else { return Ok(()) };
        self.unit.shared.count(|counters| &counters.graph_breaks);
        if !self.unit.options.fullgraph && !outcome.breaks_are_errors {
            return Ok(());
        }
        Err(graph_break(py, reason, &code.file, code.line(at)))
    }

    /// The graph break that a trace ends with, and where it is; none where another trace has reported it.
    fn graph_break<'a>(&self, code: &'a Code, outcome: &'a Outcome) -> Option<(&'a Break, &'a Code, usize)> {
        let entered = self.resumed.filter(|resumed| resumed.entered);
        let told = |at: usize| entered.is_some_and(|entered| entered.line == code.line(at));
        outcome.end.graph_break(code).filter(|(_, place, at)| !std::ptr::eq(*place, code) || !told(*at))
    }

    /// Why a frame is left alone that ends at this graph break: somebody would see it.
    fn sees_breaks(&self, function: &Bound<'_, PyAny>, code: &Code, end: &End) -> Option<String> {
        if let End::Break { reason, .. } = end
            && reason.kind == SETS_OBSERVERS
            && !self.unit.options.fullgraph
        {
            return Some(format!("who is told of frames would be told of a graph break: {}", reason.context));
        }
        self.reads_frames(function, code)
    }

    /// Why a frame is left alone that ends at a graph break: what comes after it would look at another one.
    fn reads_frames(&self, function: &Bound<'_, PyAny>, code: &Code) -> Option<String> {
        if self.resumed.is_some() || self.unit.options.fullgraph {
            return None;
        }
        let found = trace::names_frames(function, code)?;
        Some(format!("it looks at its own frame, which a graph break would end, or has somebody told of it: {found}"))
    }

    /// The frame runs as it is, from now on.
    fn skip<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        original: Bound<'py, PyAny>,
        reason: String,
    ) -> PyResult<Choice> {
        let py = function.py();
        let shared = &self.unit.shared;
        shared.count(|counters| &counters.frames_skipped);
        if self.unit.options.fullgraph {
            let reason = Break {
                kind: "frame left alone".into(),
                context: reason,
                explanation: "The frame cannot be traced as a whole, so it runs uncompiled.".into(),
                hints: vec!["compile the functions that it calls".into()],
            };
            return Err(graph_break(py, &reason, &code.file, code.firstlineno));
        }
        if shared.records() {
            shared.record(py, Frame::skipped(self.place(py), code, reason, Vec::new())?);
        }
        self.add(Entry::original(original.unbind()))?;
        Ok(Choice::Original)
    }
}

/// The frame runs as it is this once, and handles what waits as it begins.
fn run_interrupted(py: Python<'_>, waiting: &[i32]) -> PyResult<Choice> {
    set_off(py, waiting)?;
    Ok(Choice::Original)
}
