//! The driver: lists the stages in the order of the data flow.

use std::collections::BTreeMap;
use std::path::Path;

use crate::diagnostics::{Diagnostics, Severity};
use crate::effects::{self, LeafError};
use crate::emit::{self, Change, File, Header, Mode};
use crate::extract;
use crate::facts::{Facts, Installed, Opcodes, Origin};
use crate::model;
use crate::preprocess::{Configuration, ConfigurationError, Preprocessor};
use crate::source::{SourceError, Tree};
use crate::translate::{self, Elsewhere, Vocabulary};

/// What a run found and did.
#[derive(Debug)]
pub struct Report {
    /// The release that was read, such as `3.13.5`.
    pub release: String,
    /// What the sources say.
    pub facts: Facts,
    /// Differences between `generated/` and what it should be; after `Write` they are gone.
    pub changes: Vec<Change>,
    /// Findings that did not stop the run.
    pub diagnostics: Diagnostics,
    /// Files that make up the release and what they share with others.
    pub files: usize,
}

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The tree is of another release.
    #[error("the sources are CPython {found}, but {wanted} was asked for; give the sources of a {wanted} release")]
    Release {
        /// The series asked for.
        wanted: String,
        /// The release found.
        found: String,
    },
    /// The sources were not understood.
    #[error("{} of the sources of CPython {release} not understood:\n{text}", places(diagnostics))]
    Sources {
        /// The release.
        release: String,
        /// All findings.
        diagnostics: Diagnostics,
        /// The findings with the lines they are about.
        text: String,
    },
    /// The headers could not be read.
    #[error(transparent)]
    Unreadable(#[from] SourceError),
    /// A committed facts file cannot be read.
    #[error("{path}: {reason}; restore it from version control")]
    Facts {
        /// The file, relative to `generated/`.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The build configuration does not exist for this release.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The reviewed table of effects is wrong.
    #[error(transparent)]
    Effects(#[from] LeafError),
    /// A template failed.
    #[error(transparent)]
    Render(#[from] emit::RenderError),
    /// Releases disagree.
    #[error(transparent)]
    Table(#[from] emit::TableError),
    /// Function bodies could not be translated at all.
    #[error("translation: {0}")]
    Translation(String),
    /// `generated/` could not be read or replaced.
    #[error(transparent)]
    Write(#[from] emit::WriteError),
}

fn places(diagnostics: &Diagnostics) -> String {
    match diagnostics.iter().filter(|found| found.severity == Severity::Error).count() {
        1 => "1 place".to_owned(),
        count => format!("{count} places"),
    }
}

/// The facts of a source tree, inherited slots included.
pub fn facts_of(tree: &Tree) -> Result<Facts, GenerateError> {
    Ok(understood(tree, &Configuration::named("release", tree.release())?)?.0)
}

/// The facts, and findings that are no errors; with one error there are no facts, and all of them are told.
fn understood(tree: &Tree, configuration: &Configuration) -> Result<(Facts, Diagnostics), GenerateError> {
    let mut diagnostics = Diagnostics::default();
    match extract::extract(tree, configuration, &mut diagnostics).filter(|_| !diagnostics.has_errors()) {
        Some(mut facts) => {
            model::link(&mut facts);
            Ok((facts, diagnostics))
        }
        None => Err(not_understood(tree, diagnostics)),
    }
}

fn not_understood(tree: &Tree, diagnostics: Diagnostics) -> GenerateError {
    let text = diagnostics.render(&|path| tree.file(path).map(|file| file.text()));
    GenerateError::Sources { release: tree.release().to_string(), diagnostics, text }
}

/// Reads `tree`, a source tree of `series` (such as `3.13`), and brings `root` (the folder `generated`) into line.
pub fn generate(tree: &Tree, series: &str, root: &Path, mode: Mode) -> Result<Report, GenerateError> {
    let release = tree.release().to_string();
    if tree.release().series() != series {
        return Err(GenerateError::Release { wanted: series.to_owned(), found: release });
    }
    let configuration = Configuration::named("release", tree.release())?;
    let (mut facts, mut diagnostics) = understood(tree, &configuration)?;
    add_effects(tree, &configuration, &mut facts)?;
    let mut all = other_facts(root, series)?;
    all.insert(series.to_owned(), facts.clone());
    let folder = format!("src/v{}/", series.replace('.', "_"));
    // Facts are kept of every release; Rust is made of those that the façade names.
    let is_built = |series: &str| is_named(root, "src/lib.rs", series);
    let mut files = vec![facts_file(&all[series], series)?];
    let mut vocabularies = BTreeMap::new();
    if is_built(series) {
        files.extend(of_release(&all[series], series)?);
        vocabularies = read_vocabularies(root, series)?;
        let header = header(&all[series], series);
        let translation = translate::files(tree, &configuration, &header, &folder, newer(&vocabularies, series));
        let translation = translation.map_err(GenerateError::Translation)?;
        diagnostics.0.extend(translation.diagnostics.0);
        files.extend(translation.files);
        files.push(modules(&all[series], series, &folder, &files));
        files.push(as_json(format!("facts/vocabulary/{series}.json"), &translation.vocabulary)?);
        vocabularies.insert(series.to_owned(), translation.vocabulary);
    }
    let sets = instruction_sets(root, &all)?;
    all.retain(|series, _| is_built(series));
    if !all.is_empty() {
        files.extend(shared(&all)?);
        if is_built(series) {
            files.push(vocabulary_trait(&all, &vocabularies)?);
        }
        files.extend(opcode_files(&sets)?);
    }
    files.sort();
    let mut owned = vec![format!("facts/{series}.json")];
    if is_built(series) {
        owned.push(format!("facts/vocabulary/{series}.json"));
        owned.extend([folder, "src/opcodes/".to_owned(), "src/slots.rs".to_owned(), "src/capi.rs".to_owned()]);
    }
    let changes = emit::write(root, &owned, &files, mode)?;
    Ok(Report { release, facts, changes, diagnostics, files: files.len() })
}

/// What the functions do, as their bodies and those of their callees have it.
fn add_effects(tree: &Tree, configuration: &Configuration, facts: &mut Facts) -> Result<(), GenerateError> {
    let preprocessor =
        Preprocessor::new(tree, configuration).map_err(|diagnostics| not_understood(tree, diagnostics))?;
    let analysis = effects::analyse(tree, &preprocessor, facts, &mut Diagnostics::default())?;
    facts.effects = effects::publish(&analysis);
    facts.module_functions = analysis.modules;
    facts.module_functions.sort();
    facts.module_functions.dedup();
    Ok(())
}

fn header(facts: &Facts, series: &str) -> Header {
    Header { release: facts.release.clone(), series: series.to_owned(), digest: facts.digest.clone() }
}

/// What one release has to itself.
fn of_release(facts: &Facts, series: &str) -> Result<Vec<File>, GenerateError> {
    let header = header(facts, series);
    Ok(vec![
        emit::release_slots(&header, facts)?,
        emit::release_slotdefs(&header, facts)?,
        emit::release_types(&header, facts)?,
        emit::release_effects(&header, facts)?,
        emit::layouts(
            &header,
            format!("src/v{}/layouts.rs", series.replace('.', "_")),
            &facts.structs,
            &facts.function_types,
            extract::LAYOUTS,
        )?,
    ])
}

fn as_json(path: String, data: &impl serde::Serialize) -> Result<File, GenerateError> {
    match serde_json::to_string_pretty(data) {
        Ok(text) => Ok(File { path, text: text + "\n" }),
        Err(error) => Err(GenerateError::Facts { path, reason: error.to_string() }),
    }
}

fn facts_file(facts: &Facts, series: &str) -> Result<File, GenerateError> {
    let path = format!("facts/{series}.json");
    match facts.to_json() {
        Ok(text) => Ok(File { path, text }),
        Err(error) => Err(GenerateError::Facts { path, reason: error.to_string() }),
    }
}

/// Whether a hand-written list of modules names the one of a series.
fn is_named(root: &Path, list: &str, series: &str) -> bool {
    let text = std::fs::read_to_string(root.join(list)).unwrap_or_default();
    text.contains(&format!("mod v{};", series.replace('.', "_")))
}

/// An instruction set with what the header of its table says.
type InstructionSets = BTreeMap<String, (Header, Opcodes)>;

/// The instruction sets that `src/opcodes/mod.rs` names: of releases whose sources were read, and of installations.
fn instruction_sets(root: &Path, all: &BTreeMap<String, Facts>) -> Result<InstructionSets, GenerateError> {
    let mut sets: InstructionSets = BTreeMap::new();
    for (series, facts) in all {
        sets.insert(series.clone(), (header(facts, series), facts.opcodes.clone()));
    }
    for (series, known) in read_json::<Installed>(root, "facts/installed", "")? {
        let of = Header { release: known.release, series: format!("--installed {series}"), digest: known.digest };
        sets.insert(series, (of, known.opcodes));
    }
    sets.retain(|series, _| is_named(root, "src/opcodes/mod.rs", series));
    Ok(sets)
}

/// `Op` and the tables of all releases.
fn opcode_files(sets: &InstructionSets) -> Result<Vec<File>, GenerateError> {
    let join =
        |field: fn(&Header) -> &str| sets.values().map(|(header, _)| field(header)).collect::<Vec<_>>().join(", ");
    let of_all = Header {
        release: join(|header| &header.release),
        series: sets.keys().cloned().collect::<Vec<_>>().join(" "),
        digest: join(|header| &header.digest),
    };
    let mut files = vec![emit::op(&of_all, &sets.values().map(|(_, opcodes)| opcodes).collect::<Vec<_>>())?];
    for (series, (header, opcodes)) in sets {
        files.push(emit::release_opcodes(header, series, opcodes)?);
    }
    Ok(files)
}

/// Brings the facts of `series`, read from a compiled library, into line; gives what changes.
pub fn generate_binary(facts: &Facts, series: &str, root: &Path, mode: Mode) -> Result<Vec<Change>, GenerateError> {
    let file = facts_file(facts, series)?;
    Ok(emit::write(root, std::slice::from_ref(&file.path), std::slice::from_ref(&file), mode)?)
}

/// Reads the headers of an installation of `series` and its `opcode.py`, and brings the tables of code objects and
/// frames into line; gives what changes.
pub fn generate_installed(
    include: &Path,
    opcode_py: &Path,
    series: &str,
    root: &Path,
    mode: Mode,
) -> Result<Vec<Change>, GenerateError> {
    let tree = installation(include, opcode_py)?;
    let release = tree.release().to_string();
    if tree.release().series() != series {
        return Err(GenerateError::Release { wanted: series.to_owned(), found: release });
    }
    let mut diagnostics = Diagnostics::default();
    let configuration = Configuration::named("release", tree.release())?;
    let found = extract::installed(&tree, &configuration, &mut diagnostics);
    let Some(found) = found.filter(|_| !diagnostics.has_errors()) else {
        return Err(not_understood(&tree, diagnostics));
    };
    let path = format!("facts/installed/{series}.json");
    let text = serde_json::to_string_pretty(&found).map(|text| text + "\n");
    let text = text.map_err(|error| GenerateError::Facts { path: path.clone(), reason: error.to_string() })?;
    let header = Header {
        release: found.release.clone(),
        series: format!("--installed {series}"),
        digest: found.digest.clone(),
    };
    let mut sets = instruction_sets(root, &other_facts(root, "")?)?;
    if is_named(root, "src/opcodes/mod.rs", series) {
        sets.insert(series.to_owned(), (header.clone(), found.opcodes));
    }
    let mut files = opcode_files(&sets)?;
    files.push(File { path: path.clone(), text });
    let mut owned = vec![path, "src/opcodes/".to_owned()];
    if is_named(root, "src/layouts/mod.rs", series) {
        let path = format!("src/layouts/v{}.rs", series.replace('.', "_"));
        owned.push(path.clone());
        files.push(emit::layouts(&header, path, &found.structs, &found.function_types, extract::LAYOUTS)?);
    }
    files.sort();
    Ok(emit::write(root, &owned, &files, mode)?)
}

/// The headers of an installation and its `opcode.py` as one tree.
fn installation(include: &Path, opcode_py: &Path) -> Result<Tree, GenerateError> {
    let text = std::fs::read_to_string(opcode_py)
        .map_err(|error| SourceError::Unreadable { path: opcode_py.to_owned(), error })?;
    Ok(Tree::open(include)?.with("Lib/opcode.py", text)?)
}

/// What all releases share, made from the facts of each.
fn shared(all: &BTreeMap<String, Facts>) -> Result<Vec<File>, GenerateError> {
    let facts: Vec<_> = all.values().collect();
    Ok(vec![emit::slots(&header_of_all(all), &facts)?])
}

fn header_of_all(all: &BTreeMap<String, Facts>) -> Header {
    let join = |field: fn(&Facts) -> &str| all.values().map(field).collect::<Vec<_>>().join(", ");
    Header {
        release: join(|facts| &facts.release),
        series: all.keys().cloned().collect::<Vec<_>>().join(" "),
        digest: join(|facts| &facts.digest),
    }
}

/// The order of series: 3.9 before 3.13.
fn place_of(series: &str) -> Vec<u32> {
    series.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// What newer releases than `series` ask of their worlds: there an older one takes over what it can.
fn newer(vocabularies: &BTreeMap<String, Vocabulary>, series: &str) -> Elsewhere {
    let mut newer: Vec<_> = vocabularies.iter().filter(|(other, _)| place_of(other) > place_of(series)).collect();
    newer.sort_by_key(|(series, _)| std::cmp::Reverse(place_of(series)));
    if newer.is_empty() {
        return Elsewhere::default();
    }
    let newer = newer.into_iter().fold(Vocabulary::default(), |all, (_, one)| all.and(one));
    Elsewhere { newer, suffix: format!("_{}", series.replace('.', "_")) }
}

/// The committed facts of a series in the folder `generated`.
pub fn committed(root: &Path, series: &str) -> Result<Facts, GenerateError> {
    let path = format!("facts/{series}.json");
    let wrong = |reason: String| GenerateError::Facts { path: path.clone(), reason };
    let text = std::fs::read_to_string(root.join(&path)).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// What newer releases than `series` in the folder `generated` ask of their worlds.
pub fn elsewhere(root: &Path, series: &str) -> Result<Elsewhere, GenerateError> {
    Ok(newer(&read_vocabularies(root, series)?, series))
}

/// The committed vocabularies of the other releases that Rust is made of.
fn read_vocabularies(root: &Path, but: &str) -> Result<BTreeMap<String, Vocabulary>, GenerateError> {
    let mut all: BTreeMap<String, Vocabulary> = read_json(root, "facts/vocabulary", but)?;
    all.retain(|series, _| is_named(root, "src/lib.rs", series));
    Ok(all)
}

/// `capi.rs`, the trait for all releases.
fn vocabulary_trait(
    all: &BTreeMap<String, Facts>,
    vocabularies: &BTreeMap<String, Vocabulary>,
) -> Result<File, GenerateError> {
    let union = newer(vocabularies, "").newer;
    let text = translate::capi(&union).map_err(GenerateError::Translation)?;
    Ok(File { path: "src/capi.rs".to_owned(), text: format!("{}\n\n{text}", header_of_all(all)) })
}

/// The `mod.rs` that lists the modules of a release.
fn modules(facts: &Facts, series: &str, folder: &str, files: &[File]) -> File {
    let mut text = format!("{}\n\n//! CPython {series}, as its sources say it.\n\n", header(facts, series));
    for file in files {
        let module = file.path.strip_prefix(folder).and_then(|name| name.strip_suffix(".rs"));
        if let Some(module) = module.filter(|module| !module.contains('/')) {
            text.push_str(&format!("pub mod {module};\n"));
        }
    }
    File { path: format!("{folder}mod.rs"), text }
}

/// The committed facts of the releases that this run does not read.
fn other_facts(root: &Path, series: &str) -> Result<BTreeMap<String, Facts>, GenerateError> {
    let mut all: BTreeMap<String, Facts> = read_json(root, "facts", series)?;
    // What a compiled library says goes to no Rust.
    all.retain(|_, facts| facts.source == Origin::C);
    Ok(all)
}

/// The data files of a folder by series, all but one.
fn read_json<T: serde::de::DeserializeOwned>(
    root: &Path,
    folder: &str,
    but: &str,
) -> Result<BTreeMap<String, T>, GenerateError> {
    let mut all = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return Ok(all) };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|name| *name != but) else {
            continue;
        };
        let wrong = |reason: String| GenerateError::Facts { path: format!("{folder}/{name}.json"), reason };
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        all.insert(name.to_owned(), serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(all)
}
