//! Whether all files of a source tree are of the release that its `patchlevel.h` names.

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, Severity};
use crate::facts::Function;
use crate::source::{SourceFile, Tree};

/// How many names a finding shows.
const SHOWN: usize = 4;
/// The files that name the instructions: made of the same table.
const INSTRUCTIONS: [(&str, &str); 2] =
    [("Include/opcode_ids.h", "#define "), ("Python/opcode_targets.h", "&&TARGET_")];

/// What in the tree disagrees with the rest of it; nothing in a release's own tree.
pub(super) fn findings(tree: &Tree, functions: &[Function]) -> Vec<Diagnostic> {
    let found = magic_number(tree).into_iter().chain(instructions(tree));
    found.chain(undeclared(tree, functions)).collect()
}

fn finding(tree: &Tree, file: &str, line: u32, message: String) -> Diagnostic {
    let help = format!(
        "Include/patchlevel.h says {}: a tree of several releases gives the facts of none of them; take all files of one",
        tree.release()
    );
    let (file, column) = (file.to_owned(), u32::from(line > 0));
    Diagnostic { severity: Severity::Warning, code: "source/mixed", file, line, column, message, help }
}

/// Each release has fifty numbers for its bytecode, from 3450 on for 3.11.
fn magic_number(tree: &Tree) -> Option<Diagnostic> {
    let file = tree.locate("Include/internal/pycore_magic_number.h")?;
    let (index, number) = file.text().lines().enumerate().find_map(|(index, line)| {
        let number: u32 = line.strip_prefix("#define PYC_MAGIC_NUMBER ")?.trim().parse().ok()?;
        Some((index, number))
    })?;
    let minor = number.checked_sub(2900)? / 50;
    // Between two releases the number is still the last one's.
    let is_its_own = minor == tree.release().minor || tree.release().level == "a0";
    let line = u32::try_from(index + 1).unwrap_or(0);
    (!is_its_own).then(|| finding(tree, file.path(), line, format!("{number} is bytecode of CPython 3.{minor}")))
}

/// Instructions that one of the two files alone names.
fn instructions(tree: &Tree) -> Option<Diagnostic> {
    let [numbers, targets] = INSTRUCTIONS.map(|(path, start)| tree.file(path).map(|file| (path, named(file, start))));
    let ((_, numbers), (path, targets)) = numbers.zip(targets)?;
    let lacking: Vec<&str> = targets.difference(&numbers).copied().collect();
    let message = format!("{}, which Include/opcode_ids.h does not have", listed("has", &lacking));
    (!lacking.is_empty()).then(|| finding(tree, path, 0, message))
}

/// The words behind a start.
fn named<'t>(file: &'t SourceFile, start: &str) -> BTreeSet<&'t str> {
    let lines = file.text().lines().map(str::trim);
    lines.filter_map(|line| line.strip_prefix(start)?.split([' ', ',', '\t']).next()).collect()
}

/// Functions of the C API that a file calls, and that no file of the tree declares or defines, in one finding for a file.
fn undeclared(tree: &Tree, functions: &[Function]) -> Vec<Diagnostic> {
    let mut known: BTreeSet<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    for file in tree.files().iter() {
        if file.path().ends_with(".c") {
            // Definitions of other builds, and declarations, begin at the margin.
            let heads = file.text().lines().filter(|line| !line.starts_with([' ', '\t', '#']));
            known.extend(heads.filter_map(|line| words(line.split_once('(')?.0).last()));
            let macros = file.text().lines().filter_map(|line| line.trim_start().strip_prefix('#'));
            known.extend(macros.filter_map(|line| words(line.trim_start().strip_prefix("define")?).next()));
        } else {
            known.extend(words(file.text()).filter(|word| is_api(word)));
        }
    }
    let mut found = Vec::new();
    for directory in ["Objects", "Python"] {
        for path in tree.units(directory) {
            let of_file = functions.iter().filter(|function| function.file == path);
            let calls: BTreeSet<&str> = of_file.flat_map(|function| &function.calls).map(String::as_str).collect();
            let lacking: Vec<&str> = calls.into_iter().filter(|name| is_api(name) && !known.contains(name)).collect();
            if !lacking.is_empty() {
                let message = format!("{}, which no file of the tree declares", listed("calls", &lacking));
                found.push(finding(tree, path, 0, message));
            }
        }
    }
    found
}

fn is_api(word: &str) -> bool {
    word.strip_prefix('_').unwrap_or(word).starts_with("Py")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// `calls A, B and 3 more`.
fn listed(verb: &str, names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => format!("{verb} {shown}"),
        Some(more) => format!("{verb} {shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCHLEVEL: &str = "#define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_FINAL\n#define PY_MAJOR_VERSION 3\n\
        #define PY_MINOR_VERSION 14\n#define PY_MICRO_VERSION 7\n#define PY_RELEASE_SERIAL 0\n";

    fn tree(files: &[(&str, &str)]) -> Tree {
        let files = [("Include/patchlevel.h", PATCHLEVEL)].iter().chain(files);
        Tree::from_files(files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))).unwrap()
    }

    const MAGIC: &str = "Include/internal/pycore_magic_number.h";

    #[test]
    fn bytecode_of_another_release_is_told_with_its_line() {
        let found = magic_number(&tree(&[(MAGIC, "\n#define PYC_MAGIC_NUMBER 3666\n")])).unwrap();
        assert_eq!((found.file.as_str(), found.line), (MAGIC, 2));
        assert_eq!(found.message, "3666 is bytecode of CPython 3.15");
        assert!(found.help.contains("3.14.7"), "{}", found.help);
        assert!(magic_number(&tree(&[(MAGIC, "#define PYC_MAGIC_NUMBER 3627\n")])).is_none());
    }

    #[test]
    fn instructions_that_have_no_number_are_told() {
        let numbers = ("Include/opcode_ids.h", "#define CACHE 0\n#define NOP 1\n");
        let targets = |text| tree(&[numbers, ("Python/opcode_targets.h", text)]);
        let found = instructions(&targets("    &&TARGET_CACHE,\n    &&TARGET_GO_FAR,\n")).unwrap();
        assert_eq!(found.message, "has `GO_FAR`, which Include/opcode_ids.h does not have");
        assert!(instructions(&targets("    &&TARGET_CACHE,\n    &&_unknown_opcode,\n")).is_none());
    }

    #[test]
    fn calls_of_what_no_file_declares_are_told() {
        let unit = "#define PyHere_Is(x) x\nint PyHere_Too(int x) { return x; }\n\
            int f(int x) { return PyThere_New(x) + PyHere_Is(x) + PyHere_Too(x) + PyApi_Old(x) + other(x); }\n";
        let files = [("Objects/thing.c", unit), ("Include/api.h", "int PyApi_Old(int);\n")];
        let tree = tree(&files);
        let function = |name: &str, calls: &[&str]| Function {
            name: name.to_owned(),
            file: "Objects/thing.c".to_owned(),
            calls: calls.iter().map(|call| (*call).to_owned()).collect(),
            ..Function::default()
        };
        let calls = ["PyThere_New", "PyHere_Is", "PyHere_Too", "PyApi_Old", "other"];
        let functions = vec![function("PyHere_Too", &[]), function("f", &calls)];
        let found = undeclared(&tree, &functions);
        let told: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(told, ["calls `PyThere_New`, which no file of the tree declares"]);
        assert_eq!(found[0].file, "Objects/thing.c");
    }
}
