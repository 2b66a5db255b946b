//! Named build configurations: which macros the build defines, kept as data in `data/configurations.toml`.

use crate::source::Release;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A build configuration of CPython on Linux, x86-64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    name: String,
    definitions: String,
    expanded: BTreeSet<String>,
}

/// Why there is no such configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// The name is none of the table's.
    #[error("there is no configuration `{name}`; there are: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names of the table.
        known: String,
    },
    /// The release is older than the configuration.
    #[error("CPython {release} has no configuration `{name}`; it exists since {since}")]
    TooOld {
        /// The name asked for.
        name: String,
        /// The release of the tree.
        release: String,
        /// The first series that has it.
        since: String,
    },
    /// The embedded table does not parse: a fault of this crate.
    #[error("data/configurations.toml: {0}")]
    Table(String),
}

#[derive(Deserialize)]
struct Data {
    common: Section,
    system: Section,
    configuration: BTreeMap<String, Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    /// First series that has the configuration, as `[3, 13]`.
    since: Option<[u32; 2]>,
    /// Names defined as 1.
    #[serde(default)]
    flags: Vec<String>,
    /// Names with other values.
    #[serde(default)]
    values: BTreeMap<String, String>,
}

const DATA: &str = include_str!("../../data/configurations.toml");

impl Configuration {
    /// The names of the table.
    pub const NAMES: [&str; 3] = ["release", "debug", "free-threaded"];

    /// The configuration `release`, `debug` or `free-threaded`, as a build of that release has it.
    pub fn named(name: &str, release: &Release) -> Result<Configuration, ConfigurationError> {
        let data: Data = toml::from_str(DATA).map_err(|error| ConfigurationError::Table(error.to_string()))?;
        let section = data.configuration.get(name).ok_or_else(|| ConfigurationError::Unknown {
            name: name.to_owned(),
            known: data.configuration.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })?;
        if let Some([major, minor]) =
            section.since.filter(|&[major, minor]| (release.major, release.minor) < (major, minor))
        {
            let since = format!("{major}.{minor}");
            return Err(ConfigurationError::TooOld { name: name.to_owned(), release: release.to_string(), since });
        }
        let mut definitions = String::new();
        for section in [&data.common, &data.system, section] {
            section.write(&mut definitions);
        }
        Ok(Configuration { name: name.to_owned(), definitions, expanded: BTreeSet::new() })
    }

    /// Names of all configurations that the release has.
    pub fn names(release: &Release) -> Vec<String> {
        let Ok(data) = toml::from_str::<Data>(DATA) else { return Vec::new() };
        data.configuration.into_keys().filter(|name| Configuration::named(name, release).is_ok()).collect()
    }

    /// The configuration with more definitions, each in the form of `#define`: `NAME` or `NAME value`.
    pub fn with(mut self, definition: &str) -> Configuration {
        self.definitions.push_str(&format!("#define {}\n", definition.replace('\n', " ")));
        self
    }

    /// The configuration under which macros of `Include/` that no rule names are expanded, because their calls are no C.
    #[must_use]
    pub fn expanding(mut self, names: impl IntoIterator<Item = String>) -> Configuration {
        self.expanded.extend(names);
        self
    }

    /// The macros that are expanded although no rule names them.
    pub fn expanded(&self) -> &BTreeSet<String> {
        &self.expanded
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The definitions as directives.
    pub(super) fn definitions(&self) -> &str {
        &self.definitions
    }
}

impl Section {
    fn write(&self, out: &mut String) {
        for name in &self.flags {
            out.push_str(&format!("#define {name} 1\n"));
        }
        for (name, value) in &self.values {
            out.push_str(&format!("#define {name} {value}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(minor: u32) -> Release {
        Release { major: 3, minor, micro: 0, level: String::new() }
    }

    #[test]
    fn three_names() {
        assert_eq!(Configuration::names(&release(13)), ["debug", "free-threaded", "release"]);
        assert_eq!(Configuration::names(&release(12)), ["debug", "release"]);
        assert!(Configuration::named("debug", &release(9)).unwrap().definitions().contains("#define Py_DEBUG 1"));
    }

    #[test]
    fn errors_say_what_there_is() {
        let error = Configuration::named("fast", &release(13)).unwrap_err();
        assert!(error.to_string().contains("debug, free-threaded, release"), "{error}");
        let error = Configuration::named("free-threaded", &release(12)).unwrap_err();
        assert!(error.to_string().contains("since 3.13"), "{error}");
    }
}
