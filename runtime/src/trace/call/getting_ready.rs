//! What functions of a library make at their first call and keep: a trace of that call would be of no use for the next ones, so the frame runs as
//! it is, this once.
use crate::ffi::inspect;
use crate::trace::state::options::Stop;
use crate::trace::state::tracer::{FramePosition, Tracer};
use crate::trace::state::unwind::{Traced, Unwind};

impl<'py> Tracer<'py> {
    /// Whether the function that runs is such a one, and the frame may run as it is.
    pub(crate) fn keeps_what_it_makes(&self) -> bool {
        let place = self.state.places.last().filter(|_| self.state.may_wait && !self.state.must_not_break);
        place.is_some_and(|place| self.keeps_state(place))
    }

    fn keeps_state(&self, place: &FramePosition) -> bool {
        self.state.domains.iter().any(|domain| domain.keeps_state(place.function.bind(self.py)))
    }

    /// Something that is kept is made, which was not there. In a loop of the program the next call comes in the same frame: that is traced.
    pub(crate) fn makes_what_is_kept(&mut self) -> Traced<()> {
        if !self.keeps_what_it_makes() {
            return Ok(());
        }
        let of_program = self.state.places.iter().take_while(|place| !self.keeps_state(place));
        let of_program: Vec<_> = of_program.map(|place| (place.function.bind(self.py).clone(), place.at)).collect();
        for (function, at) in of_program {
            let Some(code) = inspect::function_code(&function) else { return Ok(()) };
            let code = self.decode(&code)?;
            let jumps_back = code
                .instrs
                .iter()
                .skip(at)
                .any(|instr| instr.target.and_then(|target| code.index(target)).is_some_and(|target| target <= at));
            if jumps_back {
                return Ok(());
            }
        }
        Err(Unwind::GivenUp(Box::new(Stop::Later)))
    }
}
