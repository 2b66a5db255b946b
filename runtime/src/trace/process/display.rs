//! What an interactive statement shows of its value. CPython: `print_expr`, `sys_displayhook`.
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;

impl<'py> Tracer<'py> {
    /// The value of a statement of code that was compiled as `single`.
    pub(crate) fn display(&mut self, value: ValueId) -> Traced<ValueId> {
        let names = self.imported_names("sys")?;
        let Some(hook) = self.in_globals(&names, "displayhook") else {
            return self.raise("RuntimeError", "lost sys.displayhook");
        };
        self.call(hook, Arguments::positional(vec![value]))
    }

    /// `sys.displayhook(value)`.
    pub(crate) fn display_by_default(&mut self, value: ValueId) -> Traced<ValueId> {
        if self.is_none(value)? {
            return Ok(value);
        }
        let none = self.none();
        let (names, builtins) = (self.imported_names("sys")?, self.imported_names("builtins")?);
        self.set_in_globals(builtins.clone(), "_", none)?;
        let file = self.in_globals(&names, "stdout");
        let Some(file) = file.filter(|file| !matches!(self.is_none(*file), Ok(true))) else {
            return self.raise("RuntimeError", "lost sys.stdout");
        };
        let write = self.get_attr(file, "write")?;
        let text = self.call_builtin("repr", &[value])?;
        match self.call(write, Arguments::positional(vec![text])) {
            Err(signal @ Unwind::Raised(_)) if self.raised_is(&signal, "UnicodeEncodeError")? => {
                return unsupported("display of a text that the file cannot encode", "displayhook");
            }
            written => drop(written?),
        }
        let write = self.get_attr(file, "write")?;
        let line = self.string("\n");
        self.call(write, Arguments::positional(vec![line]))?;
        self.set_in_globals(builtins, "_", value)?;
        Ok(none)
    }
}
