//! The streams of a command, and what they can show.

use anstream::{AutoStream, ColorChoice};
use std::io::{BufReader, ErrorKind, IsTerminal, Read, Write};
use tiebreak_lab::report::Look;

/// The width of lines if it is unknown.
const WIDTH_UNKNOWN: usize = 80;

/// One stream, and the capabilities of its other end.
pub struct Stream {
    writer: Box<dyn Write + Send>,
    /// Whether ANSI styles are used.
    color: bool,
}

/// The streams of a command, and its words.
pub struct Io {
    input: Option<Box<dyn Read + Send>>,
    out: Stream,
    err: Stream,
    /// Whether lines on standard error can be redrawn.
    redraws: bool,
    width: usize,
    /// The number of lines of the terminal, if standard output is one.
    height: Option<usize>,
    unicode: bool,
    /// Why standard output could not be written, if a write failed.
    lost: Option<String>,
    /// Whether the reader of standard output has closed it.
    is_closed: bool,
    /// The command as it was typed, word by word.
    pub(crate) typed: Vec<String>,
}

impl Io {
    /// Returns the streams of this process.
    pub fn of_process() -> Io {
        let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let out_color = !dumb && AutoStream::choice(&out) != ColorChoice::Never;
        let err_color = !dumb && AutoStream::choice(&err) != ColorChoice::Never;
        let redraws = err.is_terminal() && !dumb;
        let size = terminal_size::terminal_size();
        let width = size.map(|(width, _)| usize::from(width.0));
        let height = size.map(|(_, height)| usize::from(height.0)).filter(|_| out.is_terminal());
        let mut io = Io::to(Box::new(out), Box::new(err)).with_input(Box::new(std::io::stdin()));
        (io.out.color, io.err.color, io.redraws) = (out_color, err_color, redraws);
        io.width = width.or_else(columns).unwrap_or(WIDTH_UNKNOWN);
        (io.height, io.unicode) = (height, speaks_unicode());
        io
    }

    /// Returns streams for a test: no colour, 80 columns, nothing is redrawn.
    pub fn to(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Io {
        Io {
            input: None,
            out: Stream { writer: out, color: false },
            err: Stream { writer: err, color: false },
            redraws: false,
            width: WIDTH_UNKNOWN,
            height: None,
            unicode: true,
            lost: None,
            is_closed: false,
            typed: Vec::new(),
        }
    }

    /// Adds a standard input.
    #[must_use]
    pub fn with_input(mut self, input: Box<dyn Read + Send>) -> Io {
        self.input = Some(input);
        self
    }

    /// Takes standard input; only the first caller gets it.
    pub fn take_input(&mut self) -> BufReader<Box<dyn Read + Send>> {
        BufReader::new(self.input.take().unwrap_or_else(|| Box::new(std::io::empty())))
    }

    /// Returns how a report on standard output may look.
    pub fn out_look(&self) -> Look {
        Look { width: self.width, color: self.out.color, unicode: self.unicode }
    }

    /// Returns how progress on standard error may look.
    pub fn err_look(&self) -> Look {
        Look { width: self.width, color: self.err.color, unicode: self.unicode }
    }

    /// Returns whether lines on standard error can be redrawn.
    pub fn err_redraws(&self) -> bool {
        self.redraws
    }

    /// Writes to standard output. A reader that has closed it (`| head`) is not an error; any other
    /// failure is remembered.
    pub fn out(&mut self, text: &str) {
        let written = self.out.writer.write_all(text.as_bytes());
        match written.and_then(|()| self.out.writer.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.is_closed = true,
            Err(error) => self.lost = Some(error.to_string()),
        }
    }

    /// Returns whether standard output is lost: a command that answers line by line then ends.
    pub fn out_is_closed(&self) -> bool {
        self.is_closed || self.lost.is_some()
    }

    /// Returns why standard output could not be written, once.
    pub fn lost_output(&mut self) -> Option<String> {
        self.lost.take()
    }

    /// Returns whether a page is taller than the terminal, so that its first lines are out of
    /// sight.
    pub fn is_too_tall(&self, page: &str) -> bool {
        // One line is for the prompt.
        self.height.is_some_and(|height| page.lines().count() + 1 > height)
    }

    /// Writes to standard error.
    pub fn err(&mut self, text: &str) {
        let _ = self.err.writer.write_all(text.as_bytes());
        let _ = self.err.writer.flush();
    }

    /// Writes an error to standard error.
    pub fn complain(&mut self, text: &str) {
        let text = text.trim_end();
        let text =
            if text.starts_with("error") { text.to_owned() } else { format!("error: {text}") };
        self.err(&(text + "\n"));
    }
}

fn columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// Returns whether the locale's encoding is UTF-8; without a locale, ASCII is used.
fn speaks_unicode() -> bool {
    let set =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
