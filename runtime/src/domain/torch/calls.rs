//! PyTorch as a domain: tensors are values of the graph; metadata of results comes from running the operation on the `meta` device.
//!
//! Long: it answers all that a domain is asked, and does nothing else.
use super::bases::BASE;
use super::contents::open_sizes::takes_open_sizes;
use super::examples::open::{Unread, is_open};
use super::examples::placed::place_of;
use super::examples::unheard::says;
use super::functions::backward::GRADIENT;
use super::functions::kinds::SIZE;
use super::functions::{after, compilers, leaves, module_calls, natives, training, wholes};
use super::generators::{draws_from, with_generator, without_generator};
use super::graph_break::{CallResult, fault, stop};
use super::guards::kin::KinCheck;
use super::guards::memory::MemoryCheck;
use super::guards::storages::StorageCheck;
use super::guards::tensor::TensorCheck;
use super::library::Torch;
use super::meta::{Meta, overridden};
use super::numbers::scalar_places;
use super::own::{CLEAR_GRADIENT, MODULE};
use super::quantised;
use super::symbols::{marks, open_sizes::OpenSizes, sizes};
use super::taken::dispatched::tells_of_schemas;
use super::thread::ambient::SameModes;
use super::thread::locks;
use crate::domain::{
    Answer, AnsweredOperation, CallWithNames, Callee, Dispatching, Domain, Formal, GlobalStateGuard, Gradient,
    GraphCall, HandedOver, LayoutQuestion, NumberUse, Operand, Recorded, Rehearsal, ScalarPlace, SizeMark, TakingModes,
};
use crate::ffi::libtorch::Quiet;
use crate::ffi::types;
use crate::graph::ForBackend;
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use crate::names::{interned, name};
use crate::symbol::{Layout, SizeArithmetic, Stride, SymbolicLayout};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyTuple, PyType};
use std::sync::Arc;

/// The domain of this PyTorch; none while it is being imported.
pub fn new(module: &Bound<'_, PyModule>) -> PyResult<Option<Arc<dyn Domain>>> {
    Ok(Torch::of(module)?.map(|torch| Arc::new(torch) as _))
}

impl Domain for Torch {
    fn name(&self) -> &'static str {
        "torch"
    }

    fn makes_anew<'py>(&self, object: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        self.answer_anew(object)
    }

    fn parts<'py>(&self, object: &Bound<'py, PyAny>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        self.stored_parts(object)
    }

    fn of_parts<'py>(&self, kind: &str, parts: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.of_stored_parts(kind, parts)
    }

    fn check_of(&self, name: &str, state: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> {
        self.stored_check(name, state)
    }

    fn claims(&self, class: &Bound<'_, PyType>) -> bool {
        class.is(&self.tensor)
            || class.is(&self.parameter)
            || self.is_recorded_subclass(class)
            || self.is_wrapper_class(class)
    }

    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.claims_call_of(callable)
    }

    fn leaves_alone(&self, function: &Bound<'_, PyAny>) -> Option<Box<Break>> {
        let reason = compilers::break_at(function).or_else(|| natives::break_at(function))?;
        // What the trace goes through, itself or in its place, is not left alone.
        let is_left = wholes::in_place_of(function).is_none() && !training::is_in_graph(function);
        is_left.then_some(reason)
    }

    fn in_place_of<'py>(&self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        if (wholes::asks_less(function) || training::asks_less(function)) && self.modes_are_on(function.py()) {
            return None;
        }
        wholes::in_place_of(function)
            .or_else(|| compilers::in_place_of(function))
            .or_else(|| training::in_place_of(function))
            .or_else(|| self.without_device(function))
    }

    fn is_whole(&self, function: &Bound<'_, PyAny>) -> bool {
        self.is_transform(function) || wholes::is_whole(function)
    }

    fn rehearsal<'py>(&self, callable: &Bound<'py, PyAny>) -> Option<Rehearsal<'py>> {
        self.rehearsal_of(callable)
    }

    fn formal<'py>(&self, example: &Bound<'py, PyAny>, formal: Formal) -> Result<Bound<'py, PyAny>, Box<Break>> {
        self.formal_like(example, formal).map_err(|error| fault(&error))
    }

    fn with_graphs<'py>(&self, py: Python<'py>, call: GraphCall<'_, 'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        self.graphs_in(&Meta { torch: self, py }, call)
    }

    fn takes_over(&self, class: &Bound<'_, PyType>) -> bool {
        self.takes_over_now(class)
    }

    fn hears(&self, class: &Bound<'_, PyType>) -> bool {
        self.is_told_of_calls(class) && class.is_subclass(self.tensor.bind(class.py())).unwrap_or(true)
    }

    fn argument_like<'py>(&self, class: &Bound<'py, PyType>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        self.stand_in_of_class(class)
    }

    fn handed_over<'py>(
        &self,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
        kwargs: &Bound<'py, PyDict>,
    ) -> Result<Option<HandedOver<'py>>, Box<Break>> {
        self.handed_over_of(callee, args, kwargs)
    }

    fn clearer<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        crate::ffi::modules::import(py, MODULE).and_then(|functions| functions.getattr(CLEAR_GRADIENT)).ok()
    }

    fn is_watched(&self, py: Python<'_>) -> bool {
        self.ambient.is_watched(py).unwrap_or(false)
    }

    fn is_amid_change(&self, handed: &Bound<'_, PyAny>) -> bool {
        locks::sets_backward_hooks(handed)
    }

    fn dispatching(&self) -> Option<&dyn Dispatching> {
        Some(self)
    }

    fn taking_modes(&self) -> Option<&dyn TakingModes> {
        Some(self)
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        if let Some(given) = draws_from(kwargs) {
            return with_generator(self, self.call(py, callee, args, &without_generator(kwargs))?, given);
        }
        let args = &self.exact_numbers(callee, args);
        let kwargs = &self.exact_options(callee, kwargs);
        self.repeated_warnings.during(py, || self.answer_to(&Meta { torch: self, py }, callee, args, kwargs))
    }

    fn run_again<'py>(&self, py: Python<'py>, answer: &Answer<'py>) -> bool {
        self.runs_again(&Meta { torch: self, py }, answer)
    }

    fn layout_question<'a, 'py>(&'a self, py: Python<'py>, answer: &'a Answer<'py>) -> Option<LayoutQuestion<'a, 'py>> {
        self.question_about_layout(py, answer)
    }

    fn layout_of(&self, example: &Bound<'_, PyAny>) -> Option<Layout<i64>> {
        match self.ambient.plain(example.py()) {
            // Classes that take over calls are asked for sizes as they are.
            Ok(true) if !self.has_override(&self.class_of(example)) => sizes::of(example),
            _ => None,
        }
    }

    fn is_opaque(&self, object: &Bound<'_, PyAny>) -> bool {
        quantised::is_packed(object)
    }

    fn is_size_tuple(&self, class: &Bound<'_, PyType>) -> bool {
        types::is_c_class(class, SIZE)
    }

    fn size_marks(&self, object: &Bound<'_, PyAny>) -> Vec<(usize, SizeMark)> {
        marks::of(object)
    }

    fn guard_sizes(&self, example: &Bound<'_, PyAny>, free: &[bool], plan: &[Stride]) -> Option<Box<dyn DomainCheck>> {
        TensorCheck::new(example).ok()??;
        Some(Box::new(OpenSizes::new(example, free, plan).ok()?))
    }

    fn answers_for_all_sizes(&self, callee: &Callee<'_>) -> bool {
        self.holds_for_all_sizes(callee)
    }

    fn takes_sizes(&self, callee: &Callee<'_>) -> bool {
        self.has_rule(callee)
    }

    fn may_take_sizes(&self, callee: &Callee<'_>) -> bool {
        matches!(callee, Callee::Function(_) | Callee::Method(_))
    }

    fn layouts<'py>(
        &self,
        operation: &AnsweredOperation<'_, 'py>,
        arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        if draws_from(operation.kwargs).is_none() {
            return self.symbolic_layouts(operation, arithmetic);
        }
        let (kwargs, graph) = (&without_generator(operation.kwargs), None);
        let AnsweredOperation { py, callee, args, answer, is_worthwhile, graph: ref so_far, .. } = *operation;
        let without = AnsweredOperation { py, callee, args, kwargs, answer, is_worthwhile, graph };
        so_far.is_none().then(|| self.symbolic_layouts(&without, arithmetic))?
    }

    fn asks_graph_for_sizes(&self, py: Python<'_>, callee: &Callee<'_>) -> bool {
        self.ambient.is_transforming(py).unwrap_or(true) || self.is_of_gradients(callee)
    }

    fn takes_open_sizes(&self, callee: &Callee<'_>) -> bool {
        takes_open_sizes(callee) || matches!(callee, Callee::Function(function) if self.makes_wrappers(function))
    }

    fn scalar_places(&self, callee: &Callee<'_>) -> &'static [ScalarPlace] {
        scalar_places(callee)
    }

    fn scalar_tensor<'py>(&self, callee: &Callee<'py>, array: &Bound<'py, PyAny>) -> Option<CallWithNames<'py>> {
        self.scalar_tensor_for(callee, array).ok().flatten()
    }

    fn use_of_numbers(&self, callee: &Callee<'_>) -> NumberUse {
        self.use_of_numbers_in(callee)
    }

    fn example_of<'py>(&self, object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        self.example_of_input(object)
    }

    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>> {
        // They would see what is asked of the tensor.
        if !self.ambient.plain(example.py()).map_err(|error| fault(&error))? {
            return Err(overridden());
        }
        let _quiet = Quiet::about([example]);
        let check = TensorCheck::new(example).map_err(|error| fault(&error))?;
        match check {
            Some(check) => Ok(Box::new(check)),
            None => Err(stop(
                "unsupported tensor",
                self.describe(example),
                "Only strided tensors on devices that are known are recorded.",
            )),
        }
    }

    fn holds(&self, object: &Bound<'_, PyAny>, attribute: &str) -> bool {
        if self.is_told_of_calls(&object.get_type()) {
            // It would hear of each look at what is held.
            return false;
        }
        if attribute == BASE {
            // What stands for one does not tell.
            return self.is_tensor(object) && !says(object, name!("is_meta")).unwrap_or(false);
        }
        // The guard on the tensor says that it is a leaf: others warn.
        attribute == GRADIENT && says(object, name!("is_leaf")).unwrap_or(false)
    }

    fn may_hold(&self, object: &Bound<'_, PyAny>, attribute: &str, example: &Bound<'_, PyAny>) -> bool {
        let _quiet = Quiet::about([object]);
        attribute == GRADIENT && self.may_be_gradient(object, example)
    }

    fn memory_guard(&self, inputs: &[Bound<'_, PyAny>], changed: &[bool], open: bool) -> Option<Box<dyn DomainCheck>> {
        // Tensors without memory overlap with none.
        MemoryCheck::new(inputs, changed, open).ok().map(|check| Box::new(check) as _)
    }

    fn share_memory(&self, inputs: &[Bound<'_, PyAny>], changed: &[bool]) -> bool {
        MemoryCheck::new(inputs, changed, true).is_ok_and(|check| check.has_overlaps())
    }

    fn storage_guard(&self, inputs: &Bound<'_, PyTuple>, changed: Vec<bool>) -> Option<Box<dyn DomainCheck>> {
        let check = StorageCheck::new(changed);
        check.holds(inputs.as_any()).then(|| Box::new(check) as _)
    }

    fn leaves_call_alone<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        qualname: &str,
        argument: &dyn Fn(usize) -> Option<Bound<'py, PyAny>>,
    ) -> Option<Box<Break>> {
        natives::break_at_call(function, qualname, argument)
    }

    fn replay<'py>(
        &self,
        py: Python<'py>,
        recorded: &[Recorded<'_, 'py>],
        undo: &[(Py<PyAny>, Py<PyTuple>)],
        by_kernels: bool,
    ) -> Option<Vec<Option<Bound<'py, PyAny>>>> {
        self.replayed(&Meta { torch: self, py }, recorded, undo, by_kernels)
    }

    fn is_base(&self, attribute: &str) -> bool {
        attribute == BASE
    }

    fn base_of<'py>(&self, example: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
        self.base_of_example(example)
    }

    fn gradient<'py>(
        &self,
        replayed: &Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
        by_kernels: &dyn Fn() -> Option<Bound<'py, PyAny>>,
    ) -> Option<Gradient<'py>> {
        self.gradient_made(replayed, example, by_kernels)
    }

    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>> {
        let modes = SameModes::new(py, Arc::clone(&self.ambient)).map_err(|error| fault(&error))?;
        let check = Box::new(modes.ok_or_else(overridden)?);
        Ok(GlobalStateGuard { object: self.module.clone_ref(py).into_any(), check })
    }

    fn variable_of_levels<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyDict>, &'static str)> {
        Some(self.ambient.duals().variable(py))
    }

    fn for_backend(
        &self,
        target: &Bound<'_, PyAny>,
        args: &[Operand<'_>],
        kwargs: &[(String, Operand<'_>)],
    ) -> ForBackend {
        self.part_of_backend(target, args, kwargs)
    }

    fn belongs_together(&self, py: Python<'_>) -> bool {
        self.ambient.is_transforming(py).unwrap_or(true)
    }

    fn never_warns(&self, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> bool {
        self.is_silent(target, args)
    }

    fn setter<'py>(&self, py: Python<'py>, attribute: &str) -> Option<Bound<'py, PyAny>> {
        leaves::setter(py, attribute)
    }

    fn follows(&self, example: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
        self.has_base_of(example, object)
    }

    fn kin_guard(&self, changed: &[(Bound<'_, PyAny>, bool)]) -> Option<Box<dyn DomainCheck>> {
        Some(Box::new(KinCheck::new(changed)))
    }

    fn gives_new_objects(&self) -> bool {
        // What an operation gives back as it got it is no node.
        true
    }

    fn calls_module(&self, function: &Bound<'_, PyAny>) -> bool {
        module_calls::calls_module(function)
    }

    fn path_of_module(&self, outer: &Bound<'_, PyAny>, path: &str, module: &Bound<'_, PyAny>) -> Option<String> {
        module_calls::path_below(outer, path, module)
    }

    fn switch_of_breaks<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyDict>, &'static str)> {
        compilers::switch_of_breaks(py)
    }

    fn checks_of_truth<'py>(&self, example: &Bound<'py, PyAny>, truth: bool) -> Option<Vec<Bound<'py, PyAny>>> {
        if example.is_instance_of::<Unread>() {
            return Some(vec![after::check_of(example.py(), truth)?]);
        }
        let size: i64 = self.rules.metadata(example)?.shape.iter().product();
        let names: &[&str] = if truth { &["_assert_async"] } else { &["logical_not", "_assert_async"] };
        let functions = || names.iter().map(|name| self.module.bind(example.py()).getattr(*name).ok()).collect();
        // Elsewhere a check that fails ends the process.
        let here = place_of(example).is_some_and(|place| place.is_cpu());
        (size == 1 && here).then(functions)?
    }

    fn check_of_guess<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        after::check_of_guess(py)
    }

    fn assumes_constant(&self, function: &Bound<'_, PyAny>) -> bool {
        compilers::is_marked_constant(function) || tells_of_schemas(function)
    }

    fn metadata_counts(&self) -> Vec<(String, [u64; 2])> {
        self.rules.counts()
    }

    fn reset_counts(&self) {
        self.rules.reset_counts();
    }

    fn hashes_by_address(&self, class: &Bound<'_, PyType>) -> bool {
        let hash = |class| types::lookup(class, &interned(class.py(), "__hash__"));
        let own = self.tensor.bind(class.py()).cast::<PyType>().ok().and_then(hash);
        hash(class).zip(own).is_some_and(|(found, own)| found.is(&own))
    }

    fn class_of<'py>(&self, example: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        self.class_of_example(example)
    }

    fn unread<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
        crate::domain::unread(class)
    }

    fn is_open(&self, example: &Bound<'_, PyAny>) -> bool {
        is_open(example)
    }

    fn describe(&self, example: &Bound<'_, PyAny>) -> String {
        self.description(example)
    }
}
