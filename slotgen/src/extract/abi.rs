//! The layouts that a reader of compiled tables needs, from headers alone.

use std::collections::BTreeSet;

use super::layout::Types;
use super::{headers, layouts, read_all};
use crate::diagnostics::Diagnostics;
use crate::facts::Struct;
use crate::preprocess::Preprocessor;

/// Layouts of the structs of these names, and which of their fields' types are pointers to functions.
pub(crate) fn abi(
    preprocessor: &Preprocessor<'_>,
    names: &[&str],
    diagnostics: &mut Diagnostics,
) -> (Vec<Struct>, BTreeSet<String>) {
    let headers = read_all(preprocessor, &headers(preprocessor.tree()), diagnostics);
    let body =
        |name: &str| preprocessor.api_macro(name).filter(|found| found.parameters.is_none()).map(|found| found.body);
    let types = Types::new(&headers, &body);
    let structs = layouts(&types, names, diagnostics);
    let fields = structs.iter().flat_map(|layout| &layout.fields);
    let functions = fields.filter(|field| types.is_function_pointer(&field.ty)).map(|field| field.ty.clone()).collect();
    (structs, functions)
}
