//! The prints that there are.

use super::*;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_report::date::format_unix_ms;
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
    let width = |cell: fn(&ListRow) -> String| rows.iter().map(|row| cell(row).width()).max();
    let taken = |row: &ListRow| format_unix_ms(row.taken_unix_ms);
    let took = |row: &ListRow| seconds(row.took_ns as f64 / 1e9);
    let used = [width(|row| row.name.clone()), width(taken), width(took).max(Some("took".len()))];
    let room = look.columns().saturating_sub(used.iter().flatten().sum::<usize>() + 6).max(8);
    Table::of(rows)
        .left("print", 0, |row| row.name.clone())
        .left("taken (UTC)", 0, taken)
        .right("took", 0, took)
        .left("machine", 0, |row| shorten_middle(&head::processor(&row.machine), room, *look))
        .text(look)
}
