//! The screen of a run: a few lines on standard error, redrawn only between rounds.

use crate::io::Io;
use std::time::{Duration, Instant};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::report::{Look, live};

/// The least time between redraws: five a second at most.
const BETWEEN_FRAMES: Duration = Duration::from_millis(200);
/// If nothing can be redrawn, a line at this interval shows that the run is alive.
const BETWEEN_LINES: Duration = Duration::from_secs(15);
/// Drawing may take one part in this many of the run's time.
const SHARE_OF_TIME: u32 = 50;

/// Draws a run while it continues.
pub struct Screen<'a> {
    io: &'a mut Io,
    quiet: bool,
    /// The number of lines of the current frame.
    lines: usize,
    next: Instant,
}

impl<'a> Screen<'a> {
    /// Shows a screen while `work` runs, and clears it after, so that a report can replace it; with
    /// `quiet`, the screen shows nothing.
    pub fn during<R>(io: &'a mut Io, quiet: bool, work: impl FnOnce(&mut Screen<'a>) -> R) -> R {
        let delay = if io.err_redraws() { Duration::ZERO } else { BETWEEN_LINES };
        let mut screen = Screen { io, quiet, lines: 0, next: Instant::now() + delay };
        let done = work(&mut screen);
        if screen.lines > 0 {
            let text = screen.above() + "\x1b[J";
            screen.io.err(&text);
        }
        done
    }

    /// Draws the run if it is time; calls `result` only then.
    pub fn show(&mut self, result: impl FnOnce() -> RunResult) {
        self.show_as(|look, is_frame| {
            if is_frame { live::frame(&result(), look) } else { vec![live::line(&result(), look)] }
        });
    }

    /// Draws the result of `draw` if it is time: the lines of a frame or, if nothing can be
    /// redrawn, one line.
    pub fn show_as(&mut self, draw: impl FnOnce(&Look, bool) -> Vec<String>) {
        let started = Instant::now();
        if self.quiet || started < self.next {
            return;
        }
        let look = self.io.err_look();
        if self.io.err_redraws() {
            let frame = draw(&look, true);
            let text = self.above() + &frame.join("\x1b[K\n") + "\x1b[K\n\x1b[J";
            self.lines = frame.len();
            self.io.err(&text);
            self.next = Instant::now() + BETWEEN_FRAMES.max(started.elapsed() * SHARE_OF_TIME);
        } else {
            let line = draw(&look, false).join(" ");
            self.io.err(&(line.trim_end().to_owned() + "\n"));
            self.next = Instant::now() + BETWEEN_LINES;
        }
    }

    /// Writes a permanent line, now.
    pub fn say(&mut self, line: &str) {
        if !self.quiet {
            self.io.err(&format!("{line}\n"));
        }
    }

    /// Returns the sequence that moves to the first line of the frame.
    fn above(&self) -> String {
        if self.lines == 0 { String::new() } else { format!("\r\x1b[{}A", self.lines) }
    }
}
