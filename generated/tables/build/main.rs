//! Packs `generated/facts` into two files of numbers and text that the library holds: no pointers, so nothing to relocate.
mod pack;
mod rows;

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new("../facts");
    println!("cargo:rerun-if-changed={}", folder.display());
    println!("cargo:rerun-if-changed=build");
    let mut releases = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let facts: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
            releases.push((pack::series(&facts)?, facts));
        }
    }
    releases.sort_by_key(|(series, _)| *series);
    let mut pack = pack::Pack::default();
    for (series, facts) in &releases {
        rows::release(&mut pack, *series, facts)?;
    }
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let (words, text) = pack.finish();
    fs::write(Path::new(&out).join("words.bin"), words)?;
    fs::write(Path::new(&out).join("text.bin"), text)?;
    Ok(())
}
