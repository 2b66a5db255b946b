//! The bodies of the report's sections.
use super::Shown;
use super::data::{Explain, Frame, Record, Run};
use crate::ui::paint;
use crate::ui::table::{side_by_side, table};

/// Lines of a listing that are shown without `--full`.
const SHORT: usize = 30;

/// Counts of what slotgen read and made, and whether `generated/` equals it.
pub fn generated(shown: &Shown) -> String {
    let counts = shown.counts.iter().map(|(name, count)| format!("{} {name}", grouped(*count)));
    let verdict = if shown.changes.is_empty() {
        paint::green("✓ generated/ equals, byte for byte, what slotgen makes of these sources")
    } else {
        let changes = shown.changes.join("\n    ");
        paint::yellow(format!(
            "✗ generated/ differs from what slotgen makes of these sources; `cargo xtask regen` writes it:\n    {changes}"
        ))
    };
    format!("  {}\n  {verdict}", counts.collect::<Vec<_>>().join(" · "))
}

/// The program's lines, numbered.
pub fn source(record: &Record) -> String {
    let lines = record.source.lines().enumerate().skip_while(|(_, line)| !line.starts_with("class "));
    let numbered = lines.map(|(index, line)| format!("  {} {line}", paint::dim(format!("{:>3} │", index + 1))));
    let text = numbered.collect::<Vec<_>>().join("\n");
    let end = text.find("def arguments").map_or(text.len(), |at| text[..at].rfind('\n').unwrap_or(at));
    text[..end].trim_end().to_owned()
}

/// One row per operation.
pub fn routes(explain: &Explain) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for route in explain.frames.iter().flat_map(|frame| &frame.routes) {
        let row = vec![route.line.to_string(), route.instruction.clone(), route.functions.join(" → ")];
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    table(&["line", "instruction", "through"], &rows)
}

/// A table per graph.
pub fn graphs(explain: &Explain) -> String {
    let with_graph = explain.frames.iter().filter(|frame| frame.graph.iter().any(|node| node.op == "call_function"));
    let tables = with_graph.map(|frame| {
        let rows = frame.graph.iter().map(|node| {
            let line = if node.line == 0 { String::new() } else { node.line.to_string() };
            vec![node.name.clone(), node.op.clone(), node.target.clone(), arguments(node), line, node.meta.clone()]
        });
        let rows: Vec<_> = rows.collect();
        format!("  {}\n{}", title(frame), table(&["name", "op", "target", "arguments", "line", "result"], &rows))
    });
    tables.collect::<Vec<_>>().join("\n\n")
}

/// A table per frame.
pub fn guards(explain: &Explain) -> String {
    let frames = explain.frames.iter().filter(|frame| !frame.guards.is_empty());
    let tables = frames.map(|frame| {
        let row = |guard: &super::data::Guard| {
            let reason = guard.reason.replace(&explain.place(), " in line ");
            vec![guard.source.clone(), guard.check.clone(), reason]
        };
        let rows: Vec<_> = frame.guards.iter().map(row).collect();
        format!("  {}\n{}", title(frame), table(&["value", "must hold", "because"], &rows))
    });
    tables.collect::<Vec<_>>().join("\n\n")
}

/// The four parts of each break.
pub fn breaks(explain: &Explain) -> String {
    let alone = explain.frames.iter().filter_map(|frame| Some((frame, frame.skipped.as_ref()?)));
    let alone = alone.map(|(frame, why)| format!("  {} {}: {why}", paint::red("left alone"), name(frame)));
    let breaks = explain.frames.iter().filter_map(|frame| frame.stop.as_ref());
    let texts = breaks.map(|stop| {
        let hints = stop.hints.iter().map(|hint| format!("\n    {} {hint}", paint::green("help")));
        let head = paint::yellow(format!("line {}: {}", stop.line, stop.kind));
        format!("  {head}\n    {}\n    {}{}", stop.context, stop.explanation, hints.collect::<String>())
    });
    let text = alone.chain(texts).collect::<Vec<_>>().join("\n");
    if text.is_empty() { "  none".to_owned() } else { text }
}

/// Before and after, side by side.
pub fn bytecode(explain: &Explain, full: bool) -> String {
    let listings = explain.frames.iter().map(|frame| {
        let (before, after) = (&frame.bytecode.before, &frame.bytecode.after);
        let longest = before.len().max(after.len());
        let shown = if full { longest } else { longest.min(SHORT) };
        let part = |lines: &[String]| lines.iter().take(shown).cloned().collect::<Vec<_>>();
        let text = side_by_side(&part(before), &part(after), 58);
        let rest = longest - shown;
        let more = if rest == 0 {
            String::new()
        } else {
            format!("\n  {}", paint::dim(format!("… {rest} more lines: --full")))
        };
        format!("  {}\n{text}{more}", title(frame))
    });
    listings.collect::<Vec<_>>().join("\n\n")
}

/// Results and prints.
pub fn runs(record: &Record) -> String {
    record.runs.iter().map(run).collect::<Vec<_>>().join("\n\n")
}

fn run(run: &Run) -> String {
    let rows = [("uncompiled", &run.plain), ("tracing", &run.compiled), ("cached", &run.cached)];
    let row = |(name, call): &(&str, &super::data::Call)| {
        vec![(*name).to_owned(), call.result.clone(), call.printed.trim_end().replace('\n', "⏎")]
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    let verdict = if run.same { paint::green("✓ the same") } else { paint::red("✗ different") };
    format!("  {}\n{}\n  {verdict}", paint::cyan(&run.title), table(&["call", "result", "printed"], &rows))
}

/// Times, from fetching to cached calls.
pub fn costs(shown: &Shown) -> String {
    let mut rows: Vec<Vec<String>> =
        shown.seconds.iter().map(|(name, seconds)| vec![(*name).to_owned(), format!("{seconds:.2} s")]).collect();
    for frame in &shown.program.explain.frames {
        for (stage, ns) in &frame.ns {
            rows.push(vec![format!("{}: {stage}", name(frame)), time(*ns)]);
        }
        if let Some(ns) = frame.ns.get("trace").filter(|_| frame.steps > 0) {
            let each = time(ns / frame.steps);
            rows.push(vec![
                format!("{}: per bytecode traced", name(frame)),
                format!("{each} ({} executed)", frame.steps),
            ]);
        }
    }
    for run in &shown.program.runs {
        rows.push(vec![format!("call, {}", run.title), String::new()]);
        for (name, call) in [("uncompiled", &run.plain), ("tracing", &run.compiled), ("cached", &run.cached)] {
            rows.push(vec![format!("  {name}"), time(call.ns)]);
        }
    }
    table(&["step", "time"], &rows)
}

fn arguments(node: &super::data::Node) -> String {
    let named = node.kwargs.iter().map(|(name, value)| format!("{name}={value}"));
    node.args.iter().cloned().chain(named).collect::<Vec<_>>().join(", ")
}

fn title(frame: &Frame) -> String {
    paint::cyan(name(frame))
}

fn name(frame: &Frame) -> String {
    match frame.resumed_at {
        Some(line) => format!("{}, continued at line {line}", frame.name),
        None => frame.name.clone(),
    }
}

fn time(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

/// `12345` as `12,345`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
