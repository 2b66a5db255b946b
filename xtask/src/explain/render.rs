//! The page as text and as Markdown.
use super::Page;
use crate::audit::coverage::Row;
use crate::audit::coverage::render::{escape, markdown_table};
use crate::audit::dossier::Dossier;
use crate::audit::history::Step;
use crate::ui::paint;
use crate::ui::table::table;

const ROWS: [&str; 5] = ["row", "of", "state", "C function", "place"];

fn rows(page: &Page) -> Vec<Vec<String>> {
    let cells = |row: &Row| {
        let why = if row.why.is_empty() { String::new() } else { format!(" ({})", row.why) };
        vec![
            row.id.clone(),
            row.kind.word().to_owned(),
            format!("{}{why}", row.state.word()),
            row.function.clone().unwrap_or_default(),
            row.place(),
        ]
    };
    page.rows.iter().map(cells).collect()
}

/// What is said of a function: a word and a list.
fn lists(dossier: &Dossier) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if let Some(effects) = &dossier.effects {
        let parts = [("reads", &effects.reads), ("changes", &effects.mutates), ("sets", &effects.sets)];
        let mut words = vec![effects.verdict.clone()];
        words.extend(effects.flags.iter().cloned());
        words.extend(
            parts.iter().filter(|(_, list)| !list.is_empty()).map(|(word, list)| format!("{word} {}", list.join(", "))),
        );
        found.push(("effects", words.join("; ")));
    }
    found.push(("calls", dossier.entry.calls.join(", ")));
    found.push(("callers", dossier.callers.join(", ")));
    found.push((
        "messages",
        dossier.entry.strings.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", "),
    ));
    found.push(("history", history(dossier)));
    found.push(("tests that run it", tests(dossier)));
    found.retain(|(_, text)| !text.is_empty());
    found
}

/// How the function went through the releases.
fn history(dossier: &Dossier) -> String {
    let what = |step: &Step| if step.what.is_empty() { String::new() } else { format!(" ({})", step.what) };
    let words = dossier.history.iter().map(|step| format!("{}: {}{}", step.release, step.change.words(), what(step)));
    words.collect::<Vec<_>>().join("; ")
}

/// The tests that were seen to run the generated Rust.
fn tests(dossier: &Dossier) -> String {
    let more = dossier.reached.saturating_sub(dossier.tests.len());
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    match (dossier.rust.is_empty(), dossier.reached) {
        (true, 0) => String::new(),
        (false, 0) => "none was seen to".to_owned(),
        _ => format!("{}{more}", dossier.tests.join(", ")),
    }
}

fn head(dossier: &Dossier) -> String {
    let entry = &dossier.entry;
    format!("{} ({}:{}-{}, digest {})", entry.name, entry.file, entry.line, entry.end, entry.digest)
}

/// For a terminal.
pub fn text(page: &Page) -> String {
    let mut parts = vec![format!("{} is {} in CPython {}", page.asked, page.meant, page.release)];
    if !page.rows.is_empty() {
        parts.push(table(&ROWS, &rows(page)));
    }
    if !page.ways.is_empty() {
        parts.push(format!("\n{}", paint::bold("ways through C")));
        parts.extend(page.ways.iter().map(|way| format!("  {}", way.join(" > "))));
    }
    for dossier in &page.functions {
        parts.push(format!("\n{}", paint::bold(head(dossier))));
        parts.extend(lists(dossier).into_iter().map(|(word, text)| format!("  {word}: {text}")));
        if dossier.rust.is_empty() {
            parts.push("  there is no generated Rust".to_owned());
        } else {
            parts.push(dossier.rust.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n"));
        }
    }
    parts.join("\n")
}

/// For a review.
pub fn markdown(page: &Page) -> String {
    let mut text = format!("# {}\n\nThis is {} in CPython {}.\n", escape(&page.asked), page.meant, page.release);
    if !page.rows.is_empty() {
        text.push_str(&format!("\n{}\n", markdown_table(&ROWS, &rows(page))));
    }
    if !page.ways.is_empty() {
        text.push_str("\n## Ways through C\n\n");
        page.ways.iter().for_each(|way| text.push_str(&format!("- {}\n", escape(&way.join(" → ")))));
    }
    for dossier in &page.functions {
        text.push_str(&format!("\n## {}\n\n", escape(&head(dossier))));
        let rows: Vec<Vec<String>> =
            lists(dossier).into_iter().map(|(word, list)| vec![word.to_owned(), list]).collect();
        text.push_str(&format!("{}\n", markdown_table(&["what", ""], &rows)));
        if !dossier.rust.is_empty() {
            text.push_str(&format!("\n```rust\n{}```\n", dossier.rust));
        }
    }
    text
}
