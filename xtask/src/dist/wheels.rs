//! Wheels: maturin builds them, names the oldest manylinux platform that they run on, and lists what they are made of.
use super::libraries::{reproducible, room};
use super::tools::Tools;
use crate::obtain::Interpreter;
use crate::ui::{Advise, Step};
use crate::{place, run};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the wheel for an interpreter into `wheels`, and copies its bill of materials into `sbom`.
pub fn make(python: &Interpreter, out: &Path, flags: &[String]) -> Result<()> {
    let tools = Tools::ensure(python)?;
    let step = Step::start(format!("Building the wheel for CPython {}", python.full_version()));
    let folder = out.join("wheels");
    let mut maturin = tools.command("maturin");
    reproducible(&mut maturin, &room(python), flags);
    maturin.current_dir(place::root().join("runtime"));
    maturin.args(["build", "--release", "--quiet", "--auditwheel", "check", "--interpreter"]).arg(&python.executable);
    maturin.arg("--out").arg(&folder);
    run::output(&mut maturin).advise("maturin says above what is missing; it builds with cargo and pip's packages")?;
    let wheel = newest(&folder, &format!("cp{}{}", python.version.0, python.version.1))?;
    plain(python, &wheel, place::root().as_path())?;
    bill(python, &wheel, out)?;
    step.done(place::shown(&wheel));
    Ok(())
}

fn newest(folder: &Path, tag: &str) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder).with_context(|| place::shown(folder))?;
    let mut wheels = entries.flatten().map(|entry| entry.path());
    wheels
        .find(|path| path.extension().is_some_and(|ending| ending == "whl") && path.to_string_lossy().contains(tag))
        .with_context(|| format!("maturin wrote no wheel for {tag}"))
}

/// Takes the path of the checkout out of the list, and writes the list's new digest into RECORD.
const PLAIN: &str = "
import base64, hashlib, sys, urllib.parse, zipfile
wheel, root = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    files = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
rows = {}
for name, (info, data) in files.items():
    if '/sboms/' in name:
        for path in {root, urllib.parse.quote(root)}:
            data = data.replace(path.encode(), b'/slotrt')
        files[name] = info, data
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        rows[name] = f'{name},sha256={digest},{len(data)}'
for name, (info, data) in files.items():
    if name.endswith('.dist-info/RECORD'):
        lines = [rows.get(line.split(',')[0], line) for line in data.decode().splitlines()]
        files[name] = info, ('\\n'.join(lines) + '\\n').encode()
with zipfile.ZipFile(wheel, 'w') as archive:
    for info, data in files.values():
        archive.writestr(info, data)
";

fn plain(python: &Interpreter, wheel: &Path, root: &Path) -> Result<()> {
    run::output(Command::new(&python.executable).args(["-I", "-c", PLAIN]).arg(wheel).arg(root)).map(drop)
}

/// The CycloneDX list that maturin put into the wheel.
const BILL: &str = "
import sys, zipfile, pathlib
wheel, out = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    bills = [name for name in archive.namelist() if '/sboms/' in name]
    if not bills:
        sys.exit('the wheel holds no bill of materials')
    for name in bills:
        pathlib.Path(out, name.rsplit('/', 1)[1]).write_bytes(archive.read(name))
";

fn bill(python: &Interpreter, wheel: &Path, out: &Path) -> Result<()> {
    let folder = out.join("sbom");
    std::fs::create_dir_all(&folder)?;
    run::output(Command::new(&python.executable).args(["-I", "-c", BILL]).arg(wheel).arg(&folder)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obtain::interpreter;
    use crate::testing::newest;

    const MAKE: &str = "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as archive:
    archive.writestr('slotrt/__init__.py', 'x = 1')
    archive.writestr('slotrt-1.dist-info/sboms/a.json', 'file:///nowhere/slotrt/runtime#1')
    archive.writestr('slotrt-1.dist-info/RECORD', 'slotrt/__init__.py,sha256=abc,5\\nslotrt-1.dist-info/sboms/a.json,sha256=old,3\\n')
";
    const SHOW: &str = "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    print([archive.read(name).decode() for name in archive.namelist()])
";

    #[test]
    fn the_bill_of_materials_names_no_checkout() {
        let Ok(python) = interpreter::find(newest(), None) else { return };
        let room = tempfile::tempdir().unwrap();
        let wheel = room.path().join("slotrt-1-cp313.whl");
        let script =
            |text: &str| run::output(Command::new(&python.executable).args(["-I", "-c", text]).arg(&wheel)).unwrap();
        script(MAKE);
        plain(&python, &wheel, Path::new("/nowhere/slotrt")).unwrap();
        let shown = script(SHOW);
        assert!(shown.contains("'file:///slotrt/runtime#1'") && !shown.contains("nowhere"), "{shown}");
        assert!(
            shown.contains("sboms/a.json,sha256=") && !shown.contains("sha256=old") && shown.contains(",sha256=abc,5"),
            "{shown}"
        );
    }
}
