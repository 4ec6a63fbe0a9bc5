//! Timers, on a screen and as a picture.

use crate::show::bars::bars;
use crate::show::*;
use crate::{ClockOrder, TickCounter, Timers, Vdso};

/// Returns the lines of the screen that shows everything at once.
pub(crate) fn rows(found: &Timers) -> Vec<Row> {
    let mut first = Vec::new();
    if let Some(clock) = found.clock("MONOTONIC") {
        first.push(format!("reading the clock {}", ns(clock.cost_ns)));
        first.extend(clock.steps.map(|steps| format!("step {}", ns(steps.least_ns))));
    }
    if let Some(vdso) = &found.vdso {
        let works = format!("vDSO works (system call {})", ns(vdso.system_call_ns));
        first.push(if vdso.works { works } else { "every reading is a system call".to_owned() });
    }
    let mut second = Vec::new();
    second.extend(found.counter.as_ref().map(short_counter));
    second.extend(found.clock_source.as_ref().map(|name| format!("clock source {}", plain(name))));
    if let Some(order) = found.order.first() {
        let how = if order.least_ns < 0.0 { &format!("{} goes", order.clock) } else { "never" };
        second.push(format!("{how} backwards from CPU to CPU"));
    }
    let lines = [first, second].into_iter().filter(|parts| !parts.is_empty());
    lines.map(|parts| Row::new("", parts.join(", "))).collect()
}

/// Returns everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Timers, look: &Look) -> String {
    let mut page = Page::new(*look);
    if let Some(name) = &found.clock_source {
        let all = joined(found.clock_sources.iter().map(|name| plain(name)));
        say(&mut page, format!("The kernel's clock source is {} (of {all}).", plain(name)));
    }
    found.vdso.iter().for_each(|vdso| say(&mut page, of_vdso(vdso)));
    if let Some(counter) = &found.counter {
        let (ticks, ppm) = (counter.hertz / 1e6, counter.uncertainty_ppm);
        let (short, flags) = (short_counter(counter), plain(&counter.flags.join(" ")));
        let flags = if flags.is_empty() { flags } else { format!(" ({flags})") };
        let ticks = format!("{ticks:.4} million ticks a second, +-{ppm:.2} ppm");
        say(&mut page, format!("{short}: {ticks}{flags}."));
    }
    page.gap();
    let most = found.clocks.iter().map(|clock| clock.cost_ns).fold(0.0, f64::max);
    let clocks = Table::of(&found.clocks)
        .left("clock", 0, |clock| clock.name.clone())
        .decimal("a reading", 0, |clock| ns(clock.cost_ns))
        .left("", 4, |clock| bar(clock.cost_ns, most, look))
        .decimal("least step", 1, |clock| or_dash(clock.steps, |steps| ns(steps.least_ns)))
        .decimal("median", 2, |clock| or_dash(clock.steps, |steps| ns(steps.median_ns)))
        .decimal("99 of 100", 3, |clock| or_dash(clock.steps, |steps| ns(steps.p99_ns)));
    lines(&mut page, clocks.columns(), look);
    if !found.missing.is_empty() {
        say(&mut page, format!("Not there: {}.", found.missing.join(", ")));
    }
    page.gap();
    let drifts = Table::of(&found.drifts)
        .left("clock", 0, |drift| drift.clock.clone())
        .decimal("faster by", 0, |drift| format!("{:.2} ppm", drift.ppm))
        .decimal("+-", 0, |drift| format!("{:.2} ppm", drift.uncertainty_ppm))
        .decimal("watched for", 1, |drift| seconds(drift.seconds));
    lines(&mut page, drifts.columns(), look);
    page.gap();
    found.order.iter().for_each(|order| say(&mut page, of_order(order)));
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

fn short_counter(counter: &TickCounter) -> String {
    let steady = match counter.is_invariant {
        Some(true) => " steady",
        Some(false) => " not steady",
        None => "",
    };
    format!("{} {}{steady}", counter.name, hertz(counter.hertz))
}

fn of_vdso(vdso: &Vdso) -> String {
    let [library, call] = [vdso.vdso_ns, vdso.system_call_ns].map(ns);
    let read = format!("the library reads MONOTONIC in {library}, a system call takes {call}.");
    if vdso.works {
        return format!("The vDSO works: {read}");
    }
    let longer = "Batches must be longer here; 'tsc' as clock source would help.";
    format!("The vDSO does not work: {read} {longer}")
}

fn of_order(order: &ClockOrder) -> String {
    let (stamps, clock) = (count(order.hand_offs, "stamp"), &order.clock);
    let pairs = count(order.pairs.len() as u64, "ordered pair");
    let left_out = match order.pairs_left_out {
        0 => String::new(),
        pairs => format!(" (no time for {pairs} more)"),
    };
    let of = format!("{stamps} of {clock} between {pairs} of CPUs{left_out}");
    if order.least_ns < 0.0 {
        let back = ns(-order.least_ns);
        return format!(
            "{of}: the clock goes BACKWARDS by up to {back}. Times that are taken on two CPUs must \
             not be subtracted here."
        );
    }
    let (least, bound) = (ns(order.least_ns), ns(order.offset_bound_ns));
    format!(
        "{of}: none came before it was sent; the soonest took {least}. No two CPUs are apart by \
         more than {bound}."
    )
}

#[cfg(test)]
mod tests;
