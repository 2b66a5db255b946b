//! Translates the functions of a tree: `translate TREE OUT [FILE…]`.
use slotgen::diagnostics::Diagnostics;
use slotgen::preprocess::{Configuration, Preprocessor};
use slotgen::source::Tree;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let tree = Tree::open(std::path::Path::new(&args.next().ok_or("TREE")?))?;
    let out = std::path::PathBuf::from(args.next().ok_or("OUT")?);
    let files: Vec<String> = args.collect();
    let units = tree.units("Objects");
    let files: Vec<&str> = if files.is_empty() {
        units.iter().map(|unit| &**unit).collect()
    } else {
        files.iter().map(String::as_str).collect()
    };
    let configuration = Configuration::named("release", tree.release())?;
    let pre = Preprocessor::new(&tree, &configuration)?;
    let mut diagnostics = Diagnostics::default();
    let translation = slotgen::translate::translate(&tree, &pre, &files, &mut diagnostics)?;
    for left in &translation.left {
        println!("{}:{}: {}: {}", left.file, left.line, left.name, left.construct);
    }
    for (file, list) in &translation.translated {
        let left = translation.left.iter().filter(|left| left.file == *file).count();
        println!("{file}: {} translated, {left} left", list.len());
    }
    for (path, text) in slotgen::translate::release_files(&translation, "src/v3_13/")? {
        let path = out.join(path);
        std::fs::create_dir_all(path.parent().ok_or("path")?)?;
        std::fs::write(path, text)?;
    }
    std::fs::write(out.join("src/capi.rs"), slotgen::translate::capi(&[&translation])?)?;
    Ok(())
}
