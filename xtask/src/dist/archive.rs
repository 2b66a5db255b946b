//! A static library of one object, from one of Rust's: what is no function of the header is hidden, so that it can be linked beside
//! other Rust libraries, and what nothing calls is left out.
use super::symbols;
use crate::run;
use crate::ui::Advise;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Turns the archive into another one.
pub fn hide(archive: &Path, into: &Path) -> Result<()> {
    let folder = into.parent().context("an archive has a folder")?;
    std::fs::create_dir_all(folder)?;
    let room = tempfile::tempdir()?;
    let (whole, object) = (room.path().join("whole.o"), room.path().join("slotrt.o"));
    let exported = symbols::of_archive(archive)?;
    let mut link = Command::new("ld");
    link.args(["-r", "--gc-sections"]);
    link.args(exported.iter().flat_map(|name| ["-u", name.as_str()])).arg(archive).arg("-o").arg(&whole);
    run::output(&mut link).advise("dist needs GNU binutils: ld, objcopy, strip, ar, nm")?;
    let mut objcopy = Command::new("objcopy");
    // Rust keeps its intermediate code beside the machine code for its own linker.
    objcopy.args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    objcopy.args(exported.iter().map(|name| format!("--keep-global-symbol={name}")));
    run::output(objcopy.arg(&whole).arg(&object))?;
    if into.exists() {
        std::fs::remove_file(into)?;
    }
    run::output(Command::new("ar").arg("rcsD").arg(into).arg(&object)).map(drop)
}
