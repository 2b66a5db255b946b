//! Asks the rules of shapes about an operation, and makes of what they say what the tracer records.
use super::graph_break::{CallResult, fault};
use super::meta::Meta;
use super::rules::Rules;
use super::shapes::{Answer as Known, Argument, Container, Modes, Size, Tensor};
use super::sketch::{Extent, Sketch};
use crate::domain::{Answer, Operand};
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};
use smallvec::SmallVec;

/// The operands of a call as rules take them.
struct Operands<'a, 'py> {
    rules: &'a Rules,
    tensors: SmallVec<[Tensor<Extent>; 4]>,
    /// The examples of the tensors.
    examples: SmallVec<[Bound<'py, PyAny>; 4]>,
}

impl<'py> Operands<'_, 'py> {
    fn argument(&mut self, operand: &Operand<'py>) -> Argument<Extent> {
        match operand {
            Operand::Graph { example, .. } => self.tensor(example),
            Operand::Known(object) => self.known(object),
            Operand::Number { hint, .. } => self.known(hint),
            Operand::Tuple(items) => Argument::Tuple(items.iter().map(|item| self.argument(item)).collect()),
            Operand::List(items) => Argument::List(items.iter().map(|item| self.argument(item)).collect()),
            Operand::Slice(bounds) => Argument::Slice(Box::new([0, 1, 2].map(|place| self.argument(&bounds[place])))),
            Operand::Foreign(_) => Argument::Other,
        }
    }

    fn tensor(&mut self, example: &Bound<'py, PyAny>) -> Argument<Extent> {
        let Some(tensor) = self.rules.metadata(example) else { return Argument::Other };
        self.tensors.push(tensor);
        self.examples.push(example.clone());
        Argument::Tensor(self.tensors.len() - 1)
    }

    fn known(&mut self, object: &Bound<'py, PyAny>) -> Argument<Extent> {
        if object.is_none() {
            return Argument::None;
        }
        if let Ok(value) = object.cast_exact::<PyInt>() {
            return value.extract().map_or(Argument::Other, |value: i64| Argument::Int(Extent::of(value)));
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
    fn library_object(&mut self, object: &Bound<'py, PyAny>) -> Argument<Extent> {
        if let Some(dtype) = self.rules.dtype(object) {
            return Argument::Dtype(dtype);
        }
        let class = types::c_name(&object.get_type()).into_owned();
        match class.as_str() {
            "torch.Size" => match object.cast::<PyTuple>() {
                Ok(items) => Argument::Tuple(items.iter().map(|item| self.known(&item)).collect()),
                Err(_) => Argument::Other,
            },
            "torch.device" if super::device::is_here(object) => Argument::Device,
            "torch.memory_format" => {
                let found = self.rules.formats.iter().find(|(known, _)| object.is(known));
                found.map_or(Argument::Other, |(_, format)| Argument::Format(*format))
            }
            _ => Argument::Other,
        }
    }
}

/// What a rule says, and the examples of the tensors among the operands.
pub(super) struct Ruled<'py> {
    pub(super) known: Known<Extent>,
    examples: SmallVec<[Bound<'py, PyAny>; 4]>,
    modes: Modes,
}

impl<'py> Meta<'_, 'py> {
    pub(super) fn ask(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Ruled<'py>> {
        let rules = &self.torch.rules;
        let class = target.get_type();
        let is_method = match &*types::c_name(&class) {
            "method_descriptor" => true,
            "builtin_function_or_method" => false,
            _ => return None,
        };
        let mut name = callee::name_of(target);
        let mut args = args;
        if let [tensor, Operand::Known(attribute)] = args
            && target.is(&rules.getattr)
        {
            name = attribute.extract().ok()?;
            args = std::slice::from_ref(tensor);
        }
        let ruled = self.apply(&name, is_method, args, kwargs);
        rules.count(&name, ruled.is_some());
        ruled
    }

    fn apply(
        &self,
        name: &str,
        is_method: bool,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Ruled<'py>> {
        let rules = &self.torch.rules;
        let rule = rules.book.rule(name)?;
        // Operations choose their types by themselves, or work on what a transform has wrapped.
        let ambient = &self.torch.ambient;
        if ambient.is_autocast(self.py).unwrap_or(true) || ambient.is_transforming(self.py).unwrap_or(true) {
            return None;
        }
        let modes = rules.modes(self.py)?;
        let mut operands = Operands { rules, tensors: SmallVec::new(), examples: SmallVec::new() };
        let positional: SmallVec<[Argument<Extent>; 8]> = args.iter().map(|arg| operands.argument(arg)).collect();
        let named: Vec<(&str, Argument<Extent>)> =
            kwargs.iter().map(|(name, arg)| (&**name, operands.argument(arg))).collect();
        let Operands { tensors, examples, .. } = operands;
        let known = rule.apply(modes, is_method, tensors, positional.into_iter(), named.into_iter()).ok()?;
        let may_change = || examples.first().is_some_and(|operand| rules.may_change(operand, modes));
        let is_allowed = !matches!(known, Known::Changed { .. }) || may_change();
        is_allowed.then_some(Ruled { known, examples, modes })
    }

    /// What the graph records for a call that makes something new, if a rule says what.
    pub(super) fn recorded_by_rule(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<CallResult<'py>> {
        let Ruled { known, examples, modes } = self.ask(target, args, kwargs)?;
        let first = || match args.first() {
            Some(Operand::Graph { value, .. }) => Some(*value),
            _ => None,
        };
        let sketch = |sketch: Sketch| Bound::new(self.py, sketch).map(Bound::into_any);
        let example = match known {
            Known::Itself => return Some(Ok(Answer::Same(first()?))),
            Known::Fresh(tensor) | Known::Detached(tensor) => sketch(Sketch::fresh(tensor)),
            Known::View(tensor) => sketch(Sketch::view(examples.first()?, tensor, modes.grad, !modes.grad)),
            Known::Several { container, items, views } => {
                return Some(self.parts_by_rule(
                    target,
                    args,
                    kwargs,
                    container,
                    items,
                    views.then(|| (examples.first(), modes.grad)),
                ));
            }
            Known::Changed { .. } => return None,
        };
        Some(example.map_err(|error| fault(&error)).map(|example| Answer::Node {
            target: target.clone(),
            args: args.to_vec(),
            kwargs: kwargs.to_vec(),
            example,
        }))
    }

    /// Several results in one object.
    fn parts_by_rule(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        container: Container,
        items: Vec<Tensor<Extent>>,
        views: Option<(Option<&Bound<'py, PyAny>>, bool)>,
    ) -> CallResult<'py> {
        let made = || {
            let sketches = items.into_iter().map(|item| {
                let sketch = match views {
                    Some((Some(base), grad)) => Sketch::view(base, item, grad, true),
                    _ => Sketch::fresh(item),
                };
                Bound::new(self.py, sketch)
            });
            let items = PyTuple::new(self.py, sketches.collect::<PyResult<Vec<_>>>()?)?;
            let example = match container {
                Container::Tuple => items.into_any(),
                Container::Named(class) => {
                    let classes = self.torch.module.bind(self.py).getattr(name!("return_types"))?;
                    classes.getattr(class)?.call1((items,))?
                }
            };
            let getitem = self.torch.operator.bind(self.py).getattr(name!("getitem"))?;
            PyResult::Ok((example, getitem))
        };
        let (example, getitem) = made().map_err(|error| fault(&error))?;
        Ok(Answer::Parts { target: target.clone(), args: args.to_vec(), kwargs: kwargs.to_vec(), example, getitem })
    }

    /// Whether a rule says that a call does nothing but change the contents of its first operand, or lets it begin to require gradients.
    pub(super) fn changed_by_rule(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> bool {
        let Some(Ruled { known: Known::Changed { begins }, examples, .. }) = self.ask(target, args, kwargs) else {
            return false;
        };
        if !begins {
            return true;
        }
        // A tensor that stands for the operand would have to begin with it.
        let sketch = examples.first().and_then(|operand| operand.cast::<Sketch>().ok()).map(Bound::get);
        sketch.is_some_and(|sketch| sketch.known_stand_in(self.py).is_none() && sketch.begin_gradients())
    }
}
