//! How long a frame that has reached a limit waits for another chance.

/// Calls that run uncompiled before a frame is traced once more: at first, and at most.
const PATIENCE: std::ops::RangeInclusive<u32> = 64..=4096;

/// How long a frame that has reached a limit has waited for another chance.
#[derive(Debug, Default)]
pub struct Patience {
    calls: u32,
    /// Chances so far.
    chances: u32,
}

impl Patience {
    /// Counts a call that runs uncompiled; whether it is time for another chance. Each takes twice as long as the one before.
    pub(super) fn ends(&mut self) -> bool {
        self.calls += 1;
        let needed =
            PATIENCE.start().checked_shl(self.chances).unwrap_or(u32::MAX).clamp(*PATIENCE.start(), *PATIENCE.end());
        if self.calls < needed {
            return false;
        }
        (self.calls, self.chances) = (0, (self.chances + 1).min(16));
        true
    }
}
