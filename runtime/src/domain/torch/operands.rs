//! The operands of a call as rules of shapes take them: with the sizes of this call, or with symbols.
use super::examples::rules::Rules;
use super::examples::sketch::Extent;
use super::shapes::{Argument, Rulebook, Size, Tensor};
use crate::domain::Operand;
use crate::ffi::types;
use crate::symbol::{ExpressionId, SizeArithmetic, SymbolicFloat, SymbolicLayout, SymbolicSize};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};
use smallvec::SmallVec;

/// How rules see sizes and numbers.
pub(super) trait View {
    /// What they compute with.
    type Size: Size;
    /// The rules for such sizes.
    fn book(rules: &Rules) -> &Rulebook<Self::Size>;
    /// The metadata of a tensor.
    fn tensor(&self, tensor: Tensor<Extent>, layout: Option<&SymbolicLayout>) -> Tensor<Self::Size>;
    /// Whether what is not the same at other calls is open.
    const OPEN: bool;
    /// A number that may be another one at another call.
    fn integer(&self, hint: i64, expression: Option<ExpressionId>) -> Self::Size;
    /// The same of floats.
    fn float(&self, hint: f64, expression: Option<ExpressionId>) -> <Self::Size as Size>::Float;
}

/// All is as it is in this call.
pub(super) struct InThisCall;

impl View for InThisCall {
    type Size = Extent;
    const OPEN: bool = false;

    fn book(rules: &Rules) -> &Rulebook<Extent> {
        &rules.book
    }

    fn tensor(&self, tensor: Tensor<Extent>, _layout: Option<&SymbolicLayout>) -> Tensor<Extent> {
        tensor
    }

    fn integer(&self, hint: i64, _expression: Option<ExpressionId>) -> Extent {
        hint
    }

    fn float(&self, hint: f64, _expression: Option<ExpressionId>) -> f64 {
        hint
    }
}

impl View for SizeArithmetic {
    type Size = SymbolicSize;
    const OPEN: bool = true;

    fn book(rules: &Rules) -> &Rulebook<SymbolicSize> {
        &rules.symbolic_book
    }

    fn tensor(&self, tensor: Tensor<Extent>, layout: Option<&SymbolicLayout>) -> Tensor<SymbolicSize> {
        let Some(layout) = layout else { return tensor.map(|size| SymbolicSize::Known(*size)) };
        let symbols = |sizes: &[ExpressionId]| sizes.iter().map(|size| self.size(*size)).collect();
        Tensor {
            dtype: tensor.dtype,
            shape: symbols(&layout.sizes),
            strides: symbols(&layout.strides),
            requires_grad: tensor.requires_grad,
        }
    }

    fn integer(&self, _hint: i64, expression: Option<ExpressionId>) -> SymbolicSize {
        expression.map_or(SymbolicSize::Unknown, |expression| self.size(expression))
    }

    fn float(&self, _hint: f64, expression: Option<ExpressionId>) -> SymbolicFloat {
        match expression {
            Some(expression) => SymbolicFloat::Open { expression, arithmetic: self.clone() },
            None => SymbolicFloat::Unknown,
        }
    }
}

/// The operands of a call as rules take them.
pub(super) struct Operands<'a, 'py, V: View> {
    rules: &'a Rules,
    view: &'a V,
    /// Whether floats that may be others at other calls are not looked at.
    open_floats: bool,
    pub(super) tensors: SmallVec<[Tensor<V::Size>; 4]>,
    /// The examples of the tensors.
    pub(super) examples: SmallVec<[Bound<'py, PyAny>; 4]>,
}

impl<'a, 'py, V: View> Operands<'a, 'py, V> {
    pub(super) fn new(rules: &'a Rules, view: &'a V, open_floats: bool) -> Self {
        Self { rules, view, open_floats, tensors: SmallVec::new(), examples: SmallVec::new() }
    }

    pub(super) fn argument(&mut self, operand: &Operand<'py>) -> Argument<V::Size> {
        match operand {
            Operand::Graph { example, layout, .. } => self.tensor(example, layout.as_deref()),
            Operand::Known(object) => self.known(object),
            Operand::Number { hint, expression, .. } => match hint.cast_exact::<PyInt>() {
                Ok(value) => {
                    value.extract().map_or(Argument::Other, |hint| Argument::Int(self.view.integer(hint, *expression)))
                }
                Err(_) if self.open_floats => match hint.cast_exact::<PyFloat>() {
                    Ok(hint) => Argument::OpenFloat(self.view.float(hint.value(), *expression)),
                    Err(_) => Argument::Other,
                },
                Err(_) => self.known(hint),
            },
            Operand::Tuple(items) => Argument::Tuple(items.iter().map(|item| self.argument(item)).collect()),
            Operand::List(items) => Argument::List(items.iter().map(|item| self.argument(item)).collect()),
            Operand::Slice(bounds) => Argument::Slice(Box::new([0, 1, 2].map(|place| self.argument(&bounds[place])))),
            Operand::Foreign(_) => Argument::Other,
        }
    }

    /// An operand that is given by name: where the result is to be, the site of the call says.
    pub(super) fn option(&mut self, name: &str, operand: &Operand<'py>) -> Argument<V::Size> {
        match operand {
            Operand::Known(object) if name == "device" && !object.is_none() => Argument::Device,
            _ => self.argument(operand),
        }
    }

    fn tensor(&mut self, example: &Bound<'py, PyAny>, layout: Option<&SymbolicLayout>) -> Argument<V::Size> {
        let Some(tensor) = self.rules.metadata(example) else { return Argument::Other };
        self.tensors.push(self.view.tensor(tensor, layout));
        self.examples.push(example.clone());
        Argument::Tensor(self.tensors.len() - 1)
    }

    fn known(&mut self, object: &Bound<'py, PyAny>) -> Argument<V::Size> {
        if object.is_none() {
            return Argument::None;
        }
        if let Ok(value) = object.cast_exact::<PyInt>() {
            return value.extract().map_or(Argument::Other, |value: i64| Argument::Int(V::Size::of(value)));
        }
        if let Ok(value) = object.cast_exact::<PyBool>() {
            return Argument::Bool(value.is_true());
        }
        if let Ok(value) = object.cast_exact::<PyFloat>() {
            return Argument::Float(value.value());
        }
        if let Ok(text) = object.cast_exact::<PyString>() {
            return text.to_str().map_or(Argument::Other, |text| Argument::Text(text.to_owned()));
        }
        if let Ok(items) = object.cast_exact::<PyTuple>() {
            return Argument::Tuple(items.iter().map(|item| self.known(&item)).collect());
        }
        if let Ok(items) = object.cast_exact::<PyList>() {
            return Argument::List(items.iter().map(|item| self.known(&item)).collect());
        }
        if object.is_exact_instance_of::<PySlice>() {
            let bound = |name: &str| object.getattr(name).ok();
            let (Some(start), Some(stop), Some(step)) = (bound("start"), bound("stop"), bound("step")) else {
                return Argument::Other;
            };
            return Argument::Slice(Box::new([start, stop, step].map(|bound| self.known(&bound))));
        }
        if object.is_exact_instance_of::<PyEllipsis>() {
            return Argument::Ellipsis;
        }
        self.library_object(object)
    }

    /// An object of a class of PyTorch's.
    fn library_object(&mut self, object: &Bound<'py, PyAny>) -> Argument<V::Size> {
        if let Some(dtype) = self.rules.dtype(object) {
            return Argument::Dtype(dtype);
        }
        let class = types::c_name(&object.get_type()).into_owned();
        match class.as_str() {
            "torch.Size" => match object.cast::<PyTuple>() {
                Ok(items) => Argument::Tuple(items.iter().map(|item| self.known(&item)).collect()),
                Err(_) => Argument::Other,
            },
            // The site of the call says which.
            "torch.device" => Argument::Device,
            "torch.memory_format" => {
                let found = self.rules.formats.iter().find(|(known, _)| object.is(known));
                found.map_or(Argument::Other, |(_, format)| Argument::Format(*format))
            }
            _ => Argument::Other,
        }
    }
}
