//! What operations give where sizes of operands differ from call to call: the rules of shapes are asked with symbols.
use crate::domain::torch::by_rule::ruled::Ruled;
pub(in crate::domain::torch) use crate::domain::torch::examples::layout::layout_of as of;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::own_name;
use crate::domain::torch::operands::Operands;
use crate::domain::torch::shapes::{Answer as Known, MemoryFormat, Tensor};
use crate::domain::{Answer, AnsweredOperation, Callee, Operand};
use crate::names::interned;
use crate::symbol::{ExpressionId, Layout, SizeArithmetic, SymbolicLayout, SymbolicSize};
use pyo3::prelude::*;

/// What asks for metadata that is the same for all sizes.
const FOR_ALL_SIZES: &[&str] = &[
    "dtype",
    "ndim",
    "requires_grad",
    "itemsize",
    "layout",
    "device",
    "is_leaf",
    "grad_fn",
    "dim",
    "ndimension",
    "element_size",
    "is_floating_point",
    "is_complex",
    "is_signed",
    "is_conj",
    "is_neg",
    "result_type",
    "type",
    "__instancecheck__",
    "_has_torch_function",
    "_has_torch_function_unary",
    "_has_torch_function_variadic",
];

/// The name of the function, method or attribute.
pub(in crate::domain::torch) fn name_of<'a>(callee: &'a Callee<'_>) -> std::borrow::Cow<'a, str> {
    match callee {
        Callee::Slot("mp_ass_subscript") => "__setitem__".into(),
        Callee::Slot("mp_subscript" | "sq_item") => "__getitem__".into(),
        Callee::Slot("nb_positive") => "positive".into(),
        Callee::Slot(slot) => (*slot).into(),
        Callee::Function(function) => own_name(function).into_owned().into(),
        Callee::Method(name) | Callee::GetAttr(name) => name.as_str().into(),
    }
}

impl Torch {
    /// Whether an answer about a tensor is so for all its sizes.
    pub(in crate::domain::torch) fn holds_for_all_sizes(&self, callee: &Callee<'_>) -> bool {
        let name = name_of(callee);
        FOR_ALL_SIZES.contains(&&*name)
            || matches!(callee, Callee::Function(function) if self.tells_of_wrappers(function))
            || matches!(callee, Callee::GetAttr(name) if crate::domain::torch::metadata::is_kind(name))
    }

    /// Whether integers among the operands may be symbolic: a rule says what comes of them.
    pub(in crate::domain::torch) fn has_rule(&self, callee: &Callee<'_>) -> bool {
        !matches!(callee, Callee::GetAttr(_)) && self.rules.symbolic_book.rule(&name_of(callee)).is_some()
    }

    /// The layouts of what an operation gives.
    pub(in crate::domain::torch) fn symbolic_layouts(
        &self,
        operation: &AnsweredOperation<'_, '_>,
        arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        let meta = Meta { torch: self, py: operation.py };
        if let Some(graph) = &operation.graph {
            return arithmetic.tentatively(|| meta.layouts_in_graph(operation, graph, arithmetic));
        }
        let by_rule = || self.layouts_by_rule(&meta, operation, arithmetic);
        let asked = || meta.asked_layouts(operation, arithmetic);
        arithmetic.tentatively(by_rule).or_else(|| arithmetic.tentatively(asked))
    }

    fn layouts_by_rule<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        operation: &AnsweredOperation<'_, 'py>,
        arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        let known = match operation.answer {
            Answer::Node { target, args, kwargs, .. }
            | Answer::Parts { target, args, kwargs, .. }
            | Answer::Change { target, args, kwargs, .. } => meta.rule_of_sizes(target, args, kwargs, arithmetic)?,
            Answer::Same(_) => {
                let args = match &*name_of(operation.callee) {
                    "to" => meta.placed(operation.args).ok()?,
                    _ => operation.args.to_vec(),
                };
                meta.rule_of_sizes(&meta.target_of(operation.callee)?, &args, operation.kwargs, arithmetic)?
            }
            Answer::Constant(_) => return meta.answer_of_sizes(operation, arithmetic),
            _ => return None,
        };
        let tensors = match (known, operation.answer) {
            (Known::Fresh(tensor) | Known::View(tensor) | Known::Detached(tensor), Answer::Node { .. })
            | (Known::Relaid(tensor), Answer::Change { .. }) => vec![tensor],
            (Known::Several { items, .. } | Known::Each(items), Answer::Parts { .. }) => items,
            (Known::Itself, Answer::Same(_)) | (Known::Changed { .. }, Answer::Change { .. }) => Vec::new(),
            _ => return None,
        };
        tensors.iter().map(|tensor| layout(tensor, arithmetic)).collect()
    }
}

fn layout(tensor: &Tensor<SymbolicSize>, arithmetic: &SizeArithmetic) -> Option<SymbolicLayout> {
    let all = |sizes: &[SymbolicSize]| sizes.iter().map(|size| arithmetic.expression(size)).collect();
    let (sizes, strides): (Option<Box<[ExpressionId]>>, _) = (all(&tensor.shape), all(&tensor.strides));
    Some(Layout { sizes: sizes?, strides: strides? })
}

impl<'py> Meta<'_, 'py> {
    fn rule_of_sizes(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        arithmetic: &SizeArithmetic,
    ) -> Option<Known<SymbolicSize>> {
        self.ask_about(arithmetic, target, args, kwargs)?.1.map(|Ruled { known, .. }| known)
    }

    /// What a graph would call.
    pub(super) fn target_of(&self, callee: &Callee<'py>) -> Option<Bound<'py, PyAny>> {
        match callee {
            Callee::Function(function) => Some(function.clone()),
            _ => self.torch.tensor.bind(self.py).getattr(interned(self.py, &name_of(callee))).ok(),
        }
    }

    /// Answers that sizes and strides decide.
    fn answer_of_sizes(
        &self,
        operation: &AnsweredOperation<'_, 'py>,
        arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        let [operand] = operation.args else { return None };
        if name_of(operation.callee) != "is_contiguous" || !operation.kwargs.is_empty() {
            return None;
        }
        let tensor = self.symbolic_tensor(operand, arithmetic)?;
        tensor.is_contiguous(MemoryFormat::Contiguous).ok().map(|_| Vec::new())
    }

    fn symbolic_tensor(&self, operand: &Operand<'py>, arithmetic: &SizeArithmetic) -> Option<Tensor<SymbolicSize>> {
        let mut operands = Operands::new(&self.torch.rules, arithmetic, true);
        operands.argument(operand);
        operands.tensors.pop()
    }
}
