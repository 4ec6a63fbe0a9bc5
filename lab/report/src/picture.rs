//! Small pictures of ratios: an interval on a logarithmic axis with its bar and its resolution.

use crate::look::{Look, Spans, Tone, span};
use crate::ratio::{Told, bar_text};

/// A logarithmic axis of ratios over some columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

/// Ends that an axis may have: round numbers, so that a picture that is redrawn while an interval
/// narrows changes its scale seldom.
const ENDS: [f64; 20] = [
    1.005, 1.01, 1.02, 1.03, 1.05, 1.07, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0,
    100.0, 300.0, 1000.0,
];

impl Axis {
    /// An axis on which all of these ratios, their bars and `1` can be seen, with some space beside
    /// them. What is more than a factor of 1000 away is cut off.
    pub(crate) fn around(told: &[Told], resolution: f64, columns: usize) -> Axis {
        let (mut low, mut high) = (1.0 - 2.0 * resolution, 1.0 + 2.0 * resolution);
        for told in told {
            let limits = [told.estimate, told.low, told.high].into_iter().flatten();
            for value in limits.chain(told.bars.iter().copied()) {
                low = low.min(value);
                high = high.max(value);
            }
        }
        let end = |value: f64| {
            let wanted = value.powf(1.1);
            *ENDS.iter().find(|end| **end >= wanted).unwrap_or(&ENDS[ENDS.len() - 1])
        };
        Axis { low: 1.0 / end(1.0 / low.max(1e-9)), high: end(high), columns }
    }

    /// The column of a ratio; `None` beyond the ends.
    fn column(&self, value: f64) -> Option<usize> {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        let column = (share * (self.columns - 1) as f64).round();
        (0.0..=1.0).contains(&share).then_some(column as usize)
    }

    /// The column of a ratio, or of the end that it lies beyond.
    fn nearest_column(&self, value: f64) -> usize {
        self.column(value.clamp(self.low, self.high)).unwrap_or(0)
    }

    /// The interval on this axis.
    pub(crate) fn draw(&self, told: &Told, resolution: f64, look: Look) -> Spans {
        let mut cells = vec![(' ', Tone::Plain); self.columns];
        for bar in &told.bars {
            let band = self.nearest_column(bar / (1.0 + resolution))
                ..=self.nearest_column(bar * (1.0 + resolution));
            cells[band].fill((look.pick('\u{2591}', ':'), Tone::Dim));
        }
        let bars: Vec<_> = told.bars.iter().filter_map(|bar| self.column(*bar)).collect();
        for bar in &bars {
            cells[*bar] = (look.pick('\u{2502}', '|'), Tone::Plain);
        }
        self.draw_interval(told, &bars, &mut cells, look);
        joined(&cells)
    }

    fn draw_interval(&self, told: &Told, bars: &[usize], cells: &mut [(char, Tone)], look: Look) {
        if !told.is_known() {
            return;
        }
        let first = told.low.map_or(0, |low| self.nearest_column(low));
        let last = told.high.map_or(self.columns - 1, |high| self.nearest_column(high));
        let middle = told.estimate.map(|estimate| self.nearest_column(estimate));
        // The line is heavy inside the resolution, and broken up to the edge where there is no
        // bound. Limits that cross have no line between them.
        for (column, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
            let is_left = middle.is_some_and(|middle| column < middle);
            let open = told.low.is_none() && (is_left || middle.is_none())
                || told.high.is_none() && (!is_left || middle.is_none());
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
        let inside = |value: Option<f64>| value.and_then(|value| self.column(value));
        let low_end = inside(told.low).map_or('<', |_| look.pick('\u{251c}', '['));
        let high_end = inside(told.high).map_or('>', |_| look.pick('\u{2524}', ']'));
        cells[first] = (low_end, Tone::Plain);
        cells[last] = (high_end, Tone::Plain);
        if let Some(middle) = middle {
            cells[middle] = (look.pick('\u{25cf}', 'o'), Tone::Strong);
        }
    }

    /// The line under the pictures: the ends of the axis, and the ratios that are marked on it, as
    /// far as there is room.
    pub(crate) fn labels(&self, bars: &[f64]) -> String {
        let mut cells = vec![' '; self.columns];
        let mut marks: Vec<(f64, String)> = vec![(1.0, "1x".to_owned())];
        marks.splice(0..0, bars.iter().map(|bar| (*bar, bar_text(*bar))));
        marks.push((self.low, bar_text(self.low)));
        marks.push((self.high, bar_text(self.high)));
        for (value, text) in marks {
            let Some(column) = self.column(value) else {
                continue;
            };
            let start = column.saturating_sub(text.len() / 2);
            let start = start.min(self.columns.saturating_sub(text.len()));
            let around = start.saturating_sub(1)..(start + text.len() + 1).min(self.columns);
            if cells[around].iter().all(|c| *c == ' ') {
                cells.splice(start..start + text.len(), text.chars());
            }
        }
        cells.into_iter().collect()
    }
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

    const ASCII: Look = Look { width: 80, color: false, unicode: false };

    fn told(low: Option<f64>, estimate: Option<f64>, high: Option<f64>) -> Told<'static> {
        Told { ahead: "A", behind: "B", estimate, low, high, bars: vec![1.0] }
    }

    fn check(told: &Told, expected: [&str; 2]) {
        let axis = Axis::around(std::slice::from_ref(told), 0.01, 41);
        let drawn = letters(&axis.draw(told, 0.01, ASCII));
        assert_eq!([drawn.as_str(), &axis.labels(&told.bars)], expected);
    }

    #[test]
    fn intervals_are_drawn_to_scale() {
        check(
            &told(Some(1.03), Some(1.42), Some(1.8)),
            [
                " :|[-----------------o------------]      ",
                " 1x                                    2x",
            ],
        );
        check(
            &told(Some(0.996), Some(1.001), Some(1.004)),
            [
                "             ::::[==+o=]::::             ",
                "0.97x              1x               1.03x",
            ],
        );
    }

    #[test]
    fn bounds_that_do_not_exist_run_to_the_edge() {
        check(
            &told(Some(1.03), Some(1.42), None),
            [
                "  :|:[-----------------------------o....>",
                "  1x                                 1.5x",
            ],
        );
        check(
            &told(None, None, None),
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
                let told = told(Some(value), Some(value), Some(value));
                let axis = Axis::around(std::slice::from_ref(&told), f64::INFINITY, columns);
                let drawn = letters(&axis.draw(&told, f64::INFINITY, ASCII));
                assert_eq!(drawn.len(), columns);
                assert_eq!(axis.labels(&told.bars).len(), columns);
            }
        }
    }
}
