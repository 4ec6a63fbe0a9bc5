//! Lines of an input that may be silent for long: a wait for one can time out. Shortens their words
//! for errors.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use tiebreak_input::shown;

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// The number of chunks that are read ahead of the judge.
const CHUNKS_AHEAD: usize = 4;
/// The most bytes of a line that are kept: a longer line is not a number.
const LINE_BYTES_MAX: usize = 1000;

/// The result of a wait for a line.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// A line, without its end.
    Line(Vec<u8>),
    /// No line within the time.
    Silence,
    /// The input has ended.
    End,
    /// The input cannot be read; the error of the system.
    Broken(String),
}

/// Reads an input in a separate thread, which ends with the input or with the process: a waiting
/// read cannot be cancelled.
pub struct Lines {
    chunks: Receiver<Result<Vec<u8>, String>>,
    chunk: Vec<u8>,
    used: usize,
    line: Vec<u8>,
    has_ended: bool,
}

impl Lines {
    /// Starts to read.
    pub fn of(mut input: impl Read + Send + 'static) -> Lines {
        let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK_BYTES];
                let read = match input.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(bytes) => {
                        chunk.truncate(bytes);
                        Ok(chunk)
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => Err(error.to_string()),
                };
                let is_last = read.is_err();
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        Lines { chunks, chunk: Vec::new(), used: 0, line: Vec::new(), has_ended: false }
    }

    /// Returns the next line, after a wait of at most this time.
    pub fn next(&mut self, patience: Duration) -> Next {
        loop {
            if self.used < self.chunk.len() {
                let rest = &self.chunk[self.used..];
                let end = rest.iter().position(|byte| *byte == b'\n');
                let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
                self.line.extend_from_slice(&rest[..end.unwrap_or(rest.len()).min(room)]);
                self.used += end.map_or(rest.len(), |end| end + 1);
                if end.is_some() {
                    return Next::Line(std::mem::take(&mut self.line));
                }
            }
            if self.has_ended {
                let last = std::mem::take(&mut self.line);
                return if last.is_empty() { Next::End } else { Next::Line(last) };
            }
            match self.chunks.recv_timeout(patience) {
                Ok(Ok(chunk)) => (self.chunk, self.used) = (chunk, 0),
                Ok(Err(what)) => return Next::Broken(what),
                Err(RecvTimeoutError::Timeout) => return Next::Silence,
                Err(RecvTimeoutError::Disconnected) => self.has_ended = true,
            }
        }
    }
}

/// Quotes a word, without control characters, and shortened.
pub fn quoted(word: &str) -> String {
    format!("'{}'", shown(word.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn read(input: &'static [u8]) -> Vec<Next> {
        let mut lines = Lines::of(input);
        let mut all = Vec::new();
        loop {
            let next = lines.next(LONG);
            if next == Next::End {
                return all;
            }
            all.push(next);
        }
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        fn line(text: &str) -> Next {
            Next::Line(text.as_bytes().to_vec())
        }
        assert_eq!(read(b"1\n\n0"), [line("1"), line(""), line("0")]);
        assert_eq!(read(b"1\n"), [line("1")]);
        assert_eq!(read(b""), []);
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let long: &'static [u8] = Box::leak(vec![b'7'; 1 << 20].into_boxed_slice());
        let Next::Line(line) = &read(long)[0] else { panic!("no line") };
        assert_eq!(line.len(), LINE_BYTES_MAX);
    }

    #[test]
    fn silence_and_failure_are_reported() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("no more"))
            }
        }
        assert_eq!(Lines::of(Broken).next(LONG), Next::Broken("no more".into()));
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(Lines::of(reader).next(Duration::from_millis(1)), Next::Silence);
    }
}
