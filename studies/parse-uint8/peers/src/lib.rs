//! The peers of this study that are Rust crates, one a feature, under the published contract: a
//! call a number, 1 to 3 digits, at most 255.

mod texts;

use texts::Texts;
use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel};

/// The crate's answer; where it takes more than the contract does, that is refused first.
#[cfg(feature = "atoi")]
#[inline(always)]
fn parsed(text: &[u8]) -> Option<u8> {
    use atoi::FromRadix10Checked;
    let (number, used) = u8::from_radix_10_checked(text);
    number.filter(|_| used == text.len() && used - 1 < 3)
}

/// As above.
#[cfg(feature = "atoi_simd")]
#[inline(always)]
fn parsed(text: &[u8]) -> Option<u8> {
    if text.len() > 3 {
        return None;
    }
    atoi_simd::parse::<u8, false, false>(text).ok()
}

/// As above. The crate takes a sign.
#[cfg(feature = "lexical-core")]
#[inline(always)]
fn parsed(text: &[u8]) -> Option<u8> {
    if text.len() > 3 || text.first() == Some(&b'+') {
        return None;
    }
    lexical_core::parse(text).ok()
}

kernel! {
    fn parse_uint8(text: &[u8], number: &mut u8) -> bool {
        match parsed(text) {
            Some(value) => {
                *number = value;
                true
            }
            None => false,
        }
    }
}

struct Peer;

impl Contestant for Peer {
    const NAME: &'static core::ffi::CStr = c"parse_uint8";
    type State<'w> = Texts;

    fn prepare(workload: Workload<'_>) -> Option<Texts> {
        Some(Texts::new(workload.input()))
    }

    fn run(texts: &mut Texts) -> u64 {
        let (mut sum, mut rejected) = (0, 0);
        for text in texts.iter() {
            let mut number = 0;
            if parse_uint8(text, &mut number) {
                sum += u64::from(number);
            } else {
                rejected += 1;
            }
        }
        sum + (rejected << 32)
    }

    fn dump(texts: &mut Texts, sink: &mut Sink<'_>) {
        for text in texts.iter() {
            let mut number = 0;
            if parse_uint8(text, &mut number) {
                sink.line(format_args!("{number:02x}"));
            } else {
                sink.bytes(b"--\n");
            }
        }
    }
}

contestant!(Peer);
