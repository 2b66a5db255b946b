//! Which release a tree is, read from `Include/patchlevel.h`.

use super::SourceError;
use std::fmt;

/// A CPython release such as `3.13.5` or `3.15.0b2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// `PY_MAJOR_VERSION`.
    pub major: u32,
    /// `PY_MINOR_VERSION`.
    pub minor: u32,
    /// `PY_MICRO_VERSION`.
    pub micro: u32,
    /// `PY_RELEASE_LEVEL` and serial: empty when final, else `a1`, `b2`, `rc1`.
    pub level: String,
}

impl Release {
    /// Reads the macros of `patchlevel.h`.
    pub fn from_patchlevel(file: &str, text: &str) -> Result<Release, SourceError> {
        let number = |name| number(file, text, name);
        let serial = number("PY_RELEASE_SERIAL")?;
        let level = match value(text, "PY_RELEASE_LEVEL") {
            Some("PY_RELEASE_LEVEL_ALPHA") => format!("a{serial}"),
            Some("PY_RELEASE_LEVEL_BETA") => format!("b{serial}"),
            Some("PY_RELEASE_LEVEL_GAMMA") => format!("rc{serial}"),
            Some("PY_RELEASE_LEVEL_FINAL") => String::new(),
            _ => return Err(SourceError::NoRelease { file: file.to_owned(), name: "PY_RELEASE_LEVEL" }),
        };
        Ok(Release {
            major: number("PY_MAJOR_VERSION")?,
            minor: number("PY_MINOR_VERSION")?,
            micro: number("PY_MICRO_VERSION")?,
            level,
        })
    }

    /// `3.13`, the series that tables are made for.
    pub fn series(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}{}", self.major, self.minor, self.micro, self.level)
    }
}

fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let mut words = line.strip_prefix("#define")?.split_ascii_whitespace();
        (words.next()? == name).then(|| words.next()).flatten()
    })
}

fn number(file: &str, text: &str, name: &'static str) -> Result<u32, SourceError> {
    value(text, name).and_then(|word| word.parse().ok()).ok_or(SourceError::NoRelease { file: file.to_owned(), name })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "#define PY_RELEASE_LEVEL_BETA 0xB\n#define PY_MAJOR_VERSION 3\n\
        #define PY_MINOR_VERSION 15\n#define PY_MICRO_VERSION 0\n\
        #define PY_RELEASE_LEVEL PY_RELEASE_LEVEL_BETA\n#define PY_RELEASE_SERIAL 2\n";

    #[test]
    fn reads_a_beta() {
        let release = Release::from_patchlevel("patchlevel.h", HEADER).unwrap();
        assert_eq!(release.to_string(), "3.15.0b2");
        assert_eq!(release.series(), "3.15");
    }

    #[test]
    fn names_what_is_missing() {
        let text = HEADER.replace("PY_MINOR_VERSION 15", "PY_MINOR_VERSION fifteen");
        let error = Release::from_patchlevel("patchlevel.h", &text).unwrap_err();
        assert!(error.to_string().contains("PY_MINOR_VERSION"), "{error}");
    }
}
