//! Conversations without a socket, for tests: what a server sends, in pieces of any size.

use crate::conversation::{Broken, Conversation, Heard};
use crate::random::Words;
use crate::stamp::Stamp;

/// A conversation with all that it has said and heard.
pub(crate) struct Played<C> {
    pub(crate) conversation: C,
    /// What it has said and nobody has taken.
    pub(crate) out: Vec<u8>,
    /// What it has heard and nobody has taken.
    pub(crate) heard: Vec<Heard>,
    /// What it has left until more comes.
    unread: Vec<u8>,
}

/// What happens in a conversation after it was opened.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The server sends bytes.
    Server(Vec<u8>),
    /// A message is sent.
    Send(Stamp),
}

impl<C: Conversation> Played<C> {
    /// Opens a conversation.
    pub(crate) fn new(mut conversation: C) -> Played<C> {
        let (mut out, mut heard) = (Vec::new(), Vec::new());
        conversation.open(&mut out, &mut heard);
        Played { conversation, out, heard, unread: Vec::new() }
    }

    /// Lets it receive bytes behind those that it has left.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.unread.extend_from_slice(bytes);
        let done = self.conversation.receive(&mut self.unread, &mut self.out, &mut self.heard)?;
        self.unread.drain(..done);
        Ok(())
    }

    /// Lets it send a message.
    pub(crate) fn send(&mut self, stamp: Stamp) {
        assert!(self.conversation.is_free());
        self.conversation.send(stamp, &mut self.out);
    }

    /// Returns the messages that have arrived since this was asked last.
    pub(crate) fn arrived(&mut self) -> Vec<Stamp> {
        let arrived = self.heard.drain(..).filter_map(|heard| match heard {
            Heard::Arrived(stamp) => Some(stamp),
            _ => None,
        });
        arrived.collect()
    }

    fn play(mut self, steps: &[Step], mut piece: impl FnMut(usize) -> usize) -> Outcome {
        for step in steps {
            match step {
                Step::Send(stamp) => self.send(*stamp),
                Step::Server(bytes) => {
                    let mut rest = &bytes[..];
                    while !rest.is_empty() {
                        let (first, after) = rest.split_at(piece(rest.len()).clamp(1, rest.len()));
                        rest = after;
                        if let Err(broken) = self.receive(first) {
                            return (self.out, self.heard, 0, Some(broken));
                        }
                    }
                }
            }
        }
        (self.out, self.heard, self.unread.len(), None)
    }
}

/// What was said and heard, how many bytes were left, and whether it broke.
type Outcome = (Vec<u8>, Vec<Heard>, usize, Option<Broken>);

/// Checks that a conversation says and hears the same, however what the server sends is cut, and
/// returns what it heard, and whether it broke.
pub(crate) fn check_cuts<C: Conversation>(
    new: impl Fn() -> C,
    steps: &[Step],
) -> (Vec<Heard>, Option<Broken>) {
    let whole = check_drawn_cuts(&new, steps, 50);
    let longest = steps.iter().map(|step| match step {
        Step::Server(bytes) => bytes.len(),
        Step::Send(_) => 0,
    });
    // One cut, at each place of each step.
    for place in 1..longest.max().unwrap_or(0) {
        let cut = |left: usize| if left > place { left - place } else { left };
        assert_eq!(Played::new(new()).play(steps, cut), whole, "cut {place} before the end");
    }
    (whole.1, whole.3)
}

/// Checks the same for single bytes, and for pieces that are drawn so often.
fn check_drawn_cuts<C: Conversation>(new: impl Fn() -> C, steps: &[Step], draws: u64) -> Outcome {
    let whole = Played::new(new()).play(steps, |left| left);
    assert_eq!(Played::new(new()).play(steps, |_| 1), whole);
    let mut words = Words::new(draws);
    for _ in 0..draws {
        let most = words.next_u64() % 40 + 1;
        let drawn = |_| (words.next_u64() % most) as usize + 1;
        assert_eq!(Played::new(new()).play(steps, drawn), whole);
    }
    whole
}

/// Checks the same where a byte that the server sends is wrong. Most such conversations break; none
/// may panic.
pub(crate) fn check_damage<C: Conversation>(new: impl Fn() -> C, steps: &[Step]) {
    let mut words = Words::new(2);
    let mut broken = 0;
    for _ in 0..200 {
        let mut damaged = steps.to_vec();
        let servers = damaged.iter_mut().filter_map(|step| match step {
            Step::Server(bytes) => Some(bytes),
            Step::Send(_) => None,
        });
        let mut servers: Vec<_> = servers.collect();
        let step = (words.next_u64() % servers.len() as u64) as usize;
        let at = (words.next_u64() % servers[step].len() as u64) as usize;
        servers[step][at] ^= (words.next_u64() % 255) as u8 + 1;
        // No message is sent where the opening may have failed.
        if step == 0 {
            damaged.retain(|step| matches!(step, Step::Server(_)));
        }
        broken += u32::from(check_drawn_cuts(&new, &damaged, 3).3.is_some());
    }
    assert!(broken >= 50, "{broken}");
}
