//! Small pictures of ratios, shares and values: an interval on an axis with its bars and zones.

use crate::chart::{Span, label, round_step};
use crate::histogram::{BLOCKS, LEVELS};
use crate::prelude::*;

/// An axis over some columns: of ratios logarithmic, of the others linear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    pub span: Span,
    columns: usize,
}

/// Ends that an axis of ratios may have: round numbers, so that a picture that is redrawn while an
/// interval narrows changes its scale seldom.
const ENDS: [f64; 20] = [
    1.005, 1.01, 1.02, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0,
    100.0, 300.0, 1000.0,
];

impl Axis {
    /// An axis on which all of these quantities, which are of one kind, and their bars can be seen.
    pub(crate) fn around(quantity: &[Presented], resolution: f64, columns: usize) -> Axis {
        if quantity.iter().all(Presented::is_ratio) {
            Axis::of_ratios(quantity, resolution, columns)
        } else {
            let is_share = quantity.iter().all(Presented::is_share);
            let (low, high) = linear_ends(
                &quantity.iter().flat_map(Presented::values).collect::<Vec<_>>(),
                is_share,
            );
            Axis { span: Span { low, high, is_log: false }, columns }
        }
    }

    /// An axis with `1` on it and some space around the ratios. What is more than a factor of 1000
    /// away is cut off.
    fn of_ratios(quantity: &[Presented], resolution: f64, columns: usize) -> Axis {
        let values: Vec<f64> = quantity.iter().flat_map(Presented::values).collect();
        let low = values.iter().copied().fold(1.0 - 2.0 * resolution, f64::min);
        let high = values.iter().copied().fold(1.0 + 2.0 * resolution, f64::max);
        let [low, high] = [1.0 / low.max(1e-9), high].map(|value| {
            let wanted = value.powf(1.1);
            *ENDS.iter().find(|end| **end >= wanted).unwrap_or(&ENDS[ENDS.len() - 1])
        });
        let low = 1.0 / low;
        Axis { span: Span { low, high, is_log: true }, columns }
    }

    /// The column of a value; `None` beyond the ends.
    fn column(&self, value: f64) -> Option<usize> {
        let share = self.span.place(value);
        let column = (share * (self.columns - 1) as f64).round();
        (0.0..=1.0).contains(&share).then_some(column as usize)
    }

    /// The column of a value, or of the end that it lies beyond.
    fn nearest_column(&self, value: f64) -> usize {
        self.column(value.clamp(self.span.low, self.span.high)).unwrap_or(0)
    }

    /// A curve over a linear axis, one line high: in each column the highest of its points.
    pub(crate) fn curve(&self, points: &[(f64, f64)], look: Look) -> String {
        let levels = look.pick(BLOCKS, LEVELS);
        let step = (self.span.high - self.span.low) / (self.columns - 1) as f64;
        let levels = (0..self.columns).map(|column| {
            let middle = self.span.low + column as f64 * step;
            let height = height_around(points, middle, step / 2.0);
            match (height.clamp(0.0, 1.0) * levels.len() as f64).round() as usize {
                0 => ' ',
                level => levels[level - 1],
            }
        });
        levels.collect()
    }

    /// The interval on this axis.
    pub(crate) fn draw(&self, quantity: &Presented, resolution: f64, look: Look) -> Spans {
        let mut cells = vec![(' ', Tone::Plain); self.columns];
        for (low, high) in quantity.zones(resolution) {
            let (first, last) = (self.nearest_column(low), self.nearest_column(high));
            if first <= last {
                cells[first..=last].fill((look.pick('\u{2591}', ':'), Tone::Dim));
            }
        }
        let bars: Vec<_> = quantity.bars.iter().filter_map(|bar| self.column(*bar)).collect();
        for bar in &bars {
            cells[*bar] = (look.pick('\u{2502}', '|'), Tone::Plain);
        }
        self.draw_interval(quantity, &bars, &mut cells, look);
        joined(&cells)
    }

    fn draw_interval(
        &self,
        quantity: &Presented,
        bars: &[usize],
        cells: &mut [(char, Tone)],
        look: Look,
    ) {
        if !quantity.is_known() {
            return;
        }
        let first = quantity.low.map_or(0, |low| self.nearest_column(low));
        let last = quantity.high.map_or(self.columns - 1, |high| self.nearest_column(high));
        let middle = quantity.estimate.map(|estimate| self.nearest_column(estimate));
        // The line is heavy inside the resolution, and broken up to the edge where there is no
        // bound. Limits that cross have no line between them.
        for (column, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
            let is_left = middle.is_some_and(|middle| column < middle);
            let open = quantity.low.is_none() && (is_left || middle.is_none())
                || quantity.high.is_none() && (!is_left || middle.is_none());
            let in_band = cell.0 == look.pick('\u{2591}', ':');
            let line = match (open, in_band) {
                (true, _) => look.pick('\u{254c}', '.'),
                (false, true) => look.pick('\u{2501}', '='),
                (false, false) => look.pick('\u{2500}', '-'),
            };
            let crossing = if open { cell.0 } else { look.pick('\u{253c}', '+') };
            cell.0 = if bars.contains(&column) { crossing } else { line };
            cell.1 = Tone::Plain;
        }
        for (limit, column, beyond, end) in [
            (quantity.low, first, '<', look.pick('\u{251c}', '[')),
            (quantity.high, last, '>', look.pick('\u{2524}', ']')),
        ] {
            let is_inside = limit.is_some_and(|limit| self.column(limit).is_some());
            cells[column] = (if is_inside { end } else { beyond }, Tone::Plain);
        }
        if let Some(middle) = middle {
            cells[middle] = (look.pick('\u{25cf}', 'o'), Tone::Strong);
        }
    }

    /// The line under the pictures: the ends of the axis, and the values that are marked on it, as
    /// far as there is room; `quantity` says how they are written.
    pub(crate) fn labels(&self, quantity: &Presented, bars: &[f64]) -> String {
        let mut cells = vec![' '; self.columns];
        let one = self.span.is_log.then_some(1.0);
        let ends = [self.span.low, self.span.high];
        let marks = bars.iter().copied().chain(one).chain(ends);
        for value in marks {
            if let Some(column) = self.column(value) {
                label(&mut cells, column, &quantity.mark(value));
            }
        }
        cells.into_iter().collect()
    }
}

/// Round ends around some values, with space around them; shares stay between 0 and 1.
pub(crate) fn linear_ends(values: &[f64], is_share: bool) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() || !high.is_finite() {
        return (0.0, 1.0);
    }
    // A single value gets space of its own size: of a share, of its distance to the nearer end.
    let size = if is_share { low.min(1.0 - high) } else { low.abs() };
    let width = (high - low).max(size).max(high.abs() * 1e-9).max(f64::MIN_POSITIVE * 1e9);
    let step = round_step(width / 8.0);
    let mut low_end = ((low - width * 0.08) / step).floor() * step;
    let mut high_end = ((high + width * 0.08) / step).ceil() * step;
    if is_share || low >= 0.0 {
        low_end = low_end.max(0.0);
    }
    if is_share {
        high_end = high_end.min(1.0);
    }
    if low_end < high_end { (low_end, high_end) } else { (low - width, high + width) }
}

/// The height of a curve within `reach` of a place: its highest point there, or a place on the line
/// between the points on either side. Outside of its points it is 0.
fn height_around(points: &[(f64, f64)], place: f64, reach: f64) -> f64 {
    let inside = points.iter().filter(|(at, _)| (at - place).abs() <= reach);
    let highest = inside.map(|(_, height)| *height).fold(f64::NEG_INFINITY, f64::max);
    if highest.is_finite() {
        return highest;
    }
    let around = points.windows(2).find(|pair| pair[0].0 <= place && place <= pair[1].0);
    let Some([(x0, y0), (x1, y1)]) = around else {
        return 0.0;
    };
    let share = if x1 > x0 { (place - x0) / (x1 - x0) } else { 0.5 };
    y0 + share * (y1 - y0)
}

/// Neighbouring cells of one tone as one span.
fn joined(cells: &[(char, Tone)]) -> Spans {
    let parts = cells.chunk_by(|a, b| a.1 == b.1);
    parts.map(|part| span(part[0].1, part.iter().map(|cell| cell.0).collect::<String>())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::letters;
    use crate::presented::Subject;

    const ASCII: Look = Look { width: 80, color: false, unicode: false };

    fn quantity(low: Option<f64>, estimate: Option<f64>, high: Option<f64>) -> Presented<'static> {
        let subject = Subject::Ratio { ahead: "A", behind: "B" };
        Presented { subject, estimate, low, high, bars: vec![1.0] }
    }

    fn check(quantity: &Presented, expected: [&str; 2]) {
        let axis = Axis::around(std::slice::from_ref(quantity), 0.01, 41);
        let drawn = letters(&axis.draw(quantity, 0.01, ASCII));
        assert_eq!([drawn.as_str(), &axis.labels(quantity, &quantity.bars)], expected);
    }

    #[test]
    fn intervals_are_drawn_to_scale() {
        check(
            &quantity(Some(1.03), Some(1.42), Some(1.8)),
            [
                " :|[-----------------o------------]      ",
                " 1x                                    2x",
            ],
        );
        check(
            &quantity(Some(0.996), Some(1.001), Some(1.004)),
            [
                "             ::::[==+o=]::::             ",
                "0.97x              1x               1.03x",
            ],
        );
    }

    #[test]
    fn bounds_that_do_not_exist_run_to_the_edge() {
        check(
            &quantity(Some(1.03), Some(1.42), None),
            [
                "  :|:[-----------------------------o....>",
                "  1x                                 1.5x",
            ],
        );
        check(
            &quantity(None, None, None),
            [
                "             :::::::|:::::::             ",
                "0.97x              1x               1.03x",
            ],
        );
    }

    #[test]
    fn extremes_are_cut_off_and_never_panic() {
        for value in [1e-300, 1e-6, 1.0, 1e6, 1e300] {
            for columns in [8, 60] {
                let quantity = quantity(Some(value), Some(value), Some(value));
                let axis = Axis::around(std::slice::from_ref(&quantity), f64::INFINITY, columns);
                let drawn = letters(&axis.draw(&quantity, f64::INFINITY, ASCII));
                assert_eq!(drawn.len(), columns);
                assert_eq!(axis.labels(&quantity, &quantity.bars).len(), columns);
            }
        }
    }
}
