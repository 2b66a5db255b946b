//! The symbol table of the interpreter's library: C functions and variables that are not exported.
use object::{Object, ObjectSymbol, SymbolKind};
use pyo3::ffi;
use rustc_hash::FxHashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, found: *mut DlInfo) -> c_int;
}

/// Symbols of a file by name: the C file that hides each (empty where it hides none, or nothing says so), and its address.
#[derive(Default)]
struct Table {
    functions: FxHashMap<String, Vec<(String, usize)>>,
    variables: FxHashMap<String, Vec<(String, usize)>>,
    names: FxHashMap<usize, (String, String)>,
}

/// The table of the library that has the interpreter in it; nothing where that is stripped or cannot be read.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| read().unwrap_or_default())
}

fn read() -> Option<Table> {
    let mut found = DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: an address inside the interpreter's library, and room for the answer; the file's name is a C string that lives as long as it.
    let path = unsafe {
        if dladdr(ffi::Py_IncRef as *const c_void, &raw mut found) == 0 || found.file.is_null() {
            return None;
        }
        CStr::from_ptr(found.file)
    };
    let data = std::fs::read(OsStr::from_bytes(path.to_bytes())).ok()?;
    let file = object::File::parse(&*data).ok()?;
    // An executable that is no library lies where its file says.
    let base = if file.kind() == object::ObjectKind::Executable { 0 } else { found.base as usize };
    let (mut table, mut source) = (Table::default(), String::new());
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if symbol.kind() == SymbolKind::File {
            name.rsplit('/').next().unwrap_or(name).clone_into(&mut source);
            continue;
        }
        let place = base.wrapping_add(usize::try_from(symbol.address()).ok()?);
        if symbol.address() == 0 {
            continue;
        }
        let hidden = if symbol.is_local() { source.clone() } else { String::new() };
        match symbol.kind() {
            SymbolKind::Text => {
                table.names.entry(place).or_insert_with(|| (hidden.clone(), name.to_owned()));
                table.functions.entry(name.to_owned()).or_default().push((hidden, place));
            }
            SymbolKind::Data => table.variables.entry(name.to_owned()).or_default().push((hidden, place)),
            _ => {}
        }
    }
    Some(table)
}

/// The one address of a name, or the one in a C file.
fn one(rows: Option<&Vec<(String, usize)>>, file: &str) -> Option<usize> {
    let file = file.rsplit('/').next().unwrap_or(file);
    match rows?.as_slice() {
        // Link-time optimisation forgets the files.
        [(own, address)] if own.is_empty() || own == file || file.is_empty() || own.starts_with('<') => Some(*address),
        rows => {
            let mut fit = rows.iter().filter(|row| row.0 == file);
            let first = fit.next()?;
            fit.next().is_none().then_some(first.1)
        }
    }
}

/// The address of a C function, which may be hidden in its file.
pub(crate) fn function(file: &str, name: &str) -> Option<usize> {
    one(table().functions.get(name), file)
}

/// The address of a C variable, which may be hidden in a file.
pub(crate) fn variable(name: &str) -> Option<usize> {
    one(table().variables.get(name), "")
}

/// The C file and the name of the function at an address; the file is empty where the function is hidden in none.
pub(crate) fn name_of(address: usize) -> Option<(&'static str, &'static str)> {
    table().names.get(&address).map(|(file, name)| (file.as_str(), name.as_str()))
}
