//! Which releases the runtime hooks and traces, as its files and slotgen's pins say it.
use crate::place;
use slotgen::source::built;
use std::sync::LazyLock;

/// Releases whose frames the runtime hooks, oldest first: those with a file in `runtime/src/ffi/release`.
pub static HOOKED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = place::root().join("runtime/src/ffi/release");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut minors: Vec<u32> = names.filter_map(|name| minor(name.strip_prefix("v3_")?.strip_suffix(".rs")?)).collect();
    minors.sort_unstable();
    minors.into_iter().map(|minor| format!("3.{minor}")).collect()
});

/// Releases that the runtime traces, oldest first: those hooked that have Rust of their own, or for which a later one stands in.
pub static SUPPORTED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let of = |series: &str| series.strip_prefix("3.").and_then(minor);
    let newest = built().iter().filter_map(|series| of(series)).max();
    HOOKED.iter().filter(|series| of(series) <= newest).cloned().collect()
});

fn minor(text: &str) -> Option<u32> {
    text.parse().ok()
}

/// The newest release that the runtime traces.
pub fn newest() -> &'static str {
    SUPPORTED.last().map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_the_releases() {
        assert_eq!(*HOOKED, ["3.11", "3.12", "3.13"]);
        assert_eq!(*SUPPORTED, *HOOKED);
        assert_eq!(newest(), "3.13");
    }
}
