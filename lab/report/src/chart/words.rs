//! A chart in letters.

use super::{Chart, Curve, Span};
use crate::look::{Look, Tone, span, words};
use crate::page::Page;
use crate::text::plain;
use unicode_width::UnicodeWidthStr;

/// Lines of the plot itself.
const LINES: usize = 14;
/// The letters of the first curves' points; later ones begin again.
const LETTERS: [char; 6] = ['o', '+', 'x', '*', '#', '@'];
const SYMBOLS: [char; 6] = ['\u{25cf}', '\u{25c6}', '\u{25b2}', '\u{25a0}', '\u{25cb}', '\u{25c7}'];

/// The lines of a chart; `None` if there is nothing to draw.
pub(super) fn draw(chart: &Chart, look: &Look) -> Option<String> {
    let (across, upwards) = (chart.across()?, chart.upwards()?);
    let labels = row_labels(chart, upwards);
    let margin = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let columns = look.columns().saturating_sub(margin + 3).max(20);
    let mut grid = Grid::new(columns, *look);
    for (place, _) in &chart.marks {
        grid.mark(across.place(*place));
    }
    for (index, curve) in chart.curves.iter().enumerate() {
        grid.curve(curve, symbol(index, *look), across, upwards);
    }
    let mut page = Page::new(*look);
    let title = [&chart.title, &chart.y.label].map(|text| plain(text)).join(", ");
    page.line(&[span(Tone::Strong, title)]);
    for (row, label) in labels.iter().enumerate() {
        let rule = look.pick(if label.is_empty() { '\u{2502}' } else { '\u{2524}' }, '|');
        let line: String = grid.cells[row].iter().collect();
        page.line(&[span(Tone::Dim, format!("{label:>margin$} {rule}")), words(line)]);
    }
    foot(chart, across, columns, margin, *look, &mut page);
    Some(page.finish())
}

/// The axis with its ticks, its label, the marks and the legend.
fn foot(chart: &Chart, across: Span, columns: usize, margin: usize, look: Look, page: &mut Page) {
    let ticks = chart.x_ticks(across, (columns / 9).max(2));
    let mut axis = vec![look.pick('\u{2500}', '-'); columns];
    let mut labels = vec![' '; columns + 1];
    for tick in ticks {
        let column = column_of(across.place(tick), columns);
        let text = (chart.x.write)(tick);
        let start = column.saturating_sub(text.width() / 2);
        let start = start.min((columns + 1).saturating_sub(text.chars().count()));
        let end = start + text.chars().count();
        axis[column] = look.pick('\u{252c}', '+');
        if labels[start.saturating_sub(1)..(end + 1).min(columns + 1)].iter().all(|c| *c == ' ') {
            labels.splice(start..end, text.chars());
        }
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

/// What stands left of each line, from the top: the ticks of the y axis.
fn row_labels(chart: &Chart, upwards: Span) -> Vec<String> {
    let mut labels = vec![String::new(); LINES];
    for tick in chart.y_ticks(upwards, 6) {
        labels[row_of(upwards.place(tick))] = (chart.y.write)(tick);
    }
    labels
}

fn row_of(place: f64) -> usize {
    LINES - 1 - (place.clamp(0.0, 1.0) * (LINES - 1) as f64).round() as usize
}

fn column_of(place: f64, columns: usize) -> usize {
    (place.clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize
}

/// The plot, a character a cell.
struct Grid {
    cells: Vec<Vec<char>>,
    columns: usize,
    look: Look,
}

impl Grid {
    fn new(columns: usize, look: Look) -> Grid {
        Grid { cells: vec![vec![' '; columns]; LINES], columns, look }
    }

    fn mark(&mut self, place: f64) {
        let column = column_of(place, self.columns);
        for line in &mut self.cells {
            line[column] = self.look.pick('\u{250a}', ':');
        }
    }

    /// Points, joined by dots; neither hides the points of an earlier curve.
    fn curve(&mut self, curve: &Curve, symbol: char, across: Span, upwards: Span) {
        let at = |point: &(f64, f64)| {
            let place = across.place(point.0);
            let is_there = point.0.is_finite() && point.1.is_finite();
            is_there.then(|| (place, upwards.place(point.1)))
        };
        let points: Vec<(f64, f64)> = curve.points.iter().filter_map(at).collect();
        for pair in points.windows(2) {
            self.join(pair[0], pair[1]);
        }
        let [letters, symbols] = [LETTERS, SYMBOLS];
        for (x, y) in points {
            let cell = &mut self.cells[row_of(y)][column_of(x, self.columns)];
            if !letters.contains(cell) && !symbols.contains(cell) {
                *cell = symbol;
            }
        }
    }

    fn join(&mut self, from: (f64, f64), to: (f64, f64)) {
        let columns = column_of(from.0, self.columns)..=column_of(to.0, self.columns);
        for column in columns {
            let x = column as f64 / (self.columns - 1) as f64;
            let share = if to.0 > from.0 { (x - from.0) / (to.0 - from.0) } else { 0.0 };
            let y = from.1 + share.clamp(0.0, 1.0) * (to.1 - from.1);
            let cell = &mut self.cells[row_of(y)][column];
            if *cell == ' ' {
                *cell = self.look.pick('\u{00b7}', '.');
            }
        }
    }
}
