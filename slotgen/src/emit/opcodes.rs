//! The version-neutral `Op` and the tables that give each release its numbers.

use askama::Template;
use indexmap::IndexSet;

use super::file::{File, Header, RenderError, render};
use super::rust;
use crate::facts::{Opcode, OpcodeKind, Opcodes};

#[derive(Template)]
#[template(path = "op.rs.jinja", escape = "none")]
struct OpTemplate<'a> {
    header: &'a Header,
    names: Vec<&'a str>,
    flags: Vec<(&'a str, u32)>,
}

#[derive(Template)]
#[template(path = "opcodes.rs.jinja", escape = "none")]
struct ReleaseTemplate<'a> {
    header: &'a Header,
    major: &'a str,
    minor: &'a str,
    real: Vec<&'a Opcode>,
    replaced: Vec<&'a Opcode>,
    unreadable: Vec<&'a Opcode>,
    flags: Vec<(&'a str, String)>,
    counted: bool,
    /// Whether some net effect depends on more than what is taken and left.
    net: bool,
    effects: Vec<Effect<'a>>,
}

struct Effect<'a> {
    name: &'a str,
    popped: String,
    pushed: String,
    net: String,
}

fn real(opcodes: &Opcodes) -> impl Iterator<Item = &Opcode> {
    opcodes.opcodes.iter().filter(|opcode| opcode.kind == OpcodeKind::Real)
}

/// `Op` and `OpFlags`: the union over the releases given.
pub fn op(header: &Header, releases: &[&Opcodes]) -> Result<File, RenderError> {
    let mut names: IndexSet<&str> = IndexSet::new();
    let mut flags: IndexSet<&str> = IndexSet::new();
    for opcode in releases.iter().copied().flat_map(real) {
        names.insert(&opcode.name);
        flags.extend(opcode.flags.iter().map(String::as_str));
    }
    names.sort_unstable();
    flags.sort_unstable();
    let flags = flags.into_iter().zip((0u32..).map(|bit| 1 << bit)).collect();
    render("src/opcodes/op.rs".to_owned(), &OpTemplate { header, names: names.into_iter().collect(), flags })
}

/// Numbers, caches, flags and stack effects of one release.
pub fn release_opcodes(header: &Header, series: &str, opcodes: &Opcodes) -> Result<File, RenderError> {
    let (major, minor) = series.split_once('.').unwrap_or((series, "0"));
    let of_kind = |kinds: [OpcodeKind; 2], with_base: bool| {
        let all = opcodes.opcodes.iter();
        all.filter(move |opcode| kinds.contains(&opcode.kind) && opcode.base.is_some() == with_base).collect()
    };
    let text = |expression: &Option<crate::facts::Expression>| expression.as_ref().map(rust::integer);
    let effects = real(opcodes).map(|opcode| {
        let (popped, pushed) = (text(&opcode.popped), text(&opcode.pushed));
        let net = match (&popped, &pushed, text(&opcode.effect)) {
            (_, _, Some(effect)) => effect,
            (Some(popped), Some(pushed), _) => format!("({pushed}) - ({popped})"),
            _ => "return None".to_owned(),
        };
        let some = |count: Option<String>| count.unwrap_or_else(|| "return None".to_owned());
        Effect { name: &opcode.name, popped: some(popped), pushed: some(pushed), net }
    });
    let template = ReleaseTemplate {
        header,
        major,
        minor,
        real: real(opcodes).collect(),
        replaced: of_kind([OpcodeKind::Specialised, OpcodeKind::Instrumented], true),
        unreadable: of_kind([OpcodeKind::Instrumented, OpcodeKind::Specialised], false),
        flags: real(opcodes).filter_map(flag_row).collect(),
        counted: real(opcodes).any(|opcode| opcode.popped.is_some()),
        net: real(opcodes).any(|opcode| opcode.effect.is_some()),
        effects: effects.collect(),
    };
    render(format!("src/opcodes/v{major}_{minor}.rs"), &template)
}

fn flag_row(opcode: &Opcode) -> Option<(&str, String)> {
    let bits: Vec<_> = opcode.flags.iter().map(|flag| format!("OpFlags::{flag}")).collect();
    if bits.is_empty() { None } else { Some((&opcode.name, format!("&[{}]", bits.join(", ")))) }
}
