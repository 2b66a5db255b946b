//! A tree that no release is: the newest pinned one, changed as forks and coming releases change it, with the modules of an older one.
//! What is understood of it compiles; the rest is told.
use super::tally::Tally;
use crate::obtain::sources;
use crate::prove::compiles;
use anyhow::{Context, Result, bail, ensure};
use slotgen::source::Tree;
use std::collections::BTreeMap;

const NAME: &str = "a changed tree compiles";

/// Folder or file, what stands there, and what stands there instead.
const CHANGES: &[(&str, &str, &str)] = &[
    // A slot with another name, a slot and a field more, an instruction more.
    ("", "nb_or", "nb_either"),
    (
        "Include/cpython/object.h",
        "    binaryfunc nb_matrix_multiply;",
        "    binaryfunc nb_pipe;\n    binaryfunc nb_matrix_multiply;",
    ),
    ("Include/cpython/object.h", "    newfunc tp_new;", "    newfunc tp_fresh;\n    newfunc tp_new;"),
    ("Include/opcode_ids.h", "#define NOP ", "#define FORKED 235\n#define NOP "),
    // Macros that no rule knows: a statement, a part of a declaration.
    (
        "Include/Python.h",
        "#include \"object.h\"",
        "#include \"object.h\"\n#define WHERE(x) if (x)\n#define DECLARED(name) PyTypeObject name\n",
    ),
    ("Objects/rangeobject.c", "if (", "WHERE ("),
    ("Objects/floatobject.c", "PyTypeObject PyFloat_Type", "DECLARED(PyFloat_Type)"),
    // Functions that give something else than their callers take, and the other way round.
    ("Objects/abstract.c", "static int\n", "static double\n"),
    ("Objects/dictobject.c", "Py_ssize_t", "int"),
    ("Objects/listobject.c", "return NULL;", "return -1;"),
    ("Objects/longobject.c", "static PyObject *\n", "static void\n"),
    ("Objects/setobject.c", "PyObject *", "PyTypeObject *"),
    ("Objects/tupleobject.c", "Py_ssize_t", "double"),
    ("Objects/unicodeobject.c", "return -1;", "return;"),
    ("Objects/bytesobject.c", "char *", "struct unknown_here *"),
];

/// Files that are not there.
const GONE: &[&str] = &["Objects/complexobject.c"];

/// Files that only this tree has.
const ADDED: &[(&str, &str)] = &[
    (
        "Objects/forkobject.c",
        "#include \"Python.h\"\n\
    static PyObject *fork_or(PyObject *a, PyObject *b) { if (a == b) return Py_NewRef(a); return PyNumber_Add(a, b); }\n\
    static Py_ssize_t fork_len(PyObject *a) { return PyObject_Size(a) + nowhere(a); }\n\
    static PyNumberMethods fork_number = { .nb_either = fork_or, .nb_pipe = fork_or };\n\
    static PySequenceMethods fork_sequence = { .sq_length = fork_len };\n\
    PyTypeObject PyFork_Type = { PyVarObject_HEAD_INIT(&PyType_Type, 0) \"fork\", sizeof(PyObject),\n\
    .tp_as_number = &fork_number, .tp_as_sequence = &fork_sequence };\n",
    ),
    ("Include/pyconfig.h", "#define MS_WINDOWS 1\n#define SIZEOF_LONG 4\n#define SIZEOF_VOID_P 4\n"),
];

/// Generates the Rust of the tree, and compiles it; without sources it is skipped.
pub fn run(newest: &str, oldest: &str) -> Result<Tally> {
    let mut tally = Tally::default();
    match (sources::obtain(newest, None), sources::obtain(oldest, None)) {
        (Ok(newest), Ok(oldest)) => {
            let tree = changed(&Tree::open(&newest.path)?, &Tree::open(&oldest.path)?)?;
            match proved(tree) {
                Ok(()) => tally.passed += 1,
                Err(error) => tally.failed.push(format!("{NAME}: {error:#}")),
            }
        }
        (Err(error), _) | (_, Err(error)) => tally.skip(NAME.to_owned(), format!("{:#}", error.root_cause())),
    }
    Ok(tally)
}

fn proved(tree: Tree) -> Result<()> {
    let given = compiles::prove(tree, "a changed tree")?;
    given.compiled?;
    for word in ["FORKED", "Include/pyconfig.h"] {
        ensure!(
            given.told.iter().any(|one| one.contains(word)),
            "nothing is said of {word}:\n{}",
            given.told.join("\n")
        );
    }
    ensure!(given.gaps > 0, "the tree has no gaps");
    Ok(())
}

fn changed(newest: &Tree, oldest: &Tree) -> Result<Tree> {
    let text = |tree: &Tree, of_modules: bool| -> Vec<(String, String)> {
        let files = tree.files().iter().filter(|file| file.path().starts_with("Modules/") == of_modules);
        files.map(|file| (file.path().to_owned(), file.text().to_owned())).collect()
    };
    let mut files: BTreeMap<String, String> = text(newest, false).into_iter().chain(text(oldest, true)).collect();
    for (place, from, to) in CHANGES {
        let mut found = false;
        for text in files.iter_mut().filter(|(path, _)| path.starts_with(place)).map(|(_, text)| text) {
            found |= text.contains(from);
            *text = text.replace(from, to);
        }
        ensure!(found, "`{from}` does not stand in `{place}` of the sources any more: change the row");
    }
    for path in GONE {
        if files.remove(*path).is_none() {
            bail!("the sources have no {path} any more: change the row");
        }
    }
    files.extend(ADDED.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    Tree::from_files(files).context("the changed tree")
}
