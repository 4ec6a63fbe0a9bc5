//! The match of measured levels to advertised caches.

/// Returns, for each advertised capacity, the index of the level that matches it; `None` for a
/// capacity without its own level.
///
/// `spans` are the smallest and the largest size at which each level was measured, without the last
/// level if it is the memory behind all caches. Both lists are in rising order and above 0. A level
/// that begins above a capacity is not that cache, because no cache holds more than its capacity.
/// The match keeps the order, matches as many as possible, and among such matches minimises the sum
/// of `|ln(largest / advertised)|`, by dynamic programming over prefixes of both lists. Cost: the
/// product of their lengths.
pub fn matched(advertised: &[f64], spans: &[(f64, f64)]) -> Vec<Option<usize>> {
    let (rows, columns) = (advertised.len(), spans.len());
    // The most matches, and the least sum of distances, for the first entries of both lists.
    let mut best = vec![vec![(0_usize, 0.0_f64); columns + 1]; rows + 1];

    for row in 1..=rows {
        for column in 1..=columns {
            let either = better(best[row - 1][column], best[row][column - 1]);
            let both = best[row - 1][column - 1];
            let (span, wanted) = (spans[column - 1], advertised[row - 1]);
            let both = (both.0 + 1, both.1 + libm::log(span.1 / wanted).abs());
            let is_possible = span.0 <= wanted;
            best[row][column] = if is_possible { better(both, either) } else { either };
        }
    }
    let mut found = vec![None; rows];
    let (mut row, mut column) = (rows, columns);
    while row > 0 && column > 0 {
        if best[row][column] == best[row - 1][column] {
            row -= 1;
        } else if best[row][column] == best[row][column - 1] {
            column -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            found[row] = Some(column);
        }
    }
    found
}

/// Returns the one with more matches, or, of equally many, with the smaller sum of distances.
fn better(a: (usize, f64), b: (usize, f64)) -> (usize, f64) {
    if a.0 > b.0 || (a.0 == b.0 && a.1 <= b.1) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_find_their_caches() {
        fn check(advertised: &[f64], held: &[f64], expected: &[Option<usize>]) {
            let begins = std::iter::once(1.0).chain(held.iter().map(|held| held * 1.5));
            let spans: Vec<_> = begins.zip(held.iter().copied()).collect();
            assert_eq!(matched(advertised, &spans), expected);
        }
        check(&[], &[], &[]);
        check(&[48.0], &[], &[None]);
        check(&[], &[48.0], &[]);
        check(&[48.0, 1024.0, 32768.0], &[48.0, 768.0, 4096.0], &[Some(0), Some(1), Some(2)]);
        // A level of the TLB between two caches matches neither.
        let held = [48.0, 256.0, 1024.0, 24576.0];
        check(&[48.0, 1024.0, 32768.0], &held, &[Some(0), Some(2), Some(3)]);
        // A cache that is indistinguishable from the next has no level.
        check(&[48.0, 1024.0, 1536.0], &[48.0, 1536.0], &[Some(0), None, Some(1)]);
        check(&[48.0, 1024.0, 32768.0], &[40.0, 900.0], &[Some(0), Some(1), None]);
        // A level that begins at 3 MiB is not a cache of 2 MiB, however near its end is.
        let sizes = [48.0, 2048.0, 266_240.0];
        let seen = [(4.0, 48.0), (3072.0, 16384.0)];
        assert_eq!(matched(&sizes, &seen), [Some(0), None, Some(1)]);
    }
}
