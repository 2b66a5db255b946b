//! Digests of code objects: equal ones do the same, in the same places.
use crate::ffi::code::fields as code_fields;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCode, PyComplex, PyFloat, PyFrozenSet, PyInt, PyString, PyTuple};

/// Numbers without a pattern, of which the digest of nothing is made.
const BEGINNINGS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

/// What a digest of some code takes at least.
const ROOM: usize = 1_024;

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
        Self { content: Vec::with_capacity(ROOM) }
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
        bytes_digest(&self.content)
    }
}

/// The digest of bytes.
#[must_use]
pub fn bytes_digest(bytes: &[u8]) -> u128 {
    let [mut one, mut other, third, fourth] = BEGINNINGS;
    let mut add = |words: &[u8; 16]| {
        let both = u128::from_le_bytes(*words);
        let (low, high) = (both as u64, (both >> 64) as u64);
        (one, other) = (mixed(one ^ low, third ^ high), mixed(other ^ high, fourth ^ low));
    };
    let (words, rest) = bytes.as_chunks();
    words.iter().for_each(&mut add);
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    add(&(bytes.len() as u128).to_le_bytes());
    u128::from(one) << 64 | u128::from(other)
}

/// All bits of two words in one.
fn mixed(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
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

#[cfg(test)]
mod tests {
    use super::bytes_digest;
    use std::collections::HashSet;

    #[test]
    fn whatever_differs_has_another_digest() {
        let mut contents: Vec<Vec<u8>> = (0..40).map(|length| vec![0; length]).collect();
        for place in 0..40 {
            for bit in 0..8 {
                let mut content = vec![0; 40];
                content[place] = 1 << bit;
                contents.push(content);
            }
        }
        let words: Vec<u8> = (0..40).collect();
        contents.extend([[&words[16..32], &words[..16]].concat(), words]);
        let all: HashSet<u128> = contents.iter().map(|content| bytes_digest(content)).collect();
        assert_eq!(all.len(), contents.len());
        let halves = |shift: u32| all.iter().map(|digest| (digest >> shift) as u64).collect::<HashSet<_>>().len();
        assert_eq!([halves(0), halves(64)], [contents.len(); 2]);
    }
}
