//! The tables of a set, as vectors look them up.

use super::ByteSet;

/// A table for each half of a byte: a byte is in the set if `upper[byte / 16]` and
/// `lower[byte % 16]` have a bit in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nibbles {
    pub upper: [u8; 16],
    pub lower: [u8; 16],
}

/// All that any form looks up.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "NEON looks up the set"))]
pub(crate) struct Tables {
    /// The set itself.
    pub set: ByteSet,
    /// Bit `h` of `columns[0][l]` says whether the byte `16 h + l` is in the set, of `columns[1][l]`
    /// whether `16 (8 + h) + l` is.
    pub columns: [[u8; 16]; 2],
    /// The tables by halves, if eight bits are enough for them: not an `Option`, of which a form
    /// would ask at each call what was known when it was chosen.
    pub nibbles: Nibbles,
    /// Whether they are.
    pub has_nibbles: bool,
}

impl Tables {
    pub const fn of(set: ByteSet) -> Tables {
        let mut columns = [[0; 16]; 2];
        let mut byte = 0;
        while byte < 256 {
            if set.has(byte as u8) {
                columns[byte / 128][byte % 16] |= 1 << (byte / 16 % 8);
            }
            byte += 1;
        }
        let (nibbles, has_nibbles) = match nibbles(&set) {
            Some(nibbles) => (nibbles, true),
            None => (Nibbles { upper: [0; 16], lower: [0; 16] }, false),
        };
        Tables { set, columns, nibbles, has_nibbles }
    }
}

/// Makes the tables by halves: a bit for each different row of the matrix whose rows are the upper
/// halves of bytes and whose columns are the lower ones, or for each different column. `None` if
/// there are more than eight of both that are not empty. (Langdale and Lemire 2019, "Parsing
/// gigabytes of JSON per second", section 3.1.2.)
const fn nibbles(set: &ByteSet) -> Option<Nibbles> {
    if let Some((upper, lower)) = by_rows(set, false) {
        return Some(Nibbles { upper, lower });
    }
    match by_rows(set, true) {
        Some((lower, upper)) => Some(Nibbles { upper, lower }),
        None => None,
    }
}

/// Gives each different row that is not empty a bit: returns the bit of each row, and for each
/// column the bits of the rows that have it.
const fn by_rows(set: &ByteSet, is_transposed: bool) -> Option<([u8; 16], [u8; 16])> {
    let (mut kinds, mut used) = ([0_u16; 8], 0);
    let (mut of_row, mut of_column) = ([0; 16], [0; 16]);
    let mut row = 0;
    while row < 16 {
        let members = row_of(set, row, is_transposed);
        let mut kind = 0;
        while kind < used && kinds[kind] != members {
            kind += 1;
        }
        if members != 0 {
            if kind == 8 {
                return None;
            }
            if kind == used {
                kinds[used] = members;
                used += 1;
            }
            of_row[row as usize] = 1 << kind;
        }
        row += 1;
    }
    let mut column = 0;
    while column < 16 {
        let mut kind = 0;
        while kind < used {
            of_column[column] |= ((kinds[kind] >> column & 1) as u8) << kind;
            kind += 1;
        }
        column += 1;
    }
    Some((of_row, of_column))
}

/// Returns the columns of a row, a bit each.
const fn row_of(set: &ByteSet, row: u8, is_transposed: bool) -> u16 {
    let mut members = 0;
    let mut column = 0;
    while column < 16 {
        let byte = if is_transposed { 16 * column + row } else { 16 * row + column };
        members |= (set.has(byte) as u16) << column;
        column += 1;
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks both tables of a set; returns whether it has those by halves.
    fn check(set: ByteSet) -> bool {
        let tables = Tables::of(set);
        for byte in 0..=255_u8 {
            let (upper, lower) = (usize::from(byte / 16), usize::from(byte % 16));
            let by_column = tables.columns[upper / 8][lower] >> (upper % 8) & 1 == 1;
            assert_eq!(by_column, set.has(byte), "{set:?}: {byte}");
            let by_halves = tables.nibbles.upper[upper] & tables.nibbles.lower[lower] != 0;
            assert_eq!(by_halves, set.has(byte) && tables.has_nibbles, "{set:?}: {byte}");
        }
        tables.has_nibbles
    }

    #[test]
    fn tables_say_what_the_set_says() {
        assert!(check(ByteSet::EMPTY) && check(ByteSet::EMPTY.others()));
        assert!(check(ByteSet::of(b"\r\n\0\xff")));
        assert!(check(ByteSet::range(b'A', b'z').with(ByteSet::of(b"-_0"))));
        // A diagonal has as many different rows as columns.
        let diagonal = |count: u8| ByteSet::of(&(0..count).map(|at| 17 * at).collect::<Vec<u8>>());
        assert!(check(diagonal(8)) && !check(diagonal(9)) && !check(diagonal(16)));
        // Each row holds its own number in four columns: sixteen rows, four columns.
        let counted =
            (0..=255_u8).filter(|byte| byte % 16 < 4 && byte >> 4 >> (byte % 16) & 1 == 1);
        assert!(check(ByteSet::of(&counted.collect::<Vec<u8>>())));
    }
}
