//! Proxy classes: a class tree like that of the value's class, whose special methods lead back into the tracer.
//!
//! CPython fills a heap type's slots from the special methods along its MRO. So a proxy class has exactly the slots of the class that it stands
//! for, and C code that asks for a sequence, a number or an iterator gets the right answer.
use crate::ffi::sequence_slots::{self, Sequence};
use crate::ffi::types;
use crate::names::{interned, name};
use crate::semantics::slotdefs::SLOTDEFS;
use crate::trace::proxy::class_protocols::{
    Inherent, answers_for_classes, inherent_module, is_protocol, proxy_metaclass,
};
use crate::trace::proxy::reentry::traced;
use crate::trace::proxy::special_methods::{has_proxy_method, is_operator};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use generated::slots::{Slot, Suite};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// The class of proxies that stand for instances of `class`.
    pub(crate) fn proxy_class(&mut self, class: &Bound<'py, PyType>) -> Traced<Bound<'py, PyType>> {
        if class.is(self.py.get_type::<PyAny>()) {
            return Ok(self.py.get_type::<Proxy>());
        }
        let address = class.as_ptr() as usize;
        if let Some(proxy_class) = self.state.proxy_classes.get(&address) {
            return Ok(proxy_class.bind(self.py).clone());
        }
        // Attributes of proxies are looked up by the trace.
        self.rely_on_slots(class);
        let proxy_class = match self.known_proxy_class(class)? {
            Some(proxy_class) => proxy_class,
            None => {
                let made = self.make_proxy_class(class)?;
                if types::is_immutable(class) {
                    self.state.shared_caches.keep_proxy_class(class, &made);
                } else if !self.is_made_here(class.as_any()) {
                    self.state.function_caches.keep_proxy_class(class, &made);
                }
                made
            }
        };
        self.state.proxy_classes.insert(address, proxy_class.clone().unbind());
        Ok(proxy_class)
    }

    /// One from an earlier trace, if the proxy classes of the bases are still those that it derives from.
    fn known_proxy_class(&mut self, class: &Bound<'py, PyType>) -> Traced<Option<Bound<'py, PyType>>> {
        if types::is_immutable(class) {
            return Ok(self.state.shared_caches.proxy_class(class));
        }
        let Some(proxy_class) = self.state.function_caches.proxy_class(class) else { return Ok(None) };
        let (bases, known) = (class.bases(), proxy_class.bases());
        let mut same = bases.len() == known.len();
        for (base, known) in bases.iter().zip(known.iter()) {
            let Ok(base) = base.cast_into::<PyType>() else { return Ok(None) };
            same &= self.proxy_class(&base)?.is(&known);
        }
        Ok(same.then_some(proxy_class))
    }

    fn make_proxy_class(&mut self, class: &Bound<'py, PyType>) -> Traced<Bound<'py, PyType>> {
        let mut bases = Vec::new();
        let originals = class.bases();
        for base in originals.iter() {
            let Ok(base) = base.cast_into::<PyType>() else { return internal("base that is no class") };
            bases.push(self.proxy_class(&base)?);
        }
        let made = self.derive(class, bases);
        let made = made.or_else(|error| unsupported("proxy of a class that cannot be derived", error.to_string()))?;
        match self.has_order_of(&made, class)? {
            true => Ok(made),
            false => unsupported("proxy of a class whose metaclass orders its bases", types::name(class)),
        }
    }

    /// Whether the proxy class looks attributes up in the order in which the class does: a metaclass may have its own `mro()`.
    fn has_order_of(&mut self, proxy_class: &Bound<'py, PyType>, class: &Bound<'py, PyType>) -> Traced<bool> {
        let (Some(order), Some(of_proxy)) = (types::mro(class), types::mro(proxy_class)) else { return Ok(false) };
        let mut of_proxy = of_proxy.iter().skip(1);
        for base in order.iter().skip(1) {
            let Ok(base) = base.cast_into::<PyType>() else { return Ok(false) };
            let expected = self.proxy_class(&base)?;
            if !of_proxy.next().is_some_and(|found| found.is(&expected)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn derive(&self, class: &Bound<'py, PyType>, bases: Vec<Bound<'py, PyType>>) -> PyResult<Bound<'py, PyType>> {
        let bases = PyTuple::new(self.py, bases)?;
        let proxy_class = self.named(&PyString::new(self.py, &types::name(class)), class, &bases)?;
        if let Ok(value) = class.getattr(name!("__qualname__")) {
            proxy_class.setattr(name!("__qualname__"), value)?;
        }
        // Every class has these itself: its instances must be asked all the same.
        for name in ["__module__", "__doc__"] {
            let interned = interned(self.py, name);
            let of_class = plain_attribute(class, &interned);
            if name == "__module__"
                && let Some(Ok(module)) = of_class.as_ref().map(|of_class| of_class.cast_exact::<PyString>())
            {
                proxy_class.setattr(interned, inherent_module(module)?)?;
                continue;
            }
            let of_class = of_class.map(Bound::unbind);
            proxy_class.setattr(interned, Inherent { name: name.to_owned(), of_class })?;
        }
        let own = types::namespace(class).map(|own| own.items());
        for item in own.iter().flatten() {
            let (name, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let Ok(name) = name.cast_exact::<PyString>() else { continue };
            let text = name.to_string_lossy();
            if self.has_stand_in(class, &text) {
                set_stand_in(&proxy_class, name, &text, &value)?;
            }
        }
        same_slots(class, &proxy_class)?;
        Ok(proxy_class)
    }

    /// A class of proxies without anything of its own.
    fn named(
        &self,
        name: &Bound<'py, PyString>,
        class: &Bound<'py, PyType>,
        bases: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyType>> {
        match answers_for_classes(&class.get_type()) {
            true => types::derived_by(self.state.shared_caches.proxy_metaclass(self.py, proxy_metaclass)?, name, bases),
            false => types::derived(name, bases),
        }
    }

    /// Whether proxies' classes have something where this class has the attribute: special methods, and protocols where the class is neither C's nor a domain's.
    fn has_stand_in(&self, class: &Bound<'py, PyType>, name: &str) -> bool {
        has_proxy_method(name)
            || is_protocol(self.py, name) && !crate::ffi::types::is_c_type(class) && self.domain_of(class).is_none()
    }

    /// The bases of a class have changed: the class of its proxies follows, and those of the classes below.
    pub(crate) fn follow_bases(&mut self, class: &Bound<'py, PyType>) -> Traced<()> {
        let of_type = types::lookup(&self.py.get_type::<PyType>(), &interned(self.py, "__subclasses__"));
        let Some(subclasses) = of_type else { return internal("type without __subclasses__") };
        let mut classes = vec![class.clone()];
        while let Some(class) = classes.pop() {
            let below = subclasses.call1((&class,)).and_then(|below| below.extract::<Vec<Bound<'py, PyType>>>());
            classes.extend(below.or_else(|error| internal(error.to_string()))?);
            let Some(proxy_class) = self.state.proxy_classes.get(&(class.as_ptr() as usize)) else { continue };
            let proxy_class = proxy_class.bind(self.py).clone();
            let mut bases = Vec::new();
            for base in class.bases().iter().filter_map(|base| base.cast_into::<PyType>().ok()) {
                bases.push(self.proxy_class(&base)?);
            }
            let bases = PyTuple::new(self.py, bases).or_else(|error| internal(error.to_string()))?;
            let done = match proxy_class.bases().eq(&bases) {
                Ok(true) => Ok(()),
                _ => proxy_class.setattr(name!("__bases__"), bases),
            };
            let done = done.and_then(|()| same_slots(&class, &proxy_class)).is_ok();
            if !done || !self.has_order_of(&proxy_class, &class)? {
                return unsupported("proxy of a class whose bases are set", types::name(&class));
            }
        }
        Ok(())
    }

    /// A special method, or an attribute of a protocol, of the class has changed: the class of its proxies follows.
    pub(crate) fn refresh_proxy_class(&mut self, class: &Bound<'py, PyType>, name: &str) -> Traced<()> {
        let Some(proxy_class) = self.state.proxy_classes.get(&(class.as_ptr() as usize)) else { return Ok(()) };
        if !self.has_stand_in(class, name) {
            return Ok(());
        }
        let proxy_class = proxy_class.bind(self.py).clone();
        let name = interned(self.py, name);
        let done = match types::own(class, &name) {
            Some(value) => set_stand_in(&proxy_class, &name, &name.to_string_lossy(), &value),
            None => proxy_class.delattr(&name),
        };
        done.and_then(|()| same_slots(class, &proxy_class)).or_else(|error| internal(error.to_string()))
    }
}

/// Gives the proxy class what stands for an attribute of the class; `None` for a special method stays what it is: it says that there is none.
fn set_stand_in(
    proxy_class: &Bound<'_, PyType>,
    name: &Bound<'_, PyString>,
    text: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    match has_proxy_method(text) {
        false => proxy_class.setattr(name, Inherent { name: text.to_owned(), of_class: None }),
        true if value.is_none() => proxy_class.setattr(name, value),
        true => proxy_class.setattr(name, Special { name: text.to_owned() }),
    }
}

/// What a class has under a name that every class has, where reading it runs no code: a class of C's, or a text of its own. `None`: it must be
/// asked when it is needed.
fn plain_attribute<'py>(class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    if types::is_c_type(class) {
        return Some(class.getattr(name).unwrap_or_else(|_| class.py().None().into_bound(class.py())));
    }
    let plain = |value: &Bound<'py, PyAny>| value.is_none() || value.is_exact_instance_of::<PyString>();
    let meta = class.get_type();
    let reads = |class: &Bound<'py, PyType>| types::lookup(class, intern!(class.py(), "__getattribute__"));
    // A metaclass in Python has these attributes, too; texts of it are no descriptors that would go before the class's own. What it has as
    // `__getattr__` is asked after these.
    let asks_class = || {
        let (own, of_type) = (reads(&meta), reads(&class.py().get_type::<PyType>()));
        own.zip(of_type).is_some_and(|(own, of_type)| own.is(&of_type))
            && types::lookup(&meta, name).is_none_or(|of_meta| plain(&of_meta))
    };
    types::own(class, name).filter(|value| plain(value) && (types::is_c_type(&meta) || asks_class()))
}

/// Gives the proxy class the slots that the class has, no more and no fewer.
fn same_slots(class: &Bound<'_, PyType>, proxy_class: &Bound<'_, PyType>) -> PyResult<()> {
    fill_slots(class, proxy_class)?;
    empty_slots(class, proxy_class);
    sequence_slots::fill::<Proxy>(proxy_class, class);
    Ok(())
}

/// A class of Python code has a slot also where a base of C has the method alone, without the slot: what stands for the method in the base's
/// proxy class stands in this one, too.
fn fill_slots(class: &Bound<'_, PyType>, proxy_class: &Bound<'_, PyType>) -> PyResult<()> {
    for row in SLOTDEFS {
        if types::slot(class, row.slot).is_none()
            || types::slot(proxy_class, row.slot).is_some()
            || !has_proxy_method(row.name)
        {
            continue;
        }
        let name = interned(class.py(), row.name);
        if let Some(found) =
            types::lookup(proxy_class, &name).filter(|found| found.is_none() || found.is_instance_of::<Special>())
        {
            proxy_class.setattr(name, found)?;
        }
    }
    both_sides(class, proxy_class)
}

/// A class of Python code that answers an operator on one side answers that it does not on the other, so that each proxy is asked before
/// an object of the trace's own is: see [`Tracer::refuse_relative`].
fn both_sides(class: &Bound<'_, PyType>, proxy_class: &Bound<'_, PyType>) -> PyResult<()> {
    if crate::ffi::types::is_c_type(class) {
        return Ok(());
    }
    for row in SLOTDEFS.iter().filter(|row| is_operator(row.name) && types::slot(class, row.slot).is_some()) {
        let name = interned(class.py(), row.name);
        if types::lookup(proxy_class, &name).is_none() {
            proxy_class.setattr(name, Special { name: row.name.to_owned() })?;
        }
    }
    Ok(())
}

/// A class with `__getitem__` gets both `mp_subscript` and `sq_item`, and so on: what the class that it stands for does not fill is emptied.
fn empty_slots(class: &Bound<'_, PyType>, proxy_class: &Bound<'_, PyType>) {
    const OWN: [Slot; 5] = [Slot::tp_iter, Slot::tp_iternext, Slot::tp_call, Slot::tp_descr_get, Slot::tp_descr_set];
    let suites = [Suite::tp_as_async, Suite::tp_as_number, Suite::tp_as_mapping, Suite::tp_as_sequence];
    for slot in Slot::ALL {
        if (suites.contains(&slot.suite()) || OWN.contains(slot)) && types::slot(class, *slot).is_none() {
            types::clear_slot(proxy_class, *slot);
        }
    }
}

impl Sequence for Proxy {
    fn concat<'py>(one: &Bound<'py, PyAny>, other: &Bound<'py, PyAny>, in_place: bool) -> PyResult<Bound<'py, PyAny>> {
        let proxy = one.cast::<Self>()?.get();
        traced(one.py(), proxy, |tracer| {
            let other = tracer.absorb(other.clone());
            let made = tracer.concatenate(proxy.value, other, in_place)?;
            tracer.native(made)
        })
    }

    fn repeat<'py>(one: &Bound<'py, PyAny>, count: isize, in_place: bool) -> PyResult<Bound<'py, PyAny>> {
        let proxy = one.cast::<Self>()?.get();
        traced(one.py(), proxy, |tracer| {
            let made = tracer.repeat(proxy.value, count, in_place)?;
            tracer.native(made)
        })
    }
}

/// Stands in a proxy class for a special method of the class that it stands for.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Special {
    name: String,
}

#[pymethods]
impl Special {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        object: Option<Bound<'py, PyAny>>,
        class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = class;
        match object.and_then(|object| object.cast_into::<Proxy>().ok()) {
            Some(proxy) => {
                let bound = BoundSpecial { proxy: proxy.unbind(), name: slf.get().name.clone() };
                Ok(Bound::new(slf.py(), bound)?.into_any())
            }
            None => Ok(slf.clone().into_any()),
        }
    }

    /// Some slot functions call what they find on the type without binding it. CPython: `slot_tp_descr_get`.
    #[pyo3(signature = (proxy, *args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        proxy: &Bound<'py, Proxy>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let bound = BoundSpecial { proxy: proxy.clone().unbind(), name: self.name.clone() };
        bound.__call__(py, args, kwargs)
    }
}

/// A special method of a proxy.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct BoundSpecial {
    proxy: Py<Proxy>,
    name: String,
}

#[pymethods]
impl BoundSpecial {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let proxy = self.proxy.bind(py).get();
        traced(py, proxy, |tracer| {
            if let Some(other) = args.iter().next() {
                tracer.refuse_relative(proxy.value, &self.name, &other)?;
            }
            let positional = args.iter().map(|arg| tracer.absorb(arg)).collect();
            let mut keywords = Vec::new();
            for (name, value) in kwargs.into_iter().flatten() {
                keywords.push((crate::ffi::types::text(&name), tracer.absorb(value)));
            }
            let result = tracer.call_special(
                proxy.value,
                &self.name,
                Arguments { positional, keywords, ..Arguments::default() },
            )?;
            if self.name == "__call__" && tracer.is_order(proxy.value) {
                return tracer.real_classes(result);
            }
            tracer.stored_result(&self.name, result)
        })
    }
}
