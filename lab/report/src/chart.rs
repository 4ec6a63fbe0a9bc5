//! Curves over an axis, in letters and as SVG: what every probe and every study that sweeps a size
//! draws.

use crate::prelude::*;

/// A chart of one or more curves.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// The axis from left to right.
    pub x: Scale,
    /// The axis from bottom to top.
    pub y: Scale,
    /// The curves, each with its name.
    pub curves: Vec<Curve>,
    /// Places on the x axis that are marked, with a word: the advertised size of a cache.
    pub marks: Vec<(f64, String)>,
    /// Whether a curve goes across to its next point before it goes up: a distribution function.
    pub is_stairs: bool,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Scale {
    /// What it shows, with the unit: `threads`, `ns a load`.
    pub label: String,
    /// Whether equal distances are equal ratios; all values are then above 0.
    pub is_log: bool,
    /// Whether it begins at 0 (a linear axis only).
    pub from_zero: bool,
    /// How a value is written at a tick.
    pub write: fn(f64) -> String,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name, in the legend.
    pub name: String,
    /// Its place among the curves of all charts of a document, by which it looks.
    pub place: usize,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// At some of its places, the limits of the value there.
    pub limits: Vec<(f64, [f64; 2])>,
}

/// An axis with its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether equal ratios are equally far apart.
    pub is_log: bool,
}

impl Scale {
    /// Makes an axis that begins where its values do.
    pub(crate) fn new(label: impl Into<String>, is_log: bool, write: fn(f64) -> String) -> Scale {
        Scale { label: label.into(), is_log, from_zero: false, write }
    }
}

impl Chart {
    /// Makes a chart of curves, each a name and its points, without marks.
    pub fn new<N: Into<String>>(
        title: impl Into<String>,
        [x, y]: [Scale; 2],
        curves: impl IntoIterator<Item = (N, Vec<(f64, f64)>)>,
    ) -> Chart {
        let curves = curves.into_iter().enumerate();
        let curves = curves.map(|(place, (name, points))| {
            let (name, limits) = (name.into(), Vec::new());
            Curve { name, place, points, limits }
        });
        let (title, curves) = (title.into(), curves.collect());
        Chart { title, x, y, curves, marks: Vec::new(), is_stairs: false }
    }

    /// The chart in letters, at most `look.columns()` wide and about 16 lines high, with a legend.
    /// Empty if there is no point to draw.
    pub fn text(&self, look: &Look) -> String {
        let (Some(across), Some(upwards)) = (self.across(), self.upwards()) else {
            return String::new();
        };
        // What stands left of each line, from the top: the ticks of the y axis.
        let mut labels = vec![String::new(); LINES];
        for tick in upwards.ticks(6) {
            labels[row_of(upwards.place(tick))] = (self.y.write)(tick);
        }
        let margin = labels.iter().map(|label| label.width()).max().unwrap_or(0);
        let columns = look.columns().saturating_sub(margin + 3).max(20);
        let mut page = Page::new(*look);
        let title = [&self.title, &self.y.label].map(|text| plain(text));
        let title =
            title.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        page.line(&[span(Tone::Strong, title)]);
        for (label, line) in labels.iter().zip(plot(self, across, upwards, columns, *look)) {
            let rule = look.pick(if label.is_empty() { '\u{2502}' } else { '\u{2524}' }, '|');
            let line: String = line.into_iter().collect();
            page.line(&[span(Tone::Dim, format!("{label:>margin$} {rule}")), words(line)]);
        }
        foot(self, across, columns, margin, *look, &mut page);
        page.finish()
    }

    /// The x axis over all points and marks.
    pub fn across(&self) -> Option<Span> {
        let marks = self.marks.iter().map(|mark| mark.0);
        Span::over(&self.x, self.points().map(|point| point.0).chain(marks))
    }

    /// The y axis over all points and limits, with some space at its ends.
    pub fn upwards(&self) -> Option<Span> {
        let limits = self.curves.iter().flat_map(|curve| &curve.limits);
        let limits = limits.flat_map(|(_, limits)| *limits);
        let values = self.points().map(|point| point.1).chain(limits);
        Some(Span::over(&self.y, values)?.wider(self.y.from_zero))
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.curves.iter().flat_map(|curve| curve.points.iter().copied())
    }

    /// Returns at most `most` ticks of the x axis. Where all values are powers of two, or halfway
    /// between, the ticks are powers of two.
    pub fn x_ticks(&self, axis: Span, most: usize) -> Vec<f64> {
        let binary = self.x.is_log && self.points().all(|point| is_binary(point.0));
        round_values(axis, most, binary)
    }
}

impl Span {
    /// The ends of what an axis must show; `None` if there is nothing that it could.
    fn over(scale: &Scale, values: impl Iterator<Item = f64>) -> Option<Span> {
        let fits = |value: &f64| value.is_finite() && (!scale.is_log || *value > 0.0);
        let zero = (scale.from_zero && !scale.is_log).then_some(0.0);
        let (mut low, mut high) = (zero.unwrap_or(f64::INFINITY), f64::NEG_INFINITY);
        for value in values.filter(fits) {
            (low, high) = (low.min(value), high.max(value));
        }
        (low <= high).then_some(Span { low, high, is_log: scale.is_log })
    }

    /// With space beyond the outermost values; a single value stands in the middle.
    pub(crate) fn wider(self, from_zero: bool) -> Span {
        let Span { low, high, is_log } = self;
        if is_log {
            let factor = if high > low { (high / low).powf(0.06) } else { 2.0 };
            return Span { low: low / factor, high: high * factor, is_log };
        }
        let space = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.5 };
        let low = if from_zero && low >= 0.0 { 0.0 } else { low - space };
        Span { low, high: high + space, is_log }
    }

    /// Returns at most `most` round values between the ends.
    pub fn ticks(self, most: usize) -> Vec<f64> {
        round_values(self, most, false)
    }

    /// Where a value lies, from 0 at the low end to 1 at the high one.
    pub fn place(self, value: f64) -> f64 {
        let Span { low, high, is_log } = self;
        let share = match is_log {
            _ if high <= low => 0.5,
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        if share.is_finite() { share } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;

/// Round values between the ends of an axis, at most `most`, from the lowest.
fn round_values(axis: Span, most: usize, is_binary: bool) -> Vec<f64> {
    let most = most.max(2);
    if axis.high <= axis.low {
        return vec![axis.low];
    }
    match axis.is_log {
        true if is_binary => powers(axis, most, 2.0, &[1.0]),
        true if axis.high / axis.low >= 4.0 => powers(axis, most, 10.0, &[1.0, 2.0, 5.0]),
        _ => linear(axis, most),
    }
}

/// Whether a value is a power of two, or halfway between two of them.
fn is_binary(value: f64) -> bool {
    let mantissa = value / 2f64.powf(value.log2().floor());
    [1.0, 1.5, 2.0].iter().any(|round| (mantissa - round).abs() < 1e-9)
}

fn linear(axis: Span, most: usize) -> Vec<f64> {
    let step = round_step((axis.high - axis.low) / (most - 1) as f64);
    let first = (axis.low / step - 1e-9).ceil() as i64;
    let last = (axis.high / step + 1e-9).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// Powers of a base, each times the multiples; if these are too many only powers, then every second
/// one, and so on.
fn powers(axis: Span, most: usize, base: f64, multiples: &[f64]) -> Vec<f64> {
    let first = axis.low.log(base).floor() as i32 - 1;
    let last = axis.high.log(base).ceil() as i32 + 1;
    let inside = axis.low * (1.0 - 1e-9)..=axis.high * (1.0 + 1e-9);
    let choices = [(multiples, 1)].into_iter().chain((1..).map(|every| (&[1.0][..], every)));
    let mut values = choices.map(|(multiples, every)| -> Vec<f64> {
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        let values = powers.flat_map(|power| multiples.iter().map(move |m| m * base.powi(power)));
        values.filter(|value| inside.contains(value)).collect()
    });
    values.find(|values| values.len() <= most).unwrap_or_default()
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below a value above 0.
pub(crate) fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|n| n * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// Lines of the plot itself.
const LINES: usize = 14;
/// The letters of the first curves' points; later ones begin again.
const LETTERS: [char; 6] = ['o', '+', 'x', '*', '#', '@'];
const SYMBOLS: [char; 6] = ['\u{25cf}', '\u{25c6}', '\u{25b2}', '\u{25a0}', '\u{25cb}', '\u{25c7}'];

/// The axis with its ticks, its label, the marks and the legend.
fn foot(chart: &Chart, across: Span, columns: usize, margin: usize, look: Look, page: &mut Page) {
    let mut axis = vec![look.pick('\u{2500}', '-'); columns];
    let mut labels = vec![' '; columns + 1];
    for tick in chart.x_ticks(across, columns / 9) {
        let column = column_of(across.place(tick), columns);
        axis[column] = look.pick('\u{252c}', '+');
        label(&mut labels, column, &(chart.x.write)(tick));
    }
    let indent = " ".repeat(margin + 1);
    let corner = look.pick('\u{2514}', '+');
    let axis: String = axis.into_iter().collect();
    page.line(&[span(Tone::Dim, format!("{indent}{corner}{axis}"))]);
    let labels: String = labels.into_iter().collect();
    page.line(&[span(Tone::Dim, format!("{indent} {}", labels.trim_end()))]);
    let x = format!("across: {}", plain(&chart.x.label));
    let dots = look.pick('\u{250a}', ':');
    let marks = chart.marks.iter().map(|(_, word)| format!("{dots} {}", plain(word)));
    let curves = chart.curves.iter().enumerate();
    let named = curves.map(|(i, c)| format!("{} {}", symbol(i, look), plain(&c.name)));
    let parts: Vec<String> = [x].into_iter().chain(named).chain(marks).collect();
    page.paragraph(&format!("{indent} "), &[span(Tone::Dim, parts.join("   "))]);
}

fn symbol(index: usize, look: Look) -> char {
    look.pick(SYMBOLS, LETTERS)[index % LETTERS.len()]
}

/// Writes a text around a column of a line, unless it would touch another one.
pub(crate) fn label(line: &mut Vec<char>, column: usize, text: &str) {
    let length = text.chars().count();
    let start = column.saturating_sub(text.width() / 2).min(line.len().saturating_sub(length));
    let end = start + length;
    if line[start.saturating_sub(1)..(end + 1).min(line.len())].iter().all(|c| *c == ' ') {
        line.splice(start..end, text.chars());
    }
}

fn row_of(place: f64) -> usize {
    LINES - 1 - (place.clamp(0.0, 1.0) * (LINES - 1) as f64).round() as usize
}

fn column_of(place: f64, columns: usize) -> usize {
    (place.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize
}

/// Returns the plot, a character a cell: marks, and points joined by dots; none hides the points of
/// an earlier curve.
fn plot(chart: &Chart, across: Span, upwards: Span, columns: usize, look: Look) -> Vec<Vec<char>> {
    let mut cells = vec![vec![' '; columns]; LINES];
    for (place, _) in &chart.marks {
        let column = column_of(across.place(*place), columns);
        cells.iter_mut().for_each(|line| line[column] = look.pick('\u{250a}', ':'));
    }
    for (index, curve) in chart.curves.iter().enumerate() {
        let points = curve.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let points: Vec<_> = points.map(|(x, y)| (across.place(*x), upwards.place(*y))).collect();
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            let between = column_of(from.0, columns)..=column_of(to.0, columns);
            for column in between {
                let x = column as f64 / (columns - 1) as f64;
                let share = if to.0 > from.0 { (x - from.0) / (to.0 - from.0) } else { 0.0 };
                let y = from.1 + share.clamp(0.0, 1.0) * (to.1 - from.1);
                let cell = &mut cells[row_of(y)][column];
                if *cell == ' ' {
                    *cell = look.pick('\u{00b7}', '.');
                }
            }
        }
        for (x, y) in points {
            let cell = &mut cells[row_of(y)][column_of(x, columns)];
            if !LETTERS.contains(cell) && !SYMBOLS.contains(cell) {
                *cell = symbol(index, look);
            }
        }
    }
    cells
}
