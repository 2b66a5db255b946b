//! The functions of modules: `PyModuleDef` and its `PyMethodDef` table, read from preprocessed text.

use std::collections::BTreeMap;

use crate::facts::ModuleFunction;

/// The functions of the modules that a text defines.
pub fn module_functions(text: &str, path: &str) -> Vec<ModuleFunction> {
    let tables: BTreeMap<&str, &str> = initialisers(text, "PyMethodDef").into_iter().collect();
    let mut found = Vec::new();
    for (_, body) in initialisers(text, "PyModuleDef") {
        let Some(module) = body.split('"').nth(1) else { continue };
        let table = words(body).find_map(|word| tables.get(word));
        for row in table.map_or(Vec::new(), |table| rows(table)) {
            let (Some(name), Some(function)) = (row.split('"').nth(1), function(row)) else { continue };
            let flags = words(row).filter(|word| word.starts_with("METH_")).map(str::to_owned).collect();
            let (module, name, function) = (module.to_owned(), name.to_owned(), function.to_owned());
            found.push(ModuleFunction { module, name, function, file: path.to_owned(), flags });
        }
    }
    found
}

/// Name and braces of each `TYPE NAME[] = { … }`.
fn initialisers<'t>(text: &'t str, ty: &str) -> Vec<(&'t str, &'t str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(ty) {
        let rest = &text[at + ty.len()..];
        let Some(equals) = rest.find(['=', ';', '(', '*']).filter(|at| rest[*at..].starts_with('=')) else { continue };
        let Some(name) = words(&rest[..equals]).next() else { continue };
        let Some(open) = rest[equals..].find('{').map(|open| equals + open) else { continue };
        if let Some(close) = closing(&rest[open..]) {
            found.push((name, &rest[open + 1..open + close]));
        }
    }
    found
}

/// Where the brace closes that the text begins with.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn rows(table: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), table);
    while let Some(open) = rest.find('{') {
        let Some(close) = closing(&rest[open..]) else { break };
        found.push(&rest[open..=open + close]);
        rest = &rest[open + close + 1..];
    }
    found
}

/// The last word of a row's second field: casts come before it.
fn function(row: &str) -> Option<&str> {
    let after_name = row.splitn(3, '"').nth(2)?;
    let field = after_name.trim_start().trim_start_matches(',');
    let (mut depth, mut end) = (0i32, field.len());
    for (at, byte) in field.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    words(&field[..end]).last().filter(|word| *word != "NULL")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_a_module() {
        let text = r#"
            static PyMethodDef functions[] = {
                {"gcd", ((PyCFunction)(void(*)(void))(math_gcd)), METH_FASTCALL, "gcd({"},
                {"pi", math_pi, METH_NOARGS|METH_STATIC},
                {NULL, NULL}
            };
            static struct PyModuleDef mathmodule = { PyModuleDef_HEAD_INIT, .m_name = "math", .m_methods = functions, };
        "#;
        let found = module_functions(text, "m.c");
        let short: Vec<_> = found.iter().map(|row| (row.name.as_str(), row.function.as_str())).collect();
        assert_eq!(short, [("gcd", "math_gcd"), ("pi", "math_pi")]);
        assert_eq!(found[1].flags, ["METH_NOARGS", "METH_STATIC"]);
        assert!(module_functions("PyModuleDef x = {\"", "m.c").is_empty());
    }
}
