//! Regenerates `generated/` from a source tree: `cargo run -p slotgen --example regen -- SOURCE [--check]`.

use std::path::Path;
use std::process::ExitCode;

use slotgen::emit::Mode;
use slotgen::source::Tree;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(source) = arguments.first() else {
        eprintln!("usage: regen SOURCE [--check]");
        return ExitCode::FAILURE;
    };
    let mode = if arguments.iter().any(|argument| argument == "--check") { Mode::Check } else { Mode::Write };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("generated");
    let report = Tree::open(Path::new(source)).map_err(|error| error.to_string()).and_then(|tree| {
        let series = tree.release().series();
        slotgen::generate(&tree, &series, &root, mode).map_err(|error| error.to_string())
    });
    match report {
        Ok(report) => {
            for change in &report.changes {
                println!("{change}");
            }
            println!("CPython {}: {} files, {} changes", report.release, report.files, report.changes.len());
            ExitCode::from(u8::from(mode == Mode::Check && !report.changes.is_empty()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
