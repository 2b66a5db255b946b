//! Tells the crate which CPython it is built for (`Py_3_13`…) and how much of the runtime there is for it.
fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    println!("cargo:rustc-check-cfg=cfg(slotrt_bytecode, slotrt_hooks, slotrt_live, slotrt_traces)");
    let minor = pyo3_build_config::get().version().minor;
    let rooms = [
        // Code objects are read and written.
        ("slotrt_bytecode", 11..=15),
        // Frames are hooked, and broken at any instruction.
        ("slotrt_hooks", 11..=13),
        // Translated functions run on live objects.
        ("slotrt_live", 11..=13),
        // Functions are traced.
        ("slotrt_traces", 11..=13),
    ];
    for (name, releases) in rooms {
        if releases.contains(&minor) {
            println!("cargo:rustc-cfg={name}");
        }
    }
}
