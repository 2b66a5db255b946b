//! The digests of upstream's archives, kept as data in `data/releases.toml`.

use super::{SourceError, file::hex};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// An upstream source archive and its digest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Pin {
    /// The release, such as `3.13.5`.
    pub release: String,
    /// Upstream's name of the archive.
    pub archive: String,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Whether the archive is read only when `regen` is asked for the release.
    #[serde(default, rename = "on-demand")]
    pub on_demand: bool,
    /// Whether Rust is made of the release.
    #[serde(default)]
    pub rust: bool,
}

impl Pin {
    /// The release's series, such as `3.13`.
    pub fn series(&self) -> &str {
        self.release.rsplit_once('.').map_or(self.release.as_str(), |(series, _)| series)
    }

    /// Checks the bytes of an archive against the pin.
    pub fn verify(&self, bytes: &[u8]) -> Result<(), SourceError> {
        let found = hex(&Sha256::digest(bytes));
        if found == self.sha256 {
            return Ok(());
        }
        Err(SourceError::WrongHash { name: self.archive.clone(), expected: self.sha256.clone(), found })
    }

    /// Where upstream publishes the archive.
    pub fn url(&self) -> String {
        let directory = self.release.trim_end_matches(|c: char| !c.is_ascii_digit());
        format!("https://www.python.org/ftp/python/{directory}/{}", self.archive)
    }
}

#[derive(Deserialize)]
struct Table {
    release: Vec<Pin>,
}

static PINS: LazyLock<Vec<Pin>> = LazyLock::new(|| {
    // A test asserts that the embedded table parses and is not empty.
    toml::from_str::<Table>(include_str!("../../data/releases.toml")).map(|t| t.release).unwrap_or_default()
});

/// All pins, oldest release first.
pub fn pins() -> &'static [Pin] {
    &PINS
}

/// The series that Rust is made of, oldest first.
pub fn built() -> Vec<String> {
    PINS.iter().filter(|pin| pin.rust).map(|pin| pin.series().to_owned()).collect()
}

/// The pin of a release (`3.13.5`), or of the oldest pinned patch release of a series (`3.13`).
pub fn pin(release: &str) -> Option<&'static Pin> {
    let in_series = |p: &&Pin| p.series() == release && !p.on_demand;
    PINS.iter().find(|p| p.release == release).or_else(|| PINS.iter().find(in_series))
}

/// The pin of a series whose archive is read only when somebody asks for it.
pub fn on_demand(series: &str) -> Option<&'static Pin> {
    PINS.iter().find(|pin| pin.on_demand && (pin.series() == series || pin.release == series))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_table_is_complete() {
        let table: Table = toml::from_str(include_str!("../../data/releases.toml")).unwrap();
        assert!(table.release.len() >= 4);
        for pin in &table.release {
            assert_eq!(pin.sha256.len(), 64, "{}", pin.release);
            assert!(pin.archive.contains(&pin.release));
        }
        assert_eq!(pin("3.13").unwrap().release, "3.13.5");
        assert!(pin("2.7").is_none());
        assert!(pin("3.14").is_none() && on_demand("3.14").is_some());
        // One release of a series, and the one that its series means.
        assert!(table.release.iter().filter(|row| row.rust).all(|row| pin(row.series()) == Some(row)));
    }

    #[test]
    fn a_wrong_archive_is_refused() {
        let error = pin("3.13.5").unwrap().verify(b"not the archive").unwrap_err();
        assert!(matches!(error, SourceError::WrongHash { .. }));
    }
}
