//! The trait by which shared bodies reach what the running release has of its own, and each release's implementation.

use super::bodies::{Bodies, Key};
use super::releases::{Releases, Set};
use crate::emit::File;

/// The method that stands for a function.
#[must_use]
pub fn method(key: &Key) -> String {
    format!("{}__{}", key.0.trim_end_matches('_'), key.1)
}

/// `release.rs`, and one in each release's folder.
#[must_use]
pub fn files(releases: &Releases, bodies: &Bodies<'_>) -> Vec<File> {
    let mut files = vec![releases.of_all("src/release.rs", &declaration(bodies))];
    for release in releases.places() {
        files.push(releases.file(&Set::from([release]), "release", &implementation(releases, bodies, release)));
    }
    files
}

fn declaration(bodies: &Bodies<'_>) -> String {
    let mut text = "//! What shared bodies call and releases have of their own.\n\
        #![allow(non_snake_case, clippy::all)]\n#[allow(unused_imports)]\nuse crate::capi::{Argument, CApi, Parsed};\n\n\
        /// A release: the functions that bodies of several releases call and that differ between them.\n\
        pub trait Release {\n"
        .to_owned();
    for (key, head) in &bodies.forwarded {
        text += &format!(
            "    /// `{}`.\n    fn {}<C: CApi>({}) -> Result<{}, C::Error>;\n",
            key.1,
            method(key),
            head.declared(),
            head.returns
        );
    }
    text + "}\n"
}

fn implementation(releases: &Releases, bodies: &Bodies<'_>, release: usize) -> String {
    let series = releases.series(release);
    let mut text = format!(
        "//! What CPython {series} has of its own where shared bodies call it.\n\
        #![allow(non_snake_case, unused_variables, clippy::all)]\n#[allow(unused_imports)]\nuse crate::capi::{{Argument, CApi, Parsed}};\n\n\
        /// CPython {series}.\n#[derive(Debug, Clone, Copy)]\npub enum Release {{}}\n\n\
        impl crate::release::Release for Release {{\n"
    );
    for (key, head) in &bodies.forwarded {
        let own = bodies.function(release, key).filter(|function| function.head == *head);
        let body = match own {
            Some(_) => format!("super::{}::{}({})", key.0, key.1, head.passed()),
            // No body of this release calls it so.
            None => format!("Err(c.unsupported({:?}))", key.1),
        };
        text += &format!(
            "    #[inline(always)]\n    fn {}<C: CApi>({}) -> Result<{}, C::Error> {{\n        {body}\n    }}\n",
            method(key),
            head.declared(),
            head.returns
        );
    }
    text + "}\n"
}
