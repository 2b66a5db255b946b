//! What rules say, as plain data.
use super::ruled::Ruled;
use crate::domain::Operand;
use crate::domain::torch::examples::sketch::Extent;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::shapes::{Answer as Known, Container, Tensor};
use crate::domain::torch::symbols::sizes;
use crate::graph::ValueId;
use crate::symbol::{
    Condition, ExpressionId, Expressions, Formula, Kind, Layout, Number, SizeArithmetic, Symbol, SymbolicLayout,
    SymbolicSize,
};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyModule, PyTuple};
use std::sync::Arc;

/// A type, the texts of sizes and strides, and whether gradients are required.
type TensorText<'py> = (Option<Bound<'py, PyAny>>, Vec<String>, Vec<String>, bool);

/// What a rule says of symbols.
pub type SymbolicAnswer<'py> = (&'static str, Vec<TensorText<'py>>, Vec<String>, Vec<i64>);

/// The rules of shapes for one PyTorch.
#[derive(Debug)]
pub struct ShapeRules(Torch);

impl ShapeRules {
    /// For the PyTorch of this module.
    pub fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        Torch::of(module)?.map(Self).ok_or_else(|| PyImportError::new_err("torch is not imported as a whole"))
    }

    /// What a rule says that a call gives: the kind of answer, then type, shape, strides and `requires_grad` of each tensor; `None`: no
    /// rule knows.
    pub fn answer<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let meta = Meta { torch: &self.0, py: target.py() };
        let args: Vec<_> = args.iter().map(|arg| self.operand(&arg)).collect();
        let mut named = Vec::new();
        for (name, value) in kwargs {
            named.push((name.extract()?, self.operand(&value)));
        }
        meta.ask(target, &args, &named).map(|ruled| self.data(target.py(), ruled)).transpose()
    }

    /// What a rule says where sizes of tensors, and integers, that are at least 2 are symbols: the kind of answer, then type, shape,
    /// strides and `requires_grad` of each tensor as texts of expressions; the conditions that decided it; the symbols in order.
    pub fn symbolic_answer<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<SymbolicAnswer<'py>>> {
        let py = target.py();
        let meta = Meta { torch: &self.0, py };
        let mut symbols = Symbols::default();
        let args: Vec<_> = args.iter().map(|arg| symbols.operand(self.operand(&arg))).collect();
        let mut named = Vec::new();
        for (name, value) in kwargs {
            named.push((name.extract()?, symbols.operand(self.operand(&value))));
        }
        let Symbols { expressions, inputs } = symbols;
        let arithmetic = SizeArithmetic::new(expressions, inputs.clone());
        let answer = meta.ask_about(&arithmetic, target, &args, &named).and_then(|(_, ruled)| ruled);
        let Some(Ruled { known, .. }) = answer else { return Ok(None) };
        let mut ids = Vec::new();
        let (kind, tensors) = parts(known);
        for tensor in tensors {
            let all = |sizes: &[SymbolicSize]| sizes.iter().map(|size| arithmetic.expression(size)).collect();
            let (Some(sizes), Some(strides)) = (all(&tensor.shape), all(&tensor.strides)) else { return Ok(None) };
            let sizes: [Vec<ExpressionId>; 2] = [sizes, strides];
            ids.push((self.0.rules.dtype_object(py, tensor.dtype), sizes, tensor.requires_grad));
        }
        let (expressions, relied) = arithmetic.finish();
        let text = |id: &ExpressionId| Formula::new(&expressions, *id).text().to_owned();
        let texts = ids.into_iter().map(|(dtype, [shape, strides], required)| {
            (dtype, shape.iter().map(text).collect(), strides.iter().map(text).collect(), required)
        });
        let conditions =
            relied.into_iter().map(|relation| Condition::new(&expressions, relation).to_string()).collect();
        let hints =
            inputs.into_iter().filter_map(|hint| if let Number::Integer(hint) = hint { Some(hint) } else { None });
        Ok(Some((kind, texts.collect(), conditions, hints.collect())))
    }

    fn data<'py>(&self, py: Python<'py>, ruled: Ruled<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (kind, tensors) = parts(ruled.known);
        let data = |tensor: Tensor<Extent>| {
            let dtype = self.0.rules.dtype_object(py, tensor.dtype);
            (dtype, tensor.shape.to_vec(), tensor.strides.to_vec(), tensor.requires_grad)
        };
        let tensors: Vec<_> = tensors.into_iter().map(data).collect();
        Ok((kind, tensors).into_pyobject(py)?.into_any())
    }

    /// An object as an operand.
    fn operand<'py>(&self, object: &Bound<'py, PyAny>) -> Operand<'py> {
        let all = || object.try_iter().into_iter().flatten().flatten().map(|item| self.operand(&item)).collect();
        let class = object.get_type();
        if class.is(&self.0.tensor) || class.is(&self.0.parameter) {
            return Operand::Graph { value: ValueId(0), example: object.clone(), layout: None };
        }
        if object.is_exact_instance_of::<PyTuple>() {
            return Operand::Tuple(all());
        }
        if object.is_exact_instance_of::<PyList>() {
            return Operand::List(all());
        }
        Operand::Known(object.clone())
    }
}

/// The kind of an answer, and the tensors that it is about.
fn parts<S>(answer: Known<S>) -> (&'static str, Vec<Tensor<S>>) {
    match answer {
        Known::Fresh(tensor) => ("fresh", vec![tensor]),
        Known::View(tensor) => ("view", vec![tensor]),
        Known::Detached(tensor) => ("detached", vec![tensor]),
        Known::Several { views: true, items, .. } => ("views", items),
        Known::Several { container: Container::Tuple, items, .. } => ("tuple", items),
        Known::Several { container: Container::Named(class), items, .. } => (class, items),
        Known::Each(items) => ("each", items),
        Known::Relaid(tensor) => ("relaid", vec![tensor]),
        Known::Itself => ("itself", Vec::new()),
        Known::Changed { begins: true } => ("begins to require gradients", Vec::new()),
        Known::Changed { begins: false } => ("changed", Vec::new()),
    }
}

/// Makes symbols of numbers.
#[derive(Default)]
struct Symbols {
    expressions: Expressions,
    inputs: Vec<Number>,
}

impl Symbols {
    fn number(&mut self, number: i64) -> ExpressionId {
        if number < 2 {
            return self.expressions.constant(Number::Integer(number));
        }
        let symbol = Symbol(self.inputs.len() as u32);
        self.inputs.push(Number::Integer(number));
        self.expressions.bound(symbol, 2);
        self.expressions.input(symbol, Kind::Integer)
    }

    fn layout(&mut self, known: &Layout<i64>) -> Option<SymbolicLayout> {
        let sizes: Box<[ExpressionId]> = known.sizes.iter().map(|size| self.number(*size)).collect();
        let strides = self.expressions.planned_strides(known, &sizes)?;
        Some(Layout { sizes, strides })
    }

    fn operand<'py>(&mut self, operand: Operand<'py>) -> Operand<'py> {
        match operand {
            Operand::Graph { value, example, .. } => {
                let layout = sizes::of(&example).and_then(|known| self.layout(&known)).map(Arc::new);
                Operand::Graph { value, example, layout }
            }
            Operand::Known(object) if object.is_exact_instance_of::<PyInt>() => match object.extract() {
                Ok(number) => {
                    Operand::Number { value: ValueId(0), hint: object, expression: Some(self.number(number)) }
                }
                Err(_) => Operand::Known(object),
            },
            Operand::Tuple(items) => Operand::Tuple(items.into_iter().map(|item| self.operand(item)).collect()),
            Operand::List(items) => Operand::List(items.into_iter().map(|item| self.operand(item)).collect()),
            other => other,
        }
    }
}
