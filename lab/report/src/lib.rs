//! Evidence and verdicts to terminal, SVG, JSON, CSV and the formats of CI systems.
//!
//! Everything here turns a [`tiebreak_core::result::RunResult`], a
//! [`tiebreak_core::result::CheckResult`] (or, for CSV, a journal) into a `String`; nothing prints.
//! No statistic is computed: a number on a page is a field of the result, at most in another unit,
//! turned round (`1 / ratio`) or as a width.
//!
//! ```
//! use tiebreak_report::Look;
//! use tiebreak_report::table::{Align, Column, render};
//!
//! let cells = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
//! let columns = vec![
//!     Column::new("name", Align::Left, cells(["A", "B"])),
//!     Column::new("median", Align::Decimal, cells(["12.35 ms", "980 us"])),
//! ];
//! let look = Look { width: 80, color: false, unicode: true };
//! assert_eq!(render(columns, &look), "\
//! name     median
//! A      12.35 ms
//! B     980    us
//! ");
//! ```

#![forbid(unsafe_code)]

mod announcement;
pub mod chart;
pub mod check;
pub mod ci;
mod command;
pub mod contents;
mod contestants;
pub mod csv;
pub mod date;
mod effects;
pub mod exact;
pub mod fact;
mod footer;
mod histogram;
pub mod html;
pub mod json;
pub mod live;
pub mod load;
pub mod look;
pub mod markdown;
pub mod number;
mod odd;
pub mod page;
mod picture;
pub mod power;
mod presented;
mod property;
mod ratios;
mod self_check;
mod sentence;
mod small_print;
pub mod study;
pub mod suite;
pub mod svg;
pub mod table;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod text;
pub mod watch;

pub use announcement::announcement;
pub use command::{repeat_line, resume_command, resume_study_command, store_option};
pub use look::Look;
pub use sentence::sentence;
pub use small_print::small_print;
pub use text::{shell_line, shell_quote};

/// What every page is written with: the words of this crate, and the results that pages are about.
mod prelude {
    pub(crate) use crate::look::{
        Look, NO_BREAK, Span, Spans, Tone, columns_of, letters, quotable, span, words,
    };
    pub(crate) use crate::number::{
        Rounding, between, count, finite, or_none, percent, seconds, share_text, value_text,
    };
    pub(crate) use crate::page::{INDENT, Page};
    pub(crate) use crate::presented::{Presented, Sign};
    pub(crate) use crate::table::{Align, Column, GAP, cells, indented, rows, transposed};
    pub(crate) use crate::text::{each_once, padded, plain, short, shorten_middle};
    pub(crate) use tiebreak_core::metric::{Metric, Unit};
    pub(crate) use tiebreak_core::plan::{Gate, Scope};
    pub(crate) use tiebreak_core::result::{
        CheckResult, ClaimOutcome, ClaimResult, ContestResult, ContestantResult, EffectResult,
        RunResult, StudyResult, StudyRow,
    };
    pub(crate) use tiebreak_core::verdict::Verdict;
    pub(crate) use unicode_width::UnicodeWidthStr;
}
