//! The identity of C functions: by name and file, by address.
use crate::ffi::{exported, symbol_table};
use generated::capi::FunctionId;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A C function by name, and by file where several files define one of that name.
pub(super) fn id(name: &str, file: &str) -> Option<FunctionId> {
    static IDS: OnceLock<FxHashMap<&'static str, Vec<FunctionId>>> = OnceLock::new();
    let ids = IDS.get_or_init(|| {
        let mut ids: FxHashMap<_, Vec<_>> = FxHashMap::default();
        FunctionId::ALL.iter().for_each(|id| ids.entry(id.name()).or_default().push(*id));
        ids
    });
    match ids.get(name).map(Vec::as_slice) {
        Some([one]) => Some(*one),
        Some(several) => several.iter().copied().find(|id| id.file() == file),
        None => None,
    }
}

/// The identity of the C function at an address, as the library's symbol table names it.
pub(super) fn at(pointer: usize) -> Option<FunctionId> {
    let (file, name) = symbol_table::name_of(pointer)?;
    let fits = |id: &FunctionId| file.is_empty() || id.file().rsplit('/').next() == Some(file);
    id(name, &format!("Objects/{file}")).filter(fits)
}

/// The address of a C function, which may be hidden in its file.
pub(super) fn address(id: FunctionId) -> Option<usize> {
    exported::address(id.name()).or_else(|| symbol_table::function(id.file(), id.name()))
}
