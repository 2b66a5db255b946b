//! `open` of a regular file for reading: the file object belongs to the trace, and a guard asks that the file is the same.
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::is_scalar;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::time::{SystemTime, UNIX_EPOCH};

/// `S_IFMT`, `S_IFREG`.
const FORMAT: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// A file that was written so short a time ago may be written again without its time telling: clocks of file systems tick
/// as slowly as this, in nanoseconds.
const UNSETTLED: i128 = 2_000_000_000;

/// What tells one state of a file from another: device, number, size, time of the last change.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Unchanged {
    path: Py<PyAny>,
    identity: [i128; 4],
}

#[pymethods]
impl Unchanged {
    /// Whether the file is as it was. `stat` is `posix.stat`.
    fn __call__(&self, stat: &Bound<'_, PyAny>) -> bool {
        identity(stat, self.path.bind(stat.py())).is_some_and(|now| now == self.identity)
    }
}

/// The identity of a regular file; `None` for what is none.
fn identity(stat: &Bound<'_, PyAny>, path: &Bound<'_, PyAny>) -> Option<[i128; 4]> {
    let status = stat.call1((path,)).ok()?;
    let field = |name: &str| status.getattr(name).ok()?.extract::<i128>().ok();
    let mode = u32::try_from(field("st_mode")?).ok()?;
    (mode & FORMAT == REGULAR).then_some([field("st_dev")?, field("st_ino")?, field("st_size")?, field("st_mtime_ns")?])
}

/// Whether any later change will have another time.
fn is_settled([.., changed]: &[i128; 4]) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.is_ok_and(|now| i128::try_from(now.as_nanos()).is_ok_and(|now| changed + UNSETTLED < now))
}

impl<'py> Tracer<'py> {
    /// `open(path)` for reading; `None`: another function, or another use of it.
    pub(crate) fn open_file(
        &mut self,
        function: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if !matches!(module, "_io" | "io" | "builtins") || !matches!(name, "open" | "open_code") {
            return Ok(None);
        }
        let Some(natives) = self.known_scalars(&args.positional) else { return Ok(None) };
        let keywords = PyDict::new(self.py);
        for (keyword, value) in &args.keywords {
            let Some(known) = self.known(*value).filter(is_scalar) else { return Ok(None) };
            keywords.set_item(keyword, known).or_else(|error| internal(error.to_string()))?;
        }
        if !only_reads(&natives, &keywords) {
            return Ok(None);
        }
        self.open_regular(function, natives, &keywords)
    }

    fn open_regular(
        &mut self,
        function: &Bound<'py, PyAny>,
        natives: Vec<Bound<'py, PyAny>>,
        keywords: &Bound<'py, PyDict>,
    ) -> Traced<Option<ValueId>> {
        let stat = self.import("posix", "stat")?;
        let path = natives.first().cloned().filter(|path| path.is_exact_instance_of::<PyString>());
        let Some(path) = path else { return Ok(None) };
        if stat.call1((&path,)).is_err_and(|error| error.is_instance_of::<PyOSError>(self.py)) {
            return self.open_missing(function, &stat, natives, keywords);
        }
        let Some(identity) = identity(&stat, &path).filter(is_settled) else { return Ok(None) };
        // What is not told to decode otherwise is decoded as the locale says.
        let encoding = self.import("_locale", "getencoding")?;
        self.call_and_guard(&encoding, &PyTuple::empty(self.py))?;
        let natives = PyTuple::new(self.py, natives).or_else(|error| internal(error.to_string()))?;
        let (opened, warned) = self.with_warnings_as_errors(|| function.call(natives, Some(keywords)));
        let Ok(file) = opened else { return Ok(None) };
        if warned {
            return Ok(None);
        }
        let check = Bound::new(self.py, Unchanged { path: path.unbind(), identity });
        let check = check.or_else(|error| internal(error.to_string()))?;
        let source = Source::constant(&stat);
        self.guard(source, Check::Call(check.into_any().unbind()), "the trace read a file");
        let file = self.own(file);
        self.state.files.push(file);
        Ok(Some(file))
    }

    /// A file that is not there, or that the process may not know of: the guard asks for its status, and `open` says what is wrong.
    fn open_missing(
        &mut self,
        function: &Bound<'py, PyAny>,
        stat: &Bound<'py, PyAny>,
        natives: Vec<Bound<'py, PyAny>>,
        keywords: &Bound<'py, PyDict>,
    ) -> Traced<Option<ValueId>> {
        let path = PyTuple::new(self.py, natives.first()).or_else(|error| internal(error.to_string()))?;
        match self.call_and_guard(stat, &path) {
            Err(Unwind::Raised(_)) => {}
            Ok(_) => return Ok(None),
            Err(other) => return Err(other),
        }
        let natives = PyTuple::new(self.py, natives).or_else(|error| internal(error.to_string()))?;
        match self.with_warnings_as_errors(|| function.call(natives, Some(keywords))) {
            (Err(error), false) => self.raise_error(error),
            _ => Ok(None),
        }
    }

    /// Closes the files of a trace that is given up.
    pub(crate) fn close_files(&self) {
        for file in self.state.files.iter() {
            if let Some(file) = self.owned(*file) {
                let _ = file.call_method0(name!("close"));
            }
        }
    }

    /// A file that is not closed when the trace ends: its end would warn, or it would be read further.
    pub(crate) fn left_open(&self) -> Option<ValueId> {
        self.state.files.iter().copied().find(|file| {
            let closed = self.owned(*file).and_then(|file| file.getattr(name!("closed")).ok());
            closed.is_some_and(|closed| !closed.is_truthy().unwrap_or(false))
        })
    }
}

/// Whether the mode asks for reading alone, and no opener of the program runs.
fn only_reads(natives: &[Bound<'_, PyAny>], keywords: &Bound<'_, PyDict>) -> bool {
    let mode = natives.get(1).cloned().or_else(|| keywords.get_item("mode").ok().flatten());
    let mode = mode.map_or_else(|| "r".to_owned(), |mode| crate::ffi::types::text(&mode));
    let opener = keywords.get_item("opener").ok().flatten().is_some_and(|opener| !opener.is_none());
    natives.len() < 8 && !opener && matches!(mode.as_str(), "r" | "rb" | "rt" | "br" | "tr")
}
