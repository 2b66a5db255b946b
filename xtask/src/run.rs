//! Runs other programs; a failure shows the command and its output.
use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Read};
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

/// Runs a program that tells on standard error what it is doing, a line at a time, and prints its report as JSON in the last line.
/// `name` is what errors call it.
pub fn report<T: DeserializeOwned>(command: &mut Command, name: &str, heard: impl Fn(&str)) -> Result<T> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{name} could not be started"))?;
    // Both pipes are emptied at once: the report is longer than a pipe holds.
    let mut stdout = child.stdout.take().with_context(|| format!("{name} has no output"))?;
    let reader = std::thread::spawn(move || {
        let mut output = String::new();
        stdout.read_to_string(&mut output).map(|_| output)
    });
    let mut said = Vec::new();
    for line in child.stderr.take().into_iter().flat_map(|stderr| BufReader::new(stderr).lines()) {
        let line = line?;
        heard(&line);
        said.push(line);
    }
    let output = reader.join().map_err(|_| anyhow!("the output of {name} could not be read"))??;
    let status = child.wait()?;
    if !status.success() {
        let last = said.len().saturating_sub(12);
        bail!("{name} ended with {status}:\n{}", said.get(last..).unwrap_or_default().join("\n"));
    }
    serde_json::from_str(output.lines().last().unwrap_or_default()).with_context(|| format!("{name} said: {output}"))
}

/// The last lines of a text, indented.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
