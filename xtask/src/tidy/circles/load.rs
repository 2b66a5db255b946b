//! Loads a crate: follows `mod` lines from its first file.
use super::modules::{ModuleId, Modules, Pending, Sources};
use super::read::read;

/// Reads the crate that begins in `root`; files that are missing or no Rust are left to the compiler.
pub fn load(root: &str, sources: &Sources<'_>) -> Modules {
    let mut modules = Modules::default();
    let mut pending = load_file(&mut modules, None, root, sources).unwrap_or_default();
    while let Some(next) = pending.pop() {
        let there = next.candidates.iter().filter(|path| sources.contains_key(path.as_str()));
        for path in there {
            let id = modules.all.len();
            if let Some(more) = load_file(&mut modules, Some(next.parent), path, sources) {
                modules.all[next.parent].children.entry(next.name.clone()).or_default().push(id);
                pending.extend(more);
            }
        }
    }
    modules
}

fn load_file(
    modules: &mut Modules,
    parent: Option<ModuleId>,
    path: &str,
    sources: &Sources<'_>,
) -> Option<Vec<Pending>> {
    let file = syn::parse_file(sources.get(path)?).ok()?;
    let id = modules.add(path, parent);
    Some(read(&file, id, modules))
}
