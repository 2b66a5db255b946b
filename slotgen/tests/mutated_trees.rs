//! Trees that differ from all known releases: what is understood of them is read, the rest is named.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use slotgen::facts::{Facts, SlotOrigin};
use slotgen::source::Tree;
use slotgen::{GenerateError, facts_of};

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 16\n#define PY_MICRO_VERSION 0\n\
    #define PY_RELEASE_LEVEL_ALPHA 0xA\n#define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_ALPHA\n#define PY_RELEASE_SERIAL 3\n";
const IDS: &str = "#define NOP 1\n#define CALL 2\n#define CALL_FAST 200\n#define INSTRUMENTED_CALL 240\n#define JUMP 256\n\n\
    #define HAVE_ARGUMENT 1\n#define MIN_INSTRUMENTED_OPCODE 236\n";

/// The files of a small tree of our own.
fn files() -> Vec<(String, String)> {
    let files = [
        ("Include/patchlevel.h", PATCHLEVEL),
        ("Include/Python.h", "#include \"patchlevel.h\"\n#include \"object.h\"\n"),
        ("Include/object.h", include_str!("small/object.h")),
        ("Include/opcode_ids.h", IDS),
        ("Include/internal/pycore_opcode_metadata.h", include_str!("small/metadata.h")),
        ("Python/instrumentation.c", "static const uint8_t DE_INSTRUMENT[256] = { [INSTRUMENTED_CALL] = CALL };\n"),
        ("Objects/typeobject.c", include_str!("small/typeobject.c")),
        ("Objects/types.c", include_str!("small/types.c")),
    ];
    files.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec()
}

/// The facts of the tree after a change of its files.
fn read(change: impl FnOnce(&mut Vec<(String, String)>)) -> Result<Facts, GenerateError> {
    let mut files = files();
    change(&mut files);
    facts_of(&Tree::from_files(files).unwrap())
}

/// The facts of the tree with other texts in a file.
fn with(path: &str, from: &str, to: &str) -> Facts {
    read(|files| {
        let (_, text) = files.iter_mut().find(|file| file.0 == path).unwrap();
        assert!(text.contains(from), "{path} has no `{from}`");
        *text = text.replace(from, to);
    })
    .unwrap()
}

fn codes(facts: &Facts) -> Vec<&str> {
    facts.gaps.iter().map(|gap| gap.code.as_str()).collect()
}

fn names(facts: &Facts) -> Vec<&str> {
    facts.types.iter().map(|ty| ty.c_name.as_str()).collect()
}

const ALL: [&str; 5] = ["PyBaseObject_Type", "A_Type", "B_Type", "C_Type", "d_spec"];

#[test]
fn a_tree_without_changes_has_no_gaps() {
    let facts = read(|_| {}).unwrap();
    assert_eq!((codes(&facts), names(&facts), facts.release.as_str()), (vec![], ALL.to_vec(), "3.16.0a3"));
}

#[test]
fn a_renamed_slot_is_the_slot_of_that_name() {
    let facts = read(|files| files.iter_mut().for_each(|file| file.1 = file.1.replace("nb_or", "nb_either"))).unwrap();
    let ty = facts.types.iter().find(|ty| ty.c_name == "A_Type").unwrap();
    assert_eq!(ty.slots["nb_either"].function, "a_or");
    assert_eq!(facts.slotdefs[1].slot, "nb_either");
}

#[test]
fn a_field_more_moves_those_behind_it() {
    let before = read(|_| {}).unwrap();
    let facts = with("Include/object.h", "    reprfunc tp_repr;", "    newfunc tp_extra;\n    reprfunc tp_repr;");
    let offset = |facts: &Facts, name: &str| {
        let fields = &facts.structure("PyTypeObject").unwrap().fields;
        fields.iter().find(|field| field.name == name).unwrap().offset
    };
    assert_eq!(offset(&facts, "tp_hash"), offset(&before, "tp_hash") + 8);
    assert!(facts.slots().iter().any(|slot| slot.name == "tp_extra"));
    // Initialisers by place are read by the new places: what was the suite of numbers is none any longer.
    assert_eq!(codes(&facts), ["extract/suite"]);
}

#[test]
fn an_opcode_without_metadata_is_a_gap() {
    let facts = with("Include/opcode_ids.h", "#define CALL 2\n", "#define CALL 2\n#define FRESH 3\n");
    assert_eq!(codes(&facts), ["extract/opcode-metadata"]);
    assert!(facts.gaps[0].what.contains("`FRESH`"), "{:?}", facts.gaps);
    assert!(facts.opcodes.opcodes.iter().any(|opcode| opcode.name == "FRESH" && opcode.popped.is_none()));
}

#[test]
fn micro_operations_need_no_number() {
    let metadata = include_str!("small/metadata.h");
    let first = metadata.find("case NOP:").unwrap();
    let changed = format!("{}case _GUARD_FRESH: return 0;\n        {}", &metadata[..first], &metadata[first..]);
    let facts = with("Include/internal/pycore_opcode_metadata.h", metadata, &changed);
    assert_eq!(codes(&facts), Vec::<&str>::new());
}

#[test]
fn moved_headers_are_found() {
    let facts = read(|files| {
        for (from, to) in [
            ("Include/opcode_ids.h", "Include/cpython/opcodes/opcode_ids.h"),
            ("Include/internal/pycore_opcode_metadata.h", "Include/cpython/opcodes/pycore_opcode_metadata.h"),
            ("Include/object.h", "Include/core/object.h"),
        ] {
            files.iter_mut().find(|file| file.0 == from).unwrap().0 = to.to_owned();
        }
    });
    let facts = facts.unwrap();
    assert_eq!((codes(&facts), names(&facts)), (vec![], ALL.to_vec()));
    assert_eq!(facts.opcodes.opcodes.len(), 5);
}

#[test]
fn a_fork_that_calls_its_python_h_otherwise_is_read() {
    let facts = read(|files| {
        files.iter_mut().for_each(|file| file.1 = file.1.replace("#include \"Python.h\"", "#include \"Fork.h\""));
    });
    assert_eq!(names(&facts.unwrap()), ALL);
}

#[test]
fn a_macro_that_no_rule_knows_is_expanded_where_its_call_is_no_c() {
    let header = "#define MARKED() \n#define PLACED(where, declaration) MARKED() declaration\n";
    let facts = read(|files| {
        files[2].1.push_str(header);
        let types = &mut files[7].1;
        *types = types.replace("PyTypeObject A_Type = {", "PLACED(here, PyTypeObject A_Type)\n= {");
    });
    let facts = facts.unwrap();
    assert_eq!((codes(&facts), names(&facts)), (vec![], ALL.to_vec()));
}

#[test]
fn literals_within_a_spec_are_tables() {
    let facts = with(
        "Objects/types.c",
        "static PyType_Slot d_slots[] = { {Py_tp_repr, a_copy}, {Py_nb_add, a_or}, {0, 0} };\n\
        static PyType_Spec d_spec = { .name = \"mod.D\", .flags = Py_TPFLAGS_DEFAULT, .slots = d_slots };",
        "static PyType_Spec d_spec = { .name = \"mod.D\", .flags = Py_TPFLAGS_DEFAULT, .slots = (PyType_Slot[]) {\n\
        {Py_nb_add, a_or}, {Py_tp_methods, (PyMethodDef[]) { {\"twice\", a_copy, METH_NOARGS, 0}, {NULL} }}, {0, 0} } };",
    );
    let spec = facts.types.iter().find(|ty| ty.c_name == "d_spec").unwrap();
    assert_eq!((spec.methods[0].name.as_str(), spec.slots["nb_add"].origin), ("twice", SlotOrigin::Own));
    assert_eq!(codes(&facts), Vec::<&str>::new());
}

#[test]
fn a_table_from_a_row_on_is_a_table() {
    let facts = with("Objects/types.c", "a_methods,", "a_methods + 1,");
    assert!(facts.types.iter().find(|ty| ty.c_name == "A_Type").unwrap().methods.is_empty());
    assert_eq!(codes(&facts), Vec::<&str>::new());
}

#[test]
fn a_type_that_is_not_understood_is_left_out_and_named() {
    let facts = with("Objects/types.c", ".tp_as_number = &a_as_number", ".tp_as_number = made_elsewhere(3)");
    assert!(!names(&facts).contains(&"A_Type") && names(&facts).contains(&"d_spec"));
    assert_eq!(codes(&facts), ["extract/suite"]);
}

#[test]
fn a_slot_whose_function_has_no_name_is_there_all_the_same() {
    let facts = with("Objects/types.c", "(richcmpfunc)&a_eq", "chosen(1, 2)");
    let ty = facts.types.iter().find(|ty| ty.c_name == "A_Type").unwrap();
    assert_eq!(ty.slots["tp_richcompare"].function, "chosen(1, 2)");
    assert_eq!(codes(&facts), ["extract/slot-value"]);
}

#[test]
fn a_layout_that_the_release_does_not_have_is_a_gap() {
    let frame = "typedef struct _PyInterpreterFrame { PyObject *f_executable; char owner; PyObject *localsplus[1]; } _PyInterpreterFrame;";
    let facts = with("Include/object.h", frame, "");
    assert_eq!(codes(&facts), ["extract/layout"]);
    assert!(facts.structure("_PyInterpreterFrame").is_none());
}

#[test]
fn without_the_slots_there_are_no_facts() {
    let error = read(|files| files[2].1 = files[2].1.replace("struct _typeobject {", "struct _other {")).unwrap_err();
    assert!(error.to_string().contains("PyTypeObject"), "{error}");
}

#[test]
fn code_that_is_no_c_costs_its_own_place_alone() {
    let facts = with("Objects/types.c", "DERIVED(B, A);", "DERIVED(B, A);\nint broken( = { ;\n");
    assert!(names(&facts).contains(&"A_Type"));
    assert!(codes(&facts).contains(&"extract/syntax"), "{:?}", facts.gaps);
}

#[test]
fn the_pyconfig_of_another_platform_changes_nothing() {
    let windows = "#define MS_WINDOWS 1\n#define SIZEOF_LONG 4\n#define SIZEOF_VOID_P 4\n#define Py_DEBUG 1\n#define reprfunc other\n";
    let before = read(|_| {}).unwrap();
    for (path, include) in [("Include/pyconfig.h", "\"pyconfig.h\""), ("Include/PC/pyconfig.h", "<PC/pyconfig.h>")] {
        let added = |files: &mut Vec<(String, String)>| {
            files.push((path.to_owned(), windows.to_owned()));
            files[1].1 = format!("#include {include}\n{}", files[1].1);
        };
        let facts = read(added).unwrap();
        assert_eq!(
            (facts.types, facts.structs, facts.macros),
            (before.types.clone(), before.structs.clone(), before.macros.clone())
        );
    }
}
