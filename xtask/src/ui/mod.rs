//! Talks to people: steps with progress on standard error, reports on standard output, colour where the terminal has it.
pub mod advice;
pub mod paint;
pub mod step;
pub mod table;

pub use advice::Advise;
pub use step::Step;

/// One line on standard error that is no error: what was tried, skipped or chosen.
pub fn note(text: impl std::fmt::Display) {
    step::suspended(|| anstream::eprintln!("  {} {text}", paint::yellow("·")));
}
