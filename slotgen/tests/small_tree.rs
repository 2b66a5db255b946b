//! Facts, model, differences and writer on a small tree of our own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use slotgen::diagnostics::Diagnostics;
use slotgen::diff::Generated;
use slotgen::emit::{self, Change, File, Mode};
use slotgen::facts::{Facts, OpcodeKind, SlotOrigin, Type};
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 13\n#define PY_MICRO_VERSION 5\n\
    #define PY_RELEASE_LEVEL_FINAL 0xF\n#define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n";
const TYPEOBJECT: &str = include_str!("small/typeobject.c");
const TYPES: &str = include_str!("small/types.c");

fn extract(typeobject: &str, types: &str) -> (Option<Facts>, Diagnostics) {
    let files = [
        ("Include/patchlevel.h", PATCHLEVEL),
        ("Include/Python.h", "#include \"patchlevel.h\"\n#include \"object.h\"\n"),
        ("Include/object.h", include_str!("small/object.h")),
        (
            "Include/opcode_ids.h",
            "#define NOP 1\n#define CALL 2\n#define CALL_FAST 200\n#define INSTRUMENTED_CALL 240\n#define JUMP 256\n\n#define HAVE_ARGUMENT 1\n#define MIN_INSTRUMENTED_OPCODE 236\n",
        ),
        ("Include/internal/pycore_opcode_metadata.h", include_str!("small/metadata.h")),
        ("Python/instrumentation.c", "static const uint8_t DE_INSTRUMENT[256] = { [INSTRUMENTED_CALL] = CALL };\n"),
        ("Objects/typeobject.c", typeobject),
        ("Objects/types.c", types),
    ];
    let tree = Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).unwrap();
    let configuration = Configuration::named("release", tree.release()).unwrap();
    let mut diagnostics = Diagnostics::default();
    let facts = slotgen::extract::extract(&tree, &configuration, &mut diagnostics);
    (facts, diagnostics)
}

fn facts() -> Facts {
    let (facts, diagnostics) = extract(TYPEOBJECT, TYPES);
    assert!(diagnostics.is_empty(), "{diagnostics}");
    let mut facts = facts.unwrap();
    slotgen::model::link(&mut facts);
    facts
}

fn ty<'f>(facts: &'f Facts, c_name: &str) -> &'f Type {
    facts.types.iter().find(|ty| ty.c_name == c_name).unwrap()
}

fn slots(facts: &Facts, c_name: &str) -> Vec<String> {
    let rows = ty(facts, c_name).slots.iter();
    rows.map(|(slot, value)| {
        let from = value.from.as_deref().map_or(String::new(), |from| format!(" from {from}"));
        format!("{slot} {} {:?}{from}", value.function, value.origin)
    })
    .collect()
}

#[test]
fn slotdefs_name_slots_functions_wrappers_and_offsets() {
    let facts = facts();
    let rows: Vec<_> = facts
        .slotdefs
        .iter()
        .map(|def| (def.name.as_str(), def.slot.as_str(), def.function.as_deref(), def.wrapper.as_deref(), def.flags))
        .collect();
    let wrapper = Some("wrap_binaryfunc");
    assert_eq!(
        rows,
        [("__add__", "nb_add", Some("slot_nb_add"), wrapper, 0), ("__or__", "nb_or", Some("slot_nb_or"), wrapper, 1)]
    );
    let heap = facts.structure("PyHeapTypeObject").unwrap();
    let number = heap.fields.iter().find(|field| field.name == "as_number").unwrap();
    assert_eq!(facts.slotdefs[1].offset, number.offset + 8);
    let made = facts.functions.iter().find(|function| function.name == "slot_nb_add").unwrap();
    assert_eq!(made.through_macro.as_deref(), Some("SLOT1"));
}

#[test]
fn slots_are_the_function_pointers_of_the_structs() {
    let facts = facts();
    let names: Vec<_> =
        facts.slots().iter().map(|slot| (slot.name.to_owned(), slot.suite.map(str::to_owned))).collect();
    let own = ["tp_repr", "tp_hash", "tp_richcompare", "tp_new", "tp_free"].map(|name| (name.to_owned(), None));
    let number = ["nb_add", "nb_or"].map(|name| (name.to_owned(), Some("tp_as_number".to_owned())));
    assert_eq!(names, own.into_iter().chain(number).collect::<Vec<_>>());
}

#[test]
fn types_inherit_as_type_ready_does() {
    let facts = facts();
    // `tp_hash` is not inherited beside an own `tp_richcompare`; GC types free otherwise; `object` gives no `tp_new`.
    assert_eq!(
        slots(&facts, "A_Type"),
        [
            "nb_or a_or Own",
            "tp_free PyObject_GC_Del Ready",
            "tp_hash PyObject_HashNotImplemented Ready",
            "tp_repr object_repr Inherited from PyBaseObject_Type",
            "tp_richcompare a_eq Own",
        ]
    );
    // C's base is set in code, through a pointer; it shares the number suite of B, which shares that of A.
    assert_eq!(ty(&facts, "C_Type").base.as_deref(), Some("B_Type"));
    assert!(slots(&facts, "C_Type").contains(&"nb_or a_or Inherited from A_Type".to_owned()));
    // A spec's base is an argument of the call that makes it.
    let spec = ty(&facts, "d_spec");
    assert_eq!((spec.tp_name.as_str(), spec.base.as_deref()), ("mod.D", Some("A_Type")));
    assert_eq!(spec.slots["tp_dealloc"].function, "subtype_dealloc");
    assert_eq!(spec.slots["nb_add"].origin, SlotOrigin::Own);
    assert_eq!(spec.slots["nb_or"].from.as_deref(), Some("A_Type"));
}

#[test]
fn methods_have_flags_and_signatures() {
    let facts = facts();
    let [method] = ty(&facts, "A_Type").methods.as_slice() else { panic!("one method") };
    assert_eq!((method.name.as_str(), method.function.as_str()), ("copy", "a_copy"));
    assert_eq!(method.flags, ["METH_NOARGS", "METH_COEXIST"]);
    assert_eq!(method.signature.as_deref(), Some("($self, /)"));
}

#[test]
fn layouts_follow_the_abi() {
    let facts = facts();
    let offsets = |name: &str| -> Vec<(String, u32)> {
        let fields = &facts.structure(name).unwrap().fields;
        fields.iter().map(|field| (field.name.clone(), field.offset)).collect()
    };
    let named = |rows: &[(&str, u32)]| rows.iter().map(|&(name, offset)| (name.to_owned(), offset)).collect::<Vec<_>>();
    // `b:30` does not fit beside `a:3` in one unit.
    assert_eq!(
        offsets("PyFrameObject"),
        named(&[("ob_base", 0), ("f_lineno", 16), ("a", 20), ("b", 24), ("c", 28), ("slots", 32)])
    );
    assert_eq!(offsets("PyThreadState"), named(&[("status", 0), ("u", 8)]));
    assert_eq!(facts.structure("PyThreadState").unwrap().size, 16);
    assert_eq!(offsets("_PyInterpreterFrame"), named(&[("f_executable", 0), ("owner", 8), ("localsplus", 16)]));
}

#[test]
fn opcodes_have_kinds_bases_and_effects() {
    let facts = facts();
    let row = |name: &str| facts.opcodes.opcodes.iter().find(|opcode| opcode.name == name).unwrap();
    assert_eq!((row("CALL").kind, row("CALL").caches), (OpcodeKind::Real, 3));
    assert_eq!((row("CALL_FAST").kind, row("CALL_FAST").base.as_deref()), (OpcodeKind::Specialised, Some("CALL")));
    assert_eq!(row("INSTRUMENTED_CALL").base.as_deref(), Some("CALL"));
    assert_eq!(row("JUMP").kind, OpcodeKind::Pseudo);
    let pushed = row("CALL").pushed.as_ref().unwrap();
    assert_eq!(pushed.evaluate(&|_| Some(3)), Some(2));
}

#[test]
fn facts_survive_their_json() {
    let facts = facts();
    let json = facts.to_json().unwrap();
    let again: Facts = serde_json::from_str(&json).unwrap();
    assert_eq!(again.types, facts.types);
    assert_eq!(again.to_json().unwrap(), json);
}

#[test]
fn a_changed_body_is_told_where_no_table_changed() {
    let before = facts();
    let comment = TYPEOBJECT.replace("/* BODY */", "/* another   comment */");
    let same = extract(&comment, TYPES).0.unwrap();
    let none = Generated::new();
    assert!(slotgen::diff::diff(&extract(TYPEOBJECT, TYPES).0.unwrap(), &same, &none).is_empty());
    let body =
        TYPEOBJECT.replace("/* BODY */", "if (a == b) return 0;").replace("{ return o; }", "{ return name ? o : 0; }");
    let mut after = extract(&body, TYPES).0.unwrap();
    slotgen::model::link(&mut after);
    let diff = slotgen::diff::diff(&before, &after, &none);
    assert!(diff.slots.is_empty() && diff.slotdefs.is_empty() && diff.types.is_empty() && diff.opcodes.is_empty());
    let names: Vec<_> = diff.functions.by_slot["nb_or"].iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["slot_nb_or"]);
    // A helper that no table names is told with the slots that reach it.
    let [group] = diff.functions.reached.as_slice() else { panic!("{diff:?}") };
    assert_eq!(
        (group.functions[0].name.as_str(), group.slots.as_slice()),
        ("lookup", &["nb_add", "nb_or"].map(str::to_owned)[..])
    );
    assert!(diff.to_text().contains("slot_nb_or changed, Objects/typeobject.c:"));
    assert!(diff.to_markdown().contains("### `nb_add, nb_or`\n- `lookup` changed, Objects/typeobject.c:"));
    assert!(diff.to_json().unwrap().contains("\"generated_from\": []"));
    // And with the generated functions, where there are any.
    let slot = ("Objects/typeobject.c".to_owned(), "slot_nb_or".to_owned());
    let of_generated = slotgen::diff::diff(&before, &after, &Generated::from([slot.clone()]));
    assert_eq!(of_generated.functions.reached[0].generated, ["slot_nb_or"]);
    let lookup = Generated::from([(slot.0, "lookup".to_owned())]);
    assert_eq!(slotgen::diff::diff(&before, &after, &lookup).functions.generated[0].name, "lookup");
    // Libraries tell no bodies.
    let binary = |facts: &Facts| Facts { source: slotgen::facts::Origin::Binary, ..facts.clone() };
    let tables = slotgen::diff::diff(&binary(&before), &binary(&after), &none);
    assert!(tables.is_empty() && tables.to_text().contains("not compared"));
}

#[test]
fn what_is_not_understood_is_told_all_at_once() {
    let types = TYPES
        .replace(".tp_as_number = &a_as_number", ".tp_as_number = &nowhere")
        .replace("a_methods,", "missing_methods, .tp_none = 1,");
    let (_, diagnostics) = extract(TYPEOBJECT, &types);
    let codes: Vec<_> = diagnostics.iter().map(|found| (found.code, found.file.as_str(), found.line)).collect();
    assert_eq!(
        codes,
        [
            ("extract/suite", "Objects/types.c", 11),
            ("extract/table", "Objects/types.c", 11),
            ("extract/type-field", "Objects/types.c", 11)
        ]
    );
    assert!(diagnostics.iter().all(|found| !found.help.is_empty()));
}

#[test]
fn the_writer_replaces_everything_or_nothing() {
    let folder = std::env::temp_dir().join(format!("slotgen-writer-{}", std::process::id()));
    let root = folder.join("generated");
    std::fs::create_dir_all(root.join("src/v3_13")).unwrap();
    std::fs::write(root.join("src/lib.rs"), "//! by hand\n").unwrap();
    std::fs::write(root.join("src/v3_13/stale.rs"), format!("// {} from CPython 3.13\n", emit::MARK)).unwrap();
    let file =
        |path: &str, text: &str| File { path: path.to_owned(), text: format!("// {} from x\n{text}", emit::MARK) };
    let files = [file("src/v3_13/slots.rs", "one\ntwo\n")];
    let owned = ["src/v3_13/".to_owned()];
    let expected = [Change::Added("src/v3_13/slots.rs".to_owned()), Change::Removed("src/v3_13/stale.rs".to_owned())];
    assert_eq!(emit::write(&root, &owned, &files, Mode::Check).unwrap(), expected);
    assert!(root.join("src/v3_13/stale.rs").exists());
    assert_eq!(emit::write(&root, &owned, &files, Mode::Write).unwrap(), expected);
    assert!(!root.join("src/v3_13/stale.rs").exists() && root.join("src/lib.rs").exists());
    assert!(emit::write(&root, &owned, &files, Mode::Write).unwrap().is_empty());
    let changed = [file("src/v3_13/slots.rs", "one\n2\n")];
    assert_eq!(
        emit::write(&root, &owned, &changed, Mode::Check).unwrap(),
        [Change::Changed("src/v3_13/slots.rs".to_owned(), 3)]
    );
    // A hand-written file is never overwritten, and then nothing else is either.
    let mixed = [file("src/v3_13/slots.rs", "one\n2\n"), file("src/lib.rs", "x\n")];
    assert!(emit::write(&root, &owned, &mixed, Mode::Write).is_err());
    assert!(emit::write(&root, &owned, &files, Mode::Check).unwrap().is_empty());
    std::fs::remove_dir_all(&folder).unwrap();
}
