//! The differences as text, Markdown and JSON.

use super::{Diff, render};

impl Diff {
    /// Whether nothing that matters changed.
    pub fn is_empty(&self) -> bool {
        let tables =
            self.slots.is_empty() && self.slotdefs.is_empty() && self.opcodes.is_empty() && self.types.is_empty();
        tables && self.opcode_numbers.is_empty() && self.macros.is_empty() && self.functions.all().is_empty()
    }

    /// The differences as plain text.
    pub fn to_text(&self) -> String {
        render::render(self, &render::TEXT)
    }

    /// The differences as Markdown.
    pub fn to_markdown(&self) -> String {
        render::render(self, &render::MARKDOWN)
    }

    /// The differences as JSON.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}
