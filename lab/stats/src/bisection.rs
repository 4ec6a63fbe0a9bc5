//! Searches for the point at which an answer changes.

/// The number of halvings of the interval in which a share is looked for.
const HALVINGS: u32 = 64;

/// Halves the gap between a rejected point and an open one above it, at most `halvings` times,
/// while the gap is wider than `width` of the open point and floats lie in it. Returns the last
/// rejected point.
pub(crate) fn last_rejected(
    (mut rejected, mut open): (f64, f64),
    halvings: u32,
    width: impl Fn(f64) -> f64,
    is_rejected: impl Fn(f64) -> bool,
) -> f64 {
    for _ in 0..halvings {
        let middle = rejected + (open - rejected) / 2.0;
        let is_wide = open - rejected > width(open);
        if !is_wide || middle <= rejected || middle >= open {
            break;
        }
        *(if is_rejected(middle) { &mut rejected } else { &mut open }) = middle;
    }
    rejected
}

/// Returns the largest share that is rejected together with all smaller ones; `None` if none is.
/// The share `bar`, of which this is known, lies between 0 and 1.
pub(crate) fn last_rejected_share(
    bar: f64,
    is_bar_rejected: bool,
    is_rejected: impl Fn(f64) -> bool,
) -> Option<f64> {
    let ends = if is_bar_rejected { (bar, 1.0) } else { (0.0, bar) };
    let rejected = last_rejected(ends, HALVINGS, |_| 0.0, is_rejected);
    (rejected > 0.0).then_some(rejected)
}

/// Halves the gap between a point outside and one inside, on either side of each other. Returns the
/// last of both.
pub(crate) fn edge(
    (mut outside, mut inside): (f64, f64),
    halvings: u32,
    is_outside: impl Fn(f64) -> bool,
) -> (f64, f64) {
    for _ in 0..halvings {
        let middle = (outside + inside) / 2.0;
        *(if is_outside(middle) { &mut outside } else { &mut inside }) = middle;
    }
    (outside, inside)
}
