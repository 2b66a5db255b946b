//! Talks to people: progress on standard error, reports on standard output, colour on terminals.
pub mod advice;
pub mod nearest;
pub mod paint;
pub mod step;
pub mod table;

pub use advice::Advise;
pub use step::Step;

/// A line on standard error that is no error: something was tried, skipped or chosen.
pub fn note(text: impl std::fmt::Display) {
    step::suspended(|| anstream::eprintln!("  {} {text}", paint::yellow("·")));
}
