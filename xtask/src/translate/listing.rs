//! Finds one function in a C file, and its translation in the generated module.
use crate::place;
use anyhow::{Result, anyhow};
use slotgen::source::Tree;
use slotgen::translate::Translation;

/// The lines of a C function: from its return type to the brace in the first column; or the macro that makes it.
pub fn c(tree: &Tree, unit: &str, name: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = tree.file(unit)?.text().lines().collect();
    let start = lines.iter().position(|line| defines(line, name));
    let Some(at) = start else { return made_by_macro(&lines, name) };
    let end = at + lines[at..].iter().position(|line| line.starts_with('}'))?;
    let before = lines[..at].iter().rev().take_while(|line| is_head(line)).count();
    Some(lines[at - before..=end].iter().map(|line| (*line).to_owned()).collect())
}

/// A line that begins a definition in CPython's layout: the name in the first column, or after its type.
fn defines(line: &str, name: &str) -> bool {
    let Some(at) = line.find(&format!("{name}(")) else { return false };
    let alone = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let indented = line.starts_with([' ', '\t', '#']);
    alone && !indented && !line.trim_end().ends_with(';')
}

/// A line that may stand between the previous definition and the name: type, storage class.
fn is_head(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.ends_with(['}', ';', '/', ')', '\\']) && !line.starts_with(['#', '/', '*'])
}

/// `MACRO(name, …)` in the first column, with the macro's definition where the file has it.
fn made_by_macro(lines: &[&str], name: &str) -> Option<Vec<String>> {
    let mentions = |line: &&str| {
        let inner = line.split_once('(').map(|(_, inner)| inner);
        inner.is_some_and(|inner| inner.split([',', ')']).any(|word| word.trim() == name))
            && !line.starts_with([' ', '#'])
    };
    let used = lines.iter().find(|line| mentions(line))?;
    let made_by = used.split('(').next()?;
    let mut text = vec![(*used).to_owned(), String::new()];
    let definition = lines.iter().position(|line| line.starts_with(&format!("#define {made_by}(")));
    if let Some(at) = definition {
        let more = lines[at..].iter().take_while(|line| line.ends_with('\\')).count();
        text.extend(lines[at..=at + more].iter().map(|line| (*line).to_owned()));
    }
    Some(text)
}

/// The lines of the generated function.
pub fn rust(series: &str, unit: &str, name: &str) -> Result<Vec<String>> {
    let stem = unit.rsplit('/').next().and_then(|file| file.strip_suffix(".c")).unwrap_or(unit);
    let candidates = [format!("{stem}.rs"), format!("{stem}_.rs")];
    for path in place::generated(series)? {
        if candidates.iter().any(|file| path.ends_with(file))
            && let Some(lines) = cut(&std::fs::read_to_string(&path)?, name)
        {
            return Ok(lines);
        }
    }
    Err(anyhow!("generated/ has no `{name}` of {unit}: run `cargo xtask regen {series}`"))
}

/// The lines of a function as `regen` would write it.
pub fn fresh(translation: &Translation, unit: &str, name: &str) -> Result<Vec<String>> {
    let (rendered, _) = slotgen::translate::rendered(translation).map_err(|reason| anyhow!(reason))?;
    let functions = rendered.units.iter().filter(|one| one.file == unit).flat_map(|one| &one.functions);
    let found = functions.into_iter().find(|function| function.name == name);
    let found = found.ok_or_else(|| anyhow!("`{name}` of {unit} has no Rust"))?;
    Ok(found.text.lines().map(str::to_owned).collect())
}

/// One function of a Rust file in which every function ends with a brace in the first column.
fn cut(text: &str, name: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("pub fn {name}<")))?;
    let end = at + lines[at..].iter().position(|line| *line == "}")?;
    let before = lines[..at].iter().rev().take_while(|line| line.starts_with("///") || line.starts_with("#[")).count();
    Some(lines[at - before..=end].iter().map(|line| (*line).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_cpythons_layout() {
        let file = "int x;\n\nstatic int\nf(int a)\n{\n    return g(a);\n}\n\nMAKE(h, 1)\n#define MAKE(N, V) \\\n  int N(void)\n";
        let lines: Vec<&str> = file.lines().collect();
        assert!(defines(lines[3], "f") && !defines(lines[5], "g"));
        assert!(is_head(lines[2]) && !is_head(lines[0]));
        assert_eq!(made_by_macro(&lines, "h").unwrap().len(), 4);
    }

    #[test]
    fn a_generated_function_is_cut_with_its_comment() {
        let text = "/// A.\npub fn a<C>() {\n    x\n}\n/// B.\npub fn b<C>() {\n}\n";
        assert_eq!(cut(text, "b").unwrap(), ["/// B.", "pub fn b<C>() {", "}"]);
    }
}
