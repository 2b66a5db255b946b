//! Leads from a byte of preprocessed text back to the file it came from.

use crate::source::SourceFile;
use std::sync::Arc;

/// Where a byte of preprocessed text came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'m> {
    /// Path of the file, relative to the root of the tree.
    pub file: &'m str,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The outermost macro the text came through; the place is then that of the invocation, or of the argument.
    pub through_macro: Option<&'m str>,
}

/// A stretch of output that came from one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub out: u32,
    pub file: u32,
    pub at: u32,
    pub via: u32,
    /// The text is the file's, so that offsets run along.
    pub verbatim: bool,
}

/// The map of one unit.
#[derive(Debug, Clone)]
pub struct SourceMap {
    pub(super) files: Arc<[Arc<SourceFile>]>,
    pub(super) macros: Vec<String>,
    pub(super) segments: Vec<Segment>,
}

impl SourceMap {
    /// Where the text at a byte offset came from.
    pub fn origin(&self, offset: usize) -> Origin<'_> {
        let after = self.segments.partition_point(|segment| segment.out as usize <= offset);
        let segment = self.segments.get(after.saturating_sub(1));
        let nowhere = Origin { file: "", line: 0, column: 0, through_macro: None };
        let Some(segment) = segment else { return nowhere };
        let Some(file) = self.files.get(segment.file as usize) else { return nowhere };
        let along = if segment.verbatim { (offset as u32).saturating_sub(segment.out) } else { 0 };
        let (line, column) = file.position((segment.at + along).min(file.text().len() as u32));
        let through_macro = (segment.via as usize).checked_sub(1).and_then(|via| self.macros.get(via));
        Origin { file: file.path(), line, column, through_macro: through_macro.map(String::as_str) }
    }
}
