//! The state before instructions over all ways that lead there: solved block by block, as most instructions have one way.
use super::code::{Code, Indices};
use super::error::Error;
use super::instr::{Handler, Instr};
use super::shape::{Shape, State};
use generated::opcodes::Op;
use std::collections::BTreeSet;

/// What is known where ways meet.
struct Flow<'a> {
    code: &'a Code,
    indices: Indices,
    /// Per instruction, whether several ways can lead there: the first one, and targets of jumps and handlers.
    meets: Vec<bool>,
    /// The state before such an instruction, once a way was found.
    states: Vec<Option<State>>,
    /// Where to go on; first things first, so that most blocks are followed once.
    work: BTreeSet<usize>,
}

/// What a handler was told last: what the stack holds when it starts. No slot has changed since.
struct Told {
    handler: Handler,
    stack: Shape,
}

impl Code {
    /// The state before every reachable instruction.
    pub fn states(&self) -> Result<Vec<Option<State>>, Error> {
        self.depths()?;
        let flow = Flow::solved(self);
        let mut states = Vec::with_capacity(self.instrs.len());
        let mut next = None;
        for index in 0..self.instrs.len() {
            let state = flow.before(index, next.take());
            next = state.clone().and_then(|state| flow.after(index, state));
            states.push(state);
        }
        Ok(states)
    }

    /// The state before one instruction; `None` where no way leads there.
    #[must_use]
    pub fn state_before(&self, index: usize) -> Option<State> {
        let flow = Flow::solved(self);
        let block = (0..=index).rev().find(|index| flow.meets.get(*index) == Some(&true))?;
        let start = flow.states.get(block)?.clone();
        (block..index).try_fold(start?, |state, index| flow.after(index, state))
    }
}

impl<'a> Flow<'a> {
    fn solved(code: &'a Code) -> Self {
        let indices = code.indices();
        let mut meets = vec![false; code.instrs.len()];
        let targets = code.instrs.iter().flat_map(|instr| [instr.target, instr.handler.map(|handler| handler.target)]);
        targets.flatten().filter_map(|target| indices.get(target)).for_each(|target| meets[target] = true);
        let mut flow = Self { code, indices, meets, states: vec![None; code.instrs.len()], work: BTreeSet::from([0]) };
        if let (Some(first), Some(state)) = (flow.meets.first_mut(), flow.states.first_mut()) {
            *first = true;
            *state = Some(State::entry(code));
        }
        while let Some(block) = flow.work.pop_first() {
            flow.walk(block);
        }
        flow
    }

    /// Follows one block to its end, and tells those after it.
    fn walk(&mut self, block: usize) {
        let Some(mut state) = self.states.get(block).cloned().flatten() else { return };
        let (code, mut told) = (self.code, None);
        for (index, instr) in code.instrs.iter().enumerate().skip(block) {
            if index > block && self.meets[index] {
                return self.reach(index, state);
            }
            self.raise(instr, &state, &mut told);
            self.jump(instr, &state);
            if code.isa().ends_block(instr.op) {
                return;
            }
            self.pass(instr, &mut state, &mut told);
        }
    }

    /// Goes past an instruction.
    fn pass(&self, instr: &Instr, state: &mut State, told: &mut Option<Told>) {
        if changes_slots(instr.op) {
            *told = None;
            return state.step(self.code, instr, false);
        }
        #[cfg(debug_assertions)]
        let before = state.bound.clone();
        state.step(self.code, instr, false);
        #[cfg(debug_assertions)]
        assert_eq!(before, state.bound, "{:?} changes a slot", instr.op);
    }

    /// The state before an instruction, given the one that the instruction before it leaves.
    fn before(&self, index: usize, falls: Option<State>) -> Option<State> {
        if self.meets[index] { self.states[index].clone() } else { falls }
    }

    /// The state with which control goes on to the next instruction, if it does.
    fn after(&self, index: usize, mut state: State) -> Option<State> {
        let instr = self.code.instrs.get(index)?;
        state.step(self.code, instr, false);
        (!self.code.isa().ends_block(instr.op)).then_some(state)
    }

    fn jump(&mut self, instr: &Instr, state: &State) {
        let Some(target) = instr.target.filter(|_| self.code.isa().branches(instr.op)) else { return };
        let Some(target) = self.indices.get(target) else { return };
        let mut jumped = state.clone();
        jumped.step(self.code, instr, true);
        self.reach(target, jumped);
    }

    fn reach(&mut self, index: usize, state: State) {
        let changed = match &mut self.states[index] {
            Some(known) => known.join(&state),
            empty => {
                *empty = Some(state);
                true
            }
        };
        if changed {
            self.work.insert(index);
        }
    }

    /// Storing can drop the old value, whose finaliser cannot raise here: a handler sees the slots as before, or as after.
    /// What the same handler was told last, it is not told again.
    fn raise(&mut self, instr: &Instr, state: &State, told: &mut Option<Told>) {
        let Some(handler) = instr.handler else { return };
        let Some(target) = self.indices.get(handler.target) else { return };
        let (changes, stack) = (changes_slots(instr.op), state.stack.get(..handler.depth as usize));
        if !changes && told.as_ref().is_some_and(|told| told.handler == handler && stack == Some(&told.stack)) {
            return;
        }
        let Some(mut raised) = state.raised(instr) else { return };
        if changes {
            let mut after = state.clone();
            after.step(self.code, instr, false);
            raised.join_slots(&after);
        } else {
            *told = stack.map(|stack| Told { handler, stack: stack.to_vec() });
        }
        self.reach(target, raised);
    }
}

fn changes_slots(op: Op) -> bool {
    matches!(
        op,
        Op::STORE_FAST
            | Op::STORE_FAST_STORE_FAST
            | Op::STORE_FAST_LOAD_FAST
            | Op::DELETE_FAST
            | Op::LOAD_FAST_AND_CLEAR
            | Op::MAKE_CELL
            | Op::COPY_FREE_VARS
    )
}
