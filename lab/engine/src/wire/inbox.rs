//! What a client sends: its lines, read in a thread of their own, so that a race ends when its
//! client goes away or stops waiting for it.

use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};
use tiebreak_input::MAX_FILE_BYTES;

/// The longest line, in bytes, with its end.
pub const MAX_LINE_BYTES: usize = MAX_FILE_BYTES;

/// What is known of a client while its lines are read.
#[derive(Debug)]
pub struct Inbox {
    /// Ends the race of this client.
    pub stop: &'static AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The lines that wait for an answer.
    waiting: usize,
    is_racing: bool,
    is_gone: bool,
}

/// A line of a client, or one that is too long.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// A line.
    Whole(Vec<u8>),
    /// The start of a line that is longer than [`MAX_LINE_BYTES`]; the last one that is read.
    TooLong,
}

impl Inbox {
    /// Returns the inbox of a new client, whose races `stop` ends.
    pub fn new(stop: &'static AtomicBool) -> Inbox {
        stop.store(false, Ordering::SeqCst);
        Inbox { stop, state: Mutex::default() }
    }

    /// Reads lines until the client goes away or nobody takes them.
    pub fn read(&self, stream: impl Read, lines: &SyncSender<Line>) {
        let mut reader = BufReader::new(stream);
        loop {
            let mut line = Vec::new();
            let mut limited = reader.by_ref().take(MAX_LINE_BYTES as u64 + 1);
            if !matches!(limited.read_until(b'\n', &mut line), Ok(1..)) {
                break;
            }
            let is_too_long = line.len() > MAX_LINE_BYTES;
            self.change(|state| state.waiting += 1);
            let line = if is_too_long { Line::TooLong } else { Line::Whole(line) };
            if lines.send(line).is_err() || is_too_long {
                break;
            }
        }
        self.change(|state| state.is_gone = true);
    }

    /// Takes note that a line is being answered.
    pub fn taken(&self) {
        self.change(|state| state.waiting -= 1);
    }

    /// Takes note that a race begins, for the line that is being answered.
    pub fn begin_race(&self) {
        self.change(|state| state.is_racing = true);
    }

    /// Takes note that the race has ended. Returns whether its client still waits for an answer:
    /// one that has sent another line has given up on it, and would take the answer for that to
    /// the other line.
    pub fn end_race(&self) -> bool {
        self.change(|state| state.is_racing = false)
    }

    /// Changes what is known, and whether a race must end. Returns whether no line waits.
    fn change(&self, change: impl FnOnce(&mut State)) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        let is_over = state.is_racing && (state.is_gone || state.waiting > 0);
        self.stop.store(is_over, Ordering::SeqCst);
        state.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    fn lines(sent: &[u8]) -> Vec<Line> {
        static STOP: AtomicBool = AtomicBool::new(false);
        let (sender, lines) = sync_channel(10);
        Inbox::new(&STOP).read(sent, &sender);
        drop(sender);
        lines.iter().collect()
    }

    #[test]
    fn lines_have_a_bound() {
        assert_eq!(lines(b""), []);
        let whole = |line: &[u8]| Line::Whole(line.to_vec());
        assert_eq!(lines(b"a\nb"), [whole(b"a\n"), whole(b"b")]);
        let mut long = vec![b'x'; MAX_LINE_BYTES - 1];
        long.push(b'\n');
        assert_eq!(lines(&long), [whole(&long)]);
        long.insert(0, b'x');
        long.extend(b"a\n");
        assert_eq!(lines(&long), [Line::TooLong]);
    }

    #[test]
    fn a_race_ends_when_its_client_sends_another_line_or_goes_away() {
        static STOP: AtomicBool = AtomicBool::new(true);
        let inbox = Inbox::new(&STOP);
        let is_over = || STOP.load(Ordering::SeqCst);
        inbox.begin_race();
        assert!(!is_over());
        assert!(inbox.end_race());
        let (sender, _lines) = sync_channel(10);
        inbox.begin_race();
        inbox.change(|state| state.waiting += 1);
        assert!(is_over());
        assert!(!inbox.end_race());
        assert!(!is_over());
        inbox.taken();
        inbox.begin_race();
        assert!(!is_over());
        inbox.read(&b""[..], &sender);
        assert!(is_over());
        assert!(inbox.end_race());
        inbox.begin_race();
        assert!(is_over());
    }
}
