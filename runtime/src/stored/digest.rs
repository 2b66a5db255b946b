//! Digests of code objects: equal ones do the same, in the same places.
use crate::ffi::code::fields as code_fields;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCode, PyComplex, PyFloat, PyFrozenSet, PyInt, PyString, PyTuple};
use std::hash::{DefaultHasher, Hasher};

/// A digest that is being made. It tells mistakes and other versions apart; it is no protection against those who look for equal ones.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    /// All that was added: it is mixed at once, for many small parts cost more.
    content: Vec<u8>,
}

impl Digest {
    /// Of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what kind of thing follows.
    fn kind(&mut self, kind: u8) {
        self.content.push(kind);
    }

    /// Adds bytes, and how many they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.content.extend_from_slice(bytes);
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.content.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds another digest.
    pub fn digest(&mut self, digest: u128) {
        self.content.extend_from_slice(&digest.to_le_bytes());
    }

    /// What came of it.
    #[must_use]
    pub fn finish(&self) -> u128 {
        let half = |which: u8| {
            let mut half = DefaultHasher::new();
            half.write_u8(which);
            half.write(&self.content);
            half.finish()
        };
        u128::from(half(0)) << 64 | u128::from(half(1))
    }
}

/// The digest of bytes.
#[must_use]
pub fn bytes_digest(bytes: &[u8]) -> u128 {
    let mut digest = Digest::new();
    digest.bytes(bytes);
    digest.finish()
}

/// The digest of a code object: instructions, constants, names, lines, file.
///
/// # Errors
/// Where it is none.
pub fn code_digest(code: &Bound<'_, PyAny>) -> PyResult<u128> {
    let mut digest = Digest::new();
    add_code(&mut digest, code)?;
    Ok(digest.finish())
}

fn add_code(digest: &mut Digest, code: &Bound<'_, PyAny>) -> PyResult<()> {
    let bytes = code.getattr(intern!(code.py(), "co_code"))?.cast_into::<PyBytes>()?;
    digest.bytes(bytes.as_bytes());
    for number in code_fields::numbers(code)? {
        digest.number(i64::from(number).cast_unsigned());
    }
    digest.bytes(&code_fields::kinds(code)?);
    add_constant(digest, code_fields::names(code)?.as_any())?;
    code_fields::objects(code)?.iter().try_for_each(|part| add_constant(digest, part))
}

/// Adds a constant of a code object; sets in an order that does not depend on hashes.
pub(super) fn add_constant(digest: &mut Digest, constant: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(text) = constant.cast_exact::<PyString>() {
        digest.kind(b's');
        match text.to_str() {
            Ok(text) => digest.text(text),
            Err(_) => digest.text(&text.to_string_lossy()),
        }
    } else if constant.is_none() {
        digest.kind(b'n');
    } else if let Ok(truth) = constant.cast_exact::<PyBool>() {
        digest.kind(if truth.is_true() { b'T' } else { b'F' });
    } else if let Some(number) = constant.cast_exact::<PyInt>().ok().and_then(|number| number.extract::<i64>().ok()) {
        digest.kind(b'i');
        digest.number(number.cast_unsigned());
    } else if let Ok(bytes) = constant.cast_exact::<PyBytes>() {
        digest.kind(b'b');
        digest.bytes(bytes.as_bytes());
    } else if let Ok(float) = constant.cast_exact::<PyFloat>() {
        digest.kind(b'f');
        digest.number(float.value().to_bits());
    } else if let Ok(complex) = constant.cast_exact::<PyComplex>() {
        digest.kind(b'c');
        digest.number(complex.real().to_bits());
        digest.number(complex.imag().to_bits());
    } else if let Ok(tuple) = constant.cast_exact::<PyTuple>() {
        digest.kind(b't');
        digest.number(tuple.len() as u64);
        tuple.iter_borrowed().try_for_each(|item| add_constant(digest, &item))?;
    } else if let Ok(set) = constant.cast_exact::<PyFrozenSet>() {
        let of = |item: Bound<'_, PyAny>| {
            let mut digest = Digest::new();
            add_constant(&mut digest, &item).map(|()| digest.finish())
        };
        let mut items = set.iter().map(of).collect::<PyResult<Vec<_>>>()?;
        items.sort_unstable();
        digest.kind(b'z');
        digest.number(items.len() as u64);
        items.into_iter().for_each(|item| digest.digest(item));
    } else if constant.is_instance_of::<PyCode>() {
        digest.kind(b'k');
        add_code(digest, constant)?;
    } else {
        digest.kind(b'o');
        digest.text(&crate::ffi::types::name(&constant.get_type()));
        // Larger `int`s, `Ellipsis`: nothing of the program runs.
        digest.text(&constant.repr()?.to_string_lossy());
    }
    Ok(())
}
