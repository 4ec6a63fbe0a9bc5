//! The fewest rectangles that a set of bytes is made of, by exact search.
//!
//! The 256 bytes are a matrix: the upper half of a byte is its row, the lower half its column. A
//! rectangle is some rows and some columns, all of whose crossings are in the set. Tables by halves
//! need a bit for each rectangle, so eight are the most that a byte of a table has room for.

/// A matrix of a set: bit `c` of row `r` says whether the byte `16 r + c` is in it.
pub type Matrix = [u16; 16];

/// The nodes of the search after which it gives up: about a second. Sets that people write take a
/// few; 'all but these sixteen of different rows and columns' takes more.
const NODES_MAX: u64 = 100_000;

/// Some rows and some columns, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The rows.
    pub rows: u16,
    /// The columns.
    pub columns: u16,
}

impl Rectangle {
    /// Returns how many cells of the matrix it covers.
    fn covered(self, of: &Matrix) -> u32 {
        rows_of(self.rows).map(|row| (of[row] & self.columns).count_ones()).sum()
    }

    /// Returns the matrix without the cells that it covers.
    fn cut_from(self, mut of: Matrix) -> Matrix {
        rows_of(self.rows).for_each(|row| of[row] &= !self.columns);
        of
    }
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Rectangles that make the set, as few as were found; `None` if more are needed than were
    /// allowed, or may be.
    pub rectangles: Option<Vec<Rectangle>>,
    /// So many are needed at least: proven by the search, and by cells that no rectangle has two
    /// of.
    pub at_least: usize,
}

/// Looks for the fewest rectangles that make a matrix, at most so many.
pub fn fewest(matrix: &Matrix, most: usize) -> Cover {
    let mut search = Search::new(*matrix);
    let mut at_least = search.bound(matrix);
    while at_least <= most {
        let mut chosen = Vec::with_capacity(at_least);
        if search.cover(*matrix, at_least, &mut chosen) {
            return Cover { rectangles: Some(chosen), at_least };
        }
        if search.nodes > NODES_MAX {
            return Cover { rectangles: alike(matrix, most), at_least };
        }
        at_least += 1;
    }
    Cover { rectangles: None, at_least }
}

/// Returns a rectangle for all rows that are alike, or for all columns; `None` if those are more
/// than so many.
fn alike(matrix: &Matrix, most: usize) -> Option<Vec<Rectangle>> {
    let transposed = std::array::from_fn(|column| {
        (0..16).fold(0, |rows, row| rows | (matrix[row] >> column & 1) << row)
    });
    let by_rows = rows_alike(matrix);
    let by_columns = rows_alike(&transposed)
        .into_iter()
        .map(|Rectangle { rows, columns }| Rectangle { rows: columns, columns: rows })
        .collect();
    let both: [Vec<Rectangle>; 2] = [by_rows, by_columns];
    both.into_iter().min_by_key(Vec::len).filter(|found| found.len() <= most)
}

fn rows_alike(matrix: &Matrix) -> Vec<Rectangle> {
    let mut found: Vec<Rectangle> = Vec::new();
    for (row, columns) in matrix.iter().copied().enumerate().filter(|(_, columns)| *columns != 0) {
        match found.iter_mut().find(|rectangle| rectangle.columns == columns) {
            Some(same) => same.rows |= 1 << row,
            None => found.push(Rectangle { rows: 1 << row, columns }),
        }
    }
    found
}

/// The search for a cover by a given number of rectangles: some rectangle must cover the cell that
/// fewest rectangles cover, so each of those is tried in turn.
struct Search {
    matrix: Matrix,
    /// The largest rectangles that cover a cell, for each byte; empty for those not in the set.
    through: Vec<Vec<Rectangle>>,
    nodes: u64,
}

impl Search {
    fn new(matrix: Matrix) -> Search {
        let cells = (0..256).map(|byte| (byte / 16, byte % 16));
        let through = cells.map(|(row, column)| largest(&matrix, row, column)).collect();
        Search { matrix, through, nodes: 0 }
    }

    /// Covers what is left by at most so many rectangles, and adds them to the chosen.
    fn cover(&mut self, left: Matrix, count: usize, chosen: &mut Vec<Rectangle>) -> bool {
        self.nodes += 1;
        if left == [0; 16] {
            return true;
        }
        if self.nodes > NODES_MAX || self.bound(&left) > count {
            return false;
        }
        let cells = cells_of(&left).map(|(row, column)| 16 * row + column);
        let Some(cell) = cells.min_by_key(|cell| self.through[*cell].len()) else { return true };
        let mut tries = self.through[cell].clone();
        tries.sort_by_key(|rectangle| std::cmp::Reverse(rectangle.covered(&left)));
        for rectangle in tries {
            chosen.push(rectangle);
            if self.cover(rectangle.cut_from(left), count - 1, chosen) {
                return true;
            }
            chosen.pop();
        }
        false
    }

    /// Returns a number of rectangles that are needed at least: that of cells that are left of
    /// which no two can be in one rectangle, as one of the corners between them is not in the
    /// set.
    fn bound(&self, left: &Matrix) -> usize {
        let mut apart: Vec<(usize, usize)> = Vec::new();
        for (row, column) in cells_of(left) {
            let together = |&(other_row, other_column): &(usize, usize)| {
                self.has(row, other_column) && self.has(other_row, column)
            };
            if !apart.iter().any(together) {
                apart.push((row, column));
            }
        }
        apart.len()
    }

    fn has(&self, row: usize, column: usize) -> bool {
        self.matrix[row] >> column & 1 == 1
    }
}

/// Returns the largest rectangles through a cell: those that no other contains.
fn largest(matrix: &Matrix, row: usize, column: usize) -> Vec<Rectangle> {
    if matrix[row] >> column & 1 == 0 {
        return Vec::new();
    }
    // Their columns are those that some rows through the column have in common with this row.
    let mut is_known = vec![false; 1 << 16];
    let mut commons = vec![matrix[row]];
    for other in matrix.iter().filter(|other| **other >> column & 1 == 1) {
        for at in 0..commons.len() {
            let common = commons[at] & other;
            if common != commons[at] && !std::mem::replace(&mut is_known[usize::from(common)], true)
            {
                commons.push(common);
            }
        }
    }
    let rows = |columns: u16| {
        let has_all = |row: &usize| matrix[*row] & columns == columns;
        (0..16).filter(has_all).fold(0, |rows, row| rows | 1 << row)
    };
    commons.into_iter().map(|columns| Rectangle { rows: rows(columns), columns }).collect()
}

/// Returns the rows that a mask has.
fn rows_of(mask: u16) -> impl Iterator<Item = usize> {
    (0..16).filter(move |row| mask >> row & 1 == 1)
}

/// Returns the cells of a matrix, row by row.
fn cells_of(matrix: &Matrix) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..16).flat_map(|row| rows_of(matrix[row]).map(move |column| (row, column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the matrix that rectangles make.
    fn made(of: &[Rectangle]) -> Matrix {
        let mut matrix = [0; 16];
        for rectangle in of {
            rows_of(rectangle.rows).for_each(|row| matrix[row] |= rectangle.columns);
        }
        matrix
    }

    /// Returns a matrix of four rows and columns, by its number.
    fn small(number: u32) -> Matrix {
        std::array::from_fn(|row| if row < 4 { (number >> (4 * row) & 15) as u16 } else { 0 })
    }

    #[test]
    fn every_small_matrix_has_as_few_as_brute_force_finds() {
        // What can be made of one rectangle more, until all is made.
        let rectangles = (1..16).flat_map(|rows| (1..16).map(move |columns| (rows, columns)));
        let rectangles: Vec<usize> = rectangles
            .map(|(rows, columns): (usize, usize)| {
                (0..4).map(|row| ((rows >> row & 1) * columns) << (4 * row)).sum()
            })
            .collect();
        let mut needed = vec![u8::MAX; 1 << 16];
        needed[0] = 0;
        for count in 1..=4 {
            for from in 0..1 << 16 {
                if needed[from] == count - 1 {
                    for rectangle in &rectangles {
                        needed[from | rectangle] = needed[from | rectangle].min(count);
                    }
                }
            }
        }
        for (number, needed) in needed.into_iter().enumerate() {
            let matrix = small(number as u32);
            let found = fewest(&matrix, 8);
            let rectangles = found.rectangles.unwrap();
            assert_eq!((rectangles.len(), made(&rectangles)), (found.at_least, matrix));
            assert_eq!(found.at_least, usize::from(needed), "{matrix:?}");
        }
    }

    #[test]
    fn more_than_are_allowed_are_known_to_be_needed() {
        let diagonal = std::array::from_fn(|row| 1 << row);
        assert_eq!(fewest(&diagonal, 8), Cover { rectangles: None, at_least: 16 });
    }

    #[test]
    fn what_takes_too_long_is_done_by_rows_that_are_alike() {
        // All but the diagonal: six different rows and columns, yet four rectangles make it.
        let others = |size: usize| -> Matrix {
            let all = ((1_u32 << size) - 1) as u16;
            std::array::from_fn(|row| if row < size { all & !(1 << row) } else { 0 })
        };
        let found = fewest(&others(6), 8);
        assert_eq!(
            (found.rectangles.map(|found| made(&found)), found.at_least),
            (Some(others(6)), 4)
        );
        // Of sixteen it takes six, which no search of this kind finds in time.
        let found = fewest(&others(16), 8);
        assert!(found.rectangles.is_none() && (3..=6).contains(&found.at_least), "{found:?}");
        let found = alike(&others(8), 8).unwrap();
        assert_eq!((found.len(), made(&found)), (8, others(8)));
        assert!(alike(&others(9), 8).is_none());
    }
}
