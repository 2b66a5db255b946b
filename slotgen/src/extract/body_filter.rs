//! Leaves function bodies out of what is parsed, unless facts may stand in them: parsing them is most of the work.

use std::ops::Range;

/// Calls that make types.
const MAKERS: [&str; 2] = ["PyType_From", "PyStructSequence_"];
/// Types of the tables that may be `static` inside a function.
const TABLES: [&str; 8] =
    ["PyType", "Methods", "PyBufferProcs", "PyMethodDef", "PyGetSetDef", "PyMemberDef", "PyModuleDef", "slotdef"];
/// Fields that are read when a body assigns them; `tp_` stands for all that begin so.
const FIELDS: [&str; 3] = ["tp_", "pfunc", "name"];

/// The stretches of the text that are parsed: all but the insides of uninteresting bodies.
pub(super) fn wanted(text: &str, bodies: &[Range<u32>]) -> Vec<Range<usize>> {
    let mut wanted = Vec::new();
    let mut done = 0;
    for body in bodies {
        let (from, to) = (body.start as usize, body.end as usize);
        if text.get(from..to).is_some_and(|inside| !may_hold_facts(inside)) {
            wanted.push(done..from);
            done = to;
        }
    }
    wanted.push(done..text.len());
    wanted
}

/// Whether the body of a function assigns a field of a type, makes a type, or has a static table.
fn may_hold_facts(body: &str) -> bool {
    MAKERS.iter().any(|maker| body.contains(maker))
        || FIELDS.iter().any(|field| assigns(body, field))
        || (body.contains("static ") && TABLES.iter().any(|table| body.contains(table)))
}

/// Whether `.FIELD… =` or `->FIELD… =` stands in the text.
fn assigns(body: &str, field: &str) -> bool {
    body.match_indices(field).any(|(at, _)| {
        let before = body.get(..at).unwrap_or("");
        let after = body.get(at..).unwrap_or("").trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let after = after.trim_start();
        before.ends_with(['.', '>']) && after.starts_with('=') && !after.starts_with("==")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bodies_without_facts_go() {
        let text = "int f(void) { return g(1); }\nint h(void) { T.tp_base = &U; }\n";
        let body = |start: &str, end: &str| {
            let from = text.find(start).unwrap() as u32 + 1;
            from..from + text[from as usize..].find(end).unwrap() as u32
        };
        let bodies = [body("{ return", "}"), body("{ T.", "}")];
        let parsed: String = wanted(text, &bodies).into_iter().map(|range| &text[range]).collect();
        assert_eq!(parsed, "int f(void) {}\nint h(void) { T.tp_base = &U; }\n");
    }

    #[test]
    fn what_counts_as_an_assignment() {
        assert!(assigns("type->tp_name = 1", "tp_"));
        assert!(assigns("x.pfunc=f", "pfunc"));
        assert!(!assigns("type->tp_name == 1", "tp_"));
        assert!(!assigns("type->tp_alloc(type)", "tp_"));
        assert!(!assigns("char *name = 0", "name"));
    }
}
