//! One C file in memory, with its digest and its line table.

use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// A source file: path relative to the tree's root, text, SHA-256.
#[derive(Debug)]
pub struct SourceFile {
    path: String,
    text: String,
    sha256: String,
    lines: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// Wraps the bytes of a file; bytes that are no UTF-8 are read as Latin-1, line ends of Windows as those of CPython's own files.
    pub fn new(path: String, bytes: Vec<u8>) -> SourceFile {
        let sha256 = sha256(&bytes);
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| error.as_bytes().iter().map(|&byte| char::from(byte)).collect());
        let text = if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text };
        SourceFile { path, text, sha256, lines: OnceLock::new() }
    }

    /// Path relative to the root of the tree, with `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the bytes on disk, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Line and column (both from 1, the column in bytes) of a byte offset into `text`.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let starts = self.lines.get_or_init(|| line_starts(&self.text));
        let line = starts.partition_point(|&start| start <= offset);
        let start = starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        (line as u32, offset - start + 1)
    }

    /// The line (from 1) where both sides of a merge begin that nobody has finished.
    pub(super) fn unmerged(&self) -> Option<usize> {
        let begins = |marker: &str| self.text.lines().position(|line| line.starts_with(marker));
        let (start, middle, end) = (begins("<<<<<<< ")?, begins("=======")?, begins(">>>>>>> ")?);
        (start < middle && middle < end).then_some(start + 1)
    }

    /// The text of a line (from 1), without its end; empty when there is no such line.
    pub fn line(&self, line: u32) -> &str {
        self.text.lines().nth((line as usize).wrapping_sub(1)).unwrap_or("")
    }

    /// Whether the file is a header of `Include/`: it is read for its macros, and its code is not inlined.
    pub fn is_api(&self) -> bool {
        self.path.starts_with("Include/")
    }

    /// Whether the macros that the file defines are the C API's and stay calls; a library's in `Include/` are not.
    pub fn has_api_macros(&self) -> bool {
        const VENDORED: [&str; 1] = ["Include/internal/mimalloc/"];
        self.is_api() && !VENDORED.iter().any(|library| self.path.starts_with(library))
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal of a digest.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn line_starts(text: &str) -> Vec<u32> {
    let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect()
}
