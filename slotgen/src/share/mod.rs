//! One body for many releases: what equals between releases stands once, and a release's folder holds what is its own.
//!
//! In: what each release's translation and facts give as text. Out: the files under `generated/src`. It must not know C.
//! The output depends on the set of releases alone, not on the order in which they were read.

mod bodies;
mod calls;
mod dispatch;
mod facade;
mod forward;
mod modules;
mod releases;
mod tables;
mod whole;

pub use bodies::Bodies;
pub use facade::library;
pub use modules::modules;
pub use releases::{Releases, Set};
pub use tables::{Column, Table};
pub use whole::whole;

use crate::emit::File;
use crate::translate::Rendered;

/// The files of all functions: bodies, and the ways to them.
#[must_use]
pub fn functions(releases: &Releases, rendered: &[Rendered]) -> Vec<File> {
    let bodies = Bodies::of(rendered);
    let mut files = modules(releases, rendered, &bodies);
    files.extend(dispatch::files(releases, rendered, &bodies));
    files.extend(calls::files(releases, rendered, &bodies));
    files.extend(forward::files(releases, &bodies));
    files
}
