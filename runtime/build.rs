//! Tells the crate which CPython it is built for (`Py_3_13`…).
fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rustc-check-cfg=cfg(slotrt_supported, slotrt_bytecode)");
    let minor = pyo3_build_config::get().version().minor;
    // Releases whose code objects are read and written.
    if (11..=15).contains(&minor) {
        println!("cargo:rustc-cfg=slotrt_bytecode");
    }
    // Releases that are traced.
    if minor == 13 {
        println!("cargo:rustc-cfg=slotrt_supported");
    }
}
