//! The report for people: sections in the order of the data flow, each opened by a sentence.
use super::{Shown, sections};
use crate::ui::paint;

/// All sections.
pub fn report(shown: &Shown, full: bool) -> String {
    let explain = &shown.program.explain;
    let title = format!("CPython {} sources → Rust → CPython {}", shown.sources, shown.interpreter);
    let parts = [
        (
            "From C to Rust",
            "slotgen read CPython's C sources and generated the Rust that decides every operation below.",
            sections::generated(shown),
        ),
        ("The program", "Ordinary Python; tests/demo/program.py, line by line.", sections::source(&shown.program)),
        (
            "The way through C",
            "The functions behind each operation, outermost first. The names are C functions; what ran is the Rust generated \
             from them. Names with a dot are Python functions that they called.",
            sections::routes(explain),
        ),
        (
            "Graphs",
            "The operations recorded for the backend: one graph up to each break, in the order of execution.",
            sections::graphs(explain),
        ),
        (
            "Guards",
            "The conditions that the traces relied on. Compiled code runs only while all hold; else the call is traced again.",
            sections::guards(explain),
        ),
        (
            "Graph breaks",
            "Instructions that run natively. The graph ends before one, and a continuation goes on after it.",
            sections::breaks(explain),
        ),
        (
            "Bytecode",
            "Left: CPython's code. Right: the code that runs instead and calls the graph.",
            sections::bytecode(explain, full),
        ),
        (
            "Result beside the uncompiled result",
            "The same arguments: without slotrt, in the call that traces, and from the cache.",
            sections::runs(&shown.program),
        ),
        (
            "What each step cost",
            "Wall time on this machine. Files cached under target/ cost nothing the next time.",
            sections::costs(shown),
        ),
    ];
    let mut text = format!("\n{}\n", paint::bold(title));
    for (number, (heading, sentence, body)) in parts.iter().enumerate() {
        let heading = paint::bold(format!("{} · {heading}", number + 1));
        text.push_str(&format!("\n{heading}\n{}\n\n{}\n", wrapped(sentence), body.trim_end()));
    }
    text
}

/// A sentence in lines of at most a hundred characters.
fn wrapped(sentence: &str) -> String {
    let mut lines = vec![String::new()];
    for word in sentence.split_whitespace() {
        let full = lines.last().is_some_and(|line| line.chars().count() + word.chars().count() > 98);
        match lines.last_mut() {
            Some(line) if !full => line.push_str(&format!(" {word}")),
            _ => lines.push(format!(" {word}")),
        }
    }
    lines.iter().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n")
}
