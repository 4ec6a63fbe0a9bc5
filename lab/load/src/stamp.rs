//! What a message carries, so that whoever receives it knows which one it is and how long it took.

use crate::Latency;
use crate::schedule::SECOND_NS;
use std::array;

/// The bytes of a stamp on the wire.
pub const STAMP_BYTES: usize = 16;
/// The characters of a stamp in a text.
pub const STAMP_CHARACTERS: usize = 22;
/// The characters that stand for 6 bits each: those of RFC 4648 section 5, which no text escapes.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CHARACTER_BITS: usize = 6;
/// The bits of a number, and of a time.
const NUMBER_BITS: u32 = 40;
const TIME_BITS: u32 = 44;
const TIME_MASK: u64 = (1 << TIME_BITS) - 1;

/// The messages of one load, at most: a trillion.
pub const MESSAGES_MAX: u64 = 1 << NUMBER_BITS;
/// The length of one load, at most: four hours, which 44 bits of nanoseconds hold.
pub const LOAD_NS_MAX: u64 = 4 * 3600 * SECOND_NS;

/// Which message it is, and when it was sent. All times are nanoseconds since the load's start.
///
/// A stamp travels in the message where it can ([`Stamp::to_bytes`]), so the receiver needs no
/// table of what is under way, whichever thread it lives on and however often a message arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The sends before it, over all senders: message `number` is that of sender
    /// `number mod senders`, and the sends of that sender before it are `number / senders`.
    pub number: u64,
    /// When the schedule wanted it to be sent. In a closed loop, when it was sent.
    pub intended_ns: u64,
    /// When the generator turned to it.
    pub actual_ns: u64,
}

impl Stamp {
    /// Returns the latency of an arrival at this time: from the actual send, and from the intended
    /// one.
    pub fn latency(&self, arrived_ns: u64) -> Latency {
        Latency {
            low_ns: arrived_ns.saturating_sub(self.actual_ns),
            high_ns: arrived_ns.saturating_sub(self.intended_ns),
        }
    }

    /// Returns the byte form: the number in 40 bits and both times in 44, the lowest bits first.
    pub fn to_bytes(&self) -> [u8; STAMP_BYTES] {
        let time = |ns: u64| u128::from(ns & TIME_MASK);
        let bits = u128::from(self.number & (MESSAGES_MAX - 1))
            | time(self.intended_ns) << NUMBER_BITS
            | time(self.actual_ns) << (NUMBER_BITS + TIME_BITS);
        bits.to_le_bytes()
    }

    /// Reads the byte form. Whether such a message was ever sent, the caller knows.
    pub fn from_bytes(bytes: [u8; STAMP_BYTES]) -> Stamp {
        let bits = u128::from_le_bytes(bytes);
        let time = |shift: u32| (bits >> shift) as u64 & TIME_MASK;
        Stamp {
            number: bits as u64 & (MESSAGES_MAX - 1),
            intended_ns: time(NUMBER_BITS),
            actual_ns: time(NUMBER_BITS + TIME_BITS),
        }
    }

    /// Returns the form in a text: the bits of the byte form, 6 a character, the lowest first.
    pub fn to_text(&self) -> [u8; STAMP_CHARACTERS] {
        let bits = u128::from_le_bytes(self.to_bytes());
        array::from_fn(|at| ALPHABET[(bits >> (CHARACTER_BITS * at)) as usize & 63])
    }

    /// Reads the form in a text; `None` if it is no stamp's.
    pub fn from_text(text: &[u8; STAMP_CHARACTERS]) -> Option<Stamp> {
        let mut bits = 0;
        for (at, character) in text.iter().enumerate() {
            let value = u128::from(value(*character)?);
            let place = CHARACTER_BITS * at;
            // The last character has only two bits.
            if value << place >> place != value {
                return None;
            }
            bits |= value << place;
        }
        Some(Stamp::from_bytes(bits.to_le_bytes()))
    }
}

/// Returns the bits that a character of the alphabet stands for.
fn value(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_the_greatest_values_apart() {
        let stamps = [
            Stamp { number: 0, intended_ns: 0, actual_ns: 0 },
            Stamp { number: MESSAGES_MAX - 1, intended_ns: 0, actual_ns: 1 },
            Stamp { number: 1, intended_ns: LOAD_NS_MAX, actual_ns: LOAD_NS_MAX - 1 },
            Stamp { number: 0x12_3456_789a, intended_ns: 0xabc_def0_1234, actual_ns: TIME_MASK },
        ];
        for stamp in stamps {
            assert_eq!(Stamp::from_bytes(stamp.to_bytes()), stamp);
            assert_eq!(Stamp::from_text(&stamp.to_text()), Some(stamp));
        }
        const { assert!(LOAD_NS_MAX <= TIME_MASK) };
    }

    #[test]
    fn a_text_is_a_stamp_if_it_is_one_that_a_stamp_has() {
        for (value, character) in (0..).zip(ALPHABET) {
            assert_eq!(super::value(*character), Some(value));
        }
        let text = Stamp { number: 1, intended_ns: 2, actual_ns: 3 }.to_text();
        let characters = (0..=u8::MAX).filter(|character| ALPHABET.contains(character));
        assert_eq!(characters.filter(|character| is_stamp(text, 0, *character)).count(), 64);
        let accepted = (0..=u8::MAX).filter(|character| is_stamp(text, 21, *character));
        assert_eq!(accepted.collect::<Vec<_>>(), *b"ABCD");
        assert!(!is_stamp(text, 7, b'+') && !is_stamp(text, 7, b' ') && !is_stamp(text, 7, 0xff));
    }

    /// Returns whether the text is a stamp's with another character there, and checks that it is
    /// then the only text of that stamp.
    fn is_stamp(mut text: [u8; STAMP_CHARACTERS], at: usize, character: u8) -> bool {
        text[at] = character;
        let stamp = Stamp::from_text(&text);
        stamp.inspect(|stamp| assert_eq!(stamp.to_text(), text)).is_some()
    }

    #[test]
    fn a_late_send_makes_the_latency_an_interval() {
        let stamp = Stamp { number: 7, intended_ns: 100, actual_ns: 130 };
        assert_eq!(stamp.latency(150), Latency { low_ns: 20, high_ns: 50 });
    }
}
