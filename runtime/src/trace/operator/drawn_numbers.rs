//! Numbers that a program draws from a generator of C's from outside, as `random.random()` and `random.randint(0, 9)` do: the trace looks ahead,
//! as it does with iterators, and takes each for a number that is another one at every call.
use crate::domain::Domain;
use crate::ffi::random_numbers::{self, Draw};
use crate::ffi::{callee, inspect};
use crate::graph::Node;
use crate::graph_break::PASSING_STATE;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::iterators::Drawing;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyType};
use std::sync::Arc;

/// Numbers of one generator in a trace.
const MAX_DRAWN: usize = 256;

/// Bits of an integer that is a symbolic one.
const MAX_BITS: u32 = 62;

/// The library that draws.
const LIBRARY: &str = "random";

/// The function there that draws until a number is below another one: how often is nothing that a trace should depend on.
const BELOW: (&str, &str) = ("Random._randbelow_with_getrandbits", "_randbelow_with_getrandbits");

impl<'py> Tracer<'py> {
    /// What a method of C gives that draws a number; `None`: it is another method, or the number must be known, or the trace works on the
    /// generator's state.
    pub(crate) fn drawn(
        &mut self,
        name: &str,
        owner: &Bound<'py, PyType>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let Some(generator) = args.first().copied().filter(|_| random_numbers::is_draw(name, owner)) else {
            return Ok(None);
        };
        if !self.may_draw_from(generator) {
            return Ok(None);
        }
        match args {
            [_] if name == "random" => self.draw(generator, Draw::Float),
            [_, bits] if name == "getrandbits" => match self.small_integer(*bits) {
                Some(bits) if (1..=i64::from(MAX_BITS)).contains(&bits) => {
                    self.draw(generator, Draw::Bits(bits as u32))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The same of the library's function that draws until a number is below another one.
    pub(crate) fn drawn_below(
        &mut self,
        function: &Bound<'py, PyAny>,
        qualname: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let (true, [generator, end]) = (qualname == BELOW.0 && args.keywords.is_empty(), args.positional.as_slice())
        else {
            return Ok(None);
        };
        let (generator, end) = (*generator, *end);
        if !is_below(function) || !self.may_draw_from(generator) {
            return Ok(None);
        }
        let method = self.get_attr(generator, "getrandbits")?;
        if !self.is_draw_of(method, generator) {
            return Ok(None);
        }
        match self.small_integer(end) {
            Some(end) if (1..1 << MAX_BITS).contains(&end) => self.draw(generator, Draw::Below(end)),
            _ => Ok(None),
        }
    }

    /// Whether the value is the method of C of this generator.
    fn is_draw_of(&self, method: ValueId, generator: ValueId) -> bool {
        let is_draw = |method: &Bound<'py, PyAny>| {
            callee::owner_of(method).is_some_and(|owner| random_numbers::is_draw(&callee::name_of(method), &owner))
        };
        match self.value(method) {
            Value::New(New::Method { function, receiver }) => {
                *receiver == generator && self.real(*function).is_some_and(|function| is_draw(&function))
            }
            Value::Real { object, .. } => {
                let method = object.bind(self.py);
                let receiver = callee::receiver_of(method);
                is_draw(method) && self.real(generator).zip(receiver).is_some_and(|(one, other)| one.is(&other))
            }
            _ => false,
        }
    }

    /// The number, which is known from here on; `None`: it is none of 64 bits.
    fn small_integer(&mut self, value: ValueId) -> Option<i64> {
        let number = self.known(value)?;
        number.is_exact_instance_of::<PyInt>().then(|| number.extract().ok())?
    }

    /// Whether the generator is one from outside whose numbers need not be known, and whose state the trace has not worked on.
    fn may_draw_from(&self, generator: ValueId) -> bool {
        let copied = || self.state.state_copies.iter().any(|copy| copy.value == generator);
        let is_outside = || self.real(generator).is_some() && self.source(generator).is_some();
        self.state.may_draw && !self.state.numbers.all_known && !copied() && is_outside()
    }

    /// The next number of a generator from outside; `None`: it must be known.
    fn draw(&mut self, generator: ValueId, draw: Draw) -> Traced<Option<ValueId>> {
        self.class_of(generator)?;
        self.refuse_draw_after_program()?;
        let index = self.state.drawing.iter().position(|drawing| drawing.value == generator);
        let (steps, from) = index.map_or((0, generator), |index| {
            let drawing = &self.state.drawing[index];
            (drawing.steps, drawing.next)
        });
        let (Some(object), Some(base)) = (self.real(from), self.source(from)) else { return Ok(None) };
        let step = Arc::new(Source::Drawn(Arc::new(base), draw));
        let (number_at, next_at) = (Source::Item(Arc::clone(&step), 0), Source::Item(step, 1));
        let key = number_at.key();
        if self.state.numbers.fixed.contains_key(&key) && !self.state.must_not_break {
            return unsupported(PASSING_STATE, "a drawn number that must be known");
        }
        if steps >= MAX_DRAWN || self.state.numbers.fixed.contains_key(&key) {
            return Ok(None);
        }
        let Some((number, next)) = random_numbers::ahead(&object, draw) else { return Ok(None) };
        self.state.aliases.changed.insert(generator);
        let (number, next) = (self.sourced(number, number_at), self.sourced(next, next_at));
        self.state.numbers.drawn.insert(key);
        let drawing = Drawing { value: generator, steps: steps + 1, next };
        match index {
            Some(index) => self.state.drawing[index] = drawing,
            None => self.state.drawing.push(drawing),
        }
        Ok(Some(number))
    }

    /// The generator as the trace has left it; `None`: it has drawn nothing from it.
    pub(crate) fn generator_now(&self, generator: ValueId) -> Option<Bound<'py, PyAny>> {
        let drawing = self.state.drawing.iter().find(|drawing| drawing.value == generator)?;
        self.real(drawing.next)
    }

    /// Breaks where the graph, which runs before generators are advanced, calls what may draw from them itself.
    pub(crate) fn refuse_draw_after_program(&self) -> Traced<()> {
        let runs =
            |node: &Node| match (&node.target, self.state.domains.iter().find(|known| known.name() == node.domain)) {
                (Some(target), Some(domain)) => domain.call_effects(target.bind(self.py), &[]).runs_program,
                _ => false,
            };
        match self.state.graph.nodes.iter().any(runs) {
            true => unsupported("function of the program in the graph", "before a number is drawn"),
            false => Ok(()),
        }
    }

    /// The same where such a call comes after draws.
    pub(crate) fn refuse_program_after_draw(&self, domain: &Arc<dyn Domain>, target: &Bound<'py, PyAny>) -> Traced<()> {
        let draws = !self.state.numbers.drawn.is_empty() || !self.state.state_copies.is_empty();
        match draws && domain.call_effects(target, &[]).runs_program {
            true => unsupported("function of the program in the graph", "after a change of a state that it may read"),
            false => Ok(()),
        }
    }

    /// A trace that holds for one number alone is made again, and breaks where that is drawn.
    pub(crate) fn refuse_known_draws(&mut self) -> Traced<()> {
        let drawn = &self.state.numbers.drawn;
        if drawn.is_empty() {
            return Ok(());
        }
        let known = self.state.guards.iter().filter(|guard| matches!(guard.check, Check::Equals(_)));
        let known: Vec<u64> = known.map(|guard| guard.source.key()).filter(|key| drawn.contains(key)).collect();
        if known.is_empty() {
            return Ok(());
        }
        self.state.numbers.to_fix.extend(known);
        Err(Unwind::Specialise)
    }
}

/// Whether a function is one of the library that draws: a trace does not stop within it, so that it runs natively as a whole where what is drawn
/// must be known.
pub(crate) fn is_of_library(function: &Bound<'_, PyAny>) -> bool {
    callee::module_name(function).is_some_and(|module| module.to_str().is_ok_and(|name| name == LIBRARY))
}

/// Whether it is the library's own function, not one that a program has put in its place.
fn is_below(function: &Bound<'_, PyAny>) -> bool {
    let py = function.py();
    let own = || {
        let module = crate::ffi::modules::import(py, LIBRARY)?;
        let method = module.getattr("Random")?.getattr(BELOW.1)?;
        let file = inspect::function_code(function).map(|code| code.getattr("co_filename")).transpose()?;
        Ok::<_, PyErr>(
            method.is(function)
                && file.is_some_and(|file| module.getattr("__file__").is_ok_and(|own| own.eq(file).unwrap_or(false))),
        )
    };
    own().unwrap_or(false)
}
