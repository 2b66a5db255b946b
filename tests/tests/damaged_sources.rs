//! A C file that cannot be read is named with file and line, as a gap of the release; what else there is, is generated.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use slotgen::diagnostics::Severity;
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

/// A file of the tree and what is done to its text.
type Change<'a> = (&'a str, &'a dyn Fn(&str) -> String);

/// The places of what is not understood in the 3.13.5 sources with some files changed. `generated/` is not written.
fn gaps(changes: &[Change]) -> Vec<(String, usize)> {
    let room = tempfile::tempdir().unwrap();
    let mut sources = snapshot(&tests::sources("3.13.5").unwrap());
    for (path, change) in changes {
        let text = String::from_utf8(sources[*path].clone()).unwrap();
        sources.insert((*path).to_owned(), change(&text).into_bytes());
    }
    write(&room.path().join("cpython"), &sources);
    let generated = room.path().join("generated");
    let before = snapshot(&tests::root().join("generated"));
    write(&generated, &before);
    let tree = Tree::open(&room.path().join("cpython")).unwrap();
    let report = slotgen::generate(&[tree], &["3.13".to_owned()], &generated, Mode::DryRun).unwrap();
    assert_eq!(snapshot(&generated), before, "a dry run changes nothing");
    let found = report.read.iter().flat_map(|read| read.diagnostics.iter());
    let gaps = found.filter(|diagnostic| diagnostic.severity == Severity::Gap);
    gaps.map(|diagnostic| (diagnostic.file.clone(), diagnostic.line as usize)).collect()
}

/// Reading and translating all of CPython takes a while: both kinds of damage are done to one tree.
#[test]
fn a_syntax_error_in_a_slot_table_and_an_unbalanced_conditional_are_named() {
    let (table, operations) = ("Objects/typeobject.c", "Objects/abstract.c");
    let marker = "static pytype_slotdef slotdefs[] = {";
    let found = gaps(&[
        (table, &|text| text.replace(marker, "static pytype_slotdef slotdefs[] = {{{;")),
        (operations, &|text| format!("{text}\n#if 1\n")),
    ]);
    assert!(found.iter().any(|(file, _)| file == operations), "{found:?}");
    assert!(found.iter().any(|(file, _)| file == table), "{found:?}");
    assert!(found.iter().all(|(file, line)| file == operations || file == table && *line > 10_000), "{found:?}");
}
