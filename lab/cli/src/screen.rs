//! The calm screen of a run: a few lines on standard error, redrawn between rounds only.

use crate::io::Io;
use std::time::{Duration, Instant};
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::report::{Look, live};

/// Not more than five redraws a second.
const BETWEEN_FRAMES: Duration = Duration::from_millis(200);
/// Where nothing can be redrawn, a line now and then shows that the run is alive.
const BETWEEN_LINES: Duration = Duration::from_secs(15);
/// Drawing may take one part in this many of the run's time.
const SHARE_OF_TIME: u32 = 50;

/// Draws a run while it goes on.
pub struct Screen<'a> {
    io: &'a mut Io,
    quiet: bool,
    /// Lines of the frame that stands on the screen.
    lines: usize,
    next: Instant,
}

impl<'a> Screen<'a> {
    /// A screen that shows nothing yet; with `quiet`, ever.
    pub fn new(io: &'a mut Io, quiet: bool) -> Screen<'a> {
        let delay = if io.err_redraws() { Duration::ZERO } else { BETWEEN_LINES };
        Screen { io, quiet, lines: 0, next: Instant::now() + delay }
    }

    /// Draws the run if it is time to; `result` is only asked for then.
    pub fn show(&mut self, result: impl FnOnce() -> RunResult) {
        self.show_as(|look, is_frame| {
            if is_frame { live::frame(&result(), look) } else { vec![live::line(&result(), look)] }
        });
    }

    /// Draws what `draw` gives if it is time to: the lines of a frame, or the one line that is
    /// shown now and then where nothing can be redrawn.
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

    /// Writes a line that stays, now.
    pub fn say(&mut self, line: &str) {
        if !self.quiet {
            self.io.err(&format!("{line}\n"));
        }
    }

    /// Takes the frame away, so that a report can stand in its place.
    pub fn clear(&mut self) {
        if self.lines > 0 {
            let text = self.above() + "\x1b[J";
            self.io.err(&text);
            self.lines = 0;
        }
    }

    /// Moves to the first line of the frame.
    fn above(&self) -> String {
        if self.lines == 0 { String::new() } else { format!("\r\x1b[{}A", self.lines) }
    }
}
