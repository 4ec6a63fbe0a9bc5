//! `tiebreak history --watch`: claims over series of runs.

use crate::histogram::BLOCKS;
use crate::prelude::*;
use tiebreak_core::watch::Series;

/// The most runs in the picture of a series.
const PICTURED: usize = 40;

/// The narrowest column of commands.
const LEAST_COMMANDS: usize = 16;

/// Whether the latest run of any series raised the alarm.
pub fn is_alarmed(series: &[Series]) -> bool {
    series.iter().any(|one| one.points.last().is_some_and(|point| point.is_alarm))
}

/// Renders the series as a table, each with a picture of its detector; the top is the alarm.
pub fn page(series: &[Series], look: &Look) -> String {
    let Some(first) = series.first() else {
        return "no runs yet: 'tiebreak compare' makes one\n".to_owned();
    };
    let mut page = Page::new(*look);
    rows(columns(series, *look), look.columns()).iter().for_each(|row| page.line(row));
    page.gap();
    page.say(Tone::Plain, promise(first.mean_runs, series.len()));
    page.finish()
}

/// Makes the columns of the series; commands only where they differ.
fn columns(series: &[Series], look: Look) -> Vec<Column> {
    // Where the same claim is watched over several series, only the commands tell them apart.
    let with_commands = series.iter().any(|one| {
        series.iter().any(|other| other.claim == one.claim && other.commands != one.commands)
    });
    let most_claim = if with_commands { look.columns() / 3 } else { look.columns() };
    let pictured = if with_commands { PICTURED / 2 } else { PICTURED };
    let detectors =
        cells(series, |one| match one.points.last().map_or(0.0, |point| point.detector) {
            large if large >= 1e4 => format!("{large:.1e}"),
            value => format!("{value:.1}"),
        });
    let alarms = cells(series, |one| {
        let latest = one.points.iter().rev().find(|point| point.is_alarm);
        or_none(latest.map(|point| plain(&point.run)))
    });
    let claims = cells(series, |one| shorten_middle(&plain(&one.claim), most_claim, look));
    let mut columns = vec![
        Column::left("claim", claims),
        Column::right("runs", cells(series, |one| one.points.len().to_string())),
        Column::right("detector", detectors),
        Column::left("alarm", alarms),
        Column::left("latest runs", cells(series, |one| picture(one, pictured, look))).rank(1),
    ];
    if with_commands {
        // They take the room that is left, or go if that says nothing.
        let taken = columns_of(&rows(columns.clone(), usize::MAX)[0]) + GAP;
        let room = look.columns().saturating_sub(taken).max(LEAST_COMMANDS);
        let commands = cells(series, |one| shorten_middle(&plain(&one.commands), room, look));
        columns.insert(1, Column::left("commands", commands).rank(2));
    }
    columns
}

/// Explains an alarm, and how rarely it is a false one.
fn promise(mean_runs: f64, series: usize) -> String {
    let runs = count(mean_runs as u64, "run");
    let own = match series {
        0 | 1 => String::new(),
        _ => format!("; each of the {series} series has its own"),
    };
    format!(
        "An alarm is a detector of {mean_runs} or more. As long as a claim is true, {runs} or more \
         pass on average until a false alarm of it, however long each run went on and whenever it \
         was looked at{own}."
    )
}

/// Draws the logarithm of the detector over the latest `most` runs, in eight heights.
fn picture(series: &Series, most: usize, look: Look) -> String {
    let heights = look.pick(BLOCKS, ['_', '_', '.', '.', '-', '-', '=', '#']);
    let top = series.mean_runs.ln();
    let from = series.points.len().saturating_sub(most);
    let points = series.points[from..].iter();
    let shares = points.map(|point| (point.detector.max(1.0).ln() / top).clamp(0.0, 1.0));
    shares.map(|share| heights[((share * 7.0).floor() as usize).min(7)]).collect()
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
            commands: "head: ./new; base: ./old".into(),
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
    fn commands_stand_where_they_tell_series_apart() {
        let other = |commands: &str| Series { commands: commands.into(), ..series(&[0.5]) };
        let same = || other("head: ./new; base: ./old");
        let far = || other(&format!("head: ./{}; base: ./old", "x".repeat(99)));
        for (all, width, has_commands) in [
            (vec![same()], 110, false),
            (vec![same(), far()], 110, true),
            (vec![same(), far()], 50, false),
        ] {
            let look = Look { width, color: false, unicode: false };
            let page = page(&all, &look);
            assert_eq!(page.contains("commands"), has_commands, "{page}");
            assert_eq!(page.contains("head: ./new"), has_commands, "{page}");
            assert!(page.lines().all(|line| line.len() <= width), "{page}");
            let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("1000 runs or more pass on average until a false"), "{page}");
            let several = format!("each of the {} series has its own", all.len());
            assert_eq!(words.contains(&several), all.len() > 1, "{page}");
        }
    }

    #[test]
    fn no_runs_are_no_series() {
        assert!(page(&[], &Look { width: 80, color: false, unicode: true }).contains("no runs"));
    }
}
