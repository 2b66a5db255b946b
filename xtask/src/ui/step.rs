//! One step of a longer job: a spinner or a bar on a terminal, and a line when it ends.
use super::paint;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Runs `f` with the bars cleared, so that what it prints does not mix with them.
pub fn suspended<T>(f: impl FnOnce() -> T) -> T {
    BARS.suspend(f)
}

/// A running step. Dropped unfinished, it leaves no line: the error that ended it is reported instead.
pub struct Step {
    what: String,
    bar: ProgressBar,
    start: Instant,
}

impl Step {
    /// A step of unknown length.
    pub fn start(what: impl Display) -> Step {
        let template = "{spinner:.cyan} {msg} {elapsed:.dim}";
        Step::with(what, ProgressBar::no_length(), template)
    }

    /// A step that handles `total` bytes.
    pub fn bytes(what: impl Display, total: Option<u64>) -> Step {
        let template = match total {
            Some(_) => "{spinner:.cyan} {msg} {wide_bar:.cyan/dim} {bytes}/{total_bytes} {eta:.dim}",
            None => "{spinner:.cyan} {msg} {bytes} {elapsed:.dim}",
        };
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        Step::with(what, bar, template)
    }

    /// A step over `total` things.
    pub fn items(what: impl Display, total: u64) -> Step {
        let template = "{spinner:.cyan} {msg} {wide_bar:.cyan/dim} {pos}/{len} {eta:.dim}";
        Step::with(what, ProgressBar::new(total), template)
    }

    fn with(what: impl Display, bar: ProgressBar, template: &str) -> Step {
        let what = what.to_string();
        let bar = if std::io::stderr().is_terminal() {
            let bar = BARS.add(bar);
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.clone());
        Step { what, bar, start: Instant::now() }
    }

    /// More bytes or items are done.
    pub fn advance(&self, by: u64) {
        self.bar.inc(by);
    }

    /// What the step is at just now; terminals only.
    pub fn at(&self, detail: impl Display) {
        self.bar.set_message(format!("{}: {detail}", self.what));
    }

    /// A line below the running step; only where there is no terminal, which has the bar.
    pub fn note(&self, detail: impl Display) {
        if self.bar.is_hidden() {
            anstream::eprintln!("  {}", paint::dim(detail.to_string()));
        }
    }

    /// Ends the step with its outcome. Returns how long it took.
    pub fn done(self, outcome: impl Display) -> Duration {
        self.end(&paint::green("✓"), outcome)
    }

    /// Ends the step that failed where another way is tried next.
    pub fn failed(self, why: impl Display) -> Duration {
        self.end(&paint::yellow("✗"), why)
    }

    fn end(self, mark: &str, outcome: impl Display) -> Duration {
        let took = self.start.elapsed();
        self.bar.finish_and_clear();
        let outcome = outcome.to_string();
        let colon = if outcome.is_empty() { "" } else { ": " };
        let time = if took.as_millis() < 50 { String::new() } else { format!(" ({:.1} s)", took.as_secs_f64()) };
        suspended(|| anstream::eprintln!("{mark} {}{colon}{outcome}{}", self.what, paint::dim(time)));
        took
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
