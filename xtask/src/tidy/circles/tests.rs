//! The rule on small trees in memory.
use super::folders::folders;
use super::load::load;
use super::report::{check, sources};
use super::resolve::arrows;
use crate::tidy::checkout::File;

/// The tree's files, under `runtime/src`.
fn tree(files: &[(&str, &str)]) -> Vec<File> {
    files.iter().map(|(path, text)| File { path: format!("runtime/src/{path}"), text: (*text).to_owned() }).collect()
}

/// Each arrow as `from -> to: names`.
fn arrows_of(files: &[(&str, &str)]) -> Vec<String> {
    let files = tree(files);
    let found = arrows(&load("runtime/src/lib.rs", &sources(&files)));
    let short = |path: &str| path.trim_start_matches("runtime/src/").to_owned();
    let line = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(", ");
    found
        .iter()
        .map(|arrow| format!("{} -> {}: {}", short(&arrow.from), short(&arrow.to), line(arrow.names.keys().collect())))
        .collect()
}

/// The folders with a circle that is not allowed.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    check(&tree(files)).into_iter().map(|finding| finding.path).collect()
}

#[test]
fn a_use_is_an_arrow_to_the_file_that_defines() {
    let files =
        [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::{B, f as g};"), ("b.rs", "pub struct B; pub fn f() {}")];
    assert_eq!(arrows_of(&files), ["a.rs -> b.rs: B, f"]);
}

#[test]
fn a_reexport_is_followed() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use b::*;"),
        ("a.rs", "fn f(_: crate::B, _: crate::b::C) {}"),
        ("b/mod.rs", "mod inner; pub use inner::B; pub use self::inner::D as C;"),
        ("b/inner.rs", "pub struct B; pub struct D;"),
    ];
    let from_a: Vec<_> = arrows_of(&files).into_iter().filter(|arrow| arrow.starts_with("a.rs")).collect();
    assert_eq!(from_a, ["a.rs -> b/inner.rs: B, D"]);
}

#[test]
fn a_module_in_scope_leads_to_its_file() {
    let files = [
        ("lib.rs", "mod a; mod types;"),
        ("a.rs", "use super::types; fn f() { types::name(); let t = types::inner::Deep::new(); }"),
        ("types.rs", "pub fn name() {} pub mod inner;"),
        ("types/inner.rs", "pub struct Deep;"),
    ];
    assert_eq!(arrows_of(&files), ["a.rs -> types.rs: name", "a.rs -> types/inner.rs: Deep"]);
}

#[test]
fn a_module_goes_before_a_function_of_its_name() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use super::b::render::Page; fn f() { super::b::render(); }"),
        ("b/mod.rs", "mod print; pub mod render; pub use print::render;"),
        ("b/print.rs", "pub fn render() {}"),
        ("b/render.rs", "pub struct Page;"),
    ];
    let from_a: Vec<_> = arrows_of(&files).into_iter().filter(|arrow| arrow.starts_with("a.rs")).collect();
    assert_eq!(from_a, ["a.rs -> b/print.rs: render", "a.rs -> b/render.rs: Page"]);
}

#[test]
fn a_glob_counts_for_the_names_that_are_used() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use super::b::*; fn f(local: u8) -> B { let c = local; Some(c); B }"),
        ("b.rs", "pub struct B; pub fn c() {} pub fn unused() {}"),
    ];
    assert_eq!(arrows_of(&files), ["a.rs -> b.rs: B"]);
}

#[test]
fn macros_are_read() {
    let files = [
        ("lib.rs", "#[macro_use] mod m; mod a; mod b; macro_rules! outer { () => { crate::b::C } }"),
        ("a.rs", "fn f() { format!(\"{}\", super::b::B); odd!(x => super::b::D; ..); outer!(); }"),
        ("b.rs", "pub struct B; pub struct C; pub struct D; thread_local! { pub static E: u8 = 1; }"),
        ("m.rs", "fn f() { crate::b::E.with(g); crate::b::Nowhere; }"),
    ];
    let expected = ["a.rs -> b.rs: B, D", "a.rs -> lib.rs: outer", "lib.rs -> b.rs: C", "m.rs -> b.rs: E"];
    assert_eq!(arrows_of(&files), expected);
}

#[test]
fn tests_and_attributes_are_left_out() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "#[cfg(test)] mod tests { use crate::b::B; } #[cfg(test)] use crate::b::C; pub(in crate::b) fn f() {}",
        ),
        ("b.rs", "pub struct B; pub struct C;"),
    ];
    assert_eq!(arrows_of(&files), Vec::<String>::new());
}

#[test]
fn alternatives_of_a_module_all_count() {
    let files = [
        ("lib.rs", "#[cfg(old)] #[path = \"x/old.rs\"] mod m; #[cfg(not(old))] mod m; mod a;"),
        ("a.rs", "use super::m::f;"),
        ("m.rs", "pub fn f() {}"),
        ("x/old.rs", "pub fn f() {}"),
    ];
    assert_eq!(arrows_of(&files), ["a.rs -> m.rs: f", "a.rs -> x/old.rs: f"]);
}

#[test]
fn circular_imports_end() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub use super::b::*; use self::X;"),
        ("b.rs", "pub use super::a::*; pub use super::a::X;"),
    ];
    assert_eq!(arrows_of(&files), Vec::<String>::new());
}

#[test]
fn a_folder_counts_as_one() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::one::One; pub struct A;"),
        ("b/mod.rs", "//! B.\n//! Circle: reasons do not reach outside.\npub mod one; pub mod two;"),
        ("b/one.rs", "pub struct One;"),
        ("b/two.rs", "use crate::a::A;"),
    ];
    assert_eq!(circles_of(&files), ["runtime/src"]);
}

#[test]
fn a_circle_of_files_needs_a_reason() {
    let tree = |head| {
        [
            ("lib.rs", "mod b;"),
            ("b/mod.rs", head),
            ("b/one.rs", "use super::two::Two; pub struct One;"),
            ("b/two.rs", "use super::one::One; pub struct Two;"),
        ]
    };
    assert_eq!(circles_of(&tree("//! B.\nmod one; mod two;")), ["runtime/src/b"]);
    assert_eq!(circles_of(&tree("//! B.\n//! Circle: each is half.\nmod one; mod two;")), Vec::<String>::new());
}

#[test]
fn the_shortest_circle_is_reported() {
    let files = tree(&[
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; use crate::a::A; pub struct B;"),
        ("c.rs", "use crate::a::A; pub struct C;"),
    ]);
    let message = &check(&files)[0].message;
    assert!(message.starts_with("3 entries"), "{message}");
    assert!(message.ends_with("  a.rs:1 -> b.rs: B\n  b.rs:1 -> a.rs: A"), "{message}");
    let all = arrows(&load("runtime/src/lib.rs", &sources(&files)));
    assert_eq!(folders(&all)["runtime/src"].circles()[0].arrows.len(), 4);
}
