//! Any bytes as a compiled library: the reader answers with tables or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotgen::binary::Reader;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use std::path::Path;
use std::sync::LazyLock;

/// The headers: `PYTHON_INCLUDE` names the include directory of an installed CPython.
static READER: LazyLock<Reader> = LazyLock::new(|| {
    let include = std::env::var("PYTHON_INCLUDE").expect("PYTHON_INCLUDE names an include directory of CPython");
    let headers = Tree::open(Path::new(&include)).expect("headers of CPython");
    let configuration = Configuration::named("release", headers.release()).expect("a configuration");
    Reader::new(&headers, &configuration).expect("headers that tell the layouts")
});

fuzz_target!(|bytes: &[u8]| {
    let _ = READER.module(bytes, None);
});
