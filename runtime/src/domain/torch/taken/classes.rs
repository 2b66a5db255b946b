//! Classes with a `__torch_function__`, which takes over calls of PyTorch's functions with their instances.
use crate::domain::torch::graph_break::{fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::{Callee, Domain, HandedOver, Operand};
use crate::ffi::types;
use crate::graph_break::Break;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PyTuple, PyType};

/// The method that takes over.
const METHOD: &str = "__torch_function__";

/// The question that is asked of the items of its argument.
const OF_ITEMS: &str = "_has_torch_function";

/// Special names that a class may define whose instances the graph takes for tensors: they change nothing of what operators do.
const HARMLESS: &[&str] = &[
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__classcell__",
    "__copy__",
    "__deepcopy__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__getstate__",
    "__init__",
    "__init_subclass__",
    "__module__",
    "__new__",
    "__orig_bases__",
    "__parameters__",
    "__qualname__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setstate__",
    "__slots__",
    "__static_attributes__",
    "__str__",
    "__tensor_flatten__",
    "__tensor_unflatten__",
    "__torch_dispatch__",
    "__torch_function__",
    "__type_params__",
    "__weakref__",
];

/// The function, the arguments, those with names, and the classes.
type Told<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>, Bound<'py, PyTuple>);

/// A callable of Python, and its arguments.
type Called<'py> = (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

impl Torch {
    /// Whether calls with instances of the class are handed to a function of Python.
    pub(in crate::domain::torch) fn has_override(&self, class: &Bound<'_, PyType>) -> bool {
        !class.is(&self.tensor)
            && !types::is_c_type(class)
            && hook(class, METHOD).is_some_and(|hook| !self.is_off(&hook))
    }

    /// Whether that function is another one than that of `Tensor`, which nothing tells of what it is called with.
    pub(in crate::domain::torch) fn is_told_of_calls(&self, class: &Bound<'_, PyType>) -> bool {
        let usual = self.tensor.bind(class.py()).cast::<PyType>().ok().and_then(|tensor| hook(tensor, METHOD));
        self.has_override(class) && !hook(class, METHOD).zip(usual).is_some_and(|(own, usual)| own.is(&usual))
    }

    /// Whether that is so now.
    pub(in crate::domain::torch) fn takes_over_now(&self, class: &Bound<'_, PyType>) -> bool {
        self.has_override(class) && self.ambient.overrides_are_on(class.py()).unwrap_or(true)
    }

    /// What a question of `OVERRIDES` answers. Breaks where a class does not tell. C++: `torch/csrc/utils/disable_torch_function.cpp`.
    pub(in crate::domain::torch) fn is_taken_over(
        &self,
        py: Python<'_>,
        question: &str,
        args: &[Operand<'_>],
    ) -> Result<bool, Box<Break>> {
        match (question, args) {
            // It is asked of what its one argument holds; the others are asked of the arguments themselves.
            (OF_ITEMS, [Operand::Tuple(items) | Operand::List(items)]) => self.any_takes_over(py, items),
            (OF_ITEMS, [Operand::Known(object)])
                if object.is_exact_instance_of::<PyTuple>() || object.is_exact_instance_of::<PyList>() =>
            {
                let items: PyResult<Vec<_>> =
                    object.try_iter().and_then(|items| items.map(|item| item.map(Operand::Known)).collect());
                self.any_takes_over(py, &items.map_err(|error| fault(&error))?)
            }
            (OF_ITEMS, _) => Err(stop("call of a function", question, "It is asked of what is no tuple and no list.")),
            _ => self.any_takes_over(py, args),
        }
    }

    /// Whether a mode takes over calls, or the class of one of these.
    fn any_takes_over(&self, py: Python<'_>, objects: &[Operand<'_>]) -> Result<bool, Box<Break>> {
        let mut any = !objects.is_empty() && self.modes_are_on(py);
        for object in objects {
            any |= match object {
                Operand::Graph { example, .. } => self.takes_over_now(&self.class_of(example)),
                Operand::Known(object) => self.may_take_over(&object.get_type())?,
                Operand::Foreign(class) => self.may_take_over(class)?,
                Operand::Tuple(_) | Operand::List(_) | Operand::Number { .. } | Operand::Slice(_) => false,
            };
        }
        Ok(any)
    }

    /// The same of the class of an object that is no tensor.
    fn may_take_over(&self, class: &Bound<'_, PyType>) -> Result<bool, Box<Break>> {
        let hooked = |name: &str| {
            let plain = types::lookup(&class.py().get_type::<PyAny>(), &interned(class.py(), name));
            hook(class, name).is_some_and(|found| plain.is_none_or(|plain| !plain.is(&found)))
        };
        if !types::is_c_type(class) && (hooked("__getattr__") || hooked("__getattribute__")) {
            let why = "It may have a `__torch_function__`.";
            return Err(stop("object with attributes of its own making", types::name(class), why));
        }
        Ok(self.takes_over_now(class))
    }

    /// Whether it is one of the functions of C that take over nothing.
    fn is_off(&self, hook: &Bound<'_, PyAny>) -> bool {
        let native = self.module.bind(hook.py()).getattr(name!("_C"));
        let is =
            |known: &str| native.as_ref().is_ok_and(|native| native.getattr(known).is_ok_and(|known| known.is(hook)));
        is("_disabled_torch_function_impl") || is("_disabled_torch_dispatch_impl")
    }

    /// Whether instances of a class derived from `Tensor` are values of the graph: they do what tensors do where nobody takes over calls.
    pub(in crate::domain::torch) fn is_recorded_subclass(&self, class: &Bound<'_, PyType>) -> bool {
        let py = class.py();
        !types::is_c_type(class)
            && class.is_subclass(self.tensor.bind(py)).unwrap_or(false)
            && hook(class, "__torch_dispatch__").is_some_and(|hook| self.is_off(&hook))
            && self.leaves_operators_alone(class)
    }

    /// Whether instances of a class derived from `Tensor` are values of the graph whose operations are handed to it.
    pub(in crate::domain::torch) fn is_wrapper_class(&self, class: &Bound<'_, PyType>) -> bool {
        let py = class.py();
        !types::is_c_type(class)
            && class.is_subclass(self.tensor.bind(py)).unwrap_or(false)
            && hook(class, "__torch_dispatch__").is_some_and(|hook| !self.is_off(&hook))
            && self.leaves_operators_alone(class)
    }

    /// Whether neither the class nor those between it and `Tensor` define what operators, attributes and built-in functions look for.
    fn leaves_operators_alone(&self, class: &Bound<'_, PyType>) -> bool {
        let defines = |class: &Bound<'_, PyAny>| -> PyResult<bool> {
            for name in class.getattr(name!("__dict__"))?.try_iter()? {
                let name: String = name?.extract()?;
                if name.starts_with("__") && name.ends_with("__") && !HARMLESS.contains(&&*name) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let ends = |class: &Bound<'_, PyAny>| class.is(&self.tensor) || class.is(&self.parameter);
        let mro = class.mro();
        mro.iter().take_while(|class| !ends(class)).all(|class| !defines(&class).unwrap_or(true))
    }

    /// What stands for an argument of this class where PyTorch is asked what it hands over.
    pub(in crate::domain::torch) fn stand_in_of_class<'py>(
        &self,
        class: &Bound<'py, PyType>,
    ) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let py = class.py();
        let is_tensor = class.is_subclass(self.tensor.bind(py)).unwrap_or(false);
        let given = (class, is_tensor, self.has_override(class));
        let made = room(py).and_then(|room| room.call_method1(name!("stand_in"), given));
        made.map_err(|error| fault(&error))
    }

    /// What PyTorch hands over of a call to a class; `None` where it hands over nothing.
    pub(in crate::domain::torch) fn handed_over_of<'py>(
        &self,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
        named: &Bound<'py, PyDict>,
    ) -> Result<Option<HandedOver<'py>>, Box<Break>> {
        self.handed_by("handed_over", callee, args, named)
    }

    /// The same, as a function of this package knows: to a class, or to a mode.
    pub(in crate::domain::torch) fn handed_by<'py>(
        &self,
        asks: &'static str,
        callee: &Callee<'py>,
        args: Vec<Bound<'py, PyAny>>,
        named: &Bound<'py, PyDict>,
    ) -> Result<Option<HandedOver<'py>>, Box<Break>> {
        let py = named.py();
        let Some((function, args)) = self.callable(py, callee, args).map_err(|error| fault(&error))? else {
            return Ok(None);
        };
        let asked = || {
            let told = room(py)?.call_method1(asks, (function, PyTuple::new(py, args)?, named))?;
            let parts: Option<Told<'py>> = told.extract()?;
            Ok(parts.map(|(function, args, named, types)| HandedOver { function, args, named, types, method: METHOD }))
        };
        asked().map_err(|error: PyErr| fault(&error))
    }

    /// The callable of Python that does what is called, and its arguments.
    pub(in crate::domain::torch) fn callable<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        mut args: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Called<'py>>> {
        const SLOTS: &[(&str, &str, &str)] = &[
            ("nb_negative", "operator", "neg"),
            ("nb_positive", "operator", "pos"),
            ("nb_absolute", "operator", "abs"),
            ("nb_invert", "operator", "invert"),
            ("nb_bool", "operator", "truth"),
            ("mp_subscript", "operator", "getitem"),
            ("sq_item", "operator", "getitem"),
            ("mp_ass_subscript", "operator", "setitem"),
            ("mp_length", "builtins", "len"),
            ("sq_length", "builtins", "len"),
            ("tp_iter", "builtins", "iter"),
        ];
        const COMPARE: [&str; 6] = ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"];
        let function = match callee {
            Callee::Function(function) => function.clone(),
            Callee::Method(method) => self.tensor.bind(py).getattr(interned(py, method))?,
            Callee::GetAttr(name) => {
                args.push(interned(py, name).into_any());
                crate::ffi::modules::import(py, "builtins")?.getattr(name!("getattr"))?
            }
            Callee::Slot("tp_richcompare") => {
                let which = args.pop().and_then(|which| which.extract::<usize>().ok());
                let Some(name) = which.and_then(|which| COMPARE.get(which)) else { return Ok(None) };
                // The slot was found: no other operand is asked first.
                self.tensor.bind(py).getattr(*name)?
            }
            Callee::Slot(slot) => {
                let Some((_, module, name)) = SLOTS.iter().find(|(known, ..)| known == slot) else { return Ok(None) };
                crate::ffi::modules::import(py, *module)?.getattr(*name)?
            }
        };
        Ok(Some((function, args)))
    }
}

/// Whether it is what tells the functions whose results the default `__torch_function__` leaves as they are.
pub(in crate::domain::torch) fn is_unwrapped(callable: &Bound<'_, PyAny>) -> bool {
    const NAME: &str = "get_default_nowrap_functions";
    types::is_c_class(&callable.get_type(), "functools._lru_cache_wrapper")
        && crate::ffi::modules::import(callable.py(), "torch.overrides")
            .and_then(|overrides| overrides.getattr(NAME))
            .is_ok_and(|known| known.is(callable))
}

/// The functions of this package that ask.
fn room(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    crate::ffi::modules::import(py, "slotrt._torch_overrides")
}

/// What the class has under a name, as a class attribute gives it.
fn hook<'py>(class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
    types::lookup(class, &interned(class.py(), name))
}
