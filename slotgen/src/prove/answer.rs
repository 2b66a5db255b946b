//! What a running interpreter says of its types.

use std::collections::BTreeMap;

use super::symbols::Mapping;

#[derive(Debug, serde::Deserialize)]
pub(super) struct Live {
    pub(super) release: String,
    pub(super) types: Vec<LiveType>,
    pub(super) map: Vec<Mapping>,
    pub(super) failed: BTreeMap<String, String>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct LiveType {
    pub(super) address: u64,
    pub(super) tp_name: String,
    pub(super) flags: u64,
    pub(super) slots: BTreeMap<String, u64>,
    pub(super) methods: Vec<(String, u64, i64, String, LiveSignature)>,
    pub(super) getset: Vec<(String, u64, u64)>,
    pub(super) members: Vec<(String, i64, i64)>,
}

/// `__text_signature__`; false where the attribute is another object than the method.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum LiveSignature {
    Text(Option<String>),
    Other(#[allow(dead_code, reason = "only its presence counts")] bool),
}
