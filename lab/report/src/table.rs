//! Text tables with aligned columns.

use crate::look::{Look, Span, Spans, Tone, columns_of, span, words};
use crate::text::{fitted, plain, shorten_middle};
use unicode_width::UnicodeWidthStr;

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Flush left.
    Left,
    /// Flush right.
    Right,
    /// With their decimal points, and the units after them, below each other.
    Decimal,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// How its cells are aligned.
    pub align: Align,
    /// Whether it must stay (0), or else how soon it goes when the screen is narrow: the highest
    /// number goes first, and all columns of one number together.
    pub rank: u8,
    /// Its cells, from the top.
    pub cells: Vec<String>,
}

impl Column {
    /// A column that always stays.
    pub fn new(title: &str, align: Align, cells: Vec<String>) -> Column {
        Column { title: title.to_owned(), align, rank: 0, cells }
    }

    /// Makes a column flush left.
    pub(crate) fn left(title: &str, cells: impl IntoIterator<Item = String>) -> Column {
        Column::new(title, Align::Left, cells.into_iter().collect())
    }

    /// Makes a column flush right.
    pub(crate) fn right(title: &str, cells: impl IntoIterator<Item = String>) -> Column {
        Column::new(title, Align::Right, cells.into_iter().collect())
    }

    /// Makes a column whose decimal points stand below each other.
    pub(crate) fn decimal(title: &str, cells: impl IntoIterator<Item = String>) -> Column {
        Column::new(title, Align::Decimal, cells.into_iter().collect())
    }

    /// The same column with another rank.
    #[must_use]
    pub fn rank(mut self, rank: u8) -> Column {
        self.rank = rank;
        self
    }

    /// Whether any cell has a value.
    pub fn has_values(&self) -> bool {
        self.cells.iter().any(|cell| !matches!(cell.as_str(), "" | "-"))
    }

    /// Returns title and cells, padded to one width.
    fn aligned(&self) -> Vec<String> {
        let cells = match self.align {
            Align::Decimal => align_decimals(&self.cells),
            _ => self.cells.clone(),
        };
        let width = cells.iter().chain([&self.title]).map(|c| c.width()).max().unwrap_or(0);
        let texts = [&self.title].into_iter().chain(&cells);
        texts
            .map(|text| match (" ".repeat(width - text.width()), self.align) {
                (blanks, Align::Left) => format!("{text}{blanks}"),
                (blanks, _) => blanks + text,
            })
            .collect()
    }
}

/// Makes a cell for each row.
pub(crate) fn cells<T>(rows: &[T], text: impl Fn(&T) -> String) -> Vec<String> {
    rows.iter().map(text).collect()
}

/// Makes columns of the cells of some rows.
pub(crate) fn transposed<const N: usize>(
    rows: impl IntoIterator<Item = [String; N]>,
) -> [Vec<String>; N] {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    std::array::from_fn(|index| rows.iter().map(|row| row[index].clone()).collect())
}

/// Pads cells such as `12.35 ms` so that their points and units stand below each other.
pub fn align_decimals(cells: &[String]) -> Vec<String> {
    let parts: Vec<_> = cells.iter().map(|cell| decimal_parts(cell)).collect();
    let [whole, fraction, unit] =
        [0, 1, 2].map(|part| parts.iter().map(|p| p[part].width()).max().unwrap_or(0));
    let padded = parts.iter().map(|[a, b, c]| format!("{a:>whole$}{b:<fraction$}{c:<unit$}"));
    padded.collect()
}

/// A number's whole part, its fraction with the point, and its unit with the blank before it.
fn decimal_parts(cell: &str) -> [&str; 3] {
    let (number, unit) = cell.split_at(cell.find(' ').unwrap_or(cell.len()));
    let point = number.char_indices().skip(1).find(|(_, c)| !c.is_ascii_digit());
    let (whole, fraction) = number.split_at(point.map_or(number.len(), |(at, _)| at));
    [whole, fraction, unit]
}

/// Blanks between two columns.
pub const GAP: usize = 2;

/// The lines of a table: a dim title line and one line a row, of which the first cell is strong.
/// Columns without any value are left out, and columns of the highest ranks until the rest takes at
/// most `columns`.
pub fn rows(mut table: Vec<Column>, columns: usize) -> Vec<Spans> {
    table.retain(|column| column.rank == 0 || column.has_values());
    let mut aligned: Vec<_> = table.iter().map(|column| (column.rank, column.aligned())).collect();
    while aligned.iter().map(|(_, cells)| cells[0].width() + GAP).sum::<usize>()
        > columns.saturating_add(GAP)
    {
        let last = aligned.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
        if last == 0 {
            break;
        }
        aligned.retain(|(rank, _)| *rank != last);
    }
    let count = aligned.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    (0..count).map(|row| line(&aligned, row)).collect()
}

fn line(aligned: &[(u8, Vec<String>)], row: usize) -> Spans {
    let tone = if row == 0 { Tone::Dim } else { Tone::Plain };
    let mut line = Spans::new();
    for (index, (_, cells)) in aligned.iter().enumerate() {
        if index > 0 {
            line.push(span(tone, " ".repeat(GAP)));
        }
        let tone = if row > 0 && index == 0 { Tone::Strong } else { tone };
        line.push(span(tone, cells.get(row).cloned().unwrap_or_default()));
    }
    line
}

/// A table as text, one line feed after each line, no line wider than the screen: a line that does
/// not fit even without the columns that may go loses its middle.
pub fn render(columns: Vec<Column>, look: &Look) -> String {
    let rows = rows(columns, look.columns()).into_iter();
    rows.map(|row| fitted(&row, look.columns(), *look) + "\n").collect()
}

/// One run in a list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRow {
    /// The run's name in the store.
    pub id: String,
    /// When it was made, as text.
    pub when: String,
    /// The command line that made it.
    pub command: String,
    /// Its verdicts in words.
    pub verdicts: String,
    /// Rounds finished.
    pub rounds: u64,
    /// The run's own time.
    pub seconds: f64,
}

/// The runs of a store as a table. The command takes the room that is left, and loses its middle
/// where that is not enough.
pub fn history(runs: &[HistoryRow], look: &Look) -> String {
    if runs.is_empty() {
        return "no runs yet: 'tiebreak compare' makes one\n".to_owned();
    }
    let mut table = vec![
        Column::left("run", cells(runs, |run| plain(&run.id))),
        Column::left("when", cells(runs, |run| plain(&run.when))).rank(2),
        Column::left("verdict", cells(runs, |run| plain(&run.verdicts))),
        Column::right("rounds", cells(runs, |run| run.rounds.to_string())).rank(3),
        Column::right("time", cells(runs, |run| crate::number::seconds(run.seconds))).rank(4),
    ];
    // A shorter command says nothing.
    let least = 24;
    let verdict_room = look.columns().saturating_sub(least + GAP) / 3;
    for cell in &mut table[2].cells {
        *cell = shorten_middle(cell, verdict_room.max(9), *look);
    }
    let fixed = columns_of(&rows(table.clone(), look.columns() - least - GAP)[0]);
    let room = look.columns().saturating_sub(fixed + GAP).max(8);
    let commands = runs.iter().map(|run| shorten_middle(&plain(&run.command), room, *look));
    table.push(Column::left("command", commands));
    render(table, look)
}

/// Puts an indent before a line of a table.
pub fn indented(row: Spans, indent: &str) -> Vec<Span> {
    [words(indent)].into_iter().chain(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| cell.to_string()).collect()
    }

    #[test]
    fn decimal_points_and_units_stand_below_each_other() {
        for (cells, expected) in [
            (vec!["12.35 ms", "980 us", "-"], vec![" 12.35 ms", "980    us", "  -      "]),
            (vec!["1.42x", "100x", "0.5x"], vec!["  1.42x", "100x   ", "  0.5x "]),
            (vec![], vec![]),
        ] {
            assert_eq!(align_decimals(&texts(&cells)), texts(&expected));
        }
    }

    #[test]
    fn narrow_tables_lose_columns_by_rank() {
        let table = || {
            vec![
                Column::new("name", Align::Left, texts(&["A", "B"])),
                Column::new("median", Align::Decimal, texts(&["1.5", "20"])).rank(1),
                Column::new("samples", Align::Right, texts(&["12", "12"])).rank(2),
                Column::new("energy", Align::Right, texts(&["-", "-"])).rank(1),
            ]
        };
        for (columns, expected) in [
            (80, ["name  median  samples", "A        1.5       12"]),
            (20, ["name  median", "A        1.5"]),
            (3, ["name", "A   "]),
        ] {
            let lines: Vec<_> = rows(table(), columns);
            assert_eq!(crate::look::letters(&lines[0]), expected[0]);
            assert_eq!(crate::look::letters(&lines[1]), expected[1].to_owned());
        }
    }
}
