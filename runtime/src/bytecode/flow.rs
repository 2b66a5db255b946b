//! The state before instructions over all ways that lead there: solved block by block, as most instructions have one way.
use super::code::{Code, Indices};
use super::error::Error;
use super::instr::{Handler, Instr};
use super::shape::{Shape, State};
use generated::opcodes::Op;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

/// What is known where ways meet.
struct Flow<'a> {
    code: &'a Code,
    indices: Indices,
    /// Per instruction, whether several ways can lead there: the first one, and targets of jumps and handlers.
    meets: Vec<bool>,
    /// Per instruction, whether it leads to one that is asked for.
    wanted: Vec<bool>,
    /// The state before instructions where ways meet, once a way was found.
    states: FxHashMap<usize, State>,
    /// Where to go on; first things first, so that most blocks are followed once.
    work: BTreeSet<usize>,
}

/// The state that a handler got last: what the stack holds when it starts. No slot has changed since.
struct Told {
    handler: Handler,
    stack: Shape,
}

impl Code {
    /// The state before every reachable instruction.
    pub fn states(&self) -> Result<Vec<Option<State>>, Error> {
        self.depths()?;
        let flow = Flow::solved(self, self.indices(), vec![true; self.instrs.len()], State::entry(self));
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
        self.reaching(index, State::entry(self))
    }

    /// The state before one instruction, of a frame that starts in another.
    fn reaching(&self, index: usize, start: State) -> Option<State> {
        let indices = self.indices();
        let leading = self.leading(index, &indices);
        let flow = Flow::solved(self, indices, leading, start);
        let block = (0..=index).rev().find(|index| flow.meets.get(*index) == Some(&true))?;
        let start = flow.states.get(&block)?.clone();
        (block..index).try_fold(start, |state, index| flow.after(index, state))
    }

    /// Per instruction, whether it leads to this one.
    pub(crate) fn leading(&self, index: usize, indices: &Indices) -> Vec<bool> {
        let isa = self.isa();
        let mut leading = vec![false; self.instrs.len()];
        let mut changed = index < leading.len();
        leading.iter_mut().skip(index).take(1).for_each(|first| *first = true);
        while std::mem::take(&mut changed) {
            for (index, instr) in self.instrs.iter().enumerate().rev() {
                if leading[index] {
                    continue;
                }
                let next = Some(index + 1).filter(|_| !isa.ends_block(instr.op));
                let mut ways = instr.leads_to(isa).filter_map(|label| indices.get(label)).chain(next);
                leading[index] = ways.any(|way| leading.get(way) == Some(&true));
                changed |= leading[index];
            }
        }
        leading
    }
}

impl<'a> Flow<'a> {
    /// Of a frame that starts in this state, as far as it is wanted.
    fn solved(code: &'a Code, indices: Indices, wanted: Vec<bool>, start: State) -> Self {
        let mut meets = vec![false; code.instrs.len()];
        let targets = code.instrs.iter().flat_map(|instr| instr.leads_to(code.isa()));
        targets.filter_map(|target| indices.get(target)).for_each(|target| meets[target] = true);
        meets.iter_mut().take(1).for_each(|first| *first = true);
        let states = FxHashMap::from_iter([(0, start)]);
        let mut flow = Self { code, indices, meets, wanted, states, work: BTreeSet::from([0]) };
        while let Some(block) = flow.work.pop_first() {
            flow.walk(block);
        }
        flow
    }

    /// Follows one block to its end, and tells those after it.
    fn walk(&mut self, block: usize) {
        let Some(mut state) = self.states.get(&block).cloned() else { return };
        let (code, mut told) = (self.code, None);
        for (index, instr) in code.instrs.iter().enumerate().skip(block) {
            if index > block && self.meets[index] {
                return self.reach(index, state);
            }
            if !self.wanted[index] {
                return;
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
        if self.meets[index] { self.states.get(&index).cloned() } else { falls }
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
        if !self.wanted[index] {
            return;
        }
        let changed = match self.states.entry(index) {
            Entry::Occupied(mut known) => known.get_mut().join(&state),
            Entry::Vacant(empty) => {
                empty.insert(state);
                true
            }
        };
        if changed {
            self.work.insert(index);
        }
    }

    /// Storing can drop the old value, whose finaliser cannot raise here: a handler sees the slots as before, or as after.
    /// A handler does not get the same state twice in succession.
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
