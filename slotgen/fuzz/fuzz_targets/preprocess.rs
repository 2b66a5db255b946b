//! Any bytes as a C file of a tree: the preprocessor answers with text or diagnostics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotgen::preprocess::{Configuration, run};
use slotgen::source::{SourceFile, Tree};

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 13\n#define PY_MICRO_VERSION 5\n\
    #define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n";

fuzz_target!(|bytes: &[u8]| {
    // The first line break that is doubled parts the file from a header that it may include.
    let text = SourceFile::new(String::new(), bytes.to_vec()).text().to_owned();
    let (unit, header) = text.split_once("\n\n\n").unwrap_or((&text, ""));
    let files = [("Include/patchlevel.h", PATCHLEVEL), ("Objects/x.c", unit), ("Objects/h.h", header)];
    let Ok(tree) = Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))) else { return };
    let Ok(configuration) = Configuration::named("release", tree.release()) else { return };
    if let Ok(unit) = run(&tree, "Objects/x.c", &configuration) {
        for at in (0..unit.text.len()).step_by(16) {
            let _ = unit.map.origin(at);
        }
    }
});
