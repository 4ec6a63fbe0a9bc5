//! What holds for every decoder, whatever it decodes; the fuzz targets use it, too.

#![allow(dead_code, reason = "each test and each fuzz target uses its own part")]

pub mod http;
pub mod mqtt;
pub mod websocket;

use std::fmt::{Debug, Display};
use tiebreak_proto::{Decoded, TooSmall};

/// What decoding gave, so that results of any type can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The value as text, and how many bytes it took.
    Whole(String, usize),
    /// How many bytes it takes to try again.
    Short(usize),
    /// The error as text.
    Failed(String),
}

/// Returns what decoding `bytes` gave. Checks that it took no more than there is, or asks for more,
/// or fails with a sentence.
pub fn outcome<T: Debug, E: Debug + Display>(
    bytes: &[u8],
    decoded: Result<Decoded<T>, E>,
) -> Outcome {
    match decoded {
        Ok(Decoded::Whole { value, length }) => {
            assert!(length > 0 && length <= bytes.len(), "{length} of {}", bytes.len());
            Outcome::Whole(format!("{value:?}"), length)
        }
        Ok(Decoded::Short { needs }) => {
            assert!(needs > bytes.len(), "{needs} of {}", bytes.len());
            Outcome::Short(needs)
        }
        Err(error) => {
            check_sentence(&error);
            Outcome::Failed(format!("{error:?}"))
        }
    }
}

/// Checks that an error says what is wrong, and what would be right, in one line.
pub fn check_sentence(error: &impl Display) {
    let line = error.to_string();
    assert!(line.contains(": ") && !line.contains(char::is_control), "{line:?}");
}

/// Returns the value and its length.
pub fn whole<T: Debug, E: Debug>(decoded: Result<Decoded<T>, E>) -> (T, usize) {
    match decoded {
        Ok(Decoded::Whole { value, length }) => (value, length),
        other => panic!("{other:?} is no whole value"),
    }
}

/// Checks that more bytes change nothing of what is decided: the first `cut` bytes give the same as
/// all do, or ask for more. What lies after a value is not looked at.
pub fn check_cut(bytes: &[u8], cut: usize, decode: impl Fn(&[u8]) -> Outcome) {
    let all = decode(bytes);
    let first = decode(&bytes[..cut]);
    match &first {
        Outcome::Short(_) => {}
        decided => assert_eq!(*decided, all, "{cut} of {bytes:?}"),
    }
    if let Outcome::Whole(_, length) = all {
        assert_eq!(decode(&bytes[..length]), all, "{bytes:?}");
        match first {
            Outcome::Short(needs) => assert!(needs <= length, "{needs} for {cut} of {bytes:?}"),
            _ => assert!(cut >= length),
        }
    }
}

/// Checks bytes that are a value: each beginning asks for more, but for no more than there is, and
/// whatever byte is changed to whatever else, what was decided stays so.
pub fn check_vector(bytes: &[u8], decode: impl Fn(&[u8]) -> Outcome) {
    let Outcome::Whole(_, length) = decode(bytes) else {
        panic!("{:?} for {bytes:?}", decode(bytes));
    };
    assert_eq!(length, bytes.len());
    for cut in 0..length {
        assert!(matches!(decode(&bytes[..cut]), Outcome::Short(_)), "{cut} of {bytes:?}");
        check_cut(bytes, cut, &decode);
    }
    for at in 0..length {
        for flip in 1..=255 {
            let mut changed = bytes.to_vec();
            changed[at] ^= flip;
            changed.extend([0, b'\r', b'\n', 0xff]);
            check_cut(&changed, (at + 1).min(length - 1), &decode);
        }
    }
}

/// Encodes into a slice of exactly the length that is said. Shorter ones are too small, and say so.
pub fn encoded<E: From<TooSmall> + Debug + PartialEq>(
    length: usize,
    encode: impl Fn(&mut [u8]) -> Result<usize, E>,
) -> Vec<u8> {
    let mut out = vec![0; length];
    assert_eq!(encode(&mut out), Ok(length));
    for short in [0, 1, length / 2, length.saturating_sub(1)] {
        if short < length {
            let error = TooSmall { needs: length };
            assert_eq!(encode(&mut vec![0; short]), Err(error.into()));
        }
    }
    out
}

/// Decodes values that come in pieces, until the last value, an error or the end of the pieces.
/// `next` gets what is there, and its value says whether it is the last. Returns how many bytes
/// were taken.
pub fn feed<E: Display>(
    pieces: &[&[u8]],
    mut next: impl FnMut(&mut [u8]) -> Result<Decoded<bool>, E>,
) -> Result<usize, E> {
    let (mut buffer, mut taken) = (Vec::new(), 0);
    for piece in pieces {
        buffer.extend_from_slice(piece);
        let mut start = 0;
        loop {
            match next(&mut buffer[start..]).inspect_err(check_sentence)? {
                Decoded::Whole { value: is_last, length } => {
                    (start, taken) = (start + length, taken + length);
                    if is_last {
                        return Ok(taken);
                    }
                }
                Decoded::Short { needs } => {
                    assert!(needs > buffer.len() - start);
                    break;
                }
            }
        }
        buffer.drain(..start);
    }
    Ok(taken)
}

/// Cuts `bytes` at two places.
pub fn cut(bytes: &[u8], a: usize, b: usize) -> [&[u8]; 3] {
    let length = bytes.len() + 1;
    let (a, b) = ((a % length).min(b % length), (a % length).max(b % length));
    [&bytes[..a], &bytes[a..b], &bytes[b..]]
}

/// Takes two places to cut at from the beginning of a fuzzer's input, two bytes each.
pub fn cuts(data: &[u8]) -> Option<([usize; 2], &[u8])> {
    let (&[a, b, c, d], bytes) = data.split_first_chunk()?;
    Some(([[a, b], [c, d]].map(|place| u16::from_be_bytes(place).into()), bytes))
}
