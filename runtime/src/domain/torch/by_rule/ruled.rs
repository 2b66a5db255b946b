//! Asks the rules of shapes about an operation, and makes of what they say what the tracer records.
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::examples::site::{Site, is_by_kernel, is_known};
use crate::domain::torch::examples::sketch::{Extent, Sketch};
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::meta::Meta;
use crate::domain::torch::numbers;
use crate::domain::torch::operands::{InThisCall, Operands, View};
use crate::domain::torch::shapes::{Answer as Known, Argument, Container, Modes, Tensor};
use crate::domain::{Answer, Operand};
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

/// What a rule says, and the examples of the tensors among the operands.
pub(in crate::domain::torch) struct Ruled<'py, S = Extent> {
    pub(in crate::domain::torch) known: Known<S>,
    examples: SmallVec<[Bound<'py, PyAny>; 4]>,
    pub(super) modes: Modes,
    /// Where the result is.
    place: Place,
}

impl<'py> Meta<'_, 'py> {
    pub(in crate::domain::torch) fn ask(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Ruled<'py>> {
        let (name, ruled) = self.ask_about(&InThisCall, target, args, kwargs)?;
        self.torch.rules.count(&name, ruled.is_some());
        ruled
    }

    /// The name under which there are rules for a call, and what one says.
    pub(in crate::domain::torch) fn ask_about<V: View>(
        &self,
        view: &V,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<(String, Option<Ruled<'py, V::Size>>)> {
        let rules = &self.torch.rules;
        let class = target.get_type();
        let is_method = match class {
            _ if types::is_c_class(&class, "method_descriptor") => true,
            _ if types::is_c_class(&class, "builtin_function_or_method") => false,
            // Functions of Python that do what the method does which they hide.
            _ if types::is_c_class(&class, "function") && self.is_tensor_method(target) => true,
            _ => return None,
        };
        let mut name = callee::name_of(target).into_owned();
        let mut args = args;
        if let [tensor, Operand::Known(attribute)] = args
            && target.is(&rules.getattr)
        {
            name = attribute.extract().ok()?;
            args = std::slice::from_ref(tensor);
        }
        let ruled = self.apply(view, &name, is_method, args, kwargs);
        Some((name, ruled))
    }

    fn is_tensor_method(&self, target: &Bound<'py, PyAny>) -> bool {
        let found = self.torch.tensor.bind(self.py).getattr(&*callee::name_of(target));
        found.is_ok_and(|found| found.is(target))
    }

    fn apply<V: View>(
        &self,
        view: &V,
        name: &str,
        is_method: bool,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Ruled<'py, V::Size>> {
        let rules = &self.torch.rules;
        let rule = V::book(rules).rule(name)?;
        let Ok(Site::One(place)) = Site::of(name, args, kwargs) else { return None };
        if is_by_kernel(name, &place, args) && !is_known(name, &place) {
            return None;
        }
        // Operations choose their types by themselves, or work on what a transform has wrapped.
        let ambient = &self.torch.ambient;
        if ambient.is_autocast(self.py).unwrap_or(true) || ambient.are_wrapped(self.py, args).unwrap_or(true) {
            return None;
        }
        let modes = rules.modes_of(self.py, name)?;
        let mut operands = Operands::new(rules, view, V::OPEN && !numbers::are_contents(name));
        let positional: SmallVec<[Argument<V::Size>; 8]> = args.iter().map(|arg| operands.argument(arg)).collect();
        let named: Vec<(&str, Argument<V::Size>)> =
            kwargs.iter().map(|(name, arg)| (&**name, operands.option(name, arg))).collect();
        let Operands { tensors, examples, .. } = operands;
        let known = rule.apply(modes, is_method, tensors, positional.into_iter(), named.into_iter()).ok()?;
        let may_change = || examples.first().is_some_and(|operand| rules.may_change(operand, modes));
        let is_allowed = match known {
            Known::Changed { .. } => may_change(),
            Known::Relaid(_) => {
                examples.first().is_some_and(|operand| operand.is_instance_of::<Sketch>()) || may_change()
            }
            _ => true,
        };
        is_allowed.then_some(Ruled { known, examples, modes, place })
    }

    /// What the graph records for a call that makes something new, if a rule says what.
    pub(in crate::domain::torch) fn recorded_by_rule(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<CallResult<'py>> {
        let Ruled { known, examples, modes, place } = self.ask(target, args, kwargs)?;
        let first = || match args.first() {
            Some(Operand::Graph { value, .. }) => Some(*value),
            _ => None,
        };
        let sketch = |sketch: Sketch| Bound::new(self.py, sketch).map(Bound::into_any);
        let example = match known {
            Known::Itself => return Some(Ok(Answer::Same(first()?))),
            Known::Fresh(tensor) | Known::Detached(tensor) => sketch(Sketch::fresh(tensor, &place)),
            Known::View(tensor) => sketch(Sketch::view(examples.first()?, tensor, &place, modes.grad, !modes.grad)),
            Known::Several { container, items, views } => {
                return Some(self.parts_by_rule(
                    target,
                    args,
                    kwargs,
                    container,
                    (items, &place),
                    views.then(|| (examples.first(), modes.grad)),
                ));
            }
            // Which of them are the operands themselves, PyTorch says.
            Known::Each(_) | Known::Changed { .. } | Known::Relaid(_) => return None,
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
        (items, place): (Vec<Tensor<Extent>>, &Place),
        views: Option<(Option<&Bound<'py, PyAny>>, bool)>,
    ) -> CallResult<'py> {
        let made = || {
            let sketches = items.into_iter().map(|item| {
                let sketch = match views {
                    Some((Some(base), grad)) => Sketch::view(base, item, place, grad, true),
                    _ => Sketch::fresh(item, place),
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
        let (args, kwargs) = (args.to_vec(), kwargs.to_vec());
        Ok(Answer::Parts { target: target.clone(), args, kwargs, example, getitem, itself: Vec::new() })
    }

    /// Whether a rule says that a call does nothing but change the contents of its first operand, or lets it begin to require gradients.
    pub(in crate::domain::torch) fn changed_by_rule(
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
