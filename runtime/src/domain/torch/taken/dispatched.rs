//! Wrappers: classes derived from `Tensor` with a `__torch_dispatch__`, whose instances have no contents of their own.
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::examples::unheard::requires_gradients;
use crate::domain::torch::functions::kinds::OVERRIDES;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::{Meta, fails};
use crate::domain::torch::metadata;
use crate::domain::torch::named::{is_within, module_of, own_name};
use crate::domain::torch::own::MAKES;
use crate::domain::{Answer, Callee, Dispatching, Operand, PlainCall};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The module that makes what stands for values.
const MODULE: &str = "slotrt._torch_dispatch";

/// Where in a memory the instance would begin: any number.
const OFFSET: &str = "storage_offset";

/// What it may be told, besides the class and the sizes.
const OPTIONS: &[&str] = &["strides", OFFSET, "dtype", "device", "layout", "requires_grad"];

/// Whether a function of PyTorch's, which keeps what it has given, reads the schema of an operator and nothing else.
pub(in crate::domain::torch) fn tells_of_schemas(function: &Bound<'_, PyAny>) -> bool {
    callee::name_of(function) == "get_alias_info"
        && module_of(function).is_some_and(|module| module == "torch.utils._python_dispatch")
}

impl Dispatching for Torch {
    fn dispatches(&self, class: &Bound<'_, PyType>) -> bool {
        !class.is(&self.tensor) && !class.is(&self.parameter) && self.is_wrapper_class(class)
    }

    fn tells_of_itself(&self, callee: &Callee<'_>) -> bool {
        match callee {
            Callee::GetAttr(name) => {
                metadata::is_attribute(name)
                    || metadata::is_kind(name)
                    || ["device", "is_leaf", "_version"].contains(&name.as_str())
            }
            Callee::Method(name) => metadata::is_method_name(name) || name == OFFSET,
            Callee::Function(function) => metadata::is_method(function),
            Callee::Slot(slot) => ["mp_length", "sq_length"].contains(slot),
        }
    }

    fn stand_in_class<'py>(&self, answer: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyType>> {
        let module = crate::ffi::modules::import(answer.py(), MODULE)?;
        Ok(module.call_method1(name!("stand_in_class"), (answer,))?.cast_into()?)
    }

    fn stand_in<'py>(
        &self,
        class: &Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
        value: (u64, u32),
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let py = example.py();
        let _quiet = Quiet::about([example]);
        let Some((tensor, place)) = self.rules.metadata(example).zip(place_of(example)) else {
            return Err(stop("operation on a wrapper", self.description(example), "No rule knows an operand."));
        };
        let make = || {
            let sizes = [&tensor.shape, &tensor.strides].map(|sizes| PyTuple::new(py, sizes.iter().copied()));
            let [shape, strides] = sizes;
            let dtype = self.module.bind(py).getattr(tensor.dtype.name())?;
            let module = crate::ffi::modules::import(py, MODULE)?;
            let is_leaf = match example.getattr(name!("requires_grad"))?.is_truthy()? {
                true => Some(example.getattr(name!("is_leaf"))?),
                false => None,
            };
            module.call_method1(name!("stand_in"), (class, value, shape?, strides?, dtype, place.object(py)?, is_leaf))
        };
        make().map_err(|error| fault(&error))
    }

    fn plain_call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
    ) -> Result<Option<PlainCall<'py>>, Box<Break>> {
        self.callable(py, callee, args).map_err(|error| fault(&error))
    }

    fn is_own(&self, function: &Bound<'_, PyAny>) -> bool {
        module_of(function).is_some_and(|module| is_within(&module.to_string_lossy(), "torch"))
    }

    fn asks_for_classes(&self, callee: &Callee<'_>) -> bool {
        matches!(callee, Callee::Function(function) if OVERRIDES.contains(&&*own_name(function)))
    }

    fn changes_with(&self, object: &Bound<'_, PyAny>, operand: &Bound<'_, PyAny>) -> PyResult<bool> {
        let before = version_of(object)?;
        self.module.bind(object.py()).getattr(name!("_C"))?.call_method1(name!("_increment_version"), ((operand,),))?;
        Ok(version_of(object)? != before)
    }

    fn is_followed(&self, example: &Bound<'_, PyAny>) -> bool {
        let is_on = || self.module.bind(example.py()).call_method0(name!("is_grad_enabled"))?.is_truthy();
        requires_gradients(example) && is_on().unwrap_or(true)
    }

    fn example_followed<'py>(
        &self,
        like: &Bound<'py, PyAny>,
        is_followed: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = like.py();
        let _quiet = Quiet::about([like]);
        let Some((mut tensor, place)) = self.rules.metadata(like).zip(place_of(like)) else { return Ok(None) };
        if is_view(like)? || tensor.requires_grad {
            return Ok(None);
        }
        let dtype = self.module.bind(py).getattr(tensor.dtype.name())?;
        let is_of = |question| dtype.getattr(question).and_then(|answer| answer.is_truthy());
        let enabled = self.module.bind(py).call_method0(name!("is_grad_enabled"))?.is_truthy()?;
        let takes = is_of(name!("is_floating_point"))? || is_of(name!("is_complex"))?;
        tensor.requires_grad = is_followed && enabled && takes;
        let class = self.class_of_example(like);
        let class = (!class.is(&self.tensor)).then(|| class.unbind());
        Ok(Some(Bound::new(py, Sketch::fresh(tensor, &place).of_class(class))?.into_any()))
    }

    fn is_tied(&self, object: &Bound<'_, PyAny>) -> bool {
        is_view(object).unwrap_or(true) || self.is_changed(object)
    }

    fn is_changed(&self, object: &Bound<'_, PyAny>) -> bool {
        version_of(object).map_or(true, |version| version != 0)
    }

    fn ties(&self, callee: &Callee<'_>) -> bool {
        matches!(callee, Callee::Function(function) if self.gives_memory(function))
    }

    fn native_example<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        like: &Bound<'py, PyAny>,
        given: &[(Bound<'py, PyAny>, Bound<'py, PyAny>)],
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        const KIND: &str = "what an operation on a wrapper gives";
        let _quiet = Quiet::about([object, like]);
        let known = self.rules.metadata(like).zip(self.rules.metadata(object)).zip(place_of(like));
        let Some(((tensor, made), place)) = known else {
            return Err(stop(KIND, self.description(like), "No rule knows the tensor."));
        };
        if tensor.dtype != made.dtype || tensor.shape != made.shape || tensor.strides != made.strides {
            return Err(stop(KIND, self.description(like), "It is laid out in another way than what the class gave."));
        }
        let class = (!self.class_of_example(like).is(&self.tensor)).then(|| self.class_of_example(like).unbind());
        let base = match is_view(object).map_err(|error| fault(&error))? {
            true => {
                let base = object.getattr(name!("_base")).map_err(|error| fault(&error))?;
                let found = given.iter().find(|(stand_in, _)| stand_in.is(&base));
                Some(found.ok_or_else(|| stop(KIND, self.description(like), "It is a view of something else."))?)
            }
            false => None,
        };
        let grad = self.rules.modes(object.py()).is_some_and(|modes| modes.grad);
        let sketch = match base {
            Some((_, base)) => Sketch::view(base, made, &place, grad, true),
            None => Sketch::fresh(made, &place),
        };
        Ok(Bound::new(object.py(), sketch.of_class(class)).map_err(|error| fault(&error))?.into_any())
    }
}

/// How often a tensor was changed in place.
fn version_of(object: &Bound<'_, PyAny>) -> PyResult<u64> {
    object.getattr(name!("_version"))?.extract()
}

fn is_view(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.call_method0(name!("_is_view"))?.is_truthy()
}

impl Torch {
    /// Whether it gives a tensor the memory of another one, as classes of wrappers do for views.
    pub(in crate::domain::torch) fn gives_memory(&self, callable: &Bound<'_, PyAny>) -> bool {
        const NAME: &str = "_functionalize_unsafe_set";
        callee::name_of(callable) == NAME
            && self.module.bind(callable.py()).getattr(NAME).is_ok_and(|known| known.is(callable))
    }

    /// Whether it makes instances of such classes.
    pub(in crate::domain::torch) fn makes_wrappers(&self, callable: &Bound<'_, PyAny>) -> bool {
        callee::name_of(callable) == MAKES
            && self.tensor.bind(callable.py()).getattr(MAKES).is_ok_and(|known| known.is(callable))
    }
}

impl<'py> Meta<'_, 'py> {
    /// A new wrapper: a call of the graph, which has no contents.
    pub(in crate::domain::torch) fn wrapper(
        &self,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        const KIND: &str = "wrapper that is made in a way of its own";
        self.refuse_modes()?;
        let class = match args {
            [Operand::Known(class), _] => class.cast::<PyType>().ok().filter(|class| self.torch.dispatches(class)),
            _ => None,
        };
        let Some(class) = class else { return Err(stop(KIND, MAKES, "Its class is not known to be one of wrappers.")) };
        let known = |operand: &Operand<'py>| match operand {
            Operand::Known(_) => true,
            Operand::Tuple(items) => items.iter().all(|item| matches!(item, Operand::Known(_))),
            _ => false,
        };
        let plain = |(name, value): &(String, Operand<'py>)| {
            OPTIONS.contains(&name.as_str()) && (known(value) || name == OFFSET)
        };
        if !args.iter().all(known) || !kwargs.iter().all(plain) {
            return Err(stop(KIND, crate::ffi::types::name(class), "It is told more than its metadata."));
        }
        let named = PyDict::new(self.py);
        for (name, value) in kwargs.iter().filter(|(name, _)| name != OFFSET) {
            named.set_item(name, self.object(value)?).map_err(|error| fault(&error))?;
        }
        let positional = args.iter().map(|arg| self.object(arg)).collect::<Result<Vec<_>, _>>()?;
        let positional = PyTuple::new(self.py, positional).map_err(|error| fault(&error))?;
        let made = function.call(positional, Some(&named)).map_err(|error| fails(function, &error))?;
        let _quiet = Quiet::about([&made]);
        let Some((tensor, place)) = self.torch.rules.metadata(&made).zip(place_of(&made)) else {
            return Err(stop(KIND, crate::ffi::types::name(class), "No rule knows the tensor."));
        };
        let sketch = Sketch::leaf(tensor, &place).of_class(Some(class.clone().unbind()));
        let example = Bound::new(self.py, sketch).map_err(|error| fault(&error))?.into_any();
        Ok(Answer::Node { target: function.clone(), args: args.to_vec(), kwargs: kwargs.to_vec(), example })
    }
}
