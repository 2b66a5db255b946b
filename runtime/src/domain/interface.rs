//! What a domain is: what it is asked.
use super::dispatching::Dispatching;
use super::gradient::{Gradient, Gradients, PlainForward};
use super::held_numbers::HeldNumbers;
use super::higher_order::{Formal, GraphCall, HigherOrder};
use super::later_calls::LaterCalls;
use super::operation::{
    Answer, AnsweredOperation, CallWithNames, Callee, HandedOver, ModeChange, NumberUse, Operand, ScalarPlace,
};
use super::own_functions::OwnFunctions;
use super::recorded::Recorded;
use super::sizes::SizeMark;
use super::taking_modes::TakingModes;
use super::undoing::Undoing;
use crate::graph::ForBackend;
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use crate::symbol::{Layout, SizeArithmetic, Stride, SymbolicLayout};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// Gives another example for an answer; `None`: that of the answer is right.
pub type LayoutQuestion<'a, 'py> = Box<dyn FnOnce() -> Option<Bound<'py, PyAny>> + 'a>;

/// An array library as the tracer sees it.
pub trait Domain:
    OwnFunctions + LaterCalls + Gradients + Undoing + HeldNumbers + std::fmt::Debug + Send + Sync
{
    /// Name for reports: `numpy`.
    fn name(&self) -> &'static str;
    /// Whether objects of this exact class are values of the graph.
    fn claims(&self, class: &Bound<'_, PyType>) -> bool;
    /// Whether calls of this object are the domain's business, whatever the arguments (`numpy.add`, `numpy.zeros`).
    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool;
    /// Why a call of this Python function is to run natively, as a whole.
    fn leaves_alone(&self, _function: &Bound<'_, PyAny>) -> Option<Box<Break>> {
        None
    }
    /// The function that a trace goes through in place of this one, because it does the same to a program.
    fn in_place_of<'py>(&self, _function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Why this call of a Python function is to run natively, as a whole: arguments from outside, by position, say so.
    fn leaves_call_alone<'py>(
        &self,
        _function: &Bound<'py, PyAny>,
        _qualname: &str,
        _argument: &dyn Fn(usize) -> Option<Bound<'py, PyAny>>,
    ) -> Option<Box<Break>> {
        None
    }
    /// Whether a trace does not stop within this function: all of it is in the graph, or it runs natively as a whole.
    fn is_whole(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// How a trace goes through what a callable calls that a graph calls as a whole; `None`: it is no such callable.
    fn rehearsal<'py>(&self, _callable: &Bound<'py, PyAny>) -> Option<Rehearsal<'py>> {
        None
    }
    /// What stands for what an operator calls a function with, of this operand.
    fn formal<'py>(&self, example: &Bound<'py, PyAny>, _formal: Formal) -> Result<Bound<'py, PyAny>, Box<Break>> {
        Ok(example.clone())
    }
    /// Puts graphs in the places of functions among an operator's operands; gives a tuple of what stands for its results.
    fn with_graphs<'py>(&self, _py: Python<'py>, _call: GraphCall<'_, 'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        Err(Box::new(Break {
            kind: "operator that takes functions".into(),
            context: self.name().into(),
            explanation: "the library has no such operators".into(),
            hints: Vec::new(),
        }))
    }
    /// Whether calls with instances of this class are handed to a function that the class has, now.
    fn takes_over(&self, _class: &Bound<'_, PyType>) -> bool {
        false
    }
    /// Whether that function is the program's, which may note what it is called with.
    fn hears(&self, _class: &Bound<'_, PyType>) -> bool {
        false
    }
    /// What stands for an argument of this class where the library is asked what it hands over.
    fn argument_like<'py>(&self, class: &Bound<'py, PyType>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        Ok(class.clone().into_any())
    }
    /// What the library hands over of an operation, of these arguments; `None` where it hands over nothing.
    fn handed_over<'py>(
        &self,
        _callee: &Callee<'py>,
        _args: Vec<Bound<'py, PyAny>>,
        _kwargs: &Bound<'py, PyDict>,
    ) -> Result<Option<HandedOver<'py>>, Box<Break>> {
        Ok(None)
    }
    /// A function for graphs that takes the gradient from a leaf, if there is one. It does not raise.
    fn clearer<'py>(&self, _py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether something sees each operation where it runs: then nothing is compiled, or runs compiled.
    fn is_watched(&self, _py: Python<'_>) -> bool {
        false
    }
    /// Whether the library hands this object to Python in the middle of a change, its own objects locked: whoever asks them something
    /// before that call has returned waits for ever.
    fn is_amid_change(&self, _handed: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// The classes that get operations below gradients, if it has such.
    fn dispatching(&self) -> Option<&dyn Dispatching> {
        None
    }
    /// The modes of the library that take over calls, if it has such.
    fn taking_modes(&self) -> Option<&dyn TakingModes> {
        None
    }
    /// One operation with at least one argument of the domain, or of a callable of the domain. `Err` is a graph break. What the library warns
    /// of once in a process counts as not said by it.
    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<Answer<'py>, Box<Break>>;
    /// Runs once more, without contents and without a trace, what the node of an answer calls; whether that can be.
    fn run_again<'py>(&self, _py: Python<'py>, _answer: &Answer<'py>) -> bool {
        false
    }
    /// What to ask the code that will run, where it may lay out what a call gives otherwise than the answer says; `None`: the answer is sure.
    fn layout_question<'a, 'py>(
        &'a self,
        _py: Python<'py>,
        _answer: &'a Answer<'py>,
    ) -> Option<LayoutQuestion<'a, 'py>> {
        None
    }
    /// Sizes and strides of an object of the domain; `None` where they are never symbolic.
    fn layout_of(&self, _example: &Bound<'_, PyAny>) -> Option<Layout<i64>> {
        None
    }
    /// Whether the object is one of the library's that operations take, and that nobody changes.
    fn is_opaque(&self, _object: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether it is the class of tuples of sizes, which does what `tuple` does.
    fn is_size_tuple(&self, _class: &Bound<'_, PyType>) -> bool {
        false
    }
    /// What the program has said of sizes of an object from outside.
    fn size_marks(&self, _object: &Bound<'_, PyAny>) -> Vec<(usize, SizeMark)> {
        Vec::new()
    }
    /// The condition of [`Domain::guard`], but that sizes marked here are only at least 2, and strides as planned.
    fn guard_sizes(&self, _like: &Bound<'_, PyAny>, _free: &[bool], _plan: &[Stride]) -> Option<Box<dyn DomainCheck>> {
        None
    }
    /// Whether what the domain knows about its operand is so for all sizes: its type, how many dimensions it has.
    fn answers_for_all_sizes(&self, _callee: &Callee<'_>) -> bool {
        false
    }
    /// Whether symbolic integers may say sizes, so that [`Domain::layouts`] is asked what comes of them.
    fn takes_sizes(&self, _callee: &Callee<'_>) -> bool {
        false
    }
    /// The same, where that is known only once it was tried: where it fails, the integers must be known.
    fn may_take_sizes(&self, _callee: &Callee<'_>) -> bool {
        false
    }
    /// The layouts of the new objects that an operation gives, which it answered so: none where it gives an operand, or changes it.
    /// `None`: not known. What decides them is relied on in the arithmetic.
    fn layouts<'py>(
        &self,
        _operation: &AnsweredOperation<'_, 'py>,
        _arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        None
    }
    /// Whether [`Domain::layouts`] is to be told of the graph so far: arrays are more than the sizes that they show, or the operation looks at
    /// how its operands were computed.
    fn asks_graph_for_sizes(&self, _py: Python<'_>, _callee: &Callee<'_>) -> bool {
        false
    }
    /// Whether integers that contents of arrays decide may be sizes or bounds of what an operation gives.
    fn takes_open_sizes(&self, _callee: &Callee<'_>) -> bool {
        false
    }
    /// What the operation does with numbers among its operands that differ from call to call.
    fn use_of_numbers(&self, _callee: &Callee<'_>) -> NumberUse {
        NumberUse::Other
    }
    /// Where an operation may get an array in the place of a float.
    fn scalar_places(&self, _callee: &Callee<'_>) -> &'static [ScalarPlace] {
        &[]
    }
    /// What makes an array of a float that does in this operation on `array` and the float what the float does; called with that alone.
    fn scalar_tensor<'py>(&self, _callee: &Callee<'py>, _array: &Bound<'py, PyAny>) -> Option<CallWithNames<'py>> {
        None
    }
    /// What stands for an object from outside where it is an operand.
    fn example_of<'py>(&self, object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        Ok(object.clone())
    }
    /// The condition under which a trace that saw `example` is right for another object of the same class.
    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>>;
    /// Whether an attribute of this object from outside is another object that it holds, which no operation of a graph replaces.
    fn holds(&self, _object: &Bound<'_, PyAny>, _attribute: &str) -> bool {
        false
    }
    /// Whether this object from outside may be given such an attribute, which `example` stands for: nothing refuses it.
    fn may_hold(&self, _object: &Bound<'_, PyAny>, _attribute: &str, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// The condition under which inputs of a graph lie in memory as these do, as far as the graph may change some of them in place.
    /// `open`: where inputs end differs from call to call.
    fn memory_guard(
        &self,
        _inputs: &[Bound<'_, PyAny>],
        _changed: &[bool],
        _open: bool,
    ) -> Option<Box<dyn DomainCheck>> {
        None
    }
    /// Whether inputs that a graph may change share memory with others.
    fn share_memory(&self, _inputs: &[Bound<'_, PyAny>], _changed: &[bool]) -> bool {
        true
    }
    /// The condition that no input which a graph changes lies in the storage of another one, so that what it keeps of others stays as it was
    /// kept; `None`: one does now.
    fn storage_guard(&self, _inputs: &Bound<'_, PyTuple>, _changed: Vec<bool>) -> Option<Box<dyn DomainCheck>> {
        None
    }
    /// What a backend does with a call of this: whether what it makes of it does the same.
    fn for_backend(
        &self,
        _target: &Bound<'_, PyAny>,
        _args: &[Operand<'_>],
        _kwargs: &[(String, Operand<'_>)],
    ) -> ForBackend {
        ForBackend::Compiles
    }
    /// Whether the calls of a graph cannot be told from each other for now: what they work on belongs to something that one of them begins
    /// and another one ends.
    fn belongs_together(&self, _py: Python<'_>) -> bool {
        false
    }
    /// Whether a call of this on these gives no warning, whatever the contents.
    fn never_warns(&self, _target: &Bound<'_, PyAny>, _args: &[Operand<'_>]) -> bool {
        false
    }
    /// The method by which a function takes one object of another library; it gives what the method gives.
    fn taken_by<'py>(&self, _function: &Bound<'py, PyAny>) -> Option<&'static str> {
        None
    }
    /// A function of Python that does what a function of the library does with one object of another library, which has that method.
    fn taken_through<'py>(&self, _function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether what is no contents of the first changes with the second, an object from outside.
    fn follows(&self, _example: &Bound<'_, PyAny>, _object: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// The condition on a tuple of these, which the trace has changed, and others: none of the others follows one of them. Of each of these
    /// whether a guard says which object it is.
    fn kin_guard(&self, _changed: &[(Bound<'_, PyAny>, bool)]) -> Option<Box<dyn DomainCheck>> {
        None
    }
    /// Whether it is the attribute that holds what a value is a view of.
    fn is_base(&self, _attribute: &str) -> bool {
        false
    }
    /// What a value that the graph has made is a view of: what stands for it, or an object from outside; `Some(None)`: it is no view. `None`: it is
    /// not known.
    fn base_of<'py>(&self, _example: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
        None
    }
    /// The gradient that such a call has made of a leaf. `replayed` stands for the leaf, and has had the same call; `None`: it is not known.
    /// `by_kernels` gives what stands for it where the nodes have run with contents, if they can.
    fn gradient<'py>(
        &self,
        _replayed: &Bound<'py, PyAny>,
        _example: &Bound<'py, PyAny>,
        _by_kernels: &dyn Fn() -> Option<Bound<'py, PyAny>>,
    ) -> Option<Gradient<'py>> {
        None
    }
    /// What each of the nodes recorded so far gives, without contents, and remembering what it was computed from; `None`: nobody can tell.
    /// `undo` puts the modes back to those in which the trace began, the first call first; afterwards they are those of now.
    /// `by_kernels`: with contents, whatever they are, for the code that will run lays out what it gives as it sees fit.
    fn replay<'py>(
        &self,
        _py: Python<'py>,
        _recorded: &[Recorded<'_, 'py>],
        _undo: &[(Py<PyAny>, Py<PyTuple>)],
        _by_kernels: bool,
    ) -> Option<Vec<Option<Bound<'py, PyAny>>>> {
        None
    }
    /// The function that sets an attribute which C looks at, as a call of the graph.
    fn setter<'py>(&self, _py: Python<'py>, _attribute: &str) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether C's iterator over a value asks for its items one after the other, by index.
    fn iterates_by_index(&self, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether what a node gives is an object of its own, never an operand and never shared.
    fn gives_new_objects(&self) -> bool {
        false
    }
    /// The guard on the state of the library, its modes, under which the domain's answers are right.
    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>>;
    /// The namespace and the name of a variable that says whether operands may be more than what compiled code of a backend takes them for.
    fn variable_of_levels<'py>(&self, _py: Python<'py>) -> Option<(Bound<'py, PyDict>, &'static str)> {
        None
    }
    /// The context variable that its operations read when they run, which is in the graph.
    fn context_variable(&self) -> Option<&Py<PyAny>> {
        None
    }
    /// Whether the function calls the module that is its first argument.
    fn calls_module(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// How the program names a module below the one that calls it, which has this path; `None`: it is none of its modules.
    fn path_of_module(&self, _outer: &Bound<'_, PyAny>, _path: &str, _module: &Bound<'_, PyAny>) -> Option<String> {
        None
    }
    /// The namespace and the name of the variable by which the library has programs say that graph breaks are errors.
    fn switch_of_breaks<'py>(&self, _py: Python<'py>) -> Option<(Bound<'py, PyDict>, &'static str)> {
        None
    }
    /// Functions that, called one with what the other gives, raise an exception where the truth of such a value is not this one; none
    /// where its truth is no plain question.
    fn checks_of_truth<'py>(&self, _example: &Bound<'py, PyAny>, _truth: bool) -> Option<Vec<Bound<'py, PyAny>>> {
        None
    }
    /// The function that, called with a truth, the one that a trace has guessed and a dict, notes a wrong guess in the dict and raises.
    fn check_of_guess<'py>(&self, _py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether the library knows, or lets the program say, that a Python function gives the same whenever its arguments are the same.
    fn assumes_constant(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether the hash that a class has from Python is that of the address, which no code of the program computes.
    fn hashes_by_address(&self, _class: &Bound<'_, PyType>) -> bool {
        false
    }
    /// The class of what a node gives that has this example.
    fn class_of<'py>(&self, example: &Bound<'py, PyAny>) -> Bound<'py, PyType> {
        example.get_type()
    }
    /// The class and the argument that make another object like this one, of those with which the library answers anew each time.
    fn makes_anew<'py>(&self, _object: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        None
    }
    /// What an object that never changes is made of, and the name of its kind; `None`: it is not written to disk.
    fn parts<'py>(&self, _object: &Bound<'py, PyAny>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        None
    }
    /// The object of this kind that is made of these parts; `None`: it is no kind of the domain's.
    fn of_parts<'py>(&self, _kind: &str, _parts: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(None)
    }
    /// The condition that has written this state under this name, with [`DomainCheck::state`]; `None`: it is none of the domain's.
    fn check_of(&self, _name: &str, _state: &Bound<'_, PyAny>) -> PyResult<Option<Box<dyn DomainCheck>>> {
        Ok(None)
    }
    /// For each operation that was recorded: its name, how often the domain knew what it gives, and how often it asked the library.
    fn metadata_counts(&self) -> Vec<(String, [u64; 2])> {
        Vec::new()
    }
    /// Begins to count anew.
    fn reset_counts(&self) {}
    /// What stands for a result of this class that contents decide; `None`: the library has no such results.
    fn unread<'py>(&self, _class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether what a node gives that has this example is a number that contents decide, or has sizes that they do; or holds such.
    fn is_open(&self, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// What reports say of a value: `ndarray[float64, (2, 3)]`.
    fn describe(&self, example: &Bound<'_, PyAny>) -> String;
}

/// A guard on the state of a library as a whole.
#[derive(Debug)]
pub struct GlobalStateGuard {
    /// What reports name as the object that is checked: the library's module.
    pub object: Py<PyAny>,
    /// What must hold.
    pub check: Box<dyn DomainCheck>,
}

/// A callable that calls functions of the program, and that a graph calls as a whole.
#[derive(Debug)]
pub enum Rehearsal<'py> {
    /// A function with gradients of its own.
    Gradient {
        /// Called with a context and the arguments, or with these alone where another function sets the context up.
        forward: Bound<'py, PyAny>,
        /// Called with the context, the tuple of arguments, and the result.
        set_up: Option<Bound<'py, PyAny>>,
        /// Called with the context and gradients of the result, if the class has one.
        backward: Option<Bound<'py, PyAny>>,
        /// The class of what stands for the context; called with a tuple that says which arguments need gradients.
        context: Bound<'py, PyAny>,
        /// The mode in which these are called.
        off: Box<ModeChange<'py>>,
        /// The mode after that.
        back: Box<ModeChange<'py>>,
        /// Whether that is all that a call does whose arguments need no gradients.
        plain: PlainForward,
    },
    /// It calls functions on tensors, which become graphs.
    HigherOrder(&'static HigherOrder),
}
