//! Branches on contents of arrays that nearly always go one way: `if rows.numel() == 0: continue`, `if (token == end).all(): break`.
//!
//! The trace goes on that way, and the graph checks it. Where the check fails the frame runs its original code from the start, for nothing
//! has happened yet; from then on traces of the function guess nothing, and end at such branches.
use super::assertions::{leaves_loop, truth_without_raise};
use crate::domain::Operand;
use crate::ffi::{callee, inspect};
use crate::graph::{Argument, Node, NodeId, NodeOp};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// How many guesses a trace makes: loops whose end contents decide come to an end.
const MOST: usize = 256;

/// Operations whose result is rarely true, and one whose result nearly always is.
const RARE: &[&str] = &["isnan", "isinf", "isneginf", "isposinf"];
const USUAL: &[&str] = &["isfinite"];

/// Operations whose result is rarely true, unless their operand mostly is.
const OF_MANY: &[&str] = &["all", "any"];

/// What gives the other truth, and what gives the same one.
const OTHER: &[&str] = &["logical_not", "invert", "bitwise_not", "__invert__", "not_"];
const SAME: &[&str] = &["item", "__bool__", "bool", "cpu", "detach"];

/// What gives sizes.
const SIZES: &[&str] = &["numel", "len", "__len__", "size"];

impl<'py> Tracer<'py> {
    /// The truth that a value most likely has, which the graph checks; `None`: nothing is known of it, or nothing is to be guessed.
    pub(super) fn guessed_truth(&mut self, value: ValueId) -> Traced<Option<bool>> {
        let Value::Node { node, .. } = self.value(value) else { return Ok(None) };
        let Some(truth) = self.likely_truth(*node).filter(|_| self.state.nesting == 0 && self.may_guess()) else {
            return Ok(None);
        };
        let failed = self.state.function_caches.failed_guesses(self.py);
        if !failed.is_empty() {
            return Ok(None);
        }
        let number = match self.is_unread(value) {
            true => value,
            false => match self.truth_of_contents(value)? {
                Some(number) if self.is_unread(number) => number,
                _ => return Ok(None),
            },
        };
        self.check_guess(number, truth, &failed)
    }

    /// Breaks before a branch compares a number that contents decide, where nothing tells what comes of it and nothing is to be guessed: the
    /// graph would get the comparison first, and the trace would have to be made again without it.
    pub(super) fn refuse_unknown_comparison(&mut self, frame: &Frame) -> Traced<()> {
        let operands = [frame.peek(2)?, frame.peek(1)?];
        let Some(unread) = operands.into_iter().find(|operand| self.is_unread(*operand)) else { return Ok(()) };
        for operand in operands {
            let class = self.class_of(operand)?;
            let is_number = self.is_of_numbers(&class) || class.is(self.py.get_type::<PyBool>());
            if !is_number || self.is_expected(operand) || self.is_open_size(operand) {
                return Ok(());
            }
        }
        match truth_without_raise(&frame.code, frame.pc) {
            None => self.refuse_unread(unread),
            Some(_) => Ok(()),
        }
    }

    /// Whether it is a size that contents decide.
    fn is_open_size(&self, value: ValueId) -> bool {
        let Value::Node { node, .. } = self.value(value) else { return false };
        self.state.graph.nodes.get(node.0 as usize).is_some_and(|node| self.gives_size(node))
    }

    /// Whether a failure takes nothing back, and a loop ends whatever is guessed in it.
    pub(crate) fn may_guess(&self) -> bool {
        !self.state.must_not_break
            && !self.has_taking_modes()
            && !self.is_in_endless_loop()
            && self.state.final_changes.is_empty()
            && self.state.backward.nodes.is_empty()
            && self.state.graph.nodes.iter().filter(|node| self.is_guess(node)).count() < MOST
            && self.undo().inputs.is_empty()
    }

    /// Whether a frame is in a loop that no iterator ends.
    fn is_in_endless_loop(&self) -> bool {
        self.state.places.iter().any(|place| {
            let code = inspect::function_code(place.function.bind(self.py));
            let code = code.and_then(|code| self.state.function_caches.decode(&code).ok());
            code.is_none_or(|code| leaves_loop(&code, place.at, usize::MAX))
        })
    }

    /// Whether a node checks a guess.
    pub(crate) fn is_guess(&self, node: &Node) -> bool {
        let Some(target) = node.target.as_ref().map(|target| target.bind(self.py)) else { return false };
        self.state.domains.iter().filter_map(|domain| domain.check_of_guess(self.py)).any(|check| check.is(target))
    }

    /// Has the graph check a guess, and traces that make one end with the first that fails.
    pub(crate) fn check_guess(
        &mut self,
        value: ValueId,
        truth: bool,
        failed: &Bound<'py, PyDict>,
    ) -> Traced<Option<bool>> {
        let Value::Node { node, example, .. } = self.value(value) else { return Ok(None) };
        let example = example.bind(self.py).clone();
        let room = self.state.graph.nodes.get(node.0 as usize).map_or("", |node| node.domain);
        let domain = self.state.domains.iter().find(|domain| domain.name() == room).cloned();
        let Some((domain, check)) = domain.and_then(|domain| {
            let check = domain.check_of_guess(self.py)?;
            Some((domain, check))
        }) else {
            return Ok(None);
        };
        let args = [
            Operand::Graph { value, example, layout: None },
            Operand::Known(PyBool::new(self.py, truth).to_owned().into_any()),
            Operand::Known(failed.clone().into_any()),
        ];
        self.record(&domain, check, &args, &[], self.py.None().into_bound(self.py))?;
        let source = Source::constant(failed);
        self.guard(source, Check::Length(0), "a branch on contents was guessed");
        Ok(Some(truth))
    }

    /// Which truth what a node gives most likely has.
    fn likely_truth(&self, node: NodeId) -> Option<bool> {
        let node = self.state.graph.nodes.get(node.0 as usize).filter(|node| node.op == NodeOp::CallFunction)?;
        let target = node.target.as_ref()?.bind(self.py);
        let name = callee::name_of(target);
        let of_first = || match node.args.first()? {
            Argument::Node(first) => self.likely_truth(*first),
            _ => None,
        };
        match &*name {
            name if RARE.contains(&name) => Some(false),
            name if OF_MANY.contains(&name) => Some(of_first().unwrap_or(false)),
            name if USUAL.contains(&name) => Some(true),
            name if OTHER.contains(&name) => of_first().map(|truth| !truth),
            name if SAME.contains(&name) => of_first(),
            _ if self.gives_size(node) => Some(true),
            name => self.likely_comparison(name, node),
        }
    }

    /// Whether a node gives a size that contents decide, which is rarely none.
    fn gives_size(&self, node: &Node) -> bool {
        let target = node.target.as_ref().map(|target| callee::name_of(target.bind(self.py)));
        let is_item_of_sizes = || match node.args.first() {
            Some(Argument::Node(sizes)) => {
                self.state.graph.nodes.get(sizes.0 as usize).is_some_and(|sizes| sizes.meta.starts_with("(int"))
            }
            _ => false,
        };
        node.meta == "int"
            && target.is_some_and(|name| SIZES.contains(&&*name) || name == "getitem" && is_item_of_sizes())
    }

    /// Compared with none or one, a size is most likely more than none.
    fn likely_comparison(&self, name: &str, node: &Node) -> Option<bool> {
        let [Argument::Node(size), Argument::Constant(bound)] = node.args.as_slice() else { return None };
        let is_size = self.state.graph.nodes.get(size.0 as usize).is_some_and(|size| self.gives_size(size));
        let bound: i64 = bound.bind(self.py).extract().ok().filter(|_| is_size)?;
        match (name, bound) {
            ("is_equal" | "is_at_most", 0) | ("is_less", 1) => Some(false),
            ("is_unequal" | "is_greater", 0) | ("is_at_least", 1) => Some(true),
            _ => None,
        }
    }
}
