//! Shows noise, on a screen, while it is watched, and as a picture.

mod svg;

use crate::show::*;
use crate::{Cause, CpuNoise, Floor, Frequency, Noise, Piece, SmallestSlowdown, Throttled};
use tiebreak_report::look::{Span, paint};

/// Of these CPUs, those that lost most, the page shows time lines.
const STRIPS_MOST: usize = 16;
/// Causes that one line has room for.
const CAUSES_SHORT: usize = 3;
/// Rows of a table of which only the first ones matter.
const ROWS_MOST: usize = 8;
/// CPUs of which each has a row.
const CPUS_MOST: usize = 32;
/// All causes.
const ALL: usize = usize::MAX;

/// Returns the lines of the screen that shows everything at once.
pub(crate) fn rows(found: &Noise) -> Vec<Row> {
    let mut rows = vec![Row::new("", lost(found, CAUSES_SHORT))];
    let only = if found.floors.len() == 1 { " only" } else { "" };
    rows.extend(found.floors.iter().map(|floor| {
        let smallest = floor.smallest.iter();
        let smallest =
            joined(smallest.map(|one| format!("{} in {}", slowdown(one), seconds(one.seconds))));
        let lost = floor.lost_share.map(|share| format!(" ({} of CPU time lost)", small(share)));
        let (of, lost) = (&floor.of, lost.unwrap_or_default());
        Row::new("", format!("smallest slowdown found, of {of}{only}{lost}: {smallest}"))
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
        format!(" All that were watched at once were lost at once {} of the time.", small(share))
    });
    say(&mut page, format!("{}. Each CPU was watched for {watched}.{at_once}", lost(found, ALL)));
    floors(&mut page, &found.floors);
    if let Some(frequency) = &found.frequency {
        page.gap();
        say(&mut page, frequency_in_words(frequency));
    }
    let causes = Table::of(&found.causes)
        .left("cause", 0, |one| one.cause.words())
        .decimal("of the time", 0, |one| small(one.share))
        .right("gaps", 0, |one| one.gaps);
    table(&mut page, causes, look);
    strips(&mut page, found, look);
    table(&mut page, cpus(&found.cpus), look);
    let interrupts = Table::of(first(&found.interrupts, ROWS_MOST))
        .left("interrupt", 0, |one| plain(&one.name))
        .right("a second", 0, |one| rate(one.per_second))
        .decimal("of the time", 0, |one| small(one.share))
        .left("", 1, |one| plain(&one.words));
    table(&mut page, interrupts, look);
    let put_off = Table::of(first(&found.softirqs, ROWS_MOST))
        .left("put off work", 0, |one| plain(&one.name))
        .right("a second", 0, |one| rate(one.per_second));
    table(&mut page, put_off, look);
    let longest = Table::of(first(&found.longest, ROWS_MOST))
        .right("longest gaps", 0, |gap| time(gap.length_ns))
        .right("CPU", 0, |gap| gap.cpu)
        .right("after", 0, |gap| seconds(gap.begin_ns as f64 / 1e9))
        .left("cause", 0, |gap| gap.cause.words());
    table(&mut page, longest, look);
    page.gap();
    say(&mut page, throttled(found));
    page.finish()
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Noise) -> String {
    let title = format!("What took the CPUs away: {} of the time", small(found.lost_share));
    svg::timeline(found, &title, &lost(found, ALL))
}

fn table<R>(page: &mut Page, table: Table<'_, R>, look: &Look) {
    let columns = table.columns();
    if columns.first().is_some_and(|column| !column.cells.is_empty()) {
        page.gap();
        lines(page, columns, look);
    }
}

/// `3.2% of CPU time lost: another task 2.1%, interrupt 0.9%`, with a limited number of causes.
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

fn frequency_in_words(frequency: &Frequency) -> String {
    let cycles = frequency.cycles_a_step;
    let why = match (frequency.is_counted, frequency.is_known) {
        (true, _) => format!("a counter of cycles says that a multiplication takes {cycles:.2}"),
        (false, true) => format!("a multiplication takes {cycles:.0} cycles on such a CPU"),
        (false, false) => format!(
            "assumed that a multiplication takes {cycles:.0} cycles, which is not known of this CPU"
        ),
    };
    let text = of_frequency(frequency);
    format!("The {text}, by {} chains of multiplications; {why}.", frequency.chains)
}

fn floors(page: &mut Page, floors: &[Floor]) {
    for floor in floors {
        page.gap();
        let Floor { of, work, rounds, .. } = floor;
        let [chance, error] = [floor.chance, floor.error].map(|p| percent(p, Rounding::Nearest));
        let text = format!(
            "The smallest slowdown of {of} that {chance} of comparisons would find here, at an \
             error of {error}, from {rounds} observations of the same thing against itself \
             ({work}):"
        );
        say(page, text);
        for one in &floor.smallest {
            let found = span(Tone::Strong, slowdown(one));
            let (length, rounds) = (seconds(one.seconds), one.rounds);
            let rounds = format!(" in a comparison of {length} ({rounds} observations)");
            page.paragraph("  ", &[found, span(Tone::Plain, rounds)]);
        }
    }
}

fn strips(page: &mut Page, found: &Noise, look: &Look) {
    page.gap();
    let (cpus, further) = that_lost_most(found, STRIPS_MOST);
    for cpu in cpus {
        // More than two lines if they are too wide for the screen.
        for pieces in cpu.strip.chunks(look.columns() - NAME) {
            strip(cpu, pieces, look).iter().for_each(|line| page.line(line));
        }
    }
    page.paragraph("", &[span(Tone::Dim, key(found, look))]);
    further.iter().for_each(|line| page.paragraph("", std::slice::from_ref(line)));
}

/// Returns the CPUs in their order, or those that lost most if there are more than `most`, and how
/// many are left out.
fn that_lost_most(found: &Noise, most: usize) -> (Vec<&CpuNoise>, Option<Span>) {
    let mut cpus: Vec<&CpuNoise> = found.cpus.iter().collect();
    if cpus.len() <= most {
        return (cpus, None);
    }
    cpus.sort_by(|a, b| b.lost_share.total_cmp(&a.lost_share));
    let text = format!("{} further CPUs lost less", cpus.len() - most);
    cpus.truncate(most);
    (cpus, Some(span(Tone::Dim, text)))
}

fn throttled(found: &Noise) -> String {
    match found.throttled {
        None => "Whether a limit on CPU time held us back is not known: no CPU controller can be \
                 seen."
            .to_owned(),
        Some(Throttled { periods: 0, .. }) => "No limit on CPU time held us back.".to_owned(),
        Some(Throttled { periods, held_back_ns }) => {
            let long = time(held_back_ns);
            format!("A limit on CPU time held us back in {periods} periods, for {long}.")
        }
    }
}

/// Returns a row for each CPU.
fn cpus(cpus: &[CpuNoise]) -> Table<'_, CpuNoise> {
    let table = Table::of(first(cpus, CPUS_MOST)).right("CPU", 0, |cpu| cpu.cpu);
    let table = table.decimal("lost", 0, |cpu| small(cpu.lost_share));
    let causes = Cause::ALL.into_iter().zip([1, 5, 3, 2, 2]);
    let table = causes.fold(table, |table, (cause, rank)| {
        table.decimal(cause.name(), rank, |cpu| {
            let share = cpu.causes.iter().find(|share| share.cause == cause);
            or_dash(share, |share| small(share.share))
        })
    });
    table
        .decimal("waited", 6, |cpu| or_dash(cpu.waited_share, small))
        .right("gaps", 4, |cpu| cpu.gaps)
        .right("median", 4, |cpu| or_dash(cpu.median_ns, |ns| time(ns as u64)))
        .right("99 of 100", 5, |cpu| or_dash(cpu.p99_ns, |ns| time(ns as u64)))
        .right("longest", 0, |cpu| or_dash(cpu.longest_ns, time))
}

/// Returns the first rows, at most `most`.
fn first<T>(rows: &[T], most: usize) -> &[T] {
    &rows[..rows.len().min(most)]
}

fn rate(value: f64) -> String {
    let decimals = usize::from(value < 9.95);
    format!("{value:.decimals$}")
}

/// CPUs that a frame shows: more would not fit on a screen.
const LIVE_CPUS: usize = 10;

/// Returns the lines of a frame: a strip for each CPU, with its frequency, and what was lost.
pub fn frame(found: &Noise, look: &Look) -> Vec<String> {
    let columns = look.columns();
    let mut lines = Vec::new();
    let (cpus, further) = that_lost_most(found, LIVE_CPUS);
    for cpu in cpus {
        // The last pieces that fit beside what is said of now.
        let first = cpu.strip.len().saturating_sub(columns.saturating_sub(22 + NAME));
        let [mut levels, causes] = strip(cpu, &cpu.strip[first..], look);
        levels.push(span(Tone::Dim, format!(" {}", now(cpu))));
        lines.extend([paint(&levels, *look), paint(&causes, *look)]);
    }
    lines.extend(further.map(|further| paint(&[further], *look)));
    lines.extend(wrap_plain(&format!("last minute: {}", lost(found, ALL)), columns));
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
    let lost = last.and_then(|piece| piece.lost_share).map_or("-".to_owned(), small);
    let cause = last.and_then(|piece| piece.cause).map_or(' ', |cause| cause.letter());
    let hertz = cpu.frequency.as_ref().map_or(String::new(), |one| hertz(one.median_hertz));
    format!("{lost} {cause} {hertz}").trim_end().to_owned()
}

/// Columns of the name of a CPU.
const NAME: usize = 8;
/// From which share that is lost of a piece on it is drawn by the next sign.
const LEVELS: [f64; 7] = [0.003, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5];
const SIGNS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];
const ASCII_SIGNS: [char; 8] = ['.', ':', '-', '=', '+', '*', '%', '#'];

/// Two lines: how much was lost, and to what.
fn strip(cpu: &CpuNoise, pieces: &[Piece], look: &Look) -> [Spans; 2] {
    let name = format!("CPU {}", cpu.cpu);
    let signs = look.pick(SIGNS, ASCII_SIGNS);
    let levels = pieces.iter().map(|piece| {
        piece.lost_share.map_or(' ', |share| signs[LEVELS.partition_point(|least| share >= *least)])
    });
    let causes = pieces.iter().map(|piece| match (piece.lost_share, piece.cause) {
        (Some(share), Some(cause)) if share >= LEVELS[0] => cause.letter(),
        _ => ' ',
    });
    [
        vec![
            span(Tone::Strong, format!("{name:NAME$}")),
            span(Tone::Plain, levels.collect::<String>()),
        ],
        vec![span(Tone::Plain, " ".repeat(NAME)), span(Tone::Dim, causes.collect::<String>())],
    ]
}

/// Returns what the letters mean.
fn key(found: &Noise, look: &Look) -> String {
    let piece_ns = found.cpus.iter().flat_map(|cpu| &cpu.strip).map(|piece| piece.length_ns).max();
    let length = time(piece_ns.unwrap_or(0));
    let letters = Cause::ALL.map(|cause| format!("{} {}", cause.letter(), cause.words()));
    let letters = letters.join(", ");
    let [one, ten, fifty] = [2, 5, 7].map(|at| look.pick(SIGNS, ASCII_SIGNS)[at]);
    format!(
        "a column is {length}; lost of it: {one} from 1%, {ten} from 10%, {fifty} from 50%; \
         {letters}"
    )
}

#[cfg(test)]
mod tests;
