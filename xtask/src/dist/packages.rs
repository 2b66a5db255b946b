//! The CMake package and the pkg-config files.
use super::kit::Kit;
use crate::obtain::Interpreter;
use anyhow::Result;
use std::path::Path;

const CONFIG: &str = include_str!("cmake/slotrtConfig.cmake");
const VERSION: &str = include_str!("cmake/slotrtConfigVersion.cmake");

/// Writes them into the kit.
pub fn write(kit: &Kit, pythons: &[Interpreter]) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let folder = Path::new("lib").join("cmake").join("slotrt");
    let series: Vec<String> = pythons.iter().map(Interpreter::series).collect();
    kit.put(&folder.join("slotrtConfig.cmake"), &CONFIG.replace("@PYTHONS@", &series.join(";")))?;
    kit.put(&folder.join("slotrtConfigVersion.cmake"), &VERSION.replace("@VERSION@", version))?;
    let tables = format!(
        "prefix=${{pcfiledir}}/../..\n\nName: slotrt-tables\nDescription: CPython's tables for C, without Python\n\
        Version: {version}\nCflags: -I${{prefix}}/include\nLibs: -L${{prefix}}/lib -lslotrt_tables\n"
    );
    kit.put(Path::new("lib/pkgconfig/slotrt-tables.pc"), &tables)?;
    for series in &series {
        let text = format!(
            "prefix=${{pcfiledir}}/../..\n\nName: slotrt-{series}\n\
            Description: Traces Python functions with an object model generated from CPython's C sources, for CPython {series}\n\
            Version: {version}\nRequires: slotrt-tables\nCflags: -I${{prefix}}/include\n\
            Libs: -L${{prefix}}/lib/slotrt/{series} -lslotrt\nLibs.private: -lgcc_s -lm -lpthread -ldl\n"
        );
        kit.put(&Path::new("lib/pkgconfig").join(format!("slotrt-{series}.pc")), &text)?;
    }
    Ok(())
}
