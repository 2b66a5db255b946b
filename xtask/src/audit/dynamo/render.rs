//! The audit as text and as Markdown.
use super::Audit;
use super::references::{Reference, Verdict};
use crate::audit::coverage::render::{escape, markdown_table};
use crate::audit::findings::{self, Finding};
use crate::ui::paint;
use crate::ui::table::table;

/// How many findings of one rule a report shows, unless it shows all.
const SHOWN: usize = 12;

fn title(audit: &Audit) -> String {
    format!(
        "TorchDynamo of PyTorch {} against CPython {}: {} files, {}",
        audit.torch,
        audit.release,
        audit.files,
        findings::counts(&audit.findings)
    )
}

/// Counts of everything that was compared.
fn summary(audit: &Audit) -> Vec<Vec<String>> {
    let row = |what: &str, all: usize, good: usize, how: String| {
        vec![what.to_owned(), all.to_string(), good.to_string(), how]
    };
    let present = audit.slotdefs.iter().filter(|row| row.dynamo.is_some()).count();
    let cells = || audit.trackers.iter().flat_map(|tracked| &tracked.cells);
    let filled = cells().filter(|cell| cell.function.is_some()).count();
    let bodies = cells().filter(|cell| cell.function.is_some() && cell.body.is_some()).count();
    let mut rows = vec![
        row("rows of slotdefs[]", audit.slotdefs.len(), present, "present in _SLOTDEFS".to_owned()),
        row("slots of tracked types", filled, bodies, format!("have a body; {} types", audit.trackers.len())),
    ];
    for table in ["tp_methods", "tp_getset", "tp_members"] {
        let tables: Vec<_> = audit.trackers.iter().filter_map(|tracked| tracked.tables.get(table)).collect();
        let all: usize = tables.iter().map(|table| table.0).sum();
        let missing: usize = tables.iter().map(|table| table.1.len()).sum();
        rows.push(row(
            &format!("rows of {table}"),
            all,
            all.saturating_sub(missing),
            "in a table or named in a body".to_owned(),
        ));
    }
    for release in &audit.checked {
        let named: Vec<&Reference> = audit.references.iter().filter(|reference| !reference.names.is_empty()).collect();
        let holds = named.iter().filter(|reference| reference.verdicts.get(release) == Some(&Verdict::Holds)).count();
        rows.push(row(
            &format!("references, in {release}"),
            named.len(),
            holds,
            "hold the function that they name".to_owned(),
        ));
    }
    let branch: Vec<&Reference> =
        audit.references.iter().filter(|one| one.cited.as_deref() == Some("3.13") && !one.names.is_empty()).collect();
    let newest = audit.checked.iter().rev().find(|release| release.starts_with("3.13."));
    if let Some(newest) = newest {
        let holds = branch.iter().filter(|one| one.verdicts.get(newest) == Some(&Verdict::Holds)).count();
        rows.push(row("of these, to the branch 3.13", branch.len(), holds, format!("hold it in {newest}")));
    }
    if let Some(live) = &audit.live {
        let all = live.types * live.slots;
        rows.push(row(
            "answers of get_type_slots",
            all,
            all - live.differences.len(),
            format!("agree; {} types in {}", live.types, live.version),
        ));
    }
    rows
}

const COLUMNS: [&str; 4] = ["what", "all", "good", "which are good"];

fn by_rule(audit: &Audit) -> Vec<(&Finding, Vec<&Finding>)> {
    let mut rules: Vec<(&Finding, Vec<&Finding>)> = Vec::new();
    for finding in &audit.findings {
        match rules.iter_mut().find(|(first, _)| first.rule == finding.rule && first.severity == finding.severity) {
            Some((_, all)) => all.push(finding),
            None => rules.push((finding, vec![finding])),
        }
    }
    rules
}

/// For a terminal.
pub fn text(audit: &Audit, all: bool) -> String {
    let mut parts = vec![title(audit), table(&COLUMNS, &summary(audit))];
    for (first, found) in by_rule(audit) {
        let severity = first.severity.word();
        parts.push(format!("\n{}", paint::bold(format!("{severity}: {} ({})", first.rule, found.len()))));
        let shown = if all { found.len() } else { SHOWN };
        for finding in found.iter().take(shown) {
            parts.push(format!(
                "  {}:{}: {}\n    {}",
                finding.path,
                finding.line,
                finding.message,
                paint::dim(&finding.advice)
            ));
        }
        if found.len() > shown {
            parts.push(format!("  and {} more: `--all` shows them", found.len() - shown));
        }
    }
    parts.join("\n")
}

/// For a review.
pub fn markdown(audit: &Audit, all: bool) -> String {
    let mut text = format!("# {}\n\n{}\n", escape(&title(audit)), markdown_table(&COLUMNS, &summary(audit)));
    for (first, found) in by_rule(audit) {
        text.push_str(&format!("\n## {}: {} ({})\n\n", first.severity.word(), escape(&first.rule), found.len()));
        let shown = if all { found.len() } else { SHOWN };
        let rows: Vec<Vec<String>> = found
            .iter()
            .take(shown)
            .map(|finding| {
                vec![format!("{}:{}", finding.path, finding.line), finding.message.clone(), finding.advice.clone()]
            })
            .collect();
        text.push_str(&markdown_table(&["place", "finding", "what to do"], &rows));
        text.push('\n');
        if found.len() > shown {
            text.push_str(&format!("\nAnd {} more.\n", found.len() - shown));
        }
    }
    text
}
