//! A C file that cannot be read ends the run with file and line, and `generated/` stays as it was.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use slotgen::emit::Mode;
use slotgen::source::Tree;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All files below a directory, by path.
fn snapshot(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut rooms = vec![root.to_path_buf()];
    while let Some(room) = rooms.pop() {
        for path in fs::read_dir(room).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                rooms.push(path);
            } else {
                files.insert(path.strip_prefix(root).unwrap().display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn write(root: &Path, files: &BTreeMap<String, Vec<u8>>) {
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Generates from the 3.13.5 sources with one file changed, into a copy of `generated/`; returns the error.
fn error_for(path: &str, change: impl Fn(&str) -> String) -> String {
    let room = tempfile::tempdir().unwrap();
    let mut sources = snapshot(&tests::sources("3.13.5").unwrap());
    let text = String::from_utf8(sources[path].clone()).unwrap();
    sources.insert(path.to_owned(), change(&text).into_bytes());
    write(&room.path().join("cpython"), &sources);
    let generated = room.path().join("generated");
    let before = snapshot(&tests::root().join("generated"));
    write(&generated, &before);
    let tree = Tree::open(&room.path().join("cpython")).unwrap();
    let error = slotgen::generate(&[tree], &["3.13".to_owned()], &generated, Mode::Write).unwrap_err().to_string();
    assert_eq!(snapshot(&generated), before, "generated/ must not change when the sources are not understood");
    error
}

#[test]
fn a_syntax_error_in_a_slot_table_is_named() {
    let marker = "static pytype_slotdef slotdefs[] = {";
    let error =
        error_for("Objects/typeobject.c", |text| text.replace(marker, "static pytype_slotdef slotdefs[] = {{{;"));
    assert!(error.contains("Objects/typeobject.c:"), "{error}");
}

#[test]
fn an_unbalanced_conditional_is_named() {
    let error = error_for("Objects/abstract.c", |text| format!("{text}\n#if 1\n"));
    assert!(error.contains("Objects/abstract.c:"), "{error}");
}
