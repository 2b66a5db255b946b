//! Tells the crate which CPython it is built for (`Py_3_13`…).
fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rustc-check-cfg=cfg(slotrt_supported)");
    if pyo3_build_config::get().version().minor == 13 {
        println!("cargo:rustc-cfg=slotrt_supported");
    }
}
