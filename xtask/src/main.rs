//! The project's front door.
fn main() {}
