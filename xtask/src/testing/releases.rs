//! Which releases the runtime reads, hooks and traces, as the project's files and slotgen's pins say it; oldest first.
use crate::place;
use std::sync::LazyLock;

/// Releases with Rust of their own.
pub static RUST: LazyLock<Vec<String>> = LazyLock::new(|| named("generated/src", ""));

/// Releases whose code objects the runtime reads and writes: those with a table of opcodes.
pub static DECODED: LazyLock<Vec<String>> = LazyLock::new(|| named("generated/src/opcodes", ".rs"));

/// Releases whose frames the runtime hooks: those with a file of their own.
pub static HOOKED: LazyLock<Vec<String>> = LazyLock::new(|| named("runtime/src/ffi/release", ".rs"));

/// Releases on which translated functions run: those hooked that have Rust of their own, or rows that say what does not stand in for it.
pub static LIVE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let runs = |series: &&String| RUST.contains(series) || rows(series).is_some();
    HOOKED.iter().filter(runs).cloned().collect()
});

/// Releases that the runtime traces: those whose instructions the tracer knows.
pub static SUPPORTED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let untraced =
        |series: &str| rows(series).is_some_and(|rows| rows.lines().any(|row| row.starts_with("untraced | ")));
    LIVE.iter().filter(|series| bodies(series).is_some() && !untraced(series)).cloned().collect()
});

/// What of another release's bodies does not stand in for this one's.
fn rows(series: &str) -> Option<String> {
    std::fs::read_to_string(place::root().join("runtime/stand_in").join(format!("{series}.txt"))).ok()
}

/// The release whose generated functions and claims hold for a release, as the build of the runtime takes them: itself, or the next one,
/// or else, where somebody has found out what does not stand in, the one before it.
pub fn bodies(series: &str) -> Option<String> {
    let own = minor(series)?;
    let later = RUST.iter().find(|other| minor(other) >= Some(own));
    later.or_else(|| RUST.last().filter(|_| rows(series).is_some())).cloned()
}

/// The newest release that the runtime traces with bodies of its own.
pub fn newest() -> &'static str {
    let own = |series: &&String| bodies(series).as_ref() == Some(*series);
    SUPPORTED.iter().rfind(own).map_or("", String::as_str)
}

/// The series with a file or folder `v3_X` of that ending in a folder, oldest first.
fn named(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place::root().join(folder)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let series = names.filter_map(|name| Some(name.strip_prefix('v')?.strip_suffix(ending)?.replace('_', ".")));
    let mut series: Vec<String> = series.filter(|series| minor(series).is_some()).collect();
    series.sort_by_key(|series| minor(series));
    series
}

/// 13 for `3.13`.
fn minor(series: &str) -> Option<u32> {
    series.strip_prefix("3.")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_the_releases() {
        assert_eq!(*DECODED, ["3.11", "3.12", "3.13", "3.14", "3.15"]);
        assert_eq!(*HOOKED, *DECODED);
        assert_eq!(*LIVE, *DECODED);
        assert_eq!(*SUPPORTED, *DECODED);
        assert_eq!(*RUST, ["3.11", "3.13"]);
        assert_eq!(newest(), "3.13");
        assert_eq!(bodies("3.12").as_deref(), Some("3.13"));
        assert_eq!(bodies("3.14").as_deref(), Some("3.13"));
        assert_eq!(bodies("3.15").as_deref(), Some("3.13"));
        assert_eq!(bodies("3.16"), None);
    }
}
