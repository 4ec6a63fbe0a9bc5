//! `tiebreak history --watch`: claims over series of runs.

use crate::look::{Look, Tone, span};
use crate::number::count;
use crate::page::Page;
use crate::table::{Align, Column, rows};
use crate::text::plain;
use tiebreak_core::watch::{Direction, Series};

/// Runs of a series that its picture shows: the latest.
const PICTURED: usize = 40;

/// Whether the latest run of any series raised the alarm.
pub fn is_alarmed(series: &[Series]) -> bool {
    series.iter().any(|one| one.points.last().is_some_and(|point| point.is_alarm))
}

/// The series as a table, each with a picture of its detector: at the top is the alarm.
pub fn page(series: &[Series], look: &Look) -> String {
    let Some(first) = series.first() else {
        return "no runs yet: 'tiebreak compare' makes one\n".to_owned();
    };
    let texts = |text: &dyn Fn(&Series) -> String| series.iter().map(text).collect::<Vec<_>>();
    let latest = |one: &Series| one.points.last().map_or(0.0, |point| point.detector);
    let columns = vec![
        Column::new("claim", Align::Left, texts(&|one| plain(&one.claim))),
        Column::new("watched for", Align::Left, texts(&|one| watched_for(one).to_owned())),
        Column::new("runs", Align::Right, texts(&|one| one.points.len().to_string())),
        Column::new("detector", Align::Right, texts(&|one| short(latest(one)))),
        Column::new("alarm", Align::Left, texts(&alarm)),
        Column::new("latest runs", Align::Left, texts(&|one| picture(one, *look))).rank(1),
    ];
    let mut page = Page::new(*look);
    for row in rows(columns, look.columns()) {
        page.line(&row);
    }
    let runs = count(first.mean_runs as u64, "run");
    let text = format!(
        "An alarm is a detector of {} or more. As long as nothing has changed, {runs} or more pass \
         on average until one, however long each run went on and whenever it was looked at.",
        first.mean_runs
    );
    page.gap();
    page.paragraph("", &[span(Tone::Plain, text)]);
    page.finish()
}

fn watched_for(series: &Series) -> &'static str {
    match series.direction {
        Direction::Against => "became false",
        Direction::For => "became true",
    }
}

/// The run of the latest alarm.
fn alarm(series: &Series) -> String {
    let alarm = series.points.iter().rev().find(|point| point.is_alarm);
    alarm.map_or("-".to_owned(), |point| plain(&point.run))
}

fn short(value: f64) -> String {
    if value >= 1e4 { format!("{value:.1e}") } else { format!("{value:.1}") }
}

/// The logarithm of the detector over the latest runs, in eight heights up to the alarm.
fn picture(series: &Series, look: Look) -> String {
    let heights = look.pick(
        [
            '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
            '\u{2588}',
        ],
        ['_', '_', '.', '.', '-', '-', '=', '#'],
    );
    let top = series.mean_runs.ln();
    let from = series.points.len().saturating_sub(PICTURED);
    let height = |detector: f64| {
        let share = (detector.max(1.0).ln() / top).clamp(0.0, 1.0);
        heights[((share * 7.0).floor() as usize).min(7)]
    };
    series.points[from..].iter().map(|point| height(point.detector)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::watch::Point;

    fn series(detectors: &[f64]) -> Series {
        let point = |(index, detector): (usize, &f64)| Point {
            run: format!("run-{index}"),
            created_unix_ms: 0,
            evidence: 1.0,
            detector: *detector,
            is_alarm: *detector >= 1000.0,
        };
        Series {
            claim: "head is no more than 2% slower than base".into(),
            direction: Direction::Against,
            mean_runs: 1000.0,
            points: detectors.iter().enumerate().map(point).collect(),
        }
    }

    #[test]
    fn an_alarm_names_its_run_and_the_picture_climbs_to_it() {
        let look = Look { width: 110, color: false, unicode: false };
        let page = page(&[series(&[0.5, 30.0, 2500.0])], &look);
        assert!(
            page.contains("run-2") && page.contains("2500.0") && page.contains("_.#"),
            "{page}"
        );
        assert!(is_alarmed(&[series(&[2500.0])]));
        assert!(!is_alarmed(&[series(&[2500.0, 1.0])]));
    }

    #[test]
    fn no_runs_are_no_series() {
        assert!(page(&[], &Look { width: 80, color: false, unicode: true }).contains("no runs"));
    }
}
