//! Rolls back to the start of the last instruction before which the trace can stop, where that instruction changed nothing that cannot be undone.
use crate::bytecode::Op;
use crate::trace::state::frame::Frame;
use crate::trace::state::journal::{forget_changes, has_changed};
use crate::trace::state::tracer::State;

impl State {
    /// An instruction begins before which the trace can stop.
    pub(crate) fn begin_instruction(&mut self, frame: &Frame) {
        forget_changes();
        let start = &mut self.start;
        (start.serial, start.pc) = (frame.serial, frame.pc);
        let op = frame.code.instrs.get(frame.pc).map(|instr| instr.op);
        start.calls = op.is_some_and(|op| matches!(op, Op::CALL | Op::CALL_KW | Op::CALL_FUNCTION_EX));
        start.stack.clone_from(&frame.stack);
        start.locals.clone_from(&frame.locals);
        start.values = self.values.len();
        start.guards = self.guards.len();
        start.guard_requests = self.guard_requests.len();
        start.classes = self.touched_types.order.len();
        start.guarded_domains = self.guarded_domains.order.len();
        start.aliases = self.aliases.mark();
        start.globals = self.globals.order.len();
        start.cells = self.cells.order.len();
        start.attributes = self.attributes.order.len();
        start.class_numbers = self.class_numbers.order.len();
        start.private_copies = self.private_copies.len();
        start.relations = self.numbers.relations.order.len();
        (start.route, start.routes) = (self.route.len(), self.routes.len());
        (start.depth, start.steps) = (self.depth, self.steps);
    }

    /// Whether the last such instruction is this frame's and has changed nothing that going back could not restore.
    pub(crate) fn can_go_back(&self, frame: &Frame) -> bool {
        self.start.serial == frame.serial && !has_changed() && !self.track && self.pending.is_none()
    }

    /// Makes as if it had not begun; `false`, and nothing done, where it has changed something.
    pub(crate) fn go_back(&mut self, frame: &mut Frame) -> bool {
        if !self.can_go_back(frame) {
            return false;
        }
        let start = &mut self.start;
        (frame.pc, frame.began) = (start.pc, start.pc);
        std::mem::swap(&mut frame.stack, &mut start.stack);
        std::mem::swap(&mut frame.locals, &mut start.locals);
        let first = start.values as u32;
        self.described.extend(self.values.drain(start.values..));
        self.created_at.truncate(start.values);
        self.identity.retain(|_, id| id.0 < first);
        self.passed_to_c.retain(|_, id| id.0 < first);
        self.numbers.layouts.retain(|id, _| id.0 < first);
        self.proxies.retain(|id, _| id.0 < first);
        self.guards.truncate(start.guards);
        self.guard_requests.truncate(start.guard_requests);
        self.touched_types.truncate(start.classes);
        self.guarded_domains.truncate(start.guarded_domains);
        self.aliases.truncate(start.values, start.aliases);
        self.globals.truncate(start.globals);
        self.cells.truncate(start.cells);
        self.attributes.truncate(start.attributes);
        self.class_numbers.truncate(start.class_numbers);
        for private_copy in self.private_copies.truncate(start.private_copies) {
            let address = private_copy.object.as_ptr() as usize;
            self.identity.remove(&address);
            self.passed_to_c.remove(&address);
        }
        self.numbers.relations.truncate(start.relations);
        self.route.truncate(start.route);
        self.routes.truncate(start.routes);
        (self.depth, self.steps) = (start.depth, start.steps);
        self.outer_step -= 1;
        true
    }
}
