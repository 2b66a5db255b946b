//! What operations give where contents decide sizes of operands, or integers among them, if it is of one kind whatever they decide: a rule
//! of shapes is asked in every case that it tells from others.
use super::open_sizes::is_plain_option;
use super::results::sizes_of;
use crate::domain::torch::by_rule::ruled::Ruled;
use crate::domain::torch::examples::open::{Unread, Unsized};
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::meta::Meta;
use crate::domain::torch::shapes::{Answer as Known, Container, Dtype, MemoryFormat, Tensor};
use crate::domain::{Answer, Domain, Operand};
use crate::graph::ValueId;
use crate::names::name;
use crate::symbol::{Cut, ExpressionId, Expressions, Kind, Layout, Number, SizeArithmetic, Symbol, SymbolicSize};
use pyo3::exceptions::{PyIndexError, PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple, PyType};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many sizes and integers may be open, and how many cases are looked at.
const OPEN: usize = 3;
const CASES: usize = 400;

/// On both sides of where a comparison changes there are as many numbers to try as there may be open ones.
const AROUND: std::ops::RangeInclusive<i64> = -3..=3;

/// What contents decide: a size of a value, or the value.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Size(ValueId, usize),
    Integer(ValueId),
}

/// A result: its type, whether gradients are required of it, and sizes, as far as they are the same in all cases.
type Made = (Dtype, bool, Vec<Option<i64>>);

/// What a call gives, in the cases that were looked at.
struct Outcome {
    /// What several results are in.
    container: Option<Container>,
    is_view: bool,
    made: Vec<Made>,
}

/// A call in one case.
struct Case<'a, 'b, 'py> {
    meta: &'a Meta<'b, 'py>,
    /// Whether floats that are not known decide nothing but elements.
    elementwise: bool,
    open: &'a [Open],
    /// What each of them is.
    numbers: &'a [i64],
    expressions: Expressions,
}

impl<'py> Meta<'_, 'py> {
    /// A node for a call whose results are of one kind whatever contents decide; `None`: no rule is sure of that.
    pub(super) fn for_all_lengths(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        elementwise: bool,
    ) -> Option<CallResult<'py>> {
        if !kwargs.iter().all(is_plain_option) || self.torch.ambient.is_transforming(self.py).unwrap_or(true) {
            return None;
        }
        let outcome = self.in_all_cases(target, args, kwargs, elementwise)?;
        if outcome.is_view
            && let Some(Operand::Graph { example, .. }) = args.first()
            && let Ok(tensor) = example.cast::<Unsized>()
        {
            tensor.get().share();
        }
        Some(self.all_lengths_answer(target, args, kwargs, &outcome).map_err(|error| fault(&error)))
    }

    fn in_all_cases(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        elementwise: bool,
    ) -> Option<Outcome> {
        let mut open = Vec::new();
        args.iter().chain(kwargs.iter().map(|(_, value)| value)).for_each(|operand| add_open(operand, &mut open));
        let mut points: BTreeSet<i64> = AROUND.collect();
        loop {
            let (mut found, mut outcome) = (points.clone(), None);
            for numbers in cases(&open, &points)? {
                let (expressions, open) = (Expressions::default(), &open[..]);
                let mut case = Case { meta: self, elementwise, open, numbers: &numbers, expressions };
                let (operands, named) = (case.all(args)?, case.named(kwargs)?);
                let inputs = numbers.iter().map(|number| Number::Integer(*number)).collect();
                let arithmetic = SizeArithmetic::new(case.expressions, inputs);
                let ruled = self.ask_about(&arithmetic, target, &operands, &named)?.1;
                let told = ruled.map(|Ruled { known, .. }| outcome_of(known));
                let (expressions, relied) = arithmetic.finish();
                for relation in relied {
                    if let Cut::At(number) = expressions.cut(relation)? {
                        found.extend(AROUND.filter_map(|distance| number.checked_add(distance)));
                    }
                }
                match told {
                    Some(told) => outcome = Some(merged(outcome, told?)?),
                    None if !self.surely_raises(target, &operands, &named) => return None,
                    None => {}
                }
            }
            if found == points {
                return outcome;
            }
            points = found;
        }
    }

    /// Whether a call raises by the sizes of its operands.
    fn surely_raises(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> bool {
        let Ok(operands) = self.stand_ins(args, kwargs) else { return false };
        let raised = self.keeping_random(|| operands.run(target)).err();
        raised.is_some_and(|error| {
            let is_of_sizes = error.is_instance_of::<PyRuntimeError>(self.py)
                || error.is_instance_of::<PyIndexError>(self.py)
                || error.is_instance_of::<PyValueError>(self.py);
            is_of_sizes && !error.is_instance_of::<PyNotImplementedError>(self.py)
        })
    }

    fn all_lengths_answer(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        outcome: &Outcome,
    ) -> PyResult<Answer<'py>> {
        let made = outcome.made.iter().map(|made| self.made_for_all_lengths(made, outcome.is_view));
        let mut made = made.collect::<PyResult<Vec<_>>>()?;
        let (target, args, kwargs) = (target.clone(), args.to_vec(), kwargs.to_vec());
        let container = match (outcome.container, made.pop()) {
            (None, Some(example)) => return Ok(Answer::Node { target, args, kwargs, example }),
            (container, last) => {
                made.extend(last);
                container
            }
        };
        let items = PyTuple::new(self.py, made)?;
        let example = match container {
            Some(Container::Named(class)) => {
                self.torch.module.bind(self.py).getattr(name!("return_types"))?.getattr(class)?.call1((items,))?
            }
            _ => items.into_any(),
        };
        let getitem = self.torch.operator.bind(self.py).getattr(name!("getitem"))?;
        Ok(Answer::Parts { target, args, kwargs, example, getitem, itself: Vec::new() })
    }

    fn made_for_all_lengths(&self, made: &Made, is_view: bool) -> PyResult<Bound<'py, PyAny>> {
        let (dtype, required, sizes) = made;
        if sizes.is_empty() {
            let mut tensor = Tensor::fresh(*dtype, &[], MemoryFormat::Contiguous)
                .map_err(|_| PyRuntimeError::new_err("a tensor without dimensions"))?;
            tensor.requires_grad = *required;
            return Ok(Bound::new(self.py, Sketch::fresh(tensor, &Place::default()))?.into_any());
        }
        let dtype = self.torch.rules.dtype_object(self.py, *dtype);
        let dtype = dtype.ok_or_else(|| PyRuntimeError::new_err("a type without a name"))?.unbind();
        let tensor = Unsized::new(dtype, Some(sizes.as_slice().into()), *required, is_view);
        Ok(Bound::new(self.py, tensor)?.into_any())
    }
}

/// What each of the open numbers is in each of the cases; `None`: there are too many.
fn cases(open: &[Open], points: &BTreeSet<i64>) -> Option<Vec<Vec<i64>>> {
    let mut cases = vec![Vec::new()];
    if open.len() > OPEN {
        return None;
    }
    for open in open {
        let fits = |number: &&i64| **number >= 0 || matches!(open, Open::Integer(_));
        let longer = |case: &Vec<i64>| {
            let case = case.clone();
            points.iter().filter(fits).map(move |number| [&case[..], &[*number]].concat()).collect::<Vec<_>>()
        };
        cases = cases.iter().flat_map(longer).collect();
        if cases.len() > CASES {
            return None;
        }
    }
    Some(cases)
}

/// Adds what is open of an operand, each once.
fn add_open(operand: &Operand<'_>, found: &mut Vec<Open>) {
    let mut add = |open| {
        if !found.contains(&open) {
            found.push(open);
        }
    };
    match operand {
        Operand::Graph { value, example, .. } if example.is_instance_of::<Unread>() => add(Open::Integer(*value)),
        Operand::Graph { value, .. } => {
            let sizes = sizes_of(operand).unwrap_or_default();
            (0..sizes.len()).filter(|dim| sizes[*dim].is_none()).for_each(|dim| add(Open::Size(*value, dim)));
        }
        Operand::Number { value, .. } => add(Open::Integer(*value)),
        Operand::Tuple(items) | Operand::List(items) => items.iter().for_each(|item| add_open(item, found)),
        Operand::Slice(parts) => parts.iter().for_each(|part| add_open(part, found)),
        Operand::Known(_) | Operand::Foreign(_) => {}
    }
}

/// What a rule says as an outcome; `None`: what it says depends on how operands lie in memory, or is no new tensor.
fn outcome_of(known: Known<SymbolicSize>) -> Option<Outcome> {
    let made = |tensor: Tensor<SymbolicSize>| {
        let size = |size: &SymbolicSize| if let SymbolicSize::Known(known) = size { Some(*known) } else { None };
        (tensor.dtype, tensor.requires_grad, tensor.shape.iter().map(size).collect())
    };
    let one = |tensor, is_view| Outcome { container: None, is_view, made: vec![made(tensor)] };
    match known {
        Known::Fresh(tensor) => Some(one(tensor, false)),
        Known::View(tensor) => Some(one(tensor, true)),
        Known::Several { container, items, views } => {
            Some(Outcome { container: Some(container), is_view: views, made: items.into_iter().map(made).collect() })
        }
        Known::Detached(_) | Known::Each(_) | Known::Itself | Known::Changed { .. } | Known::Relaid(_) => None,
    }
}

/// What holds in the cases so far and in one more; `None`: what the call gives is of another kind there.
fn merged(before: Option<Outcome>, told: Outcome) -> Option<Outcome> {
    let Some(mut before) = before else { return Some(told) };
    if before.container != told.container || before.made.len() != told.made.len() {
        return None;
    }
    before.is_view |= told.is_view;
    for ((dtype, required, sizes), other) in before.made.iter_mut().zip(told.made) {
        if *dtype != other.0 || *required != other.1 || sizes.len() != other.2.len() {
            return None;
        }
        for (size, other) in sizes.iter_mut().zip(other.2) {
            *size = size.filter(|size| Some(*size) == other);
        }
    }
    Some(before)
}

impl<'py> Case<'_, '_, 'py> {
    fn all(&mut self, operands: &[Operand<'py>]) -> Option<Vec<Operand<'py>>> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn named(&mut self, operands: &[(String, Operand<'py>)]) -> Option<Vec<(String, Operand<'py>)>> {
        operands.iter().map(|(name, operand)| Some((name.clone(), self.operand(operand)?))).collect()
    }

    /// An operand with what is open as symbols; `None`: rules do not know such.
    fn operand(&mut self, operand: &Operand<'py>) -> Option<Operand<'py>> {
        match operand {
            Operand::Known(known) => Some(Operand::Known(known.clone())),
            Operand::Tuple(items) => Some(Operand::Tuple(self.all(items)?)),
            Operand::List(items) => Some(Operand::List(self.all(items)?)),
            Operand::Slice(parts) => {
                let [start, stop, step] = &**parts;
                let parts = [self.operand(start)?, self.operand(stop)?, self.operand(step)?];
                Some(Operand::Slice(Box::new(parts)))
            }
            Operand::Number { value, hint, .. } => self.number(*value, &hint.get_type()),
            Operand::Graph { value, example, .. } if let Ok(unread) = example.cast::<Unread>() => {
                self.number(*value, unread.get().class.bind(self.meta.py))
            }
            Operand::Graph { value, example, .. } => self.tensor(*value, example, &sizes_of(operand)?),
            Operand::Foreign(_) => None,
        }
    }

    fn number(&mut self, value: ValueId, class: &Bound<'py, PyType>) -> Option<Operand<'py>> {
        let py = self.meta.py;
        if class.is(py.get_type::<PyFloat>()) && self.elementwise {
            return Some(Operand::Known(PyFloat::new(py, 1.0).into_any()));
        }
        let (symbol, number) = self.symbol(Open::Integer(value)).filter(|_| class.is(py.get_type::<PyInt>()))?;
        let hint = PyInt::new(py, number).into_any();
        Some(Operand::Number { value, hint, expression: Some(symbol) })
    }

    fn symbol(&mut self, open: Open) -> Option<(ExpressionId, i64)> {
        let place = self.open.iter().position(|known| *known == open)?;
        let symbol = Symbol(place as u32);
        if matches!(open, Open::Size(..)) {
            self.expressions.bound(symbol, 0);
        }
        Some((self.expressions.input(symbol, Kind::Integer), *self.numbers.get(place)?))
    }

    /// A tensor of these sizes. How it lies in memory decides none of a result.
    fn tensor(&mut self, value: ValueId, example: &Bound<'py, PyAny>, sizes: &[Option<i64>]) -> Option<Operand<'py>> {
        let rules = &self.meta.torch.rules;
        let (dtype, required) = match example.cast::<Unsized>() {
            Ok(tensor) => (rules.dtype(tensor.get().dtype.bind(self.meta.py))?, tensor.get().required()),
            Err(_) => {
                let class = self.meta.torch.class_of(example);
                let is_plain = class.is(&self.meta.torch.tensor) || class.is(&self.meta.torch.parameter);
                let known = rules.metadata(example)?;
                if !is_plain || !place_of(example)?.is_cpu() {
                    return None;
                }
                if sizes.iter().all(Option::is_some) {
                    return Some(Operand::Graph { value, example: example.clone(), layout: None });
                }
                (known.dtype, known.requires_grad)
            }
        };
        let (mut symbols, mut now) = (Vec::with_capacity(sizes.len()), Vec::with_capacity(sizes.len()));
        for (dim, size) in sizes.iter().enumerate() {
            let (symbol, number) = match size {
                Some(size) => (self.expressions.constant(Number::Integer(*size)), *size),
                None => self.symbol(Open::Size(value, dim))?,
            };
            symbols.push(symbol);
            now.push(number);
        }
        let mut tensor = Tensor::fresh(dtype, &now, MemoryFormat::Contiguous).ok()?;
        tensor.requires_grad = required;
        let known = Layout { sizes: now.into(), strides: tensor.strides.to_vec().into() };
        let strides = self.expressions.planned_strides(&known, &symbols)?;
        let layout = Some(Arc::new(Layout { sizes: symbols.into(), strides }));
        let example = Bound::new(self.meta.py, Sketch::fresh(tensor, &Place::default())).ok()?.into_any();
        Some(Operand::Graph { value, example, layout })
    }
}
