//! The published contract: a call a number, 1 to 3 digits, at most 255.

use crate::texts::Texts;
use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel};

/// The crate's answer; where it takes more than the contract does, that is refused first.
#[cfg(feature = "atoi")]
#[inline(always)]
fn parsed(text: &[u8], (): ()) -> Option<u8> {
    use atoi::FromRadix10Checked;
    let (number, used) = u8::from_radix_10_checked(text);
    number.filter(|_| used == text.len() && used - 1 < 3)
}

/// As above.
#[cfg(feature = "atoi_simd")]
#[inline(always)]
fn parsed(text: &[u8], (): ()) -> Option<u8> {
    if text.len() > 3 {
        return None;
    }
    atoi_simd::parse::<u8, false, false>(text).ok()
}

/// As above. The crate takes a sign.
#[cfg(feature = "lexical-core")]
#[inline(always)]
fn parsed(text: &[u8], (): ()) -> Option<u8> {
    if text.len() > 3 || text.first() == Some(&b'+') {
        return None;
    }
    lexical_core::parse(text).ok()
}

#[cfg(feature = "kit-hash")]
#[inline(always)]
fn parsed(text: &[u8; 4], size: usize) -> Option<u8> {
    tiebreak_simd::uint8::parse_padded(text, size)
}

/// What a string is handed over as.
#[cfg(feature = "kit-hash")]
type Text = [u8; 4];
#[cfg(feature = "kit-hash")]
type Size = usize;
#[cfg(not(feature = "kit-hash"))]
type Text = [u8];
#[cfg(not(feature = "kit-hash"))]
type Size = ();

kernel! {
    fn parse_uint8(text: &Text, size: Size, number: &mut u8) -> bool {
        match parsed(text, size) {
            Some(value) => {
                *number = value;
                true
            }
            None => false,
        }
    }
}

struct Each;

impl Contestant for Each {
    const NAME: &'static core::ffi::CStr = c"parse_uint8";
    type State<'w> = Texts;

    fn prepare(workload: Workload<'_>) -> Option<Texts> {
        Some(Texts::new(workload.input()))
    }

    fn run(texts: &mut Texts) -> u64 {
        let (mut sum, mut rejected) = (0, 0);
        for (text, size) in texts.iter() {
            let mut number = 0;
            if parse_uint8(text, size, &mut number) {
                sum += u64::from(number);
            } else {
                rejected += 1;
            }
        }
        sum + (rejected << 32)
    }

    fn dump(texts: &mut Texts, sink: &mut Sink<'_>) {
        for (text, size) in texts.iter() {
            let mut number = 0;
            if parse_uint8(text, size, &mut number) {
                sink.line(format_args!("{number:02x}"));
            } else {
                sink.bytes(b"--\n");
            }
        }
    }
}

contestant!(Each);
