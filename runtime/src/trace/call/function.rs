//! Inlines Python functions: their frames, and those that C begins.
use crate::bytecode::flag;
use crate::ffi::types::{self, is_c_type};
use crate::ffi::{callee, inspect, referents};
use crate::graph_break::GETS_READY;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::operator::drawn_numbers;
use crate::trace::process::records;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Frame, FrameExit};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::options::Stop;
use crate::trace::state::reasons::CALLED_BY_C;
use crate::trace::state::stop_points::CallOrigin;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_definition;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::sync::Arc;

/// Who holds an argument that C has made: C, the frame that it begins, and the trace.
const OWN_HOLDERS: isize = 3;

impl<'py> Tracer<'py> {
    /// Inlines a Python function.
    pub(super) fn call_function(
        &mut self,
        origin: CallOrigin,
        callable: ValueId,
        function: &Bound<'py, PyAny>,
        args: Arguments,
    ) -> Traced<ValueId> {
        if let [argument] = args.positional.as_slice()
            && matches!(self.value(*argument), Value::New(New::Opaque("traceback")))
            && self.import("traceback", "clear_frames").is_ok_and(|clear| clear.is(function))
        {
            // The frames of an inlined call are gone with it.
            return Ok(self.none());
        }
        if let Some(result) = self.call_after_graph(function, &args)? {
            self.known(callable);
            return Ok(result);
        }
        let qualname = callee::qualname_of(function);
        if let Some(answer) = self.compiler_query(function, &qualname, &args) {
            self.known(callable);
            return Ok(answer);
        }
        self.wait_until_ready(self.refuse_left_alone(function))?;
        self.refuse_call(function, &qualname, &args)?;
        if let Some(result) = self.answered(function, &qualname, &args)? {
            self.known(callable);
            return Ok(result);
        }
        if self.owned(callable).is_none() {
            self.refuse_given_globals(inspect::globals(function).as_ref())?;
        }
        if self.owned(callable).is_none()
            && let Some(source) = self.source(callable)
        {
            self.rely_on_function(callable, function, source);
        }
        if let Some(attribute) = self.state.domains.iter().find_map(|domain| domain.compiled_from(function)) {
            let compiled = self.get_attr(callable, attribute)?;
            return self.call_by(origin, compiled, args);
        }
        if let Some(other) = self.state.domains.iter().find_map(|domain| domain.in_place_of(function)) {
            let other = self.absorb_static(other);
            return self.call_by(origin, other, args);
        }
        let Some(code) = inspect::function_code(function) else { return internal("function without code") };
        let code = self.decode(&code)?;
        if code.flags & flag::OPTIMIZED == 0 {
            return unsupported("class or module body that is called", qualname);
        }
        let locals = self.bind_arguments(function, &code, &qualname, args.clone())?;
        self.within_module(function, &args, |trace| trace.run_function(origin, function, code, locals, qualname))
    }

    /// One that the caller gave may be made anew at each call; any other is known by its identity.
    pub(crate) fn rely_on_function(&mut self, callable: ValueId, function: &Bound<'py, PyAny>, source: Source) {
        let (given, function) = (source.is_given(), function.clone().unbind());
        let check = if given { Check::FunctionLike(function) } else { Check::FunctionUnchanged(function) };
        self.guard_once(callable, GuardRequest::FUNCTION, source, check, "the trace inlined the function");
        if !given {
            self.state.guard_requests.insert(callable, GuardRequest::IS);
        }
    }

    /// Breaks where the function runs natively: it keeps records, or a domain says so.
    pub(crate) fn refuse_left_alone(&self, function: &Bound<'py, PyAny>) -> Traced<()> {
        let by_domain = || self.state.domains.iter().find_map(|domain| domain.leaves_alone(function));
        let reason = records::break_at(function).or_else(by_domain);
        reason.map_or(Ok(()), |reason| Err(Unwind::Break(reason)))
    }

    /// Breaks at the start of what a program calls for a record: entered by itself, it makes one.
    pub(crate) fn refuse_record(&self, function: &Bound<'py, PyAny>) -> Traced<()> {
        let asks = records::asks_for_record(function);
        if asks { Err(Unwind::Break(records::as_a_whole(callee::qualname_of(function)))) } else { Ok(()) }
    }

    /// Where a part of the program gets ready in a call, the outermost frame runs as it is; what comes of it is traced at the next call.
    pub(crate) fn wait_until_ready<T>(&self, refused: Traced<T>) -> Traced<T> {
        match refused {
            Err(Unwind::Break(reason)) if self.state.may_wait && reason.kind == GETS_READY => {
                Err(Unwind::GivenUp(Box::new(Stop::Later)))
            }
            refused => refused,
        }
    }

    /// Breaks where a domain has this call of the function run natively.
    fn refuse_call(&self, function: &Bound<'py, PyAny>, qualname: &str, args: &Arguments) -> Traced<()> {
        let argument = |at: usize| self.real(*args.positional.get(at)?);
        let domains = &self.state.domains;
        let reason = domains.iter().find_map(|domain| domain.leaves_call_alone(function, qualname, &argument));
        reason.map_or(Ok(()), |reason| Err(Unwind::Break(reason)))
    }

    /// The result of a function that is not traced; `None`: it is.
    fn answered(&mut self, function: &Bound<'py, PyAny>, qualname: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        match self.call_folded(function, qualname, args)? {
            None => match self.drawn_below(function, qualname, args)? {
                None => self.call_assumed_constant(function, function, args),
                answer => Ok(answer),
            },
            answer => Ok(answer),
        }
    }

    /// Inlines a Python function whose arguments are bound.
    fn run_function(
        &mut self,
        origin: CallOrigin,
        function: &Bound<'py, PyAny>,
        code: std::sync::Arc<crate::bytecode::Code>,
        locals: Vec<Option<ValueId>>,
        qualname: String,
    ) -> Traced<ValueId> {
        let mut frame = self.frame_of(function, code, locals)?;
        let origin = if frame.whole { CallOrigin::Within } else { origin };
        frame.leave = self.stop_points_of(origin, &frame.code, frame.globals.bind(self.py).as_any());
        let way = self.state.route.len();
        self.state.route.push(qualname.into());
        let rest = self.run_called(&mut frame);
        self.state.route.truncate(way);
        match rest? {
            FrameExit::Returned(value) => Ok(value),
            FrameExit::Yielded(_) => internal("a plain call yielded"),
            FrameExit::Generator => self.make_generator(frame),
        }
    }

    /// Goes through a frame that C has begun; gives what C gets for its result.
    pub(crate) fn enter_frame(&mut self, frame: crate::ffi::frame::Frame<'_>) -> Traced<Bound<'py, PyAny>> {
        let (function, code) = (frame.function(self.py), frame.code(self.py));
        let qualname = callee::qualname_of(&function);
        if frame.parameters() == 0
            && let Some(answer) = self.compiler_query(&function, &qualname, &Arguments::default())
        {
            return self.real(answer).map_or_else(|| self.native(answer), Ok);
        }
        self.refuse_left_alone(&function)?;
        let given: Vec<_> = (0..frame.parameters()).map(|slot| frame.slot(self.py, slot)).collect();
        let defaults = defaults_of(&function);
        let is_default = |value: &Bound<'py, PyAny>| defaults.iter().any(|default| default.is(value));
        let of_c: Vec<&Bound<'py, PyAny>> = given.iter().flatten().filter(|value| !is_default(value)).collect();
        of_c.into_iter().try_for_each(|value| self.refuse_stranger(value, OWN_HOLDERS))?;
        let mut local = |value| if is_default(&value) { self.absorb_static(value) } else { self.absorb(value) };
        let locals: Vec<Option<ValueId>> = given.into_iter().map(|value| value.map(&mut local)).collect();
        // Before any guard: what a folded function gives is kept, so that C may not ask it again.
        if let Some(args) = locals.iter().copied().collect::<Option<Vec<_>>>()
            && let Some(result) = self.answered(&function, &qualname, &Arguments::positional(args))?
        {
            return self.real(result).map_or_else(|| self.native(result), Ok);
        }
        let callable = self.absorb_static(function.clone());
        if self.owned(callable).is_none() {
            self.refuse_given_globals(inspect::globals(&function).as_ref())?;
            let source = Source::constant(&function);
            let check = Check::FunctionUnchanged(function.clone().unbind());
            self.guard_once(callable, GuardRequest::FUNCTION, source, check, CALLED_BY_C);
        }
        let code = self.decode(&code)?;
        if code.flags & flag::OPTIMIZED == 0 {
            return unsupported("class or module body that C runs", qualname);
        }
        let of_class = locals.first().copied().flatten().and_then(|first| self.owned(first));
        let order = qualname.ends_with(".mro") && of_class.is_some_and(|first| first.is_instance_of::<PyType>());
        let result = self.run_function(CallOrigin::Within, &function, code, locals, qualname)?;
        if order { self.real_classes(result) } else { self.native(result) }
    }

    /// Breaks where C gives code of the program an object that it has got by itself, from a module: the trace would take it for one that C has
    /// made. Such an object has holders besides C, the frame and the trace.
    fn refuse_stranger(&self, object: &Bound<'py, PyAny>, own_holders: isize) -> Traced<()> {
        if let Ok(items) = object.cast_exact::<PyTuple>() {
            // The tuple holds them, but neither the frame nor the trace.
            return items.iter_borrowed().try_for_each(|item| self.refuse_stranger(&item, OWN_HOLDERS - 1));
        }
        let class = object.get_type();
        let is_known =
            || self.value_of_proxy(object).is_some() || self.state.identity.contains_key(&(object.as_ptr() as usize));
        match !is_c_type(&class) && referents::count(object) > own_holders && !is_definition(object) && !is_known() {
            true => unsupported("object that C has got by itself", types::name(&class)),
            false => Ok(()),
        }
    }

    /// A frame ready to run. Locals are filled with arguments, the rest unbound.
    pub(crate) fn frame_of(
        &mut self,
        function: &Bound<'py, PyAny>,
        code: std::sync::Arc<crate::bytecode::Code>,
        mut locals: Vec<Option<ValueId>>,
    ) -> Traced<Frame> {
        let globals = inspect::globals(function).and_then(|globals| globals.cast_into::<PyDict>().ok());
        let (Some(globals), Some(builtins)) = (globals, inspect::builtins(function)) else {
            return unsupported("globals that are no dict", "globals");
        };
        let cells = inspect::function_closure(function).and_then(|closure| closure.cast_into::<PyTuple>().ok());
        let path = cells.as_ref().filter(|_| !self.is_made_here(function)).map(|_| self.closure_of(function));
        let closure = cells.into_iter().flatten().enumerate();
        let closure = closure.map(|(index, cell)| {
            let path = path.clone().map(|path| Source::Item(path, index));
            self.absorb_closure(cell, path)
        });
        let closure = closure.collect();
        locals.resize(code.locals.len(), None);
        self.state.frames += 1;
        Ok(Frame {
            function: function.clone().unbind(),
            code,
            globals: globals.unbind(),
            builtins: builtins.unbind(),
            closure,
            namespace: None,
            pc: 0,
            stack: Vec::new(),
            locals,
            outermost: false,
            whole: records::asks_for_record(function)
                || drawn_numbers::is_of_library(function)
                || self.state.domains.iter().any(|domain| domain.is_whole(function)),
            leave: crate::trace::state::stop_points::StopPoints::default(),
            put_in: Vec::new(),
            began: 0,
            serial: self.state.frames,
            exc_info: None,
        })
    }

    /// The path to an attribute of a function that the caller gave.
    pub(crate) fn part_of_given(&self, function: &Bound<'py, PyAny>, name: &str) -> Option<Arc<Source>> {
        let known = self.state.identity.get(&(function.as_ptr() as usize)).copied()?;
        let given = self.source(known).filter(Source::is_given)?;
        Some(Arc::new(Source::Attr(Arc::new(given), name.into())))
    }

    /// The path to the cells of a function: who kept the cells would keep what they hold.
    fn closure_of(&self, function: &Bound<'py, PyAny>) -> Arc<Source> {
        let given = self.part_of_given(function, "__closure__");
        given.unwrap_or_else(|| Arc::new(Source::Attr(Arc::new(Source::constant(function)), "__closure__".into())))
    }

    /// A cell of a function: of the trace's own, a proxy of one, or one that existed before.
    fn absorb_closure(&mut self, cell: Bound<'py, PyAny>, path: Option<Source>) -> ValueId {
        if let Some(value) = self.value_of_proxy(&cell) {
            return value;
        }
        match self.state.identity.get(&(cell.as_ptr() as usize)) {
            Some(id) => *id,
            None => match path {
                Some(path) => self.sourced(cell, path),
                None => self.constant(cell),
            },
        }
    }
}

/// The defaults of a function, which the interpreter fills in, not C.
fn defaults_of<'py>(function: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    let positional = inspect::function_defaults(function).and_then(|defaults| defaults.cast_into::<PyTuple>().ok());
    let keyword = inspect::function_kwdefaults(function).and_then(|defaults| defaults.cast_into::<PyDict>().ok());
    let mut defaults: Vec<_> = positional.iter().flatten().collect();
    defaults.extend(keyword.iter().flat_map(|defaults| defaults.values()));
    defaults
}
