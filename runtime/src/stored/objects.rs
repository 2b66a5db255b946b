//! Objects as bytes: by value where they are constants, else by the way to them and a fingerprint.
use super::bytes::{Damaged, Reader, Writer};
use super::fingerprint::Fingerprints;
use super::misfit::Misfit;
use super::object_kinds::{
    BYTES, COMPLEX, ELLIPSIS, FALSE, FLOAT, FROZEN_SET, INTEGER, KNOWN, LARGE_INTEGER, MADE, NAMESPACE, NONE,
    NOT_IMPLEMENTED, PLACE, RANGE, REACHED, SLICE, SPECIAL, TEXT, TRUE, TUPLE, WEAK, described, module_of_namespace,
    write_plain,
};
use super::process_bound::Bound as Anywhere;
use super::reach::Reach;
use super::way::Way;
use crate::ffi::weak_references;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyFloat, PyFrozenSet, PyInt, PyModule, PyRange, PySlice, PyString, PyTuple,
    PyWeakrefMethods, PyWeakrefReference,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// How deep objects may lie in each other.
const DEEPEST: usize = 200;

/// How objects are written and read that others know more of: those of slotrt, those of libraries.
pub trait Special<'py> {
    /// Writes the object; `false`, and nothing is written: it is none of these.
    fn write(&self, object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit>;
    /// Reads what [`Special::write`] has written.
    fn read(&self, from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit>;
    /// What an object that never changes is made of, and the name of its kind.
    fn parts(&self, object: &Bound<'py, PyAny>) -> Option<(&'static str, Bound<'py, PyAny>)>;
    /// The object of this kind that is made of these parts.
    fn of_parts(&self, kind: &str, parts: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Misfit>;
}

/// Objects that are being written.
#[allow(missing_debug_implementations)]
pub struct Out<'a, 'py> {
    /// The bytes so far.
    pub bytes: Writer,
    py: Python<'py>,
    /// Indices of those that are written, by address.
    known: FxHashMap<usize, u64>,
    /// Keep their addresses valid.
    alive: Vec<Bound<'py, PyAny>>,
    /// The code that was traced.
    traced: Bound<'py, PyAny>,
    /// How many objects hold what is being written.
    depth: usize,
    reach: &'a mut Reach<'py>,
    /// Takes fingerprints.
    pub fingerprints: &'a mut Fingerprints,
    /// Where guards ask for an object, by its address: which of their paths leads there.
    pub places: FxHashMap<usize, usize>,
    /// How far what is written is so elsewhere.
    pub bound: Anywhere,
    /// Addresses that the trace has seen: what is written must not have them in it.
    addresses: &'a FxHashMap<usize, bool>,
    special: &'a dyn Special<'py>,
}

impl<'a, 'py> Out<'a, 'py> {
    /// Nothing is written yet.
    pub fn new(
        traced: Bound<'py, PyAny>,
        reach: &'a mut Reach<'py>,
        fingerprints: &'a mut Fingerprints,
        addresses: &'a FxHashMap<usize, bool>,
        special: &'a dyn Special<'py>,
    ) -> Self {
        let py = traced.py();
        let (known, places, bound) = (FxHashMap::default(), FxHashMap::default(), Anywhere::Nowhere);
        let (bytes, alive, depth) = (Writer::default(), Vec::new(), 0);
        Self { bytes, py, known, alive, traced, depth, reach, fingerprints, places, bound, addresses, special }
    }

    /// The interpreter.
    #[must_use]
    pub fn py(&self) -> Python<'py> {
        self.py
    }

    /// The code that was traced.
    #[must_use]
    pub fn traced(&self) -> Bound<'py, PyAny> {
        self.traced.clone()
    }

    /// Writes an object whose value matters, not which of equal constants it is.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn object(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Misfit> {
        if self.is_known(object) {
            return Ok(());
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Misfit::new("an object nested too deeply"));
        }
        if !self.plain(object)? && !self.special(object)? && !self.compound(object)? {
            self.reached(object)?;
        }
        self.depth -= 1;
        self.remember(object);
        Ok(())
    }

    /// Writes an object that is compared by identity.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn identity(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Misfit> {
        if self.is_known(object) {
            return Ok(());
        }
        if !self.plain(object)? && !self.special(object)? {
            self.reached(object)?;
        }
        self.remember(object);
        Ok(())
    }

    /// Writes an object that a trace keeps: itself if a name leads to it, else an equal one.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn kept(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Misfit> {
        if self.special.parts(object).is_some() { self.object(object) } else { self.identity(object) }
    }

    fn plain(&mut self, object: &Bound<'py, PyAny>) -> Result<bool, Misfit> {
        if let Ok(number) = object.cast_exact::<PyInt>()
            && number.extract().is_ok_and(|number: usize| self.addresses.contains_key(&number))
        {
            return Err(Misfit::new("a number that is the address of an object, which another process has not"));
        }
        write_plain(object, &mut self.bytes)
    }

    fn is_known(&mut self, object: &Bound<'py, PyAny>) -> bool {
        let Some(index) = self.known.get(&(object.as_ptr() as usize)) else { return false };
        self.bytes.0.push(KNOWN);
        self.bytes.number(*index);
        true
    }

    fn remember(&mut self, object: &Bound<'py, PyAny>) {
        self.known.insert(object.as_ptr() as usize, self.alive.len() as u64);
        self.alive.push(object.clone());
    }

    fn special(&mut self, object: &Bound<'py, PyAny>) -> Result<bool, Misfit> {
        let at = self.bytes.0.len();
        self.bytes.0.push(SPECIAL);
        let special = self.special;
        if special.write(object, self)? {
            return Ok(true);
        }
        self.bytes.0.truncate(at);
        Ok(false)
    }

    fn compound(&mut self, object: &Bound<'py, PyAny>) -> Result<bool, Misfit> {
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            self.bytes.0.push(TUPLE);
            self.bytes.number(tuple.len() as u64);
            tuple.iter().try_for_each(|item| self.object(&item))?;
            return Ok(true);
        }
        // Of one that no callback waits for, there is one for each object.
        if let Ok(reference) = object.cast_exact::<PyWeakrefReference>() {
            let referent = reference.upgrade().ok_or_else(|| Misfit::new("a weak reference to what is gone"))?;
            self.bytes.0.push(WEAK);
            self.identity(&referent)?;
            return Ok(true);
        }
        if let Ok(set) = object.cast_exact::<PyFrozenSet>() {
            self.bytes.0.push(FROZEN_SET);
            self.bytes.number(set.len() as u64);
            set.iter().try_for_each(|item| self.object(&item))?;
            return Ok(true);
        }
        let tag = if object.is_exact_instance_of::<PySlice>() { SLICE } else { RANGE };
        if tag == SLICE || object.is_exact_instance_of::<PyRange>() {
            self.bytes.0.push(tag);
            for part in [name!("start"), name!("stop"), name!("step")] {
                self.object(&object.getattr(part)?)?;
            }
            return Ok(true);
        }
        let special = self.special;
        if let Some((kind, parts)) = special.parts(object) {
            self.bytes.0.push(MADE);
            self.bytes.text(kind);
            self.object(&parts)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn reached(&mut self, object: &Bound<'py, PyAny>) -> Result<(), Misfit> {
        if let Some(module) = module_of_namespace(object) {
            self.bytes.0.push(NAMESPACE);
            return self.object(&module);
        }
        let print = self.fingerprints.of(object)?;
        let way = self.reach.way(object, &self.traced);
        if let (None, Some(place)) = (&way, self.places.get(&(object.as_ptr() as usize))) {
            self.bytes.0.push(PLACE);
            self.bytes.number(*place as u64);
            self.bytes.digest(print);
            return self.identity(object.get_type().as_any());
        }
        let way = way.ok_or_else(|| Misfit(format!("{} that no name leads to", described(object))))?;
        self.bytes.0.push(REACHED);
        way.write(&mut self.bytes);
        self.bytes.digest(print);
        Ok(())
    }
}

/// What is found in a call on the path with this number.
pub type OnPath<'a, 'py> = Box<dyn Fn(usize) -> Option<Bound<'py, PyAny>> + 'a>;

/// Objects that are being read.
#[allow(missing_debug_implementations)]
pub struct In<'a, 'py> {
    /// The bytes that are left.
    pub bytes: Reader<'a>,
    known: Vec<Bound<'py, PyAny>>,
    /// Addresses of those that are found, not made.
    found: FxHashSet<usize>,
    /// The code that was traced.
    traced: Bound<'py, PyAny>,
    /// How many things hold what is being read.
    depth: usize,
    /// Takes fingerprints.
    pub fingerprints: &'a mut Fingerprints,
    /// A module of the program that an object is named by and that nobody has imported so far.
    pub absent: Option<String>,
    /// What is found in the call at hand on a path of the guards.
    pub on_path: Option<OnPath<'a, 'py>>,
    special: &'a dyn Special<'py>,
}

/// Why a trace does not fit a call, while it may fit the next one.
pub const CALL: &str = "the call has no such object";

/// What names of the project's own modules begin with.
const OWN: &str = "slotrt.";

impl<'a, 'py> In<'a, 'py> {
    /// From the first byte on.
    pub fn new(
        bytes: &'a [u8],
        traced: Bound<'py, PyAny>,
        fingerprints: &'a mut Fingerprints,
        special: &'a dyn Special<'py>,
    ) -> Self {
        let (bytes, known, found) = (Reader::new(bytes), Vec::new(), FxHashSet::default());
        Self { bytes, known, found, traced, depth: 0, fingerprints, absent: None, on_path: None, special }
    }

    /// The interpreter.
    #[must_use]
    pub fn py(&self) -> Python<'py> {
        self.traced.py()
    }

    /// The code that was traced.
    #[must_use]
    pub fn traced(&self) -> Bound<'py, PyAny> {
        self.traced.clone()
    }

    /// Reads an object.
    ///
    /// # Errors
    /// Why it is not in this process as it was in the other.
    pub fn object(&mut self) -> Result<Bound<'py, PyAny>, Misfit> {
        let tag = self.bytes.byte()?;
        if tag == KNOWN {
            let index = self.bytes.index()?;
            return Ok(self.known.get(index).ok_or(Damaged)?.clone());
        }
        let object = self.within(|from| from.fresh(tag))?;
        self.known.push(object.clone());
        Ok(object)
    }

    /// Reads what something holds that may hold such things in turn.
    ///
    /// # Errors
    /// Where too many hold each other.
    pub fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Misfit>) -> Result<T, Misfit> {
        if self.depth >= DEEPEST {
            return Err(Damaged.into());
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn fresh(&mut self, tag: u8) -> Result<Bound<'py, PyAny>, Misfit> {
        let py = self.py();
        Ok(match tag {
            NONE => py.None().into_bound(py),
            FALSE | TRUE => PyBool::new(py, tag == TRUE).to_owned().into_any(),
            ELLIPSIS => py.Ellipsis().into_bound(py),
            NOT_IMPLEMENTED => py.NotImplemented().into_bound(py),
            INTEGER => PyInt::new(py, self.bytes.signed()?).into_any(),
            LARGE_INTEGER => py.get_type::<PyInt>().call1((self.bytes.text()?, 16))?,
            FLOAT => PyFloat::new(py, f64::from_bits(self.bytes.word()?)).into_any(),
            COMPLEX => {
                let (real, imaginary) = (f64::from_bits(self.bytes.word()?), f64::from_bits(self.bytes.word()?));
                PyComplex::from_doubles(py, real, imaginary).into_any()
            }
            TEXT => self.text()?,
            BYTES => PyBytes::new(py, self.bytes.bytes()?).into_any(),
            TUPLE => PyTuple::new(py, self.items()?)?.into_any(),
            FROZEN_SET => PyFrozenSet::new(py, self.items()?)?.into_any(),
            SLICE | RANGE => {
                let class = if tag == SLICE { py.get_type::<PySlice>() } else { py.get_type::<PyRange>() };
                class.call1((self.object()?, self.object()?, self.object()?))?
            }
            REACHED => self.reached()?,
            MADE => {
                let kind = self.bytes.text()?.to_owned();
                let parts = self.object()?;
                self.special.of_parts(&kind, &parts)?
            }
            SPECIAL => {
                let special = self.special;
                special.read(self)?
            }
            WEAK => weak_references::refer(&self.object()?)?,
            PLACE => self.placed()?,
            NAMESPACE => self.object()?.cast::<PyModule>().map_err(|_| Damaged)?.dict().into_any(),
            _ => return Err(Damaged.into()),
        })
    }

    fn items(&mut self) -> Result<Vec<Bound<'py, PyAny>>, Misfit> {
        (0..self.bytes.count()?).map(|_| self.object()).collect()
    }

    /// Texts are interned, for they are compared and looked up.
    fn text(&mut self) -> Result<Bound<'py, PyAny>, Misfit> {
        let (py, bytes) = (self.py(), self.bytes.bytes()?);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(PyString::intern(py, text).into_any()),
            Err(_) => Ok(PyBytes::new(py, bytes).call_method1(name!("decode"), ("utf-8", "surrogatepass"))?),
        }
    }

    /// An object that only the call leads to. The trace knows that it is none of the others.
    fn placed(&mut self) -> Result<Bound<'py, PyAny>, Misfit> {
        let place = self.bytes.index()?;
        let print = self.bytes.digest()?;
        let class = self.object()?;
        let found = self.on_path.as_ref().and_then(|on_path| on_path(place));
        let found =
            found.filter(|found| found.get_type().is(&class) && !self.known.iter().any(|known| known.is(found)));
        let same = |found: &Bound<'py, PyAny>| self.fingerprints.of(found).is_ok_and(|now| now == print);
        let found = found.filter(same).ok_or_else(|| Misfit::new(CALL))?;
        self.found.insert(found.as_ptr() as usize);
        Ok(found)
    }

    fn reached(&mut self) -> Result<Bound<'py, PyAny>, Misfit> {
        let way = Way::read(&mut self.bytes)?;
        let print = self.bytes.digest()?;
        match way.absent(self.py()) {
            // A trace imports the project's own modules where it needs them.
            Some(module) if module.starts_with(OWN) => drop(crate::ffi::modules::import(self.py(), module)?),
            absent => self.absent = absent.map(str::to_owned),
        }
        let found = way.follow(&self.traced).ok_or_else(|| Misfit(format!("{} is not there", way.text())))?;
        match self.fingerprints.of(&found) {
            // The trace knows that it is none of the others.
            Ok(now) if now == print && !self.found.insert(found.as_ptr() as usize) => {
                Err(Misfit(format!("{} is another object, too", way.text())))
            }
            Ok(now) if now == print => Ok(found),
            _ => Err(Misfit(format!("{} is another one", way.text()))),
        }
    }
}
