//! Whatever is put in a tree, the preprocessor answers with text or diagnostics: no panic, no hang, no unbounded memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use slotgen::diagnostics::Diagnostics;
use slotgen::extract::extract;
use slotgen::preprocess::{Configuration, Unit, run};
use slotgen::source::{SourceFile, Tree};
use std::time::{Duration, Instant};

const PATCHLEVEL: &str = "#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 13\n#define PY_MICRO_VERSION 5\n\
    #define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_RELEASE_SERIAL 0\n";

/// Preprocesses one file, and with it a header that it may include.
fn preprocess(text: &str, header: &str) -> Result<Unit, Diagnostics> {
    let files = [("Include/patchlevel.h", PATCHLEVEL), ("Objects/x.c", text), ("Objects/h.h", header)];
    let tree = Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).unwrap();
    let configuration = Configuration::named("release", tree.release()).unwrap();
    run(&tree, "Objects/x.c", &configuration)
}

/// The codes of the findings, which must be there within the time.
fn codes(text: &str, header: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let errors = preprocess(text, header).map(|unit| unit.text.len()).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(errors.0.len() <= 200 && errors.iter().all(|d| d.line > 0 || d.file.is_empty()), "{errors}");
    let mut codes: Vec<_> = errors.iter().map(|d| d.code).collect();
    codes.dedup();
    codes
}

/// What extraction finds wrong with one file and one header.
fn facts(text: &str, header: &str) -> Diagnostics {
    let files = [("Include/patchlevel.h", PATCHLEVEL), ("Include/Python.h", header), ("Objects/x.c", text)];
    let tree = Tree::from_files(files.map(|(path, text)| (path.to_owned(), text.to_owned()))).unwrap();
    let configuration = Configuration::named("release", tree.release()).unwrap();
    let mut diagnostics = Diagnostics::default();
    let _ = extract(&tree, &configuration, &mut diagnostics);
    diagnostics
}

/// Beginnings of what the extractor reads.
const HEADS: &str =
    "static PyMethodDef m[] = {{\"f\", f, METH_O, 0}, {0}};\nPyTypeObject T = {.tp_name = \"t\", .tp_methods = m};\n";

/// Every place of the text leads to a file and a line that exist.
fn check_map(unit: &Unit, files: &[(&str, &str)]) {
    for (at, _) in unit.text.trim_end().char_indices().step_by(7) {
        let origin = unit.map.origin(at);
        let text = files.iter().find(|(path, _)| *path == origin.file).map(|(_, text)| *text);
        let lines = text.expect("a file of the tree").split('\n').count();
        assert!((1..=lines).contains(&(origin.line as usize)), "{origin:?}");
    }
}

/// Pieces that a preprocessor cares about, in any order.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "#define ",
        "#undef ",
        "#if ",
        "#ifdef ",
        "#ifndef ",
        "#elif ",
        "#else\n",
        "#endif\n",
        "#include \"h.h\"\n",
        "#include ",
        "A",
        "B",
        "f(",
        "f",
        "(x, y)",
        "(",
        ")",
        ",",
        "##",
        "#",
        "x",
        "y",
        "...",
        "__VA_ARGS__",
        "\\\n",
        "\n",
        "\n",
        " ",
        "/*",
        "*/",
        "//",
        "\"",
        "'",
        "0x1",
        "1",
        "==",
        "&&",
        "defined",
        "defined(",
        "?",
        ":",
        "{",
        "}",
        "=",
        ";",
        "\u{e9}",
        "\0",
        "va_arg(",
        "Py_BEGIN_ALLOW_THREADS",
        "PyAPI_FUNC(int)",
        "-",
        "/",
        "%",
        "~",
    ]);
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_in_any_order(text in soup(), header in soup()) {
        if let Ok(unit) = preprocess(&text, &header) {
            check_map(&unit, &[("Objects/x.c", &text), ("Objects/h.h", &header)]);
        }
    }

    #[test]
    fn facts_of_pieces_in_any_order(text in soup(), header in soup()) {
        let _ = facts(&format!("{HEADS}{text}"), &header);
    }

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let file = SourceFile::new("Objects/x.c".to_owned(), bytes);
        let _ = preprocess(file.text(), "");
    }

    #[test]
    fn truncated_anywhere(at in 0usize..SAMPLE.len()) {
        let mut end = at;
        while !SAMPLE.is_char_boundary(end) {
            end -= 1;
        }
        let _ = preprocess(&SAMPLE[..end], "");
    }
}

/// Some of everything.
const SAMPLE: &str = "#define SLOT(NAME, DOC, ...) {#NAME, slot_##NAME, DOC, ##__VA_ARGS__},\n/* a comment */\n#if defined(X) \\\n    && (1 + 2) > 2\n\
    static int a = SLOT(nb_or, \"it's \\\" é\", 1);\n#elif X\n#else\n#include \"h.h\"\nSLOT(\n#ifdef Y\n1, 2\n#endif\n3, '\\'')\n#endif\n// the end\n";

#[test]
fn unbalanced_and_deep_conditions() {
    assert_eq!(codes(&"#if 1\n".repeat(200_000), ""), ["preprocess/unbalanced-if"]);
    assert_eq!(codes(&"#endif\n".repeat(200_000), ""), ["preprocess/unbalanced-if"]);
    assert_eq!(codes(&format!("#if {}\n#endif\n", "(".repeat(200_000)), ""), ["preprocess/bad-condition"]);
}

#[test]
fn inclusion_without_end() {
    assert_eq!(codes("#include \"h.h\"\n", "#include \"h.h\"\n#include \"h.h\"\n"), ["preprocess/include-too-deep"]);
}

#[test]
fn macros_that_explode() {
    let mut doubling = String::from("#define m0 x x\n");
    for i in 1..60 {
        doubling.push_str(&format!("#define m{i} m{} m{0}\n", i - 1));
    }
    doubling.push_str("m59\n");
    assert_eq!(codes(&doubling, ""), ["preprocess/expansion-too-large"]);

    let pasting = "#define P2(a, b) a##b\n#define P(a, b) P2(a, b)\n";
    let mut growing = String::from(pasting);
    growing.push_str("#define w0 abcdefghijklmnop\n");
    for i in 1..60 {
        growing.push_str(&format!("#define w{i} P(w{0}, w{0})\n", i - 1));
    }
    growing.push_str("w59\n");
    let found = codes(&growing, "");
    assert!(
        found.contains(&"preprocess/expansion-too-large") || found.contains(&"preprocess/nesting-too-deep"),
        "{found:?}"
    );
}

#[test]
fn a_macro_of_ten_megabytes() {
    let body = "x y + ".repeat(10 << 18);
    let text = format!("#define BIG {body}\n{}\n", "BIG ".repeat(100));
    assert!(text.len() > 10 << 20);
    assert_eq!(codes(&text, ""), ["preprocess/expansion-too-large"]);
    let long = format!("#define LONG \"{}\"\n{}\n", "y".repeat(10 << 20), "LONG ".repeat(100_000));
    assert_eq!(codes(&long, ""), ["preprocess/expansion-too-large"]);
}

#[test]
fn deep_nesting() {
    let calls = format!("#define f(x) x\n#define g(x) (x)\n{}1{}\n", "f(g(".repeat(20_000), "))".repeat(20_000));
    assert_eq!(codes(&calls, ""), ["preprocess/nesting-too-deep"]);
    let open = format!("#define f(x) x\n{}\n", "f(".repeat(100_000));
    assert_eq!(codes(&open, ""), ["preprocess/unfinished-call"]);
    let mut chain = String::from("#define c0 1\n");
    for i in 1..5000 {
        chain.push_str(&format!("#define c{i} c{}\n", i - 1));
    }
    chain.push_str("c4999\n");
    assert_eq!(codes(&chain, ""), ["preprocess/nesting-too-deep"]);
    let unfinished = format!("#define f(x) x\nf(\n{}", "#define A\n x\n#undef A\n".repeat(50_000));
    assert_eq!(codes(&unfinished, ""), ["preprocess/unfinished-call"]);
}

#[test]
fn extraction_of_deep_nesting_ends() {
    let deep = |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(4_000), close.repeat(4_000));
    let start = Instant::now();
    for nested in [
        format!("PyTypeObject T = {};\n", deep("{", "0", "}")),
        format!("PyTypeObject T = {{.tp_repr = {}}};\n", deep("(", "f", ")")),
        format!("PyTypeObject T = {{.tp_repr = {}}};\n", deep("(reprfunc)", "f", "")),
        format!("int f(void) {{ T.tp_base = {}; }}\n", deep("&", "x", "")),
        format!("int {};\n", deep("(*", "x", ")(void)")),
        format!("int {}x;\n", "*".repeat(4_000)),
        format!("{}\n", deep("struct s { ", "int x;", "};")),
        format!("int f(void) {{ {} }}\n", deep("{ T.tp_name = ", "0;", "}")),
        format!("typedef int {};\n", deep("t[", "1", "]")),
    ] {
        let _ = facts(&nested, "");
        let _ = facts("", &nested);
    }
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

#[test]
fn bytes_that_are_no_utf8_are_latin_1() {
    let file = SourceFile::new("Objects/x.c".to_owned(), b"char *s = \"\xe9\";\n".to_vec());
    assert_eq!(file.text(), "char *s = \"\u{e9}\";\n");
}
