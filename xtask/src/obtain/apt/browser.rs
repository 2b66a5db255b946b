//! A browser without a window, from Debian, unpacked and never installed: it looks at reports in tests.
use super::{Suite, tree};
use crate::place;
use crate::ui::{Advise, Step};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The suite that it comes from.
const SUITE: &str = "bookworm";

/// Written last.
const MARK: &str = ".slotrt-complete";

/// How long one page may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a page is opened: a browser in one process ends by itself now and then.
const ATTEMPTS: usize = 3;

/// An unpacked Chromium.
pub struct Browser {
    tree: PathBuf,
}

impl Browser {
    /// The browser, if it was unpacked before.
    pub fn unpacked() -> Option<Self> {
        let tree = place::target().join("debian-browser");
        tree.join(MARK).is_file().then_some(Self { tree })
    }

    /// The browser; fetched if it is not there.
    pub fn ensure() -> Result<Self> {
        if let Some(found) = Self::unpacked() {
            return Ok(found);
        }
        let tree = place::target().join("debian-browser");
        let step = Step::start(format!("A headless browser from Debian {SUITE}"));
        step.at("reading package lists");
        let packages = ["chromium-headless-shell", "fonts-dejavu-core"].map(str::to_owned);
        Suite::open(SUITE, "deb")
            .and_then(|suite| tree::unpack(&suite, &packages, &tree, &step))
            .and_then(|()| beside_the_loader(&tree))
            .with_context(|| format!("the browser could not be unpacked from Debian {SUITE}"))
            .advise("this needs apt-get and a Debian mirror; without them the page is only parsed")?;
        std::fs::write(tree.join(MARK), "")?;
        step.done(place::shown(&tree));
        Ok(Self { tree })
    }

    /// Opens a file with these options of Chromium, and returns what it prints.
    pub fn open(&self, file: &Path, fragment: &str, options: &[&str]) -> Result<String> {
        let mut last = Ok(String::new());
        for _ in 0..ATTEMPTS {
            last = self.attempt(file, fragment, options);
            if last.is_ok() {
                break;
            }
        }
        last
    }

    fn attempt(&self, file: &Path, fragment: &str, options: &[&str]) -> Result<String> {
        let libraries = self.tree.join("usr/lib/x86_64-linux-gnu");
        let room = tempfile::tempdir()?;
        let mut command = Command::new(libraries.join("ld-linux-x86-64.so.2"));
        command
            .arg("--library-path")
            .arg(search_path(&libraries))
            .arg(self.tree.join("usr/lib/chromium/chromium-headless-shell"));
        command.args(["--no-sandbox", "--no-zygote", "--single-process", "--disable-gpu", "--hide-scrollbars"]);
        command
            .arg("--virtual-time-budget=8000")
            .arg(format!("--user-data-dir={}", room.path().display()))
            .args(options);
        command.arg(format!("file://{}{fragment}", file.display()));
        command.env("FONTCONFIG_PATH", self.tree.join("etc/fonts")).env("FONTCONFIG_SYSROOT", &self.tree);
        command.env("HOME", room.path());
        let printed = room.path().join("printed");
        let said = room.path().join("said");
        command.stdin(Stdio::null()).stdout(std::fs::File::create(&printed)?).stderr(std::fs::File::create(&said)?);
        let mut child = command.spawn().context("the browser could not be started")?;
        let start = Instant::now();
        while child.try_wait()?.is_none() {
            if start.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                bail!("the browser took too long: {}", std::fs::read_to_string(&said).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let text = std::fs::read(&printed)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The browser looks for its data beside the program that was started, which is the tree's loader.
fn beside_the_loader(tree: &Path) -> Result<()> {
    let own = tree.join("usr/lib/chromium");
    for entry in std::fs::read_dir(&own).with_context(|| place::shown(&own))?.flatten() {
        let link = tree.join("usr/lib/x86_64-linux-gnu").join(entry.file_name());
        if entry.path().is_file() && !link.exists() {
            std::os::unix::fs::symlink(entry.path(), link)?;
        }
    }
    Ok(())
}

/// The folder of libraries, and those in it that hold some, too.
fn search_path(libraries: &Path) -> String {
    let is_library = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so"));
    let holds = |folder: &PathBuf| {
        std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| is_library(&entry.path())))
    };
    let inner = std::fs::read_dir(libraries).into_iter().flatten().flatten().map(|entry| entry.path());
    let folders = std::iter::once(libraries.to_owned()).chain(inner.filter(|path| path.is_dir()).filter(holds));
    folders.map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(":")
}
