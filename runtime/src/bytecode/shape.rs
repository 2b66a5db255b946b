//! Kinds of the value stack's entries, and how one instruction changes them.
use super::code::Code;
use super::flag;
use super::instr::{Handler, Instr};
use super::isa::Isa;
use generated::opcodes::Op;

/// An entry of the value stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// An object.
    Object,
    /// A NULL, as call sequences and cleared comprehension variables push it.
    Null,
    /// Object or NULL, depending on how control came here.
    ObjectOrNull,
    /// The place in the code where an exception came from: handlers get it, and `RERAISE` reads it. From 3.14 on it is no object.
    Unit,
    /// The second place of an iterator, from 3.15 on: NULL, or an integer that is no object, by which a sequence is read.
    IndexOrNull,
    /// The exception that was being handled before `PUSH_EXC_INFO`; popping it ends the handling of the current one.
    PreviousException,
}

impl Entry {
    /// Where the two differ.
    fn either(self, other: Self) -> Self {
        let index = |one: Self| matches!(one, Self::IndexOrNull | Self::Null | Self::Unit);
        match (self, other) {
            _ if index(self) && index(other) => Self::IndexOrNull,
            (Self::Unit, Self::Object) | (Self::Object, Self::Unit) => Self::Object,
            _ => Self::ObjectOrNull,
        }
    }

    /// What the entry is once its object has become an integer that is none.
    fn as_integer(self) -> Self {
        match self {
            Self::ObjectOrNull | Self::IndexOrNull => Self::IndexOrNull,
            Self::Null => Self::Null,
            Self::Object | Self::Unit | Self::PreviousException => Self::Unit,
        }
    }

    /// Whether it can be an integer that is no object, which packets carry as one.
    #[must_use]
    pub fn may_be_integer(self, isa: Isa) -> bool {
        isa.tags_units() && matches!(self, Self::Unit | Self::IndexOrNull)
    }
}

/// The value stack, bottom first.
pub type Shape = Vec<Entry>;

/// Whether a slot of localsplus holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// It does.
    Yes,
    /// It is NULL.
    No,
    /// That depends on how control came here.
    Maybe,
}

impl From<Bound> for Entry {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Yes => Self::Object,
            Bound::No => Self::Null,
            Bound::Maybe => Self::ObjectOrNull,
        }
    }
}

/// Stack and slots before an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Value stack.
    pub stack: Shape,
    /// One entry per slot of localsplus.
    pub bound: Vec<Bound>,
}

impl State {
    /// The state when a frame starts: arguments bound, the rest not.
    #[must_use]
    pub fn entry(code: &Code) -> Self {
        let arguments = code.arguments();
        let bound = (0..code.locals.len()).map(|slot| if slot < arguments { Bound::Yes } else { Bound::No }).collect();
        Self { stack: Vec::new(), bound }
    }

    /// Takes in another way to the same instruction; says whether that changed anything.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let stack = join_all(&mut self.stack, &other.stack, Entry::either);
        self.join_slots(other) | stack
    }

    /// The same for the slots alone.
    pub(super) fn join_slots(&mut self, other: &Self) -> bool {
        join_all(&mut self.bound, &other.bound, |_, _| Bound::Maybe)
    }

    /// The stack with which the handler starts.
    fn handled(&self, handler: Handler) -> impl Iterator<Item = Entry> {
        let pushed = handler.lasti.then_some(Entry::Unit).into_iter().chain([Entry::Object]);
        self.stack.iter().copied().take(handler.depth as usize).chain(pushed)
    }

    fn pop(&mut self) -> Entry {
        self.stack.pop().unwrap_or(Entry::Object)
    }

    fn set(&mut self, slot: u32, bound: Bound) {
        if let Some(entry) = self.bound.get_mut(slot as usize) {
            *entry = bound;
        }
    }

    fn store(&mut self, slot: u32) {
        let bound = match self.pop() {
            Entry::Null => Bound::No,
            Entry::ObjectOrNull | Entry::IndexOrNull => Bound::Maybe,
            Entry::Object | Entry::Unit | Entry::PreviousException => Bound::Yes,
        };
        self.set(slot, bound);
    }

    /// Puts the two values of a method load, or of a global to be called, on the stack.
    fn push_callable(&mut self, code: &Code, second: Entry) {
        self.stack.extend(if code.isa().null_comes_first() {
            [second, Entry::Object]
        } else {
            [Entry::Object, second]
        });
    }

    /// The state after the instruction, on the way to its jump target or to the next instruction.
    pub fn step(&mut self, code: &Code, instr: &Instr, jump: bool) {
        let depth = self.stack.len();
        let nth = |n: u32| depth.saturating_sub(n as usize);
        match instr.op {
            Op::PUSH_NULL => self.stack.push(Entry::Null),
            // A prologue has put an integer there that is no object.
            Op::NOP if instr.arg > 0 => {
                let entry = self.stack.iter_mut().rev().nth(instr.arg as usize - 1);
                entry.into_iter().for_each(|entry| *entry = entry.as_integer());
            }
            Op::LOAD_GLOBAL if instr.arg & 1 == 1 => self.push_callable(code, Entry::Null),
            Op::LOAD_METHOD => {
                self.pop();
                self.push_callable(code, Entry::ObjectOrNull);
            }
            Op::LOAD_ATTR if instr.arg & 1 == 1 && code.isa().name_shift(Op::LOAD_ATTR) == 1 => {
                self.pop();
                self.push_callable(code, Entry::ObjectOrNull);
            }
            Op::LOAD_SUPER_ATTR if instr.arg & 1 == 1 => {
                self.stack.truncate(nth(3));
                self.push_callable(code, Entry::ObjectOrNull);
            }
            Op::LOAD_SPECIAL => {
                self.pop();
                self.push_callable(code, Entry::ObjectOrNull);
            }
            Op::LOAD_FAST_AND_CLEAR => {
                let bound = self.bound.get(instr.arg as usize).copied().unwrap_or(Bound::No);
                self.stack.push(bound.into());
                self.set(instr.arg, Bound::No);
            }
            Op::STORE_FAST => self.store(instr.arg),
            Op::STORE_FAST_STORE_FAST => {
                self.store(instr.arg >> 4);
                self.store(instr.arg & 15);
            }
            Op::STORE_FAST_LOAD_FAST => {
                self.store(instr.arg >> 4);
                self.stack.push(Entry::Object);
            }
            Op::DELETE_FAST => self.set(instr.arg, Bound::No),
            Op::MAKE_CELL => self.set(instr.arg, Bound::Yes),
            Op::COPY_FREE_VARS => {
                let slots = self.bound.len() as u32;
                (slots.saturating_sub(instr.arg)..slots).for_each(|slot| self.set(slot, Bound::Yes));
            }
            Op::COPY => self.stack.push(self.stack.get(nth(instr.arg)).copied().unwrap_or(Entry::Object)),
            Op::SWAP if depth > 0 && nth(instr.arg) < depth => self.stack.swap(nth(instr.arg), depth - 1),
            Op::PUSH_EXC_INFO => {
                self.pop();
                self.stack.extend([Entry::PreviousException, Entry::Object]);
            }
            // These leave what lies between the collection and its new items as it is.
            Op::LIST_APPEND | Op::SET_ADD | Op::LIST_EXTEND | Op::SET_UPDATE | Op::DICT_UPDATE | Op::DICT_MERGE => {
                self.pop();
            }
            Op::MAP_ADD => self.stack.truncate(nth(2)),
            Op::WITH_EXCEPT_START => self.stack.push(Entry::Object),
            Op::GET_ITER if code.isa().pairs_iterators() => {
                self.pop();
                self.stack.extend([Entry::Object, Entry::IndexOrNull]);
            }
            // These leave the two places of the iterator as they are.
            Op::FOR_ITER if code.isa().pairs_iterators() => self.stack.push(Entry::Object),
            Op::SEND if code.isa().pairs_iterators() => {
                self.pop();
                self.stack.push(Entry::Object);
            }
            Op::CLEANUP_THROW if code.isa().pairs_iterators() => {
                self.stack.truncate(nth(2));
                self.stack.push(Entry::Object);
            }
            op => {
                let isa = code.isa();
                let (popped, pushed) = (isa.popped(op, instr.arg), isa.pushed(op, instr.arg));
                self.stack.truncate(depth.saturating_sub(popped.unwrap_or(0)));
                self.stack.extend(std::iter::repeat_n(Entry::Object, pushed.unwrap_or(0)));
                // Some leave less, or more, where they jump.
                let after =
                    isa.effect(op, instr.arg, jump).and_then(|effect| depth.checked_add_signed(effect as isize));
                self.stack.resize(after.unwrap_or(self.stack.len()), Entry::Object);
            }
        }
    }

    /// The state in which the instruction's handler starts if the instruction raises: none where the handler's range is
    /// deeper than the stack, or the instruction never raises: `PUSH_EXC_INFO` stands first in the range whose handler counts on
    /// what it leaves.
    #[must_use]
    pub fn raised(&self, instr: &Instr) -> Option<Self> {
        let handler = instr.handler.filter(|handler| handler.depth as usize <= self.stack.len())?;
        if instr.op == Op::PUSH_EXC_INFO {
            return None;
        }
        Some(Self { stack: self.handled(handler).collect(), bound: self.bound.clone() })
    }
}

/// Where the two differ, either is possible.
fn join_all<T: Copy + PartialEq>(mine: &mut [T], theirs: &[T], either: impl Fn(T, T) -> T) -> bool {
    let mut changed = false;
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        let both = if *mine == *theirs { *mine } else { either(*mine, *theirs) };
        changed |= both != *mine;
        *mine = both;
    }
    changed
}

impl Code {
    /// Number of slots that arguments fill, `*args` and `**kwargs` included.
    #[must_use]
    pub fn arguments(&self) -> usize {
        let star = usize::from(self.flags & flag::VARARGS != 0) + usize::from(self.flags & flag::VARKEYWORDS != 0);
        (self.argcount + self.kwonlyargcount) as usize + star
    }
}
