//! Nodes for operations whose results contents decide.
use super::open_sizes::{has_open_sizes, is_plain_option, is_unsized};
use super::sample::{LENGTH, is_number};
use super::tags::{Tags, gives_views, operation};
use crate::domain::torch::change::changes;
use crate::domain::torch::examples::open::{Unread, Unsized, has_open, has_unsized};
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::functions::kinds::OVERRIDES;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::{Meta, name_of};
use crate::domain::torch::metadata;
use crate::domain::{Answer, Callee, Domain, Operand};
use crate::ffi::{callee, types};
use crate::graph_break::Break;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple, PyType};

/// The function that makes a tensor of sequences of numbers.
pub(super) const TENSOR: &str = "tensor";

/// The method that gives numbers.
const TO_LIST: &str = "tolist";

/// What samples hold, by the functions that make it, what numbers are that nobody knows, and whether sizes that are known are kept: some
/// operations refuse the first.
pub(super) const TRIED: [(&str, i64, bool); 4] =
    [("zeros", 1, false), ("ones", 1, false), ("zeros", LENGTH, false), ("zeros", LENGTH, true)];

/// Attributes and methods that sizes do not decide.
const WITHOUT_SIZES: &[&str] = &[
    "dtype",
    "ndim",
    "requires_grad",
    "itemsize",
    "layout",
    "dim",
    "ndimension",
    "element_size",
    "is_floating_point",
    "is_complex",
    "is_signed",
    "is_conj",
    "is_neg",
];

/// Whether an operation takes numbers for contents alone, beside those that tags tell: each tensor of a list, or what makes a tensor of one.
fn takes_any_number(name: &str) -> bool {
    name.starts_with("_foreach_") || name == "as_tensor"
}

/// Options that are as if they were not there where they are `None`.
const ABSENT: &[&str] = &["out", "generator"];

/// Keyword arguments that say something.
fn without_absent<'py>(kwargs: &[(String, Operand<'py>)]) -> Vec<(String, Operand<'py>)> {
    let is_absent = |(name, value): &&(String, Operand<'_>)| {
        ABSENT.contains(&name.as_str()) && matches!(value, Operand::Known(value) if value.is_none())
    };
    kwargs.iter().filter(|option| !is_absent(option)).cloned().collect()
}

impl<'py> Meta<'_, 'py> {
    /// A node for a call that cannot be asked for its result without contents; `None`: it is no such call, or fails.
    pub(in crate::domain::torch) fn by_contents(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Answer<'py>> {
        self.refuse_modes().ok()?;
        let name = operation(target)?;
        // Without a tensor for an index, it is the program that fails.
        let fails = name == "index" && (!has_index(args.get(1)) || args.iter().skip(1).any(has_bytes));
        if let ("__int__" | "__float__" | "__bool__", [tensor], []) = (&*callee::name_of(target), args, kwargs) {
            return self.number_of(&callee::name_of(target), tensor).ok();
        }
        if name == TENSOR && matches!(args, [Operand::List(_) | Operand::Tuple(_)]) && kwargs.is_empty() {
            return self.sampled(target, &name, args, kwargs).ok();
        }
        if name == TO_LIST && kwargs.is_empty() {
            return self.list_of_numbers(target, args)?.ok();
        }
        let tags = self.tags_of_call(&name, args).ok().filter(|_| !fails)?;
        tags.by_contents.then(|| self.sampled(target, &name, args, kwargs))?.ok()
    }

    /// What tags say of a call: `where` of a condition alone says where it is true.
    fn tags_of_call(&self, name: &str, args: &[Operand<'py>]) -> PyResult<Tags> {
        match (name, args) {
            ("where", [_]) => Ok(Tags { by_contents: true, elementwise: false }),
            _ => self.torch.tags_of(self.py, name),
        }
    }

    /// Whether contents decide what an operation gives: nothing without contents knows it.
    pub(in crate::domain::torch) fn is_by_contents(&self, target: &Bound<'py, PyAny>) -> PyResult<bool> {
        let tags = operation(target).map(|name| self.torch.tags_of(self.py, &name)).transpose()?;
        Ok(tags.is_some_and(|tags| tags.by_contents))
    }

    /// What an operation gives on what contents have decided.
    pub(in crate::domain::torch) fn on_open(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let kwargs = &without_absent(kwargs);
        if let Some(length) = self.length_of_open(target, args, kwargs) {
            return length;
        }
        if let [Operand::Graph { example, .. }] = args
            && kwargs.is_empty()
            && metadata::is_method(target)
        {
            return self.about_open(example, &callee::name_of(target));
        }
        if takes_any_number(&callee::name_of(target)) && !args.iter().any(has_unsized) {
            return self.with_numbers(target, args, kwargs);
        }
        let Some(name) = operation(target) else { return Err(needs(name_of(target))) };
        if let Some(answer) = (name == "index" && kwargs.is_empty()).then(|| self.items_of_open(target, args)).flatten()
        {
            return Ok(answer);
        }
        let apart = match &*name {
            TO_LIST if kwargs.is_empty() => self.list_of_numbers(target, args),
            _ => self.parts_of_open(target, &name, args, kwargs),
        };
        if let Some(answer) = apart {
            return answer;
        }
        let tags = self.tags_of_call(&name, args).map_err(|error| fault(&error))?;
        let warns = name == "index" && args.iter().skip(1).any(has_bytes);
        let has_all_sizes = !args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_unsized);
        if tags.elementwise && has_all_sizes && !warns {
            return self.with_numbers(target, args, kwargs);
        }
        if !warns && let Some(answer) = self.for_all_lengths(target, args, kwargs, tags.elementwise) {
            return answer;
        }
        if has_open_sizes(target, args, kwargs) && !warns {
            let answer = self.sampled(target, &name, args, kwargs)?;
            return if is_unsized(&answer) { Ok(answer) } else { Err(needs(name_of(target))) };
        }
        let is_allowed = tags.by_contents || tags.elementwise || name == TENSOR && !args.iter().any(has_unsized);
        if !is_allowed || warns {
            return Err(needs(name_of(target)));
        }
        self.sampled(target, &name, args, kwargs)
    }

    /// An operation on elements, some operands of which are numbers that are not known: only their classes decide what it gives.
    fn with_numbers(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let stand_in = |operand: &Operand<'py>| self.with_any_number(operand).ok_or_else(|| needs(name_of(target)));
        let known = args.iter().map(stand_in).collect::<Result<Vec<_>, _>>()?;
        let mut named = Vec::with_capacity(kwargs.len());
        for (name, value) in kwargs {
            named.push((name.clone(), stand_in(value)?));
        }
        let mut answer = self.perform(&callee::name_of(target), target.clone(), &known, &named)?;
        match &mut answer {
            Answer::Node { args: held, kwargs: named, .. }
            | Answer::Parts { args: held, kwargs: named, .. }
            | Answer::Change { args: held, kwargs: named, .. } => {
                *held = args.to_vec();
                *named = kwargs.to_vec();
                Ok(answer)
            }
            _ => Err(needs(name_of(target))),
        }
    }

    /// An operand with a number of its class in the place of one that is not known, or of each of a list; `None`: sizes are not known.
    fn with_any_number(&self, operand: &Operand<'py>) -> Option<Operand<'py>> {
        match operand {
            Operand::Graph { example, .. } => Some(match example.cast::<Unread>() {
                Ok(unread) => Operand::Known(unread.get().class.bind(self.py).call1((1,)).ok()?),
                Err(_) => operand.clone(),
            }),
            Operand::List(items) => {
                items.iter().map(|item| self.with_any_number(item)).collect::<Option<_>>().map(Operand::List)
            }
            other => (!has_open(other)).then(|| other.clone()),
        }
    }

    /// What a question about a tensor without sizes is answered by.
    fn about_open(&self, example: &Bound<'py, PyAny>, name: &str) -> CallResult<'py> {
        let Ok(tensor) = example.cast::<Unsized>() else { return Err(needs(name)) };
        let tensor = tensor.get();
        if metadata::is_kind(name) {
            let answer = metadata::kind(name, &Place::default());
            return Ok(Answer::Constant(PyBool::new(self.py, answer).to_owned().into_any()));
        }
        match name {
            "device" => return Place::default().object(self.py).map(Answer::Constant).map_err(|error| fault(&error)),
            "is_leaf" => return Ok(Answer::Constant(PyBool::new(self.py, !tensor.required()).to_owned().into_any())),
            "grad_fn" if !tensor.required() => return Ok(Answer::Constant(self.py.None().into_bound(self.py))),
            _ => {}
        }
        let (Some(rank), true) = (tensor.rank(), WITHOUT_SIZES.contains(&name)) else { return Err(needs(name)) };
        let like = || {
            let module = self.torch.module.bind(self.py);
            let named = pyo3::types::PyDict::new(self.py);
            named.set_item(name!("dtype"), tensor.dtype.bind(self.py))?;
            named.set_item(name!("device"), "meta")?;
            named.set_item(name!("requires_grad"), tensor.required())?;
            let made = module.getattr("empty")?.call((vec![0; rank],), Some(&named))?;
            let found = made.getattr(interned(self.py, name))?;
            if metadata::is_attribute(name) { Ok(found) } else { found.call0() }
        };
        like().map(Answer::Constant).map_err(|error: PyErr| fault(&error))
    }

    /// `int(tensor)`, `float(tensor)`, `bool(tensor)`, where these raise for no contents.
    fn number_of(&self, method: &str, tensor: &Operand<'py>) -> CallResult<'py> {
        let refuse = || needs(method);
        let Operand::Graph { example, .. } = tensor else { return Err(refuse()) };
        let is_plain = self.torch.is_tensor(example) && self.torch.class_of(example).is(&self.torch.tensor);
        let here = is_plain && place_of(example).is_some_and(|place| place.is_cpu());
        let known = self.torch.rules.metadata(example).filter(|_| here).ok_or_else(refuse)?;
        let name = match method {
            "__int__" if !known.dtype.is_float() => "int",
            "__float__" => "float",
            "__bool__" => "bool",
            _ => return Err(refuse()),
        };
        if known.shape.iter().any(|length| *length != 1) {
            return Err(refuse());
        }
        self.refuse_modes()?;
        let made = || {
            let class = crate::ffi::modules::import(self.py, "builtins")?.getattr(name)?;
            let unread = Unread { class: class.clone().cast_into::<PyType>()?.unbind() };
            PyResult::Ok((class, Bound::new(self.py, unread)?.into_any()))
        };
        let (target, example) = made().map_err(|error| fault(&error))?;
        Ok(Answer::Node { target, args: vec![tensor.clone()], kwargs: Vec::new(), example })
    }

    /// A node for a call, like what its kernel gives for small tensors.
    fn sampled(
        &self,
        target: &Bound<'py, PyAny>,
        name: &str,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let is_transforming = self.torch.ambient.is_transforming(self.py).map_err(|error| fault(&error))?;
        let places = match has_open_sizes(target, args, kwargs) {
            true => !kwargs.iter().all(is_plain_option),
            false if name == TENSOR => !kwargs.iter().all(is_plain_option),
            false => kwargs.iter().any(|(name, _)| matches!(name.as_str(), "out" | "device" | "dtype")),
        };
        if is_transforming || places {
            return Err(needs(name_of(target)));
        }
        let mut found = None;
        let lengths = self.with_any_lengths(name, args);
        for tried in TRIED {
            let sample = self.sample(&lengths, kwargs, tried)?;
            let run = || target.call(&sample.args, Some(&sample.named));
            if let Ok(gives) = self.keeping_random(run) {
                found = Some((sample, gives));
                break;
            }
        }
        let (sample, gives) = found.ok_or_else(|| needs(name_of(target)))?;
        if let (Some(itself), Some(Operand::Graph { value, .. })) = (sample.tensors.first(), args.first())
            && itself.is(&gives)
        {
            return Ok(Answer::Same(*value));
        }
        // What an index that holds tensors gives is a view only where all of these stand for integers.
        let may_copy = name == "index" && has_index(args.get(1));
        let is_view = gives_views(name) && (!may_copy || sample.shares_memory(&gives).unwrap_or(true));
        if is_view
            && let Some(Operand::Graph { example, .. }) = args.first()
            && let Ok(tensor) = example.cast::<Unsized>()
        {
            tensor.get().share();
        }
        let (target, args, kwargs) = (target.clone(), args.to_vec(), kwargs.to_vec());
        let is_list = gives.is_exact_instance_of::<PyList>();
        if is_list || gives.is_instance_of::<PyTuple>() && types::is_c_type(&gives.get_type()) {
            let items = gives.try_iter().and_then(Iterator::collect::<PyResult<Vec<_>>>);
            let items = items.map_err(|error| fault(&error))?;
            if items.iter().any(|item| sample.tensors.iter().any(|operand| operand.is(item))) {
                return Err(needs(name_of(&target)));
            }
            let made = items
                .iter()
                .map(|item| self.like(item, (name, &args), is_view, &sample))
                .collect::<Result<Vec<_>, _>>()?;
            let made = PyTuple::new(self.py, made).and_then(|items| match gives.is_exact_instance_of::<PyTuple>() {
                true => Ok(items.into_any()),
                false => gives.get_type().call1((items,)),
            });
            let example = made.map_err(|error| fault(&error))?;
            let getitem = self.torch.operator.bind(self.py).getattr(name!("getitem")).map_err(|error| fault(&error))?;
            return Ok(Answer::Parts { target, args, kwargs, example, getitem, itself: Vec::new() });
        }
        if is_number(&gives) {
            let unread = Bound::new(self.py, Unread { class: gives.get_type().unbind() });
            let example = unread.map_err(|error| fault(&error))?.into_any();
            return Ok(Answer::Node { target, args, kwargs, example });
        }
        let example = self.like(&gives, (name, &args), is_view, &sample)?;
        Ok(Answer::Node { target, args, kwargs, example })
    }
}

impl Torch {
    /// An operation on what contents have decided.
    pub(in crate::domain::torch) fn call_on_open<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        match (callee, args) {
            (Callee::GetAttr(name), [tensor]) if name == "shape" => {
                meta.shape_of_open(tensor).unwrap_or_else(|| Err(needs(name.as_str())))
            }
            (Callee::GetAttr(name), [Operand::Graph { example, .. }]) => meta.about_open(example, name),
            (Callee::Slot("mp_length" | "sq_length"), _) => {
                let length = crate::ffi::modules::import(meta.py, "builtins")
                    .and_then(|builtins| builtins.getattr(name!("len")));
                meta.record(length.map_err(|error| fault(&error))?, args, kwargs)
            }
            (Callee::Slot("mp_ass_subscript"), [_, _, _]) => {
                let setitem = self.operator.bind(meta.py).getattr(name!("setitem"));
                meta.change_by_open("__setitem__", &setitem.map_err(|error| fault(&error))?, args, kwargs)
            }
            (Callee::Slot(slot), _) if *slot != "mp_ass_subscript" => self.slot(meta, slot, args),
            (Callee::Method(name), _) if changes(name) => {
                let method = self.tensor.bind(meta.py).getattr(interned(meta.py, name));
                meta.change_by_open(name, &method.map_err(|error| fault(&error))?, args, kwargs)
            }
            (Callee::Method(name), _) => {
                let method = self.tensor.bind(meta.py).getattr(interned(meta.py, name));
                meta.record(method.map_err(|error| fault(&error))?, args, kwargs)
            }
            // Whether a class takes over calls, sizes do not say.
            (Callee::Function(function), _) if OVERRIDES.contains(&&*callee::name_of(function)) => {
                self.function(meta, function, args, kwargs)
            }
            (Callee::Function(function), _)
                if types::is_c_class(&function.get_type(), "builtin_function_or_method") =>
            {
                let on_device = self.with_device(function, kwargs).map_err(|error| fault(&error))?;
                meta.record(function.clone(), args, on_device.as_deref().unwrap_or(kwargs))
            }
            _ => Err(needs(callee.name().to_string())),
        }
    }
}

/// Whether an index is, or holds, a tensor of bytes: these are taken for truths, with a warning.
fn has_bytes(index: &Operand<'_>) -> bool {
    match index {
        Operand::Graph { example, .. } => {
            example.getattr(name!("dtype")).is_ok_and(|dtype| types::text(&dtype) == "torch.uint8")
        }
        Operand::Tuple(items) | Operand::List(items) => items.iter().any(has_bytes),
        _ => false,
    }
}

/// Whether an index is, or holds, a tensor: then what it gives is no view.
fn has_index(index: Option<&Operand<'_>>) -> bool {
    match index {
        Some(Operand::Graph { example, .. }) => !example.is_instance_of::<Unread>(),
        Some(Operand::Tuple(items)) => items.iter().any(|item| has_index(Some(item))),
        _ => false,
    }
}

/// The break at an operation that needs sizes or contents.
pub(super) fn needs(what: impl Into<String>) -> Box<Break> {
    stop(
        "depends on the contents of a tensor",
        what,
        "It needs a size or a number that is known only when the graph has run.",
    )
}
