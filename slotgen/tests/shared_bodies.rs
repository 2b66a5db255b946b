//! Rust of several small releases: what they have in common stands once, whatever the order they come in.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use slotgen::emit::Mode;
use slotgen::source::Tree;

/// A source tree of a minor version, with the text of `Objects/abstract.c`.
fn tree(minor: u32, functions: &str) -> Tree {
    let version = format!(
        "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION {minor}\n#define PY_MICRO_VERSION 0\n\
        #define PY_RELEASE_LEVEL_FINAL 0xF\n#define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n"
    );
    let files = [
        ("Include/patchlevel.h", version.as_str()),
        ("Include/Python.h", "#include \"patchlevel.h\"\n#include \"object.h\"\n"),
        ("Include/object.h", include_str!("small/object.h")),
        (
            "Include/opcode_ids.h",
            "#define NOP 1\n#define CALL 2\n#define CALL_FAST 200\n#define INSTRUMENTED_CALL 240\n#define JUMP 256\n\n#define HAVE_ARGUMENT 1\n#define MIN_INSTRUMENTED_OPCODE 236\n",
        ),
        ("Include/internal/pycore_opcode_metadata.h", include_str!("small/metadata.h")),
        ("Python/instrumentation.c", "static const uint8_t DE_INSTRUMENT[256] = { [INSTRUMENTED_CALL] = CALL };\n"),
        ("Objects/typeobject.c", include_str!("small/typeobject.c")),
        ("Objects/types.c", include_str!("small/types.c")),
        ("Objects/abstract.c", functions),
    ];
    Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).unwrap()
}

/// `changed` is another function from 3.14 on; `caller` calls it in the same words everywhere; `added` is new in 3.15.
fn release(minor: u32) -> Tree {
    let changed = if minor < 14 { "return o;" } else { "return alike(o);" };
    let added = if minor < 15 { "" } else { "PyObject *added(PyObject *o) { return changed(o); }\n" };
    tree(
        minor,
        &format!(
            "#include \"Python.h\"\nstatic PyObject *alike(PyObject *o) {{ return o; }}\n\
            static PyObject *changed(PyObject *o) {{ {changed} }}\nPyObject *caller(PyObject *o) {{ return changed(o); }}\n{added}"
        ),
    )
}

/// A folder `generated` of a test's own, removed with it.
struct Room(PathBuf);

impl Room {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("slotgen-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("generated")).unwrap();
        Self(folder)
    }

    /// Generates the Rust of these minor versions, in this order, and gives everything that is there then.
    fn generate(&self, minors: &[u32]) -> BTreeMap<String, String> {
        let trees: Vec<Tree> = minors.iter().map(|minor| release(*minor)).collect();
        let rust: Vec<String> = minors.iter().map(|minor| format!("3.{minor}")).collect();
        let root = self.0.join("generated");
        slotgen::generate(&trees, &rust, &root, Mode::Write).unwrap();
        assert!(slotgen::generate(&trees, &rust, &root, Mode::Check).unwrap().changes.is_empty());
        let mut files = BTreeMap::new();
        read(&root, "", &mut files);
        // The facts are of every release that was ever read.
        files.retain(|path, _| !path.starts_with("facts/3."));
        files
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            read(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The folders in which a function of `abstract.c` has a body.
fn homes(files: &BTreeMap<String, String>, function: &str) -> Vec<String> {
    let has = |text: &str| text.contains(&format!("/// CPython: Objects/abstract.c, `{function}`."));
    let found = files.iter().filter(|(path, text)| path.ends_with("/abstract_.rs") && has(text));
    found.map(|(path, _)| path.trim_start_matches("src/").trim_end_matches("/abstract_.rs").to_owned()).collect()
}

#[test]
fn a_body_stands_where_it_belongs() {
    let room = Room::new("homes");
    let files = room.generate(&[13, 14]);
    assert_eq!(homes(&files, "alike"), ["shared"]);
    // Its text is the same although what it calls is not: the running release answers.
    assert_eq!(homes(&files, "caller"), ["shared"]);
    assert_eq!(homes(&files, "changed"), ["v3_13", "v3_14"]);
    assert!(files["src/release.rs"].contains("fn abstract__changed<C: CApi>"));
    assert!(files["src/v3_13/release.rs"].contains("super::abstract_::changed(c, a0)"));
    assert!(!files["src/v3_13/abstract_.rs"].contains("pub fn caller"));
    // Tables follow the bodies.
    assert!(files["src/shared/calls.rs"].contains("FunctionId::caller"));
    assert!(!files["src/v3_14/calls.rs"].contains("FunctionId::caller"));
    assert!(files["src/v3_14/calls.rs"].contains("FunctionId::changed"));
    assert!(files["src/shared/types.rs"].contains("A_Type") && !files["src/v3_13/types.rs"].contains("A_Type"));
    assert!(files["src/lib.rs"].contains("pub mod v3_13;") && files["src/opcodes/mod.rs"].contains("TABLE as V3_14"));
}

#[test]
fn some_releases_may_have_in_common_what_others_have_not() {
    let room = Room::new("sets");
    let files = room.generate(&[13, 14, 15]);
    assert_eq!(homes(&files, "changed"), ["v3_13", "v3_14_v3_15"]);
    assert_eq!(homes(&files, "added"), ["v3_15"]);
    assert_eq!(homes(&files, "caller"), ["shared"]);
    assert!(files["src/v3_15/abstract_.rs"].contains("pub use crate::v3_14_v3_15::abstract_::{\n    changed,\n};"));
}

#[test]
fn the_order_of_releases_says_nothing() {
    let (one, other) = (Room::new("order-1"), Room::new("order-2"));
    assert_eq!(one.generate(&[13, 14, 15]), other.generate(&[15, 13, 14]));
}

#[test]
fn a_release_goes_without_a_trace_and_comes_back_as_it_was() {
    let (room, fresh) = (Room::new("away"), Room::new("fresh"));
    let both = room.generate(&[13, 14]);
    let one = room.generate(&[14]);
    assert_eq!(one, fresh.generate(&[14]));
    assert!(one.keys().all(|path| !path.contains("v3_13") && !path.contains("shared")));
    assert_eq!(homes(&one, "caller"), ["v3_14"]);
    assert_eq!(room.generate(&[13, 14]), both);
    assert_eq!(fresh.generate(&[13, 14]), both);
}

#[test]
fn rust_is_made_of_all_releases_together() {
    let room = Room::new("missing");
    let rust = ["3.13".to_owned(), "3.14".to_owned()];
    let error = slotgen::generate(&[release(14)], &rust, &room.0.join("generated"), Mode::Write).unwrap_err();
    assert!(error.to_string().contains("the sources of 3.13 are missing"), "{error}");
}
