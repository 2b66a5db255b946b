//! Behaviour of the preprocessor on small C of its own.

use super::*;
use crate::source::Tree;

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 13\n#define PY_MICRO_VERSION 5\n\
    #define PY_RELEASE_LEVEL_FINAL 0xF\n#define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n\
    #define PY_VERSION_HEX ((PY_MAJOR_VERSION << 24) | (PY_MINOR_VERSION << 16))\n";

fn tree(files: &[(&str, &str)]) -> Tree {
    let base = [("Include/patchlevel.h", PATCHLEVEL)];
    Tree::from_files(base.iter().chain(files).map(|&(path, text)| (path.to_owned(), text.to_owned()))).unwrap()
}

fn release(tree: &Tree) -> Configuration {
    Configuration::named("release", tree.release()).unwrap()
}

fn unit(files: &[(&str, &str)]) -> Unit {
    let tree = tree(files);
    run(&tree, files[0].0, &release(&tree)).unwrap()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text(source: &str) -> String {
    words(&unit(&[("Objects/x.c", source)]).text)
}

#[test]
fn local_macros_expand_and_api_macros_stay() {
    let api = "#include \"patchlevel.h\"\n#define Py_TYPE(o) ((o)->ob_type)\n#define PyObject_HEAD PyObject ob_base;\n";
    let c = "#include \"Python.h\"\n#define SLOT(NAME, OP) static int slot_##NAME(void) { return Py_TYPE(#OP); }\nSLOT(nb_or, \"|\")\nstruct s { PyObject_HEAD };\n";
    let unit = unit(&[("Objects/x.c", c), ("Include/Python.h", api)]);
    assert_eq!(
        words(&unit.text),
        r#"static int slot_nb_or(void) { return Py_TYPE("\"|\""); } struct s { PyObject ob_base; };"#
    );
}

#[test]
fn conditions_know_the_release_and_the_configuration() {
    let c = "#include \"Include/patchlevel.h\"\n#if PY_VERSION_HEX >= 0x030d0000 && defined(NDEBUG)\nint a;\n#elif 1\nint b;\n#else\nint c;\n#endif\n#ifdef Py_DEBUG\nint d;\n#endif\n";
    let files = [("Objects/x.c", c)];
    assert_eq!(words(&unit(&files).text), "int a;");
    let tree = tree(&files);
    let debug = Configuration::named("debug", tree.release()).unwrap();
    assert_eq!(words(&run(&tree, "Objects/x.c", &debug).unwrap().text), "int b; int d;");
}

#[test]
fn the_map_leads_back_through_macros() {
    let c = "#define TWICE(NAME) int NAME##_one, plain, NAME;\n\n  TWICE(first)\nint last;\n";
    let unit = unit(&[("Objects/x.c", c)]);
    let place = |needle: &str| {
        let origin = unit.map.origin(unit.text.find(needle).unwrap());
        (origin.line, origin.column, origin.through_macro.map(str::to_owned))
    };
    assert_eq!(place("plain"), (3, 3, Some("TWICE".to_owned())));
    assert_eq!(place("first_one"), (3, 9, Some("TWICE".to_owned())));
    assert_eq!(place("first;"), (3, 9, Some("TWICE".to_owned())));
    assert_eq!(place("last"), (4, 5, None));
}

#[test]
fn paste_stringize_and_variadic() {
    assert_eq!(text("#define P(a,b) a##b\nP(x,) P(,y) P(a,1)"), "x y a1");
    assert_eq!(text("#define S(a) #a\nS( f( \"x\\n\"  ,y) )"), r#""f( \"x\\n\" ,y)""#);
}

#[test]
fn gnu_comma_and_named_rest() {
    assert_eq!(text("#define L(f, ...) p(f, ##__VA_ARGS__)\nL(1) L(1,2,3)"), "p(1) p(1,2,3)");
    assert_eq!(text("#define L(f, r...) p(f, r)\nL(1,2,3)"), "p(1, 2,3)");
}

#[test]
fn recursion_is_painted() {
    assert_eq!(text("#define f(x) x + f(x)\n#define a b\n#define b a\nf(f(1)) a"), "1 + f(1) + f(1 + f(1)) a");
}

#[test]
fn calls_go_on_over_lines_and_directives() {
    assert_eq!(text("#define f(x, y) x-y\nf(1,\n#ifdef NO\n3\n#else\n2\n#endif\n)"), "1- 2");
    assert_eq!(text("#define f(x) <x>\n#define g f\ng (1) f"), "<1> f");
}

#[test]
fn templates_are_inlined_each_time() {
    let template = "int NAME(x);\n#undef NAME\n";
    let c = "#define NAME(x) a_##x\n#include \"lib/t.h\"\n#define NAME(x) b_##x\n#include \"lib/t.h\"\n";
    let unit = unit(&[("Objects/x.c", c), ("Objects/lib/t.h", template)]);
    assert_eq!(words(&unit.text), "int a_x; int b_x;");
    assert_eq!(unit.map.origin(4).file, "Objects/lib/t.h");
}

#[test]
fn a_header_is_a_unit_where_python_h_includes_it() {
    let python = "#define Py_PYTHON_H\n#include \"object.h\"\n";
    let object = "#ifndef Py_PYTHON_H\n#error alone\n#endif\n#ifndef Py_OBJECT_H\n#define Py_OBJECT_H\ntypedef struct { PyObject *a; } T;\n#endif\n";
    let unit = unit(&[("Include/object.h", object), ("Include/Python.h", python)]);
    assert_eq!(words(&unit.text), "typedef struct { PyObject *a; } T;");
    assert!(unit.warnings.is_empty(), "{}", unit.warnings);
}

#[test]
fn what_a_unit_defines_before_python_h_counts() {
    let python = "#ifdef NEEDS\n#define LOCAL 1\n#endif\n#define OTHER 1\n";
    let c = "#define NEEDS\n#include \"Python.h\"\n#if LOCAL && OTHER\nyes\n#endif\n";
    assert_eq!(words(&unit(&[("Objects/x.c", c), ("Include/Python.h", python)]).text), "yes");
}

#[test]
fn errors_have_places() {
    let tree = tree(&[("Objects/x.c", "int a;\n#if 1\n#if (\n#endif\n#endif\n#else\n#if 1\n")]);
    let errors = run(&tree, "Objects/x.c", &release(&tree)).unwrap_err();
    let places: Vec<_> = errors.iter().map(|d| (d.code, d.line)).collect();
    assert_eq!(
        places,
        [("preprocess/bad-condition", 3), ("preprocess/unbalanced-if", 6), ("preprocess/unbalanced-if", 7)]
    );
}

#[test]
fn a_file_that_moved_is_read_where_it_is() {
    let tree = tree(&[("Objects/list/x.c", "int a;\n"), ("Objects/y.c", ""), ("Modules/y.c", "")]);
    let moved = run(&tree, "Objects/x.c", &release(&tree)).unwrap();
    assert_eq!((moved.path.as_str(), words(&moved.text).as_str()), ("Objects/list/x.c", "int a;"));
    let missing = |path| run(&tree, path, &release(&tree)).unwrap_err().0.remove(0);
    assert_eq!(missing("Python/y.c").code, "preprocess/no-such-file");
    assert!(missing("Python/y.c").help.ends_with("it may have moved to one of Modules/y.c, Objects/y.c"));
    assert!(!missing("Python/z.c").help.contains("moved"));
}
