//! Files of traces: what they say of the process that wrote them, a digest of all of it, and the rest. A file is put in place as a whole.
use super::bytes::{Damaged, Reader, Writer};
use super::digest::bytes_digest;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How files begin.
const MAGIC: &[u8] = b"slotrt traces\n";

/// Raised when anything about the form changes.
const FORM: u64 = 3;

/// What a process that reads traces must have in common with the one that wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The interpreter: its release and build.
    pub interpreter: String,
    /// slotrt: its version and build.
    pub slotrt: String,
    /// Libraries that were imported, and their versions.
    pub libraries: Vec<(String, String)>,
}

/// Why a file is refused.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum FileError {
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: io::Error },
    #[error("{path} is no file of traces: it does not begin as slotrt.save begins them")]
    Foreign { path: PathBuf },
    #[error("{path} is cut off or damaged: {what}. Delete it, and save it again")]
    Damaged { path: PathBuf, what: &'static str },
    #[error("{path} was saved by {what} {then}; this process has {now}. Save it again from a process like this one")]
    Other { path: PathBuf, what: String, then: String, now: String },
}

/// Writes a file under another name and puts it in place: who reads meanwhile finds the old one or the new one.
///
/// # Errors
/// What the system says.
pub fn write_file(path: &Path, environment: &Environment, content: &[u8]) -> Result<usize, FileError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut body = Writer::default();
    body.text(&environment.interpreter);
    body.text(&environment.slotrt);
    body.number(environment.libraries.len() as u64);
    for (name, version) in &environment.libraries {
        body.text(name);
        body.text(version);
    }
    body.bytes(content);
    let mut file = Writer(MAGIC.to_vec());
    file.number(FORM);
    file.word(body.0.len() as u64);
    file.digest(bytes_digest(&body.0));
    file.0.extend_from_slice(&body.0);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.{}.{}", process::id(), COUNT.fetch_add(1, Relaxed)));
    let written = fs::write(&beside, &file.0).and_then(|()| fs::rename(&beside, path));
    written.map(|()| file.0.len()).map_err(|error| {
        // What is not there cannot be in the way.
        drop(fs::remove_file(&beside));
        FileError::Io { path: path.to_owned(), error }
    })
}

/// The environment and the content of a file, once its digest is right. Versions are compared by the caller.
///
/// # Errors
/// Why it is no file to read.
pub fn read_file(path: &Path) -> Result<(Environment, Vec<u8>), FileError> {
    let bytes = fs::read(path).map_err(|error| FileError::Io { path: path.to_owned(), error })?;
    let path = || path.to_owned();
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(FileError::Foreign { path: path() }) };
    let damaged = |what| move |_: Damaged| FileError::Damaged { path: path(), what };
    let mut head = Reader::new(rest);
    let form = head.number().map_err(damaged("it ends within its beginning"))?;
    if form != FORM {
        let (then, now) = (format!("of form {form}"), format!("form {FORM}"));
        return Err(FileError::Other { path: path(), what: "a slotrt".into(), then, now });
    }
    let length = head.word().map_err(damaged("it ends within its beginning"))?;
    let wanted = head.digest().map_err(damaged("it ends within its beginning"))?;
    let body = head.rest();
    if body.len() as u64 != length {
        let what = if (body.len() as u64) < length { "it ends too early" } else { "something follows its end" };
        return Err(FileError::Damaged { path: path(), what });
    }
    if bytes_digest(body) != wanted {
        return Err(FileError::Damaged { path: path(), what: "its digest is another one" });
    }
    parsed(body).map_err(damaged("its parts do not fit together"))
}

fn parsed(body: &[u8]) -> Result<(Environment, Vec<u8>), Damaged> {
    let mut from = Reader::new(body);
    let (interpreter, slotrt) = (from.text()?.to_owned(), from.text()?.to_owned());
    let library = |from: &mut Reader<'_>| Ok((from.text()?.to_owned(), from.text()?.to_owned()));
    let libraries = (0..from.count()?).map(|_| library(&mut from)).collect::<Result<_, Damaged>>()?;
    let content = from.bytes()?.to_vec();
    if !from.is_at_end() {
        return Err(Damaged);
    }
    Ok((Environment { interpreter, slotrt, libraries }, content))
}
