//! Prints what the binary front door reads from a compiled CPython: `read-library LIBRARY INCLUDE [--symbols FILE] [--module] [--types]`.

use slotgen::binary::Reader;
use slotgen::preprocess::Configuration;
use slotgen::source::Tree;
use std::path::Path;
use std::process::ExitCode;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, include, rest @ ..] = arguments.as_slice() else {
        return Err("usage: read-library LIBRARY INCLUDE [--symbols FILE] [--module] [--types]".into());
    };
    let symbols = rest.iter().position(|word| word == "--symbols").and_then(|at| rest.get(at + 1));
    let symbols = symbols.map(std::fs::read).transpose()?;
    let headers = Tree::open(Path::new(include))?;
    let configuration = Configuration::named("release", headers.release())?;
    let reader = Reader::new(&headers, &configuration)?;
    let module = rest.iter().any(|word| word == "--module");
    let bytes = std::fs::read(library)?;
    let library =
        if module { reader.module(&bytes, symbols.as_deref())? } else { reader.library(&bytes, symbols.as_deref())? };
    let pairs: usize = library.types.iter().map(|ty| ty.slots.len()).sum();
    let methods: usize = library.types.iter().map(|ty| ty.methods.len()).sum();
    let specs = library.types.iter().filter(|ty| ty.kind == slotgen::facts::TypeKind::Spec).count();
    println!(
        "CPython {}: {} slotdefs, {} types ({specs} from specs), {pairs} own slots, {methods} methods",
        library.release,
        library.slotdefs.len(),
        library.types.len()
    );
    if rest.iter().any(|word| word == "--types") {
        println!("{}", serde_json::to_string_pretty(&library.slotdefs)?);
        println!("{}", serde_json::to_string_pretty(&library.types)?);
    }
    Ok(())
}
