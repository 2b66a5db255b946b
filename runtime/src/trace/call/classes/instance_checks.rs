//! `isinstance` and `issubclass`: types answer first, then what objects say of themselves, and metaclasses.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    fn classes(&mut self, classes: ValueId) -> Traced<Option<Vec<Bound<'py, PyType>>>> {
        if let Some(object) = self.known(classes).or_else(|| self.owned(classes)) {
            if let Ok(class) = object.cast::<PyType>() {
                return Ok(Some(vec![class.clone()]));
            }
            let arguments = if let Ok(tuple) = object.cast::<PyTuple>() { Some(tuple.clone()) } else { None };
            return self.class_tuple(arguments);
        }
        let private_copy = self.private_copy(classes)?;
        self.class_tuple(private_copy.and_then(|private_copy| private_copy.cast_into::<PyTuple>().ok()))
    }

    fn class_tuple(&mut self, tuple: Option<Bound<'py, PyTuple>>) -> Traced<Option<Vec<Bound<'py, PyType>>>> {
        let Some(tuple) = tuple else { return Ok(None) };
        let mut all = Vec::new();
        for item in tuple.iter() {
            let item = self.absorb(item);
            match self.classes(item)? {
                Some(classes) => all.extend(classes),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    pub(crate) fn model_isinstance(&mut self, value: ValueId, classes: ValueId) -> Traced<ValueId> {
        let given = classes;
        let plain = self.classes(classes)?;
        let Some(classes) = plain.filter(|classes| !self.any_decides(classes, "__instancecheck__")) else {
            let truth = crate::semantics::abstract_::PyObject_IsInstance(self, &value, &given)?;
            return Ok(self.boolean(truth != 0));
        };
        let class = self.class_of(value)?;
        for wanted in classes {
            if self.is_instance_of(value, &class, &wanted)? {
                return Ok(self.boolean(true));
            }
        }
        Ok(self.boolean(false))
    }

    /// An object is asked for the class that it says it is of where its type does not answer, and before that by an abstract class.
    /// CPython: `object_isinstance`, `_abc__abc_instancecheck_impl`.
    fn is_instance_of(
        &mut self,
        value: ValueId,
        class: &Bound<'py, PyType>,
        wanted: &Bound<'py, PyType>,
    ) -> Traced<bool> {
        if class.is(wanted) {
            return Ok(true);
        }
        let is_abstract = wanted.get_type().is(self.import("abc", "ABCMeta")?);
        let claimed = match is_abstract && self.says_its_class(class) {
            true => {
                let claimed = self.get_attr(value, "__class__")?;
                match self.known(claimed).and_then(|claimed| claimed.cast_into::<PyType>().ok()) {
                    Some(claimed) => Some(claimed),
                    None => return self.raise("TypeError", "issubclass() arg 1 must be a class"),
                }
            }
            false => None,
        };
        if self.test_classes(class, std::slice::from_ref(wanted), "__instancecheck__")? {
            return Ok(true);
        }
        match (claimed, is_abstract) {
            (Some(claimed), _) => self.test_virtual(&claimed, wanted, "__instancecheck__"),
            (None, true) => Ok(false),
            (None, false) => {
                let claimed = self.claimed_class(value, class)?;
                Ok(claimed.is_some_and(|claimed| types::is_subtype(&claimed, wanted)))
            }
        }
    }

    /// Whether attribute lookup, and not the type alone, says what an object's `__class__` is.
    pub(crate) fn says_its_class(&mut self, class: &Bound<'py, PyType>) -> bool {
        let plain = self.lookup(&self.py.get_type::<PyAny>(), "__class__");
        let found = self.lookup(class, "__class__");
        let reads = self.lookup(class, "__getattribute__");
        let reads_plainly = self.lookup(&self.py.get_type::<PyAny>(), "__getattribute__");
        let same = |a: &Option<Bound<'py, PyAny>>, b: &Option<Bound<'py, PyAny>>| match (a, b) {
            (Some(a), Some(b)) => a.is(b),
            _ => false,
        };
        let reads_plainly = same(&reads, &reads_plainly)
            || is_c_type(class) && crate::trace::attribute::descriptors::has_generic_getattr(class);
        !same(&plain, &found) || !reads_plainly
    }

    /// The class that the object says it is of, if it says another. CPython: `object_isinstance`.
    fn claimed_class(&mut self, value: ValueId, class: &Bound<'py, PyType>) -> Traced<Option<Bound<'py, PyType>>> {
        if !self.says_its_class(class) {
            return Ok(None);
        }
        let read = self.get_attr(value, "__class__");
        let Some(claimed) = self.unless_missing(read)? else { return Ok(None) };
        Ok(self.known(claimed).and_then(|claimed| claimed.cast_into::<PyType>().ok()))
    }

    pub(crate) fn model_issubclass(&mut self, class: ValueId, classes: ValueId) -> Traced<ValueId> {
        let (given, of) = (class, classes);
        let class = self.known(class).and_then(|class| class.cast_into::<PyType>().ok());
        let plain = self.classes(classes)?.filter(|classes| !self.any_decides(classes, "__subclasscheck__"));
        let (Some(class), Some(classes)) = (class, plain) else {
            let truth = crate::semantics::abstract_::PyObject_IsSubclass(self, &given, &of)?;
            return Ok(self.boolean(truth != 0));
        };
        let truth = self.test_classes(&class, &classes, "__subclasscheck__")?;
        Ok(self.boolean(truth))
    }

    /// Whether a metaclass of Python code, but not that of abstract classes, says what is an instance or a subclass.
    fn any_decides(&mut self, classes: &[Bound<'py, PyType>], check: &str) -> bool {
        let abstract_class = self.import("abc", "ABCMeta").ok();
        let plain = self.lookup(&self.py.get_type::<PyType>(), check);
        classes.iter().any(|class| {
            let meta = class.get_type();
            let own = self.lookup(&meta, check);
            let is_plain = own.as_ref().is_some_and(|own| plain.as_ref().is_some_and(|plain| plain.is(own)));
            !is_plain && !abstract_class.as_ref().is_some_and(|abstract_class| abstract_class.is(&meta))
        })
    }

    fn test_classes(
        &mut self,
        class: &Bound<'py, PyType>,
        classes: &[Bound<'py, PyType>],
        check: &str,
    ) -> Traced<bool> {
        for wanted in classes {
            let meta = wanted.get_type();
            if class.is(wanted) && (check == "__instancecheck__" || meta.is(self.py.get_type::<PyType>())) {
                return Ok(true);
            }
            let own = self.import("builtins", "type")?.getattr(check).or_else(|error| self.raise_error(error))?;
            if self.lookup(&meta, check).is_some_and(|found| !found.is(&own)) {
                if self.test_virtual(class, wanted, check)? {
                    return Ok(true);
                }
                continue;
            }
            self.rely_on_class(class);
            if types::is_subtype(class, wanted) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An abstract base class with builtin and guarded classes only: the answer depends on the classes alone.
    fn test_virtual(&mut self, class: &Bound<'py, PyType>, wanted: &Bound<'py, PyType>, check: &str) -> Traced<bool> {
        let meta = wanted.get_type();
        let abstract_class = self.import("abc", "ABCMeta")?;
        if !meta.is(&abstract_class) {
            return unsupported("metaclass decides what an instance is", format!("{}.{check}", types::name(&meta)));
        }
        if is_c_type(class) || types::is_subtype(class, wanted) {
            return class.is_subclass(wanted).or_else(|error| self.raise_error(error));
        }
        self.abstract_check(class, wanted)
    }
}
