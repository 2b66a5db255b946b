//! Tracebacks of exceptions that were raised in the trace, and the variables of their frames.
use super::value::ValueId;
use crate::bytecode::{Code, Position};
use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A frame of the trace, running or not.
#[derive(Clone, Debug)]
pub(crate) struct FrameRef {
    pub(crate) serial: u64,
    pub(crate) code: std::sync::Arc<Py<PyAny>>,
    pub(crate) globals: std::sync::Arc<Py<PyAny>>,
    pub(crate) inlined: bool,
}

/// `PyTracebackObject`.
#[derive(Debug)]
pub(crate) struct TracebackNode {
    pub(crate) frame: FrameRef,
    pub(crate) lasti: i32,
    pub(crate) position: Position,
    pub(crate) next: Option<usize>,
    pub(crate) value: Option<ValueId>,
    /// The instruction that the exception came out of, among those before which the trace can stop.
    pub(crate) step: u64,
}

/// Where a frame has ended or been suspended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastPosition {
    pub(crate) lasti: i32,
    pub(crate) line: i32,
}

/// The tracebacks of a trace.
#[derive(Debug, Default)]
pub struct Tracebacks {
    pub(crate) nodes: Vec<TracebackNode>,
    /// The first node of each exception made here.
    pub(crate) heads: FxHashMap<ValueId, usize>,
    /// Values that are tracebacks.
    pub(crate) values: FxHashMap<ValueId, usize>,
    /// Values that are frames, and the frames by number.
    pub(crate) frames: FxHashMap<ValueId, FrameRef>,
    pub(crate) frame_values: FxHashMap<u64, ValueId>,
    /// Frames that a node names, and where those that have ended did.
    pub(crate) named: FxHashSet<u64>,
    pub(crate) ended: FxHashMap<u64, LastPosition>,
}

impl Tracebacks {
    /// Whether no exception has one.
    pub(crate) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The first node of an exception's traceback.
    pub(crate) fn head(&self, exception: ValueId) -> Option<usize> {
        self.heads.get(&exception).copied()
    }

    /// The exception has the traceback of another one.
    pub(crate) fn inherit(&mut self, exception: ValueId, head: usize) {
        self.heads.insert(exception, head);
    }
}

/// Variables of frames.
#[derive(Debug, Default)]
pub struct Variables {
    /// Of those that have ended or are suspended, by their numbers.
    pub(crate) rested: FxHashMap<u64, (Vec<Option<ValueId>>, std::sync::Arc<Code>)>,
    /// Of class bodies that have ended, the dicts of their names.
    pub(crate) namespaces: FxHashMap<u64, ValueId>,
    /// The dict behind a view.
    pub(crate) views: FxHashMap<ValueId, ValueId>,
}
