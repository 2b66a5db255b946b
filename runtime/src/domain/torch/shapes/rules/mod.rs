//! The rules, a subject a file.
pub mod attention;
pub mod casts;
pub mod factories;
pub mod images;
pub mod in_place;
pub mod indexing;
pub mod joins;
pub mod losses;
pub mod norms;
pub mod parts;
pub mod pointwise;
pub mod products;
pub mod recurrent;
pub mod reductions;
pub mod views;
