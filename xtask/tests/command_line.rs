//! The command line from outside: bad input gets an error with cause and way out, and exit status 1.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::path::Path;
use std::process::Command;

/// Exit status, standard output, standard error.
fn xtask(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Asserts exit status 1, an error that contains `cause` and a way out that contains `help`.
fn refused(arguments: &[&str], cause: &str, help: &str) {
    let (status, _, stderr) = xtask(arguments);
    assert_eq!(status, 1, "{stderr}");
    assert!(stderr.contains("error: ") && stderr.contains(cause), "{stderr}");
    assert!(stderr.lines().any(|line| line.contains("help: ") && line.contains(help)), "{stderr}");
    assert!(!stderr.contains("RUST_BACKTRACE") && !stderr.contains("\x1b["), "{stderr}");
}

/// A gzip tarball that looks like CPython of a version.
fn tarball(path: &Path, version: (u8, u8, u8)) {
    let (major, minor, micro) = version;
    let header = format!(
        "#define PY_MAJOR_VERSION {major}\n#define PY_MINOR_VERSION {minor}\n#define PY_MICRO_VERSION {micro}\n"
    );
    let gz = flate2::write::GzEncoder::new(std::fs::File::create(path).unwrap(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(gz);
    let files = ["Objects/abstract.c", "Objects/typeobject.c", "Include/object.h", "Python/ceval.c"];
    let texts = files.map(|file| (file, "int x;\n")).into_iter().chain([("Include/patchlevel.h", header.as_str())]);
    for (file, text) in texts {
        let mut entry = tar::Header::new_gnu();
        entry.set_size(text.len() as u64);
        entry.set_mode(0o644);
        builder.append_data(&mut entry, format!("Python/{file}"), text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap();
}

#[test]
fn a_tree_that_is_no_cpython() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().to_str().unwrap();
    refused(&["fetch", "3.13", "--source", path], "is no CPython source tree", "--source");
    refused(&["regen", "3.13", "--source", path], "patchlevel.h", "checkout");
}

#[test]
fn a_tarball_that_is_cut_short() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("cut.tgz");
    tarball(&path, (3, 12, 99));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 60]).unwrap();
    refused(&["fetch", "3.12", "--source", path.to_str().unwrap()], "truncated or damaged", "obtain it again");
}

#[test]
fn a_tarball_with_the_wrong_hash() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("Python-3.11.2.tgz");
    tarball(&path, (3, 11, 2));
    refused(&["fetch", "3.11", "--source", path.to_str().unwrap()], "wrong SHA-256", "obtain it again");
}

#[test]
fn a_release_that_nobody_pinned() {
    refused(&["fetch", "3.4"], "no sources are known for CPython 3.4", "--source");
}

#[test]
fn sources_of_another_release_than_wanted() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("other.tgz");
    tarball(&path, (3, 12, 98));
    refused(&["regen", "3.13", "--source", path.to_str().unwrap()], "are CPython 3.12.98", "CPython 3.13 is wanted");
}

#[test]
fn an_interpreter_that_is_none() {
    refused(&["demo", "--python", "/bin/false"], "/bin/false cannot be used", "CPython executable");
    refused(&["develop", "--python", "/nowhere/python"], "/nowhere/python cannot be used", "--python");
}

#[test]
fn help_teaches() {
    for command in
        ["audit", "bench", "demo", "develop", "facts", "fetch", "fuzz", "prove", "regen", "test", "tidy", "translate"]
    {
        let (status, stdout, _) = xtask(&[command, "--help"]);
        assert_eq!(status, 0);
        assert!(stdout.contains(&format!("cargo xtask {command}")), "{stdout}");
    }
}

#[test]
fn a_torch_without_the_files() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().display().to_string();
    refused(&["audit", "--dynamo", &path], "has no torch/_dynamo/variables", "pass the folder of an installed PyTorch");
    std::fs::create_dir_all(room.path().join("torch/_dynamo/variables")).unwrap();
    refused(&["audit", "--dynamo", &path, "--import"], "no interpreter is found above", "needs an installed PyTorch");
}

#[test]
fn releases_that_are_not_known_are_told_and_the_others_go_on() {
    refused(&["audit", "--release", "3.99"], "there is no release to audit", "known releases: 3.8");
    let (status, stdout, stderr) = xtask(&["audit", "--release", "3.99", "--release", "3.13"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("no facts of CPython 3.99") && stdout.contains("3.13.5"), "{stderr}{stdout}");
}

#[test]
fn what_nothing_is_known_of_is_answered_with_the_nearest_name() {
    refused(&["explain", "dict.nb_orr"], "is known as `dict.nb_orr`", "dict.nb_or");
    refused(&["explain", "dict.nb_or", "--release", "3.99"], "no facts of CPython 3.99", "releases with C sources");
    refused(&["fuzz", "--targets", "nonsense"], "no fuzz target `nonsense`", "preprocess");
    refused(&["audit", "history", "--source", "nonsense"], "nonsense", "--source");
}
