//! Shows noise, on a screen, while it is watched, and as a picture.

use crate::show::*;
use crate::{Cause, CpuNoise, Floor, Frequency, Noise, SmallestSlowdown, Throttled};
use tiebreak_report::look::paint;

/// CPUs that have time lines, those that lost most: more would not fit on a screen.
const STRIPS_MOST: usize = 10;
/// Causes that one line has room for.
const CAUSES_SHORT: usize = 3;
/// Rows of a table of which only the first ones matter.
const ROWS_MOST: usize = 8;
/// CPUs of which each has a row.
const CPUS_MOST: usize = 32;

/// Returns the lines of the screen that shows everything at once.
pub(crate) fn rows(found: &Noise) -> Vec<Row> {
    let mut rows = vec![Row::new("", lost(found, CAUSES_SHORT))];
    rows.extend(found.floors.iter().map(|floor| {
        let smallest = floor.smallest.iter();
        let smallest =
            joined(smallest.map(|one| format!("{} in {}", slowdown(one), seconds(one.seconds))));
        let lost = floor.lost_share.map(|share| format!(" ({} of CPU time lost)", small(share)));
        let (of, lost) = (&floor.of, lost.unwrap_or_default());
        Row::new("", format!("smallest slowdown found, of {of}{lost}: {smallest}"))
    }));
    let longest = found.longest.first().map(|gap| format!("longest gap {}", time(gap.length_ns)));
    let last = joined(found.frequency.as_ref().map(of_frequency).into_iter().chain(longest));
    rows.extend((!last.is_empty()).then(|| Row::new("", last)));
    rows
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Noise, look: &Look) -> String {
    let mut page = Page::new(*look);
    let watched = seconds(found.watched_ns as f64 / 1e9);
    let at_once = found.all_at_once_share.map_or(String::new(), |share| {
        format!(
            " All CPUs that were watched together were taken away together {} of the time.",
            small(share)
        )
    });
    let lost = lost(found, Cause::ALL.len());
    say(&mut page, format!("{lost}. Each CPU was watched for {watched}.{at_once}"));
    page.gap();
    floors(&mut page, &found.floors, look);
    if let Some(one) = &found.frequency {
        let how = match (one.is_counted, one.is_known) {
            (true, _) => "counted",
            (false, true) => "known",
            (false, false) => "assumed",
        };
        let (text, cycles) = (of_frequency(one), one.cycles_a_step);
        say(&mut page, format!("The {text}, by multiplications of {cycles:.1} cycles ({how})."));
    }
    page.gap();
    strips(found, look, false).iter().for_each(|line| page.line(line));
    page.paragraph("", &[span(Tone::Dim, key(found, look))]);
    page.gap();
    lines(&mut page, cpus(&found.cpus), look);
    page.gap();
    let interrupts = Table::of(first(&found.interrupts, ROWS_MOST))
        .left("interrupt", 0, |one| plain(&one.name))
        .decimal("a second", 0, |one| format!("{:.1}", one.per_second))
        .decimal("of the time", 0, |one| small(one.share))
        .left("", 1, |one| plain(&one.words));
    lines(&mut page, interrupts.columns(), look);
    page.gap();
    let longest = Table::of(first(&found.longest, ROWS_MOST))
        .right("longest gaps", 0, |gap| time(gap.length_ns))
        .right("CPU", 0, |gap| gap.cpu)
        .right("after", 0, |gap| seconds(gap.begin_ns as f64 / 1e9))
        .left("cause", 0, |gap| gap.cause.words());
    lines(&mut page, longest.columns(), look);
    page.gap();
    let limit = match found.throttled {
        None => "Whether a limit on CPU time held us back is not known: no CPU controller can be \
                 seen."
            .to_owned(),
        Some(Throttled { periods: 0, .. }) => "No limit on CPU time held us back.".to_owned(),
        Some(Throttled { periods, held_back_ns }) => {
            let long = time(held_back_ns);
            format!("A limit on CPU time held us back in {periods} periods, for {long}.")
        }
    };
    say(&mut page, limit);
    page.finish()
}

/// Returns the picture as SVG: what was lost over time, a curve for each CPU.
pub(crate) fn svg(found: &Noise) -> String {
    let curves = that_lost_most(found).into_iter().map(|cpu| {
        let points = cpu.strip.iter().filter_map(|piece| {
            let middle_ns = piece.begin_ns as f64 + piece.length_ns as f64 / 2.0;
            Some((middle_ns / 1e9, piece.lost_share?))
        });
        (format!("CPU {}", cpu.cpu), points.collect())
    });
    let axes = [axis("time", false, true, seconds), axis("share lost", false, true, small)];
    tiebreak_report::svg::charts(&[chart(&lost(found, 1), axes, curves)])
}

/// `3.2% of CPU time lost: another task 2.1%, interrupt 0.9%`, with so many causes at most.
fn lost(found: &Noise, most: usize) -> String {
    let mut causes: Vec<_> = found.causes.iter().filter(|share| share.share > 0.0).collect();
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    let of = if causes.is_empty() { "" } else { ": " };
    let causes = causes.iter().take(most);
    let causes = joined(causes.map(|one| format!("{} {}", one.cause.words(), small(one.share))));
    format!("{} of CPU time lost{of}{causes}", small(found.lost_share))
}

/// Returns a share of time; what is less than a thousandth of a percent is said to be so.
fn small(share: f64) -> String {
    if share > 0.0 && share < 1e-5 {
        return "<0.001%".to_owned();
    }
    percent(share, Rounding::Nearest)
}

/// `0.9% (0.7% to 1.2%)`, `under 0.001%`; never a figure that was not searched.
fn slowdown(one: &SmallestSlowdown) -> String {
    let Some(fraction) = one.fraction else { return "none below 100%".to_owned() };
    let text = percent(fraction, Rounding::Up);
    match one.among_parts {
        _ if one.is_bound => format!("under {text}"),
        None => text,
        Some([low, high]) => {
            let (under, over) = (low <= 1e-5, high >= 1.0);
            let low = if under { "under 0.001%" } else { &percent(low, Rounding::Down) };
            let high = if over { "over 100%" } else { &percent(high, Rounding::Up) };
            format!("{text} ({low} to {high})")
        }
    }
}

/// Returns a length of time in nanoseconds, two or three digits: `4.2 us`, `12 ms`.
fn time(ns: u64) -> String {
    let (value, unit) = match ns as f64 {
        v if v < 1e3 => (v, "ns"),
        v if v < 1e6 => (v / 1e3, "us"),
        v if v < 1e9 => (v / 1e6, "ms"),
        v => (v / 1e9, "s"),
    };
    let decimals = usize::from(value < 9.95);
    format!("{value:.decimals$} {unit}")
}

fn of_frequency(frequency: &Frequency) -> String {
    let Frequency { low_hertz, median_hertz, most_hertz, .. } = *frequency;
    let [low, median, most] = [low_hertz, median_hertz, most_hertz].map(hertz);
    format!("cores run at {median} ({low} to {most})")
}

/// Adds the smallest slowdowns, a row each, and what was run to find them.
fn floors(page: &mut Page, floors: &[Floor], look: &Look) {
    let rows = floors.iter().flat_map(|floor| floor.smallest.iter().map(move |one| (floor, one)));
    let rows: Vec<_> = rows.collect();
    let table = Table::of(&rows)
        .left("of", 0, |(floor, _)| plain(&floor.of))
        .left("smallest slowdown found", 0, |(_, one)| slowdown(one))
        .right("in", 0, |(_, one)| seconds(one.seconds))
        .right("observations", 1, |(_, one)| one.rounds);
    lines(page, table.columns(), look);
    for Floor { of, work, rounds, error, chance, .. } in floors {
        let [chance, error] = [*chance, *error].map(|p| percent(p, Rounding::Nearest));
        let text = format!(
            "Of {of}: {chance} of comparisons find it, at an error of {error}, by {rounds} \
             observations of {work} against itself."
        );
        page.paragraph("", &[span(Tone::Dim, text)]);
    }
    page.gap();
}

/// Returns a row for each CPU.
fn cpus(cpus: &[CpuNoise]) -> Vec<Column> {
    let mut table = Table::of(first(cpus, CPUS_MOST)).right("CPU", 0, |cpu| cpu.cpu).decimal(
        "lost",
        0,
        |cpu| small(cpu.lost_share),
    );
    for (cause, rank) in Cause::ALL.into_iter().zip([1, 5, 3, 2, 2]) {
        table = table.decimal(cause.name(), rank, |cpu| {
            let share = cpu.causes.iter().find(|share| share.cause == cause);
            or_dash(share, |share| small(share.share))
        });
    }
    table
        .decimal("waited", 6, |cpu| or_dash(cpu.waited_share, small))
        .right("gaps", 4, |cpu| cpu.gaps)
        .right("median", 4, |cpu| or_dash(cpu.median_ns, |ns| time(ns as u64)))
        .right("99 of 100", 5, |cpu| or_dash(cpu.p99_ns, |ns| time(ns as u64)))
        .right("longest", 0, |cpu| or_dash(cpu.longest_ns, time))
        .columns()
}

/// Returns the first rows, at most `most`.
fn first<T>(rows: &[T], most: usize) -> &[T] {
    &rows[..rows.len().min(most)]
}

/// Returns the lines of a frame: a strip for each CPU, with its frequency, and what was lost.
pub fn frame(found: &Noise, look: &Look) -> Vec<String> {
    let mut lines: Vec<String> =
        strips(found, look, true).iter().map(|line| paint(line, *look)).collect();
    let lost = lost(found, Cause::ALL.len());
    lines.extend(wrap_plain(&format!("last minute: {lost}"), look.columns()));
    lines.push("Ctrl-C ends it".to_owned());
    lines
}

/// One line for where nothing can be redrawn: what was lost of the last second, CPU by CPU.
pub fn line(found: &Noise) -> String {
    let cpus = found.cpus.iter().take(CPUS_MOST);
    let cpus = joined(cpus.map(|cpu| format!("CPU {} {}", cpu.cpu, now(cpu))));
    let frequency = found.frequency.as_ref().map(|one| format!("; {}", of_frequency(one)));
    cpus + &frequency.unwrap_or_default()
}

/// Returns what was lost last: `12% t`, and the frequency.
fn now(cpu: &CpuNoise) -> String {
    let last = cpu.strip.iter().rev().find(|piece| piece.lost_share.is_some());
    let lost = or_dash(last.and_then(|piece| piece.lost_share), small);
    let cause = last.and_then(|piece| piece.cause).map_or(' ', |cause| cause.letter());
    let hertz = cpu.frequency.as_ref().map_or(String::new(), |one| hertz(one.median_hertz));
    format!("{lost} {cause} {hertz}").trim_end().to_owned()
}

/// Columns of the name of a CPU, and of what is said of now.
const NAME: usize = 8;
const NOW: usize = 22;
/// From which share that is lost of a piece on it is drawn by the next sign.
const LEVELS: [f64; 7] = [0.003, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5];
const SIGNS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];
const ASCII_SIGNS: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '#'];

/// Returns two lines for each CPU, how much was lost and to what: the last pieces for which there
/// is room, and if it is live what is said of now.
fn strips(found: &Noise, look: &Look, is_live: bool) -> Vec<Spans> {
    let room = look.columns() - NAME - if is_live { NOW } else { 0 };
    let signs = look.pick(SIGNS, ASCII_SIGNS);
    let mut lines = Vec::new();
    for cpu in that_lost_most(found) {
        let (mut levels, mut causes) = (String::new(), String::new());
        for piece in &cpu.strip[cpu.strip.len().saturating_sub(room)..] {
            let level = piece.lost_share.map(|share| LEVELS.partition_point(|at| share >= *at));
            levels.push(level.map_or(' ', |level| signs[level]));
            let cause = piece.cause.filter(|_| level.is_some_and(|level| level > 0));
            causes.push(cause.map_or(' ', Cause::letter));
        }
        let now = if is_live { format!(" {}", now(cpu)) } else { String::new() };
        let name = span(Tone::Strong, format!("{:NAME$}", format!("CPU {}", cpu.cpu)));
        lines.push(vec![name, span(Tone::Plain, levels), span(Tone::Dim, now)]);
        lines.push(vec![span(Tone::Plain, " ".repeat(NAME)), span(Tone::Dim, causes)]);
    }
    let further = found.cpus.len().saturating_sub(STRIPS_MOST);
    let words = format!("{further} further CPUs lost less");
    lines.extend((further > 0).then(|| vec![span(Tone::Dim, words)]));
    lines
}

/// Returns the CPUs, or those that lost most where there are too many.
fn that_lost_most(found: &Noise) -> Vec<&CpuNoise> {
    let mut cpus: Vec<&CpuNoise> = found.cpus.iter().collect();
    if cpus.len() > STRIPS_MOST {
        cpus.sort_by(|a, b| b.lost_share.total_cmp(&a.lost_share));
    }
    cpus.truncate(STRIPS_MOST);
    cpus
}

/// Returns what the letters mean.
fn key(found: &Noise, look: &Look) -> String {
    let piece = found.cpus.iter().flat_map(|cpu| &cpu.strip).next();
    let length = time(piece.map_or(0, |piece| piece.length_ns));
    let letters = Cause::ALL.map(|cause| format!("{} {}", cause.letter(), cause.words()));
    let [one, ten, fifty] = [2, 5, 7].map(|at| look.pick(SIGNS, ASCII_SIGNS)[at]);
    format!(
        "a column is {length}; lost of it: {one} from 1%, {ten} from 10%, {fifty} from 50%; {}",
        letters.join(", ")
    )
}

#[cfg(test)]
mod tests;
