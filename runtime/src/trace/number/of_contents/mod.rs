//! Numbers that contents decide, as far as something is known of them: their ranges, choices of which nearly always all are made, exact sums.
//!
//! In: what the graph gives. Out: what Python may do with it. It must not know which instruction asks.
mod list_items;
mod ranges;
mod sums;
mod whole_choices;
