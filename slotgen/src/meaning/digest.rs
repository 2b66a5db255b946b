//! Digests that people read.
use crate::source::sha256;

/// A short digest.
pub(super) fn short(text: &str) -> String {
    sha256(text.as_bytes()).chars().take(16).collect()
}
