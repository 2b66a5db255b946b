//! Calls of a library's functions that the class of an argument takes over: the library is asked what it hands over, and the trace goes
//! through the method that gets it. PyTorch: `torch/csrc/utils/python_arg_parser.cpp`, `handle_torch_function_no_python_arg_parser`.
use crate::domain::{Callee, Domain, HandedOver};
use crate::ffi::{callee, types};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::sync::Arc;

/// What stands for arguments where the library is asked, and the values that they are.
pub(crate) type StandIns<'py> = Vec<(Bound<'py, PyAny>, ValueId)>;

/// What stands for positional arguments, and for those with names; and the values that these are.
type ArgumentsLike<'py> = (Vec<Bound<'py, PyAny>>, Bound<'py, PyDict>, StandIns<'py>);

/// What a method gets that takes over a call.
#[derive(Debug)]
pub(crate) struct GivenOver {
    positional: Vec<ValueId>,
    /// An argument of each class that takes over.
    takers: Vec<ValueId>,
}

impl GivenOver {
    /// The function, the classes that take over, its arguments, and those with names.
    pub(crate) fn arguments(&self) -> Arguments {
        Arguments::positional(self.positional.clone())
    }
}

impl<'py> Tracer<'py> {
    /// What the method gives that takes over a call; `None`: there is none.
    pub(crate) fn call_taken_over(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<Option<ValueId>> {
        if !self.any_is_of_class(args, keywords, &|class| domain.takes_over(class))? {
            return Ok(None);
        }
        self.rely_on_surroundings(domain)?;
        let (positional, named, known) = self.arguments_like(domain, args, keywords)?;
        let handed = domain.handed_over(callee, positional, &named).map_err(Unwind::Break)?;
        handed.map_or(Ok(None), |handed| self.hand_over(domain, &handed, &known).map(Some))
    }

    /// What stands for the arguments of a call.
    pub(crate) fn arguments_like(
        &mut self,
        domain: &Arc<dyn Domain>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<ArgumentsLike<'py>> {
        let (mut known, mut positional, named) = (StandIns::new(), Vec::new(), PyDict::new(self.py));
        for value in args {
            positional.push(self.argument_like(domain, *value, &mut known)?);
        }
        for (name, value) in keywords {
            let like = self.argument_like(domain, *value, &mut known)?;
            named.set_item(name, like).or_else(|error| internal(error.to_string()))?;
        }
        Ok((positional, named, known))
    }

    /// Whether an argument, or an item of one, is of a class of Python of which `is_one` holds.
    pub(crate) fn any_is_of_class(
        &mut self,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
        is_one: &dyn Fn(&Bound<'py, PyType>) -> bool,
    ) -> Traced<bool> {
        for value in args.iter().chain(keywords.iter().map(|(_, value)| value)) {
            let class = self.class_of(*value)?;
            let found = match types::is_c_type(&class) {
                true => {
                    let items = self.items_of_own(*value).unwrap_or_default();
                    self.any_is_of_class(&items, &[], is_one)?
                }
                false => is_one(&class),
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The items of a list or tuple that the trace has made, or that it has a copy of.
    pub(crate) fn items_of_own(&mut self, value: ValueId) -> Option<Vec<ValueId>> {
        let own = self.owned(value).or_else(|| self.private_copy(value).ok().flatten())?;
        let items: Vec<Bound<'py, PyAny>> = match own.cast_exact::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => own.cast_exact::<PyList>().ok()?.iter().collect(),
        };
        Some(items.into_iter().map(|item| self.absorb(item)).collect())
    }

    /// What stands for an argument; `known` tells of which.
    fn argument_like(
        &mut self,
        domain: &Arc<dyn Domain>,
        value: ValueId,
        known: &mut StandIns<'py>,
    ) -> Traced<Bound<'py, PyAny>> {
        let class = self.class_of(value)?;
        let like = if domain.claims(&class) || domain.takes_over(&class) {
            domain.argument_like(&class).map_err(Unwind::Break)?
        } else if let Some(object) = self.known(value) {
            object
        } else if let Some(items) = self.items_of_own(value) {
            let items =
                items.into_iter().map(|item| self.argument_like(domain, item, known)).collect::<Traced<Vec<_>>>()?;
            let made = match class.is(self.py.get_type::<PyTuple>()) {
                true => PyTuple::new(self.py, items).map(Bound::into_any),
                false => PyList::new(self.py, items).map(Bound::into_any),
            };
            made.or_else(|error| internal(error.to_string()))?
        } else if let Some(own) = self.owned(value) {
            own
        } else {
            return unsupported("argument of a call that a class takes over", types::name(&class));
        };
        known.push((like.clone(), value));
        Ok(like)
    }

    /// The value that an object stands for, or that is made of such objects.
    fn value_like(&mut self, object: &Bound<'py, PyAny>, known: &StandIns<'py>) -> Traced<ValueId> {
        if let Some((_, value)) = known.iter().find(|(like, _)| like.is(object)) {
            return Ok(*value);
        }
        let items: Vec<_> = match (object.cast_exact::<PyTuple>(), object.cast_exact::<PyList>()) {
            (Ok(tuple), _) => tuple.iter().collect(),
            (_, Ok(list)) => list.iter().collect(),
            _ => return Ok(self.constant(object.clone())),
        };
        let mut natives = Vec::with_capacity(items.len());
        for item in &items {
            let value = self.value_like(item, known)?;
            natives.push(self.stored(value)?);
        }
        let made = match object.is_exact_instance_of::<PyTuple>() {
            true => PyTuple::new(self.py, natives).map(Bound::into_any),
            false => PyList::new(self.py, natives).map(Bound::into_any),
        };
        let made = made.or_else(|error| internal(error.to_string()))?;
        Ok(self.own(made))
    }

    /// Calls the methods of the classes that take over, one after the other, until one does.
    fn hand_over(
        &mut self,
        domain: &Arc<dyn Domain>,
        handed: &HandedOver<'py>,
        known: &StandIns<'py>,
    ) -> Traced<ValueId> {
        let given = self.given_over(domain, handed, known)?;
        for taker in &given.takers {
            let method = self.get_attr(*taker, handed.method)?;
            let result = self.call_deeper(method, given.arguments())?;
            if !self.is_not_implemented(result) {
                return Ok(result);
            }
        }
        unsupported("call that no class takes over", callee::name_of(&handed.function))
    }

    /// What a method gets that takes over a call.
    pub(crate) fn given_over(
        &mut self,
        domain: &Arc<dyn Domain>,
        handed: &HandedOver<'py>,
        known: &StandIns<'py>,
    ) -> Traced<GivenOver> {
        let args = self.value_like(handed.args.as_any(), known)?;
        let mut rest = vec![args];
        let mut given = handed.args.iter().collect::<Vec<_>>();
        if let Some(named) = &handed.named {
            let kwargs = PyDict::new(self.py);
            for (name, value) in named.iter() {
                let value_of = self.value_like(&value, known)?;
                let native = self.stored(value_of)?;
                kwargs.set_item(name, native).or_else(|error| internal(error.to_string()))?;
                given.push(value);
            }
            rest.push(self.own(kwargs.into_any()));
        }
        let takers = self.takers(domain, &given, known)?;
        let classes = takers.iter().map(|(_, class)| class.clone());
        let classes = match takers.is_empty() {
            true => handed.types.clone(),
            false => PyTuple::new(self.py, classes).or_else(|error| internal(error.to_string()))?,
        };
        let classes = self.own(classes.into_any());
        let function = self.constant(handed.function.clone());
        let positional = [function, classes].into_iter().chain(rest).collect();
        Ok(GivenOver { positional, takers: takers.into_iter().map(|(taker, _)| taker).collect() })
    }

    /// An argument of each class that takes over, in the order in which they are asked: classes before those that they are derived from.
    fn takers(
        &mut self,
        domain: &Arc<dyn Domain>,
        given: &[Bound<'py, PyAny>],
        known: &StandIns<'py>,
    ) -> Traced<Vec<(ValueId, Bound<'py, PyType>)>> {
        let mut takers: Vec<(ValueId, Bound<'py, PyType>)> = Vec::new();
        for object in given {
            let items = match (object.cast_exact::<PyTuple>(), object.cast_exact::<PyList>()) {
                (Ok(tuple), _) => tuple.iter().collect(),
                (_, Ok(list)) => list.iter().collect(),
                _ => vec![object.clone()],
            };
            for item in items {
                let Some((_, value)) = known.iter().find(|(like, _)| like.is(&item)) else { continue };
                let class = self.class_of(*value)?;
                if !domain.takes_over(&class) || takers.iter().any(|(_, taker)| taker.is(&class)) {
                    continue;
                }
                let derived = takers.iter().position(|(_, taker)| types::is_subtype(&class, taker));
                takers.insert(derived.unwrap_or(takers.len()), (*value, class));
            }
        }
        Ok(takers)
    }

    /// `descriptor.__get__(value)` of an attribute that a graph value has in C.
    pub(crate) fn attribute_of_graph_value(
        &mut self,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let [descriptor, value, ..] = args.positional.as_slice() else { return Ok(None) };
        if name != "__get__" || types::c_name(owner) != "getset_descriptor" {
            return Ok(None);
        }
        let class = self.class_of(*value)?;
        let (Some(descriptor), Some(domain)) = (self.known(*descriptor), self.domain_of(&class)) else {
            return Ok(None);
        };
        let attribute = callee::name_of(&descriptor).into_owned();
        // It is read as the class has it.
        match self.lookup(&class, &attribute).is_some_and(|found| found.is(&descriptor)) {
            true => self.attribute_from_c(&domain, *value, &attribute).map(Some),
            false => Ok(None),
        }
    }
}
