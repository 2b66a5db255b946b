//! Any bytes as a header and a C file of a tree: extraction answers with facts or diagnostics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotgen::diagnostics::Diagnostics;
use slotgen::extract::extract;
use slotgen::preprocess::Configuration;
use slotgen::source::{SourceFile, Tree};

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 13\n#define PY_MICRO_VERSION 5\n\
    #define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n";

fuzz_target!(|bytes: &[u8]| {
    let text = SourceFile::new(String::new(), bytes.to_vec()).text().to_owned();
    let (unit, header) = text.split_once("\n\n\n").unwrap_or((&text, ""));
    let files = [("Include/patchlevel.h", PATCHLEVEL), ("Include/Python.h", header), ("Objects/x.c", unit)];
    let Ok(tree) = Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))) else { return };
    let Ok(configuration) = Configuration::named("release", tree.release()) else { return };
    let _ = extract(&tree, &configuration, &mut Diagnostics::default());
});
