//! Timers, on a screen and as a picture.

use crate::show::bars::bars;
use crate::show::*;
use crate::{Clock, ClockOrder, TickCounter, Timers, Vdso};

/// Returns the lines of the screen that shows everything at once.
pub(crate) fn rows(found: &Timers) -> Vec<Row> {
    let mut first = Vec::new();
    if let Some(clock) = found.clock("MONOTONIC") {
        first.push(format!("reading the clock {}", ns(clock.cost_ns)));
        let step = clock.steps.map(|steps| format!("step {}", ns(steps.least_ns)));
        first.extend(step);
    }
    first.extend(found.vdso.as_ref().map(|vdso| {
        if vdso.works {
            format!("vDSO works (system call {})", ns(vdso.system_call_ns))
        } else {
            "every reading is a system call".to_owned()
        }
    }));
    let mut second = Vec::new();
    second.extend(found.counter.as_ref().map(short_counter));
    second.extend(found.clock_source.as_ref().map(|name| format!("clock source {}", plain(name))));
    second.extend(found.order.first().map(|order| {
        if order.least_ns < 0.0 {
            format!("{} goes backwards from CPU to CPU", order.clock)
        } else {
            "never backwards from CPU to CPU".to_owned()
        }
    }));
    let lines = [first, second].into_iter().filter(|parts| !parts.is_empty());
    lines.map(|parts| Row::new("", parts.join(", "))).collect()
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Timers, look: &Look) -> String {
    let mut page = Page::new(*look);
    if let Some(name) = &found.clock_source {
        let others: Vec<String> = found.clock_sources.iter().map(|name| plain(name)).collect();
        let of =
            if others.is_empty() { String::new() } else { format!(" (of {})", others.join(", ")) };
        say(&mut page, format!("The kernel's clock source is {}{of}.", plain(name)));
    }
    found.vdso.iter().for_each(|vdso| say(&mut page, of_vdso(vdso)));
    found.counter.iter().for_each(|counter| say(&mut page, of_counter(counter)));
    page.gap();
    for row in table_rows(clocks(&found.clocks, *look), look.columns()) {
        page.table_line(&row);
    }
    if !found.missing.is_empty() {
        say(&mut page, format!("Not there: {}.", found.missing.join(", ")));
    }
    page.gap();
    found.order.iter().for_each(|order| say(&mut page, of_order(order)));
    pairs(&mut page, &found.order, look);
    if !found.drifts.is_empty() {
        page.gap();
        lines(&mut page, drifts(found), look);
    }
    page.finish()
}

/// Returns the picture as SVG.
pub(crate) fn svg(found: &Timers) -> String {
    let call = found.vdso.iter();
    let call = call.map(|vdso| ("MONOTONIC by a system call".to_owned(), vdso.system_call_ns));
    let clocks = found.clocks.iter().map(|clock| (clock.name.clone(), clock.cost_ns));
    let all: Vec<_> = clocks.chain(call).collect();
    bars("What reading a clock costs", "Medians of batches.", ns, &all)
}

/// Nanoseconds of a clock: a tenth where there are few.
fn ns(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "-".to_owned(),
        v if v < 99.95 => format!("{value:.1} ns"),
        v if v < 1e5 => format!("{value:.0} ns"),
        v if v < 1e8 => format!("{:.2} ms", value / 1e6),
        _ => seconds(value / 1e9),
    }
}

fn short_counter(counter: &TickCounter) -> String {
    let steady = match counter.is_invariant {
        Some(true) => " steady",
        Some(false) => " not steady",
        None => "",
    };
    format!("{} {}{steady}", counter.name, hertz(counter.hertz))
}

fn of_counter(counter: &TickCounter) -> String {
    let steady = match counter.is_invariant {
        Some(true) => "it ticks at one rate, whatever the core does",
        Some(false) => "its rate may change with that of the core",
        None => "the machine does not say whether its rate may change",
    };
    let flags = Some(plain(&counter.flags.join(" "))).filter(|flags| !flags.is_empty());
    let flags = flags.map_or(String::new(), |flags| format!(" ({flags})"));
    let (name, ticks, ppm) = (&counter.name, counter.hertz / 1e6, counter.uncertainty_ppm);
    format!("The {name} makes {ticks:.4} million ticks a second, +-{ppm:.2} ppm; {steady}{flags}.")
}

fn of_vdso(vdso: &Vdso) -> String {
    let [library, call] = [vdso.vdso_ns, vdso.system_call_ns].map(ns);
    if vdso.works {
        format!(
            "The vDSO works: the library reads MONOTONIC in {library}, a system call takes {call}, \
         {:.1} times as long.",
            vdso.ratio
        )
    } else {
        format!(
            "The vDSO does not work: the library needs {library} for MONOTONIC, as much as a \
         system call ({call}). Batches must be longer here; 'tsc' as clock source would help."
        )
    }
}

fn clocks(clocks: &[Clock], look: Look) -> Vec<Column> {
    let most = clocks.iter().map(|clock| clock.cost_ns).fold(1e-9, f64::max);
    Table::of(clocks)
        .left("clock", 0, |clock| clock.name.clone())
        .decimal("a reading", 0, |clock| ns(clock.cost_ns))
        // A bar of the cost, as far as there is room.
        .left("", 4, |clock| {
            let columns = (clock.cost_ns / most * 16.0).round().max(1.0) as usize;
            look.pick("\u{2588}", "#").repeat(columns)
        })
        .decimal("least step", 1, |clock| or_dash(clock.steps, |steps| ns(steps.least_ns)))
        .decimal("median", 2, |clock| or_dash(clock.steps, |steps| ns(steps.median_ns)))
        .decimal("99 of 100", 3, |clock| or_dash(clock.steps, |steps| ns(steps.p99_ns)))
        .decimal("told", 5, |clock| {
            clock.told_resolution_ns.map_or(String::new(), |step| ns(step as f64))
        })
        .right("no step", 5, |clock| {
            clock.steps.map_or(String::new(), |one| percent(one.equal_share, Rounding::Nearest))
        })
        .columns()
}

fn of_order(order: &ClockOrder) -> String {
    let (stamps, clock) = (count(order.hand_offs, "stamp"), &order.clock);
    let pairs = match order.pairs.len() {
        1 => "one ordered pair".to_owned(),
        pairs => format!("{pairs} ordered pairs"),
    };
    let of = format!("{stamps} of {clock} between {pairs} of CPUs");
    let left_out = match order.pairs_left_out {
        0 => String::new(),
        pairs => format!(" (no time for {pairs} more)"),
    };
    if order.least_ns < 0.0 {
        format!(
            "{of}{left_out}: the clock goes BACKWARDS by up to {}. Times that are taken on two \
         CPUs must not be subtracted here.",
            ns(-order.least_ns)
        )
    } else {
        format!(
            "{of}{left_out}: none came before it was sent; the soonest took {}. No two CPUs are \
         apart by more than {}.",
            ns(order.least_ns),
            ns(order.offset_bound_ns)
        )
    }
}

/// The pairs of a small machine, one line each.
fn pairs(page: &mut Page, orders: &[ClockOrder], look: &Look) {
    let all: Vec<_> =
        orders.iter().flat_map(|order| order.pairs.iter().map(move |pair| (order, pair))).collect();
    if all.is_empty() || all.len() > 24 {
        return;
    }
    let table = Table::of(&all)
        .left("clock", 0, |(order, _)| order.clock.clone())
        .right("from", 0, |(_, pair)| pair.from_cpu)
        .right("to", 0, |(_, pair)| pair.to_cpu)
        .decimal("least", 0, |(_, pair)| ns(pair.least_ns))
        .decimal("median", 1, |(_, pair)| ns(pair.median_ns))
        .right("stamps", 2, |(_, pair)| pair.count);
    page.gap();
    lines(page, table.columns(), look);
}

fn drifts(found: &Timers) -> Vec<Column> {
    Table::of(&found.drifts)
        .left("clock", 0, |drift| drift.clock.clone())
        .left("against", 2, |drift| drift.against.clone())
        .decimal("faster by", 0, |drift| format!("{:.2} ppm", drift.ppm))
        .decimal("+-", 0, |drift| format!("{:.2} ppm", drift.uncertainty_ppm))
        .decimal("watched for", 1, |drift| seconds(drift.seconds))
        .columns()
}

#[cfg(test)]
mod tests;
