//! Hand-written façade over what slotgen wrote.
