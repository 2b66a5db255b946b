//! What operations make of symbolic sizes where no rule knows: PyTorch's fake tensors are asked, with symbols for sizes.
use super::sizes::name_of;
use crate::domain::torch::examples::array_scalars::is_scalar;
use crate::domain::torch::examples::open::has_open;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::site::{Site, is_by_kernel};
use crate::domain::torch::meta::{Meta, plain};
use crate::domain::torch::named::own_name;
use crate::domain::torch::numbers::are_contents;
use crate::domain::torch::shapes::Size;
use crate::domain::{Answer, AnsweredOperation, Callee, Gives, Operand};
use crate::graph::ValueId;
use crate::names::name;
use crate::symbol::{
    Comparison, ExpressionId, Layout, Number, Operation, SizeArithmetic, Symbol, SymbolicLayout, SymbolicSize,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyModule, PySlice, PyString, PyTuple};

/// Where the function is that asks PyTorch.
pub(super) const MODULE: &str = "slotrt._size_questions";

/// PyTorch's machinery for symbolic sizes.
const PYTORCH_SYMBOLS: &str = "torch.fx.experimental.symbolic_shapes";

/// What is called, and with what.
type Call<'a, 'py> = (Bound<'py, PyAny>, &'a [Operand<'py>], &'a [(String, Operand<'py>)]);

impl<'py> Meta<'_, 'py> {
    /// The layouts of what an operation gives, as fake tensors say.
    pub(in crate::domain::torch) fn asked_layouts(
        &self,
        operation: &AnsweredOperation<'_, 'py>,
        arithmetic: &SizeArithmetic,
    ) -> Option<Vec<SymbolicLayout>> {
        if !operation.is_worthwhile && !is_imported(self.py)? {
            return None;
        }
        let (target, args, kwargs) = self.call_to_ask(operation)?;
        let ambient = &self.torch.ambient;
        let is_plain = ambient.plain(self.py).ok()? && !ambient.are_wrapped(self.py, args).ok()?;
        let own = own_name(&target).into_owned();
        let by_kernel = match Site::of(&own, args, kwargs).ok()? {
            Site::One(place) => is_by_kernel(&own, &place, args),
            Site::Several => false,
        };
        if !is_plain || by_kernel || args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_open) {
            return None;
        }
        let module = crate::ffi::modules::import(self.py, MODULE).ok()?;
        let floats_are_contents = are_contents(&own);
        let (symbols, tensors) = (Vec::new(), Vec::new());
        let mut question = Question { meta: self, module, arithmetic, floats_are_contents, symbols, tensors };
        let changes = matches!(operation.answer, Answer::Change { .. });
        let told = self.keeping_random(|| question.ask(&target, args, kwargs, changes)).ok()?;
        question.layouts(&told, operation.answer)
    }

    /// The call that PyTorch can be asked about.
    fn call_to_ask<'a>(&self, operation: &'a AnsweredOperation<'_, 'py>) -> Option<Call<'a, 'py>> {
        match operation.answer {
            // What is asked about gradients later is asked of sizes that are known.
            Answer::Change { gives: Gives::Became(_) | Gives::Relaid(_), .. } => None,
            Answer::Node { target, args, kwargs, .. }
            | Answer::Parts { target, args, kwargs, .. }
            | Answer::Change { target, args, kwargs, .. } => Some((target.clone(), args, kwargs)),
            Answer::Same(_) | Answer::Constant(_) if !matches!(operation.callee, Callee::GetAttr(_)) => {
                // Where `to` places its result, a rule says.
                let is_asked = name_of(operation.callee) != "to";
                is_asked.then_some((self.target_of(operation.callee)?, operation.args, operation.kwargs))
            }
            _ => None,
        }
    }
}

/// Whether somebody has imported what PyTorch needs for symbols, which takes seconds.
fn is_imported(py: Python<'_>) -> Option<bool> {
    let modules = crate::ffi::modules::import(py, "sys").and_then(|sys| sys.getattr(name!("modules"))).ok()?;
    modules.contains(PYTORCH_SYMBOLS).ok()
}

/// What PyTorch is asked about one call.
pub(super) struct Question<'a, 'py> {
    pub(super) meta: &'a Meta<'a, 'py>,
    pub(super) module: Bound<'py, PyModule>,
    pub(super) arithmetic: &'a SizeArithmetic,
    /// Whether metadata are the same whatever float an operand is.
    pub(super) floats_are_contents: bool,
    /// The symbols that operands name.
    pub(super) symbols: Vec<Symbol>,
    /// The tensors among the operands, in order.
    pub(super) tensors: Vec<ValueId>,
}

pub(super) fn unanswered() -> PyErr {
    pyo3::exceptions::PyNotImplementedError::new_err("a call that fake tensors are not asked about")
}

/// The symbol of a name.
fn symbol_named(name: &Bound<'_, PyString>) -> Option<Symbol> {
    name.to_str().ok()?.strip_prefix('s')?.parse().ok().map(Symbol)
}

impl<'py> Question<'_, 'py> {
    fn ask(
        &mut self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        changes: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = self.meta.py;
        let args = PyTuple::new(py, self.objects(args)?)?;
        let named = PyDict::new(py);
        for (name, value) in kwargs {
            named.set_item(name, self.object(value)?)?;
        }
        let symbols = self.named_symbols()?;
        let told = self.module.getattr(name!("ask"))?.call1((target, args, named, symbols, changes))?;
        Ok(told.cast_into()?)
    }

    /// The symbols that operands name: what each is now, and whether it is a size.
    pub(super) fn named_symbols(&self) -> PyResult<Bound<'py, PyDict>> {
        let symbols = PyDict::new(self.meta.py);
        for symbol in &self.symbols {
            let name = format!("s{}", symbol.0);
            match self.arithmetic.input_now(*symbol).ok_or_else(unanswered)? {
                (Number::Integer(now), is_size) => symbols.set_item(name, (now, is_size))?,
                (Number::Float(now), _) => symbols.set_item(name, (now, false))?,
            }
        }
        Ok(symbols)
    }

    fn objects(&mut self, operands: &[Operand<'py>]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        operands.iter().map(|operand| self.object(operand)).collect()
    }

    /// What stands for an operand.
    fn object(&mut self, operand: &Operand<'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.meta.py;
        match operand {
            Operand::Graph { value, example, layout } => self.tensor(*value, example, layout.as_deref()),
            Operand::Number { hint, .. } if self.floats_are_contents && hint.is_exact_instance_of::<PyFloat>() => {
                Ok(hint.clone())
            }
            Operand::Number { expression: Some(expression), .. } => {
                let text = self.text(*expression)?;
                self.module.getattr(name!("Number"))?.call1((text,))
            }
            Operand::Known(object) => plain(object).map_err(|_| unanswered()),
            Operand::Tuple(items) => Ok(PyTuple::new(py, self.objects(items)?)?.into_any()),
            Operand::List(items) => Ok(PyList::new(py, self.objects(items)?)?.into_any()),
            Operand::Slice(bounds) => {
                let bounds = self.objects(&bounds[..])?;
                py.get_type::<PySlice>().call1(PyTuple::new(py, bounds)?)
            }
            Operand::Number { .. } | Operand::Foreign(_) => Err(unanswered()),
        }
    }

    pub(super) fn tensor(
        &mut self,
        value: ValueId,
        example: &Bound<'py, PyAny>,
        layout: Option<&SymbolicLayout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if is_scalar(example) || !self.meta.torch.is_tensor(example) {
            return Err(unanswered());
        }
        let stand_in = self.meta.object(&Operand::Graph { value, example: example.clone(), layout: None });
        let stand_in = stand_in.map_err(|_| unanswered())?;
        let is = |question| stand_in.call_method0(question).and_then(|answer: Bound<'_, PyAny>| answer.is_truthy());
        if is(name!("is_conj"))? || is(name!("is_neg"))? {
            return Err(unanswered());
        }
        let place = place_of(example).ok_or_else(unanswered)?.text().to_string();
        let (dtype, required) = (stand_in.getattr(name!("dtype"))?, stand_in.getattr(name!("requires_grad"))?);
        let [sizes, strides] = match layout {
            Some(layout) => [self.sizes(&layout.sizes)?, self.sizes(&layout.strides)?],
            None => {
                let (sizes, strides) = (stand_in.getattr(name!("shape"))?, stand_in.call_method0(name!("stride"))?);
                [sizes, strides]
                    .map(|known| known.try_iter().map(|items| items.flatten().collect()).unwrap_or_default())
            }
        };
        self.tensors.push(value);
        self.module.getattr(name!("Tensor"))?.call1((dtype, place, required, sizes, strides))
    }

    fn sizes(&mut self, sizes: &[ExpressionId]) -> PyResult<Vec<Bound<'py, PyAny>>> {
        sizes.iter().map(|size| self.size(*size)).collect()
    }

    /// An integer, or the text of an expression.
    pub(super) fn size(&mut self, size: ExpressionId) -> PyResult<Bound<'py, PyAny>> {
        let py = self.meta.py;
        if let SymbolicSize::Known(known) = self.arithmetic.size(size) {
            return Ok(PyInt::new(py, known).into_any());
        }
        self.text(size)
    }

    /// The text of an expression.
    fn text(&mut self, size: ExpressionId) -> PyResult<Bound<'py, PyAny>> {
        let py = self.meta.py;
        for symbol in self.arithmetic.inputs(size) {
            if !self.symbols.contains(&symbol) {
                self.symbols.push(symbol);
            }
        }
        Ok(PyString::new(py, &self.arithmetic.text(size)).into_any())
    }

    /// The layouts of what PyTorch says that the call gives, where that is what was answered.
    pub(super) fn layouts(&self, told: &Bound<'py, PyTuple>, answer: &Answer<'py>) -> Option<Vec<SymbolicLayout>> {
        let (kind, gives, conditions) = told.extract::<(String, Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)>().ok()?;
        if !conditions.iter().all(|condition| self.relies_on(condition).is_some()) {
            return None;
        }
        let layouts = match (kind.as_str(), answer) {
            ("tensors", Answer::Node { .. } | Answer::Parts { .. }) => {
                gives.try_iter().ok()?.map(|layout| self.layout(&layout.ok()?)).collect::<Option<_>>()?
            }
            ("same", Answer::Same(value)) if self.tensors.get(gives.extract::<usize>().ok()?) == Some(value) => {
                Vec::new()
            }
            ("known", Answer::Constant(known)) if known.is(&gives) => Vec::new(),
            ("changed", Answer::Change { .. }) if gives.extract::<Vec<bool>>().ok()?.into_iter().all(|same| same) => {
                Vec::new()
            }
            _ => return None,
        };
        Some(layouts)
    }

    fn layout(&self, told: &Bound<'py, PyAny>) -> Option<SymbolicLayout> {
        let [sizes, strides] = told.extract::<[Vec<Bound<'py, PyAny>>; 2]>().ok()?;
        let all = |sizes: Vec<Bound<'py, PyAny>>| -> Option<Box<[ExpressionId]>> {
            sizes.iter().map(|size| self.arithmetic.expression(&self.expression(size)?)).collect()
        };
        Some(Layout { sizes: all(sizes)?, strides: all(strides)? })
    }

    /// What stands in nested tuples: an integer, the name of a symbol, or an operation and its operands.
    fn expression(&self, told: &Bound<'py, PyAny>) -> Option<SymbolicSize> {
        if let Ok(known) = told.extract::<i64>() {
            return Some(SymbolicSize::Known(known));
        }
        if let Ok(name) = told.cast::<PyString>() {
            let symbol = symbol_named(name)?;
            let is_integer = matches!(self.arithmetic.input_now(symbol), Some((Number::Integer(_), _)));
            return is_integer.then(|| self.arithmetic.input(symbol));
        }
        let (operation, left, right) = told.extract::<(String, Bound<'py, PyAny>, Bound<'py, PyAny>)>().ok()?;
        let (left, right) = (self.expression(&left)?, self.expression(&right)?);
        match operation.as_str() {
            "+" => left.apply(Operation::Add, &right),
            "*" => left.apply(Operation::Multiply, &right),
            "//" | "%" if SymbolicSize::of(0).less(&right).ok()? => {
                let operation = if operation == "//" { Operation::FloorDivide } else { Operation::Remainder };
                left.apply(operation, &right)
            }
            "max" => left.greatest(&right).ok(),
            "min" => left.least(&right).ok(),
            _ => None,
        }
    }

    /// Relies on a condition, which holds in this call.
    fn relies_on(&self, told: &Bound<'py, PyAny>) -> Option<()> {
        if let Ok((_, parts)) = told.extract::<(String, Vec<Bound<'py, PyAny>>)>() {
            return parts.iter().try_for_each(|part| self.relies_on(part));
        }
        let (sign, left, right) = told.extract::<(String, Bound<'py, PyAny>, Bound<'py, PyAny>)>().ok()?;
        let comparison = Comparison::ALL.into_iter().find(|comparison| comparison.sign() == sign)?;
        let (left, right) = (self.side(&left)?, self.side(&right)?);
        self.arithmetic.compare(comparison, left, right)?.then_some(())
    }

    /// One side of a condition: a float, or an integer.
    fn side(&self, told: &Bound<'py, PyAny>) -> Option<ExpressionId> {
        if let Ok(float) = told.cast_exact::<PyFloat>() {
            return Some(self.arithmetic.constant(Number::Float(float.value())));
        }
        match told.cast::<PyString>().ok().and_then(symbol_named) {
            Some(symbol) => self.arithmetic.input_of_any_kind(symbol),
            None => self.arithmetic.expression(&self.expression(told)?),
        }
    }
}
