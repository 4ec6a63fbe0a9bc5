//! What several probes need to be shown.

pub(crate) mod bars;

pub(crate) use tiebreak_report::chart::{Chart, Scale};
pub(crate) use tiebreak_report::fact::bytes;
pub(crate) use tiebreak_report::look::{Look, NO_BREAK, Spans, Tone, span};
pub(crate) use tiebreak_report::number::{Rounding, count, percent, ratio, seconds};
pub(crate) use tiebreak_report::page::Page;
pub(crate) use tiebreak_report::svg::scene::{Anchor, PLAIN, Scene, Sheet, width_of};
pub(crate) use tiebreak_report::table::{Align, Column, render, rows as table_rows};
pub(crate) use tiebreak_report::text::{plain, wrap_plain};

/// The styles of a picture's classes, for a light and for a dark ground.
macro_rules! styles {
    ($sheet:literal: $($class:literal $light:literal $dark:literal;)*) => {
        concat!(
            $(".", $sheet, " ", $class, "{", $light, "}",)*
            "@media (prefers-color-scheme:dark){",
            $(".", $sheet, " ", $class, "{", $dark, "}",)*
            "}"
        )
    };
}
pub(crate) use styles;

/// A line of the screen: what it is about, and what was found.
pub(crate) struct Row {
    /// `32 KiB`, or empty below a row of the same.
    pub name: String,
    /// What was found.
    pub text: String,
}

impl Row {
    /// Returns a line.
    pub(crate) fn new(name: impl Into<String>, text: impl Into<String>) -> Row {
        Row { name: name.into(), text: text.into() }
    }
}

/// Joins texts by commas.
pub(crate) fn joined(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// Makes a chart of curves, each a name and its points, without marks.
pub(crate) fn chart<N: Into<String>>(
    title: &str,
    [x, y]: [Scale; 2],
    curves: impl IntoIterator<Item = (N, Vec<(f64, f64)>)>,
) -> Chart {
    Chart::new(title, [x, y], curves)
}

/// Writes a whole number.
pub(crate) fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// A table that is made column by column, of rows of one kind.
pub(crate) struct Table<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Table<'a, R> {
    /// Returns a table of these rows, without a column yet.
    pub fn of(rows: &'a [R]) -> Table<'a, R> {
        Table { rows, columns: Vec::new() }
    }

    fn column<T: ToString>(
        mut self,
        (title, align, rank): (&str, Align, u8),
        cell: impl Fn(&R) -> T,
    ) -> Self {
        let cells = self.rows.iter().map(|row| cell(row).to_string()).collect();
        self.columns.push(Column::new(title, align, cells).rank(rank));
        self
    }

    /// Adds a column of words, of a rank.
    pub fn left<T: ToString>(self, title: &str, rank: u8, cell: impl Fn(&R) -> T) -> Self {
        self.column((title, Align::Left, rank), cell)
    }

    /// Adds a column of whole numbers, of a rank.
    pub fn right<T: ToString>(self, title: &str, rank: u8, cell: impl Fn(&R) -> T) -> Self {
        self.column((title, Align::Right, rank), cell)
    }

    /// Adds a column of numbers that have a decimal point, of a rank.
    pub fn decimal<T: ToString>(self, title: &str, rank: u8, cell: impl Fn(&R) -> T) -> Self {
        self.column((title, Align::Decimal, rank), cell)
    }

    /// Gives the columns; none if there are no rows.
    pub fn columns(self) -> Vec<Column> {
        if self.rows.is_empty() { Vec::new() } else { self.columns }
    }

    /// Writes it as text; nothing if there are no rows.
    pub fn text(self, look: &Look) -> String {
        render(self.columns(), look)
    }
}

/// Writes a value, or a dash where there is none.
pub(crate) fn or_dash<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or("-".to_owned(), write)
}

/// Writes the lines of a table below each other.
pub(crate) fn lines(page: &mut Page, columns: Vec<Column>, look: &Look) {
    table_rows(columns, look.columns()).iter().for_each(|row| page.line(row));
}

/// Adds a plain paragraph at the left edge.
pub(crate) fn say(page: &mut Page, text: impl Into<String>) {
    page.paragraph("", &[span(Tone::Plain, text)]);
}

/// Writes a paragraph that stands alone.
pub(crate) fn paragraph(tone: Tone, text: impl Into<String>, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(tone, text)]);
    page.finish()
}

/// Makes an axis of a chart.
pub(crate) fn axis(label: &str, is_log: bool, from_zero: bool, write: fn(f64) -> String) -> Scale {
    Scale { label: label.to_owned(), is_log, from_zero, write }
}

/// Gives the corners of a box.
pub(crate) fn corners(x: f64, y: f64, width: f64, height: f64) -> [(f64, f64); 4] {
    [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
}

/// Writes cycles a second with three or four digits: `4.31 GHz`, `812 MHz`.
pub(crate) fn hertz(value: f64) -> String {
    match value {
        v if !v.is_finite() => "-".to_owned(),
        v if v >= 1e9 => format!("{:.2} GHz", v / 1e9),
        v if v >= 1e6 => format!("{:.0} MHz", v / 1e6),
        v => format!("{v:.0} Hz"),
    }
}

/// Writes nanoseconds with three digits or so: `0.99 ns`, `14.2 ns`, `146 ns`, `4.00 ms`.
pub(crate) fn ns(value: f64) -> String {
    match value.abs() {
        less if less < 9.995 => format!("{value:.2} ns"),
        less if less < 99.95 => format!("{value:.1} ns"),
        less if less < 1e5 => format!("{value:.0} ns"),
        _ => format!("{:.2} ms", value / 1e6),
    }
}

/// Draws a bar in letters, of at most 16 columns, for the largest value.
pub(crate) fn bar(value: f64, most: f64, look: &Look) -> String {
    let columns = (value / most.max(1e-9) * 16.0).round().clamp(1.0, 16.0);
    look.pick("\u{2588}", "#").repeat(columns as usize)
}

/// Draws a title and a sentence, in a picture's place where there is nothing to draw.
pub(crate) fn notice(title: &str, why: &str) -> String {
    let lines = wrap_plain(why, 96);
    let sheet = Sheet::new("tiebreak-notice", "");
    let mut scene = Scene::new(sheet, 760.0, 56.0 + lines.len() as f64 * 18.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, title);
    for (index, line) in lines.iter().enumerate() {
        scene.text("dim small", 24.0, 54.0 + index as f64 * 18.0, Anchor::Start, line);
    }
    scene.finish(title, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_of_the_size() {
        let texts = [4.312e9, 8.12e8, 50.0, f64::NAN].map(hertz);
        assert_eq!(texts, ["4.31 GHz", "812 MHz", "50 Hz", "-"]);
    }

    #[test]
    fn times_are_short() {
        for (time, text) in [(0.987, "0.99 ns"), (9.996, "10.0 ns"), (146.4, "146 ns")] {
            assert_eq!(ns(time), text);
        }
    }
}
