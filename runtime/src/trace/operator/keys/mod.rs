//! Keys of dicts and sets from outside that no look-up by value finds: hashed by their address, in Python, or others in each call.
//!
//! In: a container from outside and a key. Out: what it has for that, or its entries one by one, each over its own path.
//! Must not know: what C does with plain keys.
pub(crate) mod by_address;
pub(crate) mod numbered;
pub(crate) mod unusual;
