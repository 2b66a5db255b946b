//! Errors with a way out: a message, its causes, and what the user can do.
use super::paint;
use anyhow::Error;
use std::fmt::Display;

/// Marks a link of an error chain as advice.
const MARK: &str = "help: ";

/// Adds a way out to an error.
pub trait Advise<T> {
    /// `help` says what the user can do.
    fn advise(self, help: impl Display) -> anyhow::Result<T>;
}

impl<T, E: Into<Error>> Advise<T> for Result<T, E> {
    fn advise(self, help: impl Display) -> anyhow::Result<T> {
        self.map_err(|error| error.into().context(format!("{MARK}{help}")))
    }
}

/// Prints an error with its causes and ways out.
pub fn report(error: &Error) {
    let (helps, messages): (Vec<_>, Vec<_>) =
        error.chain().map(ToString::to_string).partition(|link| link.starts_with(MARK));
    for (index, message) in messages.iter().enumerate() {
        let label = if index == 0 { paint::red("error:") } else { paint::dim("  because:") };
        anstream::eprintln!("{label} {}", message.trim_end());
    }
    for help in helps {
        anstream::eprintln!("  {} {}", paint::green("help:"), help.trim_start_matches(MARK));
    }
}
