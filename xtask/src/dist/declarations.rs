//! What a header declares, name by name, so that two headers can be compared.
use std::collections::BTreeMap;

/// Declarations by name: functions, types, each constant of an enumeration, each macro with a value.
pub type Declarations = BTreeMap<String, String>;

/// Reads a header that cbindgen wrote.
pub fn read(header: &str) -> Declarations {
    let mut found = Declarations::new();
    let mut plain = String::new();
    for line in without_comments(header).lines() {
        match line.trim().strip_prefix("#define ") {
            Some(define) => {
                if let Some((name, value)) = define.split_once(' ') {
                    found.insert(name.to_owned(), value.trim().to_owned());
                }
            }
            None if line.trim_start().starts_with(['#', '}']) && line.contains("extern \"C\"") => {}
            None if line.trim_start().starts_with('#') => {}
            None => {
                plain.push_str(line);
                plain.push('\n');
            }
        }
    }
    let plain = plain.replace("extern \"C\" {", "");
    for declaration in declarations(&plain) {
        add(&mut found, &declaration);
    }
    found
}

fn without_comments(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// The declarations, each on one line.
fn declarations(text: &str) -> Vec<String> {
    let (mut found, mut one, mut depth) = (Vec::new(), String::new(), 0_i32);
    for character in text.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ';' if depth <= 0 => {
                found.push(one.split_whitespace().collect::<Vec<_>>().join(" "));
                one.clear();
                depth = 0;
                continue;
            }
            _ => {}
        }
        one.push(character);
    }
    found
}

fn add(found: &mut Declarations, declaration: &str) {
    let declaration = declaration.trim_start_matches(['}', ' ']);
    let is_enum = declaration.starts_with("enum ") || declaration.starts_with("typedef enum ");
    if let (true, Some((_, rest))) = (is_enum, declaration.split_once('{')) {
        let mut last = -1;
        for constant in rest.split('}').next().unwrap_or_default().split(',') {
            let (name, value) = constant.split_once('=').unwrap_or((constant, ""));
            last = value.trim().parse().unwrap_or(last + 1);
            if !name.trim().is_empty() {
                found.insert(name.trim().to_owned(), last.to_string());
            }
        }
        return;
    }
    let head = declaration.split(['(', '{']).next().unwrap_or_default();
    let is_struct = declaration.contains('{');
    // The name of a function stands in front of its parameters, that of a function pointer in parentheses, that of a type at the end.
    let name = match declaration.split_once("(*") {
        Some((_, rest)) if declaration.starts_with("typedef") => rest.split(')').next(),
        _ if is_struct => {
            declaration.rsplit('}').next().filter(|name| !name.trim().is_empty()).or(head.split(' ').nth(1))
        }
        _ => head.split([' ', '*']).rfind(|word| !word.is_empty()),
    };
    if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
        found.insert(name.to_owned(), declaration.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn declarations_are_found_by_name() {
        let header = "#ifndef A_H\n#define A_H\n#define VERSION 65536\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\
            // text\nenum status { OK = 0, BAD = 7, WORSE };\ntypedef int32_t status;\n\
            typedef struct row { const char *name; } row;\ntypedef int (*callback)(void *data);\n\
            const char *text(int32_t status);\nstatus at(uint32_t index,\n   row *out);\n\
            #ifdef __cplusplus\n}  // extern \"C\"\n#endif\n";
        let found = read(header);
        assert_eq!(
            found.keys().map(String::as_str).collect::<Vec<_>>(),
            ["BAD", "OK", "VERSION", "WORSE", "at", "callback", "row", "status", "text"]
        );
        assert_eq!(found["WORSE"], "8");
        assert_eq!(found["at"], "status at(uint32_t index, row *out)");
    }
}
