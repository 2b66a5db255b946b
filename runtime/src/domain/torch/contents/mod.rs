//! Operations whose results only contents decide: how long they are, or which number they are; how results lie that nobody knows who has
//! no contents.
//!
//! In: an operation that cannot be asked for its result without contents, or one on what such an operation has given. Out: a node whose
//! value has a type, a rank and a device, and sizes as far as contents do not decide them. It must not know the tracer.
mod all_lengths;
mod answer;
mod changes;
mod choices;
mod chosen_items;
mod extremes;
mod kernels;
mod layouts;
mod lists;
mod numbers;
mod objects;
pub(super) mod open_sizes;
mod ranges;
mod results;
mod sample;
pub(super) mod tags;
