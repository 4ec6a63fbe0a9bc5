//! The prints that there are.

use super::head;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_report::date::format_unix_ms;
use tiebreak_report::look::Look;
use tiebreak_report::number::seconds;
use tiebreak_report::table::{Align, Column, render};
use tiebreak_report::text::shorten_middle;
use unicode_width::UnicodeWidthStr;

/// A print in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRow {
    /// Its name.
    pub name: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub taken_unix_ms: u64,
    /// How long all probes took, in nanoseconds.
    pub took_ns: u64,
    /// What the machine said of itself.
    pub machine: Fingerprint,
}

/// Prints as a table, or a sentence if there are none.
pub fn list(rows: &[ListRow], look: &Look) -> String {
    if rows.is_empty() {
        return "No print is kept yet: 'tiebreak machine' makes one in half a minute.\n".to_owned();
    }
    let cells = |cell: fn(&ListRow) -> String| rows.iter().map(cell).collect::<Vec<_>>();
    let (names, dates) =
        (cells(|row| row.name.clone()), cells(|r| format_unix_ms(r.taken_unix_ms)));
    let took = cells(|row| seconds(row.took_ns as f64 / 1e9));
    let width = |cells: &[String]| cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
    let used = width(&names) + width(&dates) + width(&took).max("took".len()) + 6;
    let room = look.columns().saturating_sub(used).max(8);
    let machines =
        rows.iter().map(|row| shorten_middle(&head::processor(&row.machine), room, *look));
    let machines = machines.collect();
    let columns = vec![
        Column::new("print", Align::Left, names),
        Column::new("taken (UTC)", Align::Left, dates),
        Column::new("took", Align::Right, took),
        Column::new("machine", Align::Left, machines),
    ];
    render(columns, look)
}
