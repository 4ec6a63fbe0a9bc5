//! What two bytes that follow each other can have wrong.
//!
//! Each mistake is a set of upper halves of the first byte, one of its lower halves, and one of
//! upper halves of the second: two bytes have it if all three are in them. So three lookups of 16
//! bytes, with a bit a mistake, find eight at once. (Keiser and Lemire 2021, "Validating UTF-8 in
//! less than one instruction per byte", table 8.)

/// A mistake: sets of numbers from 0 to 15.
struct Mistake {
    upper: u16,
    lower: u16,
    next_upper: u16,
}

/// The numbers from one to another.
const fn range(from: u32, to: u32) -> u16 {
    let mut set = 0;
    let mut at = from;
    while at <= to {
        set |= 1 << at;
        at += 1;
    }
    set
}

const ANY: u16 = range(0, 15);
/// The upper halves of a byte that begins no character.
const FOLLOWS: u16 = range(0x8, 0xb);

/// The mistakes, the last of them a byte that follows one that follows. That is none where it is
/// the third or fourth of a character.
const MISTAKES: [Mistake; 8] = [
    // A character that goes on is expected to, and one begins.
    Mistake { upper: range(0xc, 0xf), lower: ANY, next_upper: ANY & !FOLLOWS },
    // A character that is over goes on.
    Mistake { upper: range(0x0, 0x7), lower: ANY, next_upper: FOLLOWS },
    // Two bytes for what has room in one.
    Mistake { upper: range(0xc, 0xc), lower: range(0, 1), next_upper: FOLLOWS },
    // Three bytes for what has room in two.
    Mistake { upper: range(0xe, 0xe), lower: range(0, 0), next_upper: range(0x8, 0x9) },
    // A half of a pair, as UTF-16 has them.
    Mistake { upper: range(0xe, 0xe), lower: range(0xd, 0xd), next_upper: range(0xa, 0xb) },
    // Above the last character, if the first byte is f4.
    Mistake { upper: range(0xf, 0xf), lower: range(4, 15), next_upper: range(0x9, 0xb) },
    // Four bytes for what has room in three, if it is f0; above the last character, from f5 on.
    Mistake { upper: range(0xf, 0xf), lower: 1 | range(5, 15), next_upper: range(0x8, 0x8) },
    Mistake { upper: FOLLOWS, lower: ANY, next_upper: FOLLOWS },
];

/// The bit of the last mistake: the upper bit of a byte.
pub(super) const FOLLOWS_TWICE: u8 = 0x80;

/// For each half of a byte the mistakes that it may be part of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables<T> {
    pub upper: T,
    pub lower: T,
    pub next_upper: T,
}

pub(super) static TABLES: Tables<[u8; 16]> = {
    let mut tables = Tables { upper: [0; 16], lower: [0; 16], next_upper: [0; 16] };
    let mut half = 0;
    while half < 16 {
        let mut bit = 0;
        while bit < 8 {
            let Mistake { upper, lower, next_upper } = &MISTAKES[bit];
            tables.upper[half] |= ((*upper >> half & 1) as u8) << bit;
            tables.lower[half] |= ((*lower >> half & 1) as u8) << bit;
            tables.next_upper[half] |= ((*next_upper >> half & 1) as u8) << bit;
            bit += 1;
        }
        half += 1;
    }
    tables
};
