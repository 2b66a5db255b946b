//! Coverage as text and as Markdown.
use super::rows::{Coverage, Kind, Row, State};
use crate::ui::table::table;

/// How many missing rows a report lists, unless it lists all.
const MISSING: usize = 40;

/// Headings of the table of totals.
fn headings() -> Vec<&'static str> {
    ["what", "all"].into_iter().chain(State::ALL.map(State::word)).collect()
}

fn totals(coverage: &Coverage) -> Vec<Vec<String>> {
    let kinds = Kind::ALL.into_iter().filter_map(|kind| Some((kind, coverage.totals.get(&kind)?)));
    kinds
        .map(|(kind, states)| {
            let counts = State::ALL.map(|state| states.get(&state).copied().unwrap_or(0).to_string());
            let all = states.values().sum::<usize>().to_string();
            [kind.word().to_owned(), all].into_iter().chain(counts).collect()
        })
        .collect()
}

fn missing(coverage: &Coverage, all: bool) -> (Vec<Vec<String>>, usize) {
    let rows = coverage.missing();
    let shown = if all { rows.len() } else { MISSING };
    let cells = |row: &&Row| {
        vec![
            row.uses.to_string(),
            row.id.clone(),
            row.kind.word().to_owned(),
            row.function.clone().unwrap_or_default(),
            row.place(),
            row.why.clone(),
        ]
    };
    (rows.iter().take(shown).map(cells).collect(), rows.len())
}

const COLUMNS: [&str; 6] = ["uses", "row", "of", "C function", "place", "why"];

fn title(coverage: &Coverage) -> String {
    let bodies = match &coverage.bodies {
        Some(series) if coverage.release.starts_with(&format!("{series}.")) => String::new(),
        Some(series) => format!(", traced with the bodies of {series}"),
        None => ", not traced".to_owned(),
    };
    let counts = (coverage.types.len(), coverage.slots.len());
    format!(
        "CPython {}{bodies}: {} types, {} slots; C leaves {} cells empty",
        coverage.release, counts.0, counts.1, coverage.absent
    )
}

fn counted(coverage: &Coverage) -> String {
    let of: Vec<String> =
        coverage.counted.iter().map(|(name, count)| format!("{count} code objects of {name}")).collect();
    if of.is_empty() { "Uses are not counted.".to_owned() } else { format!("Uses are counted in {}.", of.join(", ")) }
}

/// For a terminal.
pub fn text(coverage: &Coverage, all: bool) -> String {
    let mut parts = vec![title(coverage), table(&headings(), &totals(coverage))];
    let (rows, count) = missing(coverage, all);
    if count > 0 {
        let shown = rows.len();
        parts.push(format!(
            "\n{count} rows break the graph; most used first. {}\n{}",
            counted(coverage),
            table(&COLUMNS, &rows)
        ));
        if shown < count {
            parts.push(format!("  and {} more: `--all` or `--format json` lists them", count - shown));
        }
    }
    parts.join("\n")
}

/// For a review.
pub fn markdown(coverage: &Coverage, all: bool) -> String {
    let (rows, count) = missing(coverage, all);
    let mut text = format!("## {}\n\n{}\n", escape(&title(coverage)), markdown_table(&headings(), &totals(coverage)));
    if count > 0 {
        let counted = counted(coverage);
        text.push_str(&format!(
            "\n{count} rows break the graph; most used first. {counted}\n\n{}\n",
            markdown_table(&COLUMNS, &rows)
        ));
    }
    text
}

/// A table of Markdown.
pub fn markdown_table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![line(headings.iter().map(|heading| (*heading).to_owned()).collect())];
    lines.push(line(headings.iter().map(|_| "---".to_owned()).collect()));
    lines.extend(rows.iter().map(|row| line(row.iter().map(|cell| escape(cell)).collect())));
    lines.join("\n")
}

/// Text in Markdown: what would be a mark is none.
pub fn escape(text: &str) -> String {
    let marks = |c: char| "\\`*_{}[]<>|#".contains(c);
    let flat = text.replace(['\n', '\r'], " ");
    flat.chars().flat_map(|c| marks(c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_takes_names_as_text() {
        assert_eq!(escape("__or__ <b>|x"), r"\_\_or\_\_ \<b\>\|x");
        assert_eq!(markdown_table(&["a"], &[vec!["x\ny".into()]]), "| a |\n| --- |\n| x y |");
    }
}
