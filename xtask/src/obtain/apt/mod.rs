//! apt with a configuration of its own: Debian's source packages, and interpreters unpacked without being installed.
//!
//! Nothing of the machine's apt is changed: lists, state and cache lie under `target/apt`. Mirror and signing key are
//! those that the machine's own configuration names.
pub mod bolt;
#[cfg(test)]
pub mod browser;
pub mod source;
mod tree;
pub mod unpacked;

use crate::{place, run};
use anyhow::{Result, anyhow};
use std::path::{Path, PathBuf};
use std::process::Command;

/// apt's view of one suite.
struct Suite {
    room: PathBuf,
}

impl Suite {
    /// Reads the suite's package lists; `types` is `deb` or `deb-src`.
    fn open(name: &str, types: &str) -> Result<Suite> {
        let room = place::target().join("apt").join(format!("{name}-{types}"));
        for directory in ["lists/partial", "etc", "cache/archives/partial", "none", "source"] {
            std::fs::create_dir_all(room.join(directory))?;
        }
        std::fs::write(room.join("status"), "")?;
        let Machine { mirror, keyring } = Machine::read()?;
        let entry = format!("Types: {types}\nURIs: {mirror}\nSuites: {name}\nComponents: main\nSigned-By: {keyring}\n");
        std::fs::write(room.join("etc").join("slotrt.sources"), entry)?;
        let suite = Suite { room };
        run::output(suite.apt_get().arg("update"))?;
        Ok(suite)
    }

    /// `apt-get` that sees this suite alone, and no installed package.
    fn apt_get(&self) -> Command {
        let mut command = Command::new("apt-get");
        command.args(["-qq", "-y"]);
        let option = |name: &str, inner: &str| format!("-o{name}={}", self.room.join(inner).display());
        command.args([
            option("Dir::State", ""),
            option("Dir::State::Lists", "lists"),
            option("Dir::State::status", "status"),
            option("Dir::Cache", "cache"),
            option("Dir::Etc::SourceParts", "etc"),
            option("Dir::Etc::PreferencesParts", "none"),
        ]);
        command.args(["-oDir::Etc::SourceList=/dev/null", "-oDir::Etc::Preferences=/dev/null"]);
        command.args(["-oAcquire::Languages=none", "-oAcquire::Retries=2", "-oDebug::NoLocking=1"]);
        command.args(["-oAPT::Sandbox::User=", "-oAPT::Install-Recommends=0"]);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    fn path(&self, inner: impl AsRef<Path>) -> PathBuf {
        self.room.join(inner)
    }
}

/// What this machine's apt configuration says.
struct Machine {
    mirror: String,
    keyring: String,
}

impl Machine {
    fn read() -> Result<Machine> {
        let etc = Path::new("/etc/apt");
        let mut files: Vec<PathBuf> = std::fs::read_dir(etc.join("sources.list.d"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.path())
            .collect();
        files.sort();
        files.push(etc.join("sources.list"));
        let texts: Vec<String> = files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect();
        let mirror = texts.iter().find_map(|text| mirror_in(text));
        let mirror = mirror.ok_or_else(|| anyhow!("no Debian mirror found under /etc/apt"))?;
        let keyring = texts.iter().find_map(|text| keyring_in(text));
        let keyring = keyring.unwrap_or_else(|| "/usr/share/keyrings/debian-archive-keyring.gpg".to_owned());
        Ok(Machine { mirror, keyring })
    }
}

/// The first address of a Debian archive in a file of either apt format.
fn mirror_in(text: &str) -> Option<String> {
    let words = text.lines().filter(|line| line.starts_with("URIs:") || line.starts_with("deb "));
    let mut words = words.flat_map(str::split_whitespace).map(|word| word.trim_end_matches('/'));
    words.find(|word| word.contains("://") && word.ends_with("/debian")).map(str::to_owned)
}

/// The keyring that signs the Debian archive.
fn keyring_in(text: &str) -> Option<String> {
    let mut values = text.lines().filter_map(|line| line.strip_prefix("Signed-By:")).map(str::trim);
    values.find(|value| value.starts_with('/') && value.contains("debian")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_of_apt_name_the_mirror() {
        let deb822 = "Types: deb\nURIs: http://x.example/debian-security\nURIs: http://x.example/debian/\nSigned-By: /k/debian.gpg\n";
        assert_eq!(mirror_in(deb822).unwrap(), "http://x.example/debian");
        assert_eq!(keyring_in(deb822).unwrap(), "/k/debian.gpg");
        assert_eq!(
            mirror_in("deb [arch=amd64] http://y.example/debian trixie main").unwrap(),
            "http://y.example/debian"
        );
        assert_eq!(mirror_in("# deb http://y.example/debian trixie main"), None);
    }
}
