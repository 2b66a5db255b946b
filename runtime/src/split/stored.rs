//! Continuations as bytes: the code that they are made from is found, what else they depend on is read, and looked at before anything is built.
use super::continuation::{Continuation, Exit, Key};
use super::metadata::{as_root, metadata_in};
use crate::bytecode::shape::{Bound as Bounded, Entry, State};
use crate::bytecode::{Code, Error};
use crate::stored::{Damaged, Reader, Writer, at_place, bytes_digest, place_in};
use pyo3::prelude::*;
use std::sync::Arc;

const ENTRIES: [Entry; 6] =
    [Entry::Object, Entry::Null, Entry::ObjectOrNull, Entry::Unit, Entry::IndexOrNull, Entry::PreviousException];

const BOUNDS: [Bounded; 3] = [Bounded::Yes, Bounded::No, Bounded::Maybe];

/// The digest of what a frame runs: of its code; of a continuation, of the code that it is made from and what else it depends on.
///
/// # Errors
/// Where it is no code object.
pub fn frame_digest<'py>(
    code: &Bound<'py, PyAny>,
    mut digest_of: impl FnMut(&Bound<'py, PyAny>) -> PyResult<u128>,
) -> PyResult<u128> {
    let Some(metadata) = metadata_in(code)? else { return digest_of(code) };
    let continuation = metadata.get().continuation();
    let mut key = Writer::default();
    key.digest(digest_of(continuation.root().bind(code.py()))?);
    continuation.key.write(&mut key);
    Ok(bytes_digest(&key.0))
}

/// What continuations of a code object are made from.
///
/// # Errors
/// Where it cannot be decoded.
pub fn root_code(code: &Bound<'_, PyAny>) -> Result<Arc<Code>, Error> {
    Ok(Arc::new(as_root(code.py(), &Code::decode(code)?)))
}

impl Continuation {
    /// The continuation of this code that a key names.
    ///
    /// # Errors
    /// Where the code has no such place, or never such a state there.
    pub fn of_root(root: &Arc<Code>, key: Key) -> Result<Self, Damaged> {
        let known = root.state_before(key.resume).ok_or(Damaged)?;
        let fits = known.stack.len() == key.state.stack.len()
            && known.bound.len() == key.state.bound.len()
            && known.stack.iter().zip(&key.state.stack).all(|(known, entry)| is_entry(*known, *entry))
            && known
                .bound
                .iter()
                .zip(&key.state.bound)
                .all(|(known, bound)| *known == Bounded::Maybe || known == bound);
        if fits {
            Ok(Self { key, constant: usize::MAX, way: Exit::Next, root: Arc::clone(root) })
        } else {
            Err(Damaged)
        }
    }
}

/// Whether what control flow knows of an entry of the stack may be this.
fn is_entry(known: Entry, entry: Entry) -> bool {
    match known {
        Entry::ObjectOrNull => matches!(entry, Entry::Object | Entry::Null | Entry::ObjectOrNull),
        Entry::IndexOrNull => matches!(entry, Entry::IndexOrNull | Entry::Null | Entry::Object),
        _ => known == entry,
    }
}

impl Key {
    /// Writes it.
    pub fn write(&self, out: &mut Writer) {
        out.number(self.resume as u64);
        out.number(self.state.stack.len() as u64);
        out.0.extend(self.state.stack.iter().map(|entry| place_in(&ENTRIES, entry)));
        out.number(self.state.bound.len() as u64);
        out.0.extend(self.state.bound.iter().map(|bound| place_in(&BOUNDS, bound)));
    }

    /// Reads what [`Key::write`] has written.
    ///
    /// # Errors
    /// Where the bytes are none of a key.
    pub fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let resume = from.index()?;
        let stack = from.bytes()?.iter().map(|byte| at_place(&ENTRIES, *byte)).collect::<Result<_, _>>()?;
        let bound = from.bytes()?.iter().map(|byte| at_place(&BOUNDS, *byte)).collect::<Result<_, _>>()?;
        Ok(Self { resume, state: State { stack, bound } })
    }
}
