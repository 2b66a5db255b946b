//! Runs other programs; a failure shows the command and its output.
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// How many lines of a failed program's output an error shows.
const TAIL: usize = 40;

/// The command line as a person would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end and returns standard output. A failure is an error with the last lines of the output.
pub fn output(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null());
    let line = line(command);
    let result = command.output().with_context(|| format!("`{line}` could not be started"))?;
    let stdout = String::from_utf8_lossy(&result.stdout).into_owned();
    if result.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&result.stderr);
    let said = tail(&format!("{stdout}{stderr}"));
    bail!("`{line}` ended with {}\n{said}", result.status)
}

/// The last lines of a text, indented.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
