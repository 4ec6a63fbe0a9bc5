//! What is said of bandwidth in sentences.

use super::*;

/// `read 43.6 GB/s with one thread, 87.4 with 4 (medians 52.1 to 86.2), 95% of the best median with
/// 3`.
///
/// The rates are those of undisturbed windows; the range, and where more threads stop paying, are
/// of medians of rounds, which may all lie below, and are called so.
pub(super) fn reads(found: &Bandwidth) -> Option<String> {
    let curve = found.curve(Traffic::Read, true)?;
    let one = curve.point(1);
    let best = best(curve)?;
    let rate = |point: &BandwidthPoint| gb(point.bytes_per_s);
    let moved = |point: &BandwidthPoint| moved(point).unwrap_or_default();
    let from = if found.is_from_caches { "from caches, not memory: " } else { "" };
    let Some(one) = one else {
        let (rate, moved) = (rate(best), moved(best));
        return Some(format!("{from}read {rate} GB/s with {} threads{moved}", best.threads));
    };
    let mut text = format!("{from}read {} GB/s with one thread{}", rate(one), moved(one));
    if best.threads > 1 {
        text += &format!(", {} with {}{}", rate(best), best.threads, moved(best));
    }
    if let Some(knee) = curve.knee.as_ref().filter(|knee| knee.threads < best.threads) {
        text += &format!(", 95% of the best median with {}", knee.threads);
    }
    Some(text)
}

/// How far the rounds lie apart, if they do.
fn moved(point: &BandwidthPoint) -> Option<String> {
    let (low, high) = (point.low_bytes_per_s, point.high_bytes_per_s);
    (high > MOVED * low).then(|| format!(" (medians {} to {})", gb(low), gb(high)))
}

/// `with 2 threads write 64.1, fill 81.4, copy 83.2, copy-past 90.1 GB/s`: all with the same number
/// of threads, or each with its own.
pub(super) fn others(found: &Bandwidth) -> Option<String> {
    const OTHERS: [Traffic; 4] = [Traffic::Write, Traffic::Fill, Traffic::Copy, Traffic::CopyPast];
    let shared = found.shared_best(&OTHERS);
    let threads = |threads| match threads {
        1 => "with one thread".to_owned(),
        more => format!("with {more} threads"),
    };
    let part = |curve: &&BandwidthCurve| {
        let point = shared.map_or_else(|| best(curve), |threads| curve.point(threads))?;
        let text = format!("{} {}", curve.traffic.name(), gb(point.bytes_per_s));
        Some(match shared {
            Some(_) => text,
            None => format!("{text} {}", threads(point.threads)),
        })
    };
    let parts: Vec<String> = pinned(found, &OTHERS).iter().filter_map(part).collect();
    let whose = shared.map(|shared| threads(shared) + " ").unwrap_or_default();
    (!parts.is_empty()).then(|| format!("{whose}{} GB/s", parts.join(", ")))
}

/// `a load from memory takes 149 ns, 198 ns beside 3 threads that read at 76 GB/s`.
pub(super) fn loaded(found: &Bandwidth) -> Option<String> {
    let idle = found.loaded_latency.iter().find(|one| one.asked_share == 0.0)?;
    let full = found.loaded_latency.last().filter(|one| one.asked_share > 0.0);
    let beside = full.map_or(String::new(), |full| {
        let who = match full.threads {
            1 => "a thread that reads".to_owned(),
            more => format!("{more} threads that read"),
        };
        format!(", {:.0} ns beside {who} at {} GB/s", full.latency_ns, gb(full.bytes_per_s))
    });
    Some(format!("a load from memory takes {:.0} ns{beside}", idle.latency_ns))
}

/// The small print of the page.
pub(super) fn notes(found: &Bandwidth) -> Vec<String> {
    let vectors = &found.vectors;
    let mut notes = vec![
        format!(
            "GB/s are 10^9 bytes a second, of all threads together, as a program counts them, when \
             nobody disturbs: 97% of all windows of time stay below. A round is the median of its \
             windows, so all rounds may lie below that; how many threads give 95% is told by the \
             medians. touch reads one value of each 64-byte line, as published (Lemire \
             2024); read reads all of it ({vectors}); write stores; fill stores past the caches; \
             copy reads and stores, and both count; copy-past stores past the caches."
        ),
        format!(
            "A store may first read the line that it changes. Then write moves {} times what is \
             shown to and from memory, and copy {} times.",
            Traffic::Write.most_moved(),
            Traffic::Copy.most_moved()
        ),
    ];
    notes.extend(windows(found));
    notes.push(buffers(found));
    notes.extend(range(found));
    notes.extend(nodes(found));
    notes.extend(no_latency(found));
    notes
}

/// What was kept, and of what.
fn windows(found: &Bandwidth) -> Option<String> {
    let points = || found.curves.iter().flat_map(|curve| &curve.points);
    let (kept, all) = points()
        .fold((0, 0), |(kept, all), point| (kept + point.windows_kept, all + point.windows));
    if all == 0 {
        return None;
    }
    let share = percent(kept as f64 / all as f64, Rounding::Nearest);
    let ms = found.window_ns as f64 / 1e6;
    Some(format!(
        "Only windows of {ms} ms count in which every thread ran without a gap: {kept} of {all} \
         ({share})."
    ))
}

fn buffers(found: &Bandwidth) -> String {
    let mib = found.buffer_bytes >> 20;
    let cache = found.last_level_bytes.map_or(String::new(), |bytes| {
        format!("; the last level cache is said to have {} MiB", bytes >> 20)
    });
    let held = found.held_bytes.map_or(String::new(), |bytes| {
        format!("; of what is gone through, caches hold {} MiB at most", bytes >> 20)
    });
    let pages = found.large_page_share.map_or(String::new(), |share| {
        format!(", {} of it in large pages", percent(share, Rounding::Nearest))
    });
    let cpus: Vec<String> = found.cpus.iter().take(64).map(u32::to_string).collect();
    let more = if found.cpus.len() > cpus.len() { ", ..." } else { "" };
    format!(
        "Each thread has {mib} MiB of its own{pages}{cache}{held}. Pinned threads take CPUs in \
         this order: {}{more}.",
        cpus.join(", ")
    )
}

/// Whether rounds differ by more than noise.
fn range(found: &Bandwidth) -> Option<String> {
    let points = found.curves.iter().flat_map(|curve| curve.points.iter().map(move |p| (curve, p)));
    let apart = |point: &BandwidthPoint| point.high_bytes_per_s / point.low_bytes_per_s;
    let (curve, point) = points.max_by(|a, b| apart(a.1).total_cmp(&apart(b.1)))?;
    (apart(point) > MOVED).then(|| {
        let name = name(curve);
        let (low, high) = (gb(point.low_bytes_per_s), gb(point.high_bytes_per_s));
        format!(
            "Rounds differ: {name} with {} was between {low} and {high} GB/s. A hypervisor that \
             moves CPUs does that, and so do others who use the same memory.",
            count(u64::from(point.threads), "thread")
        )
    })
}

fn nodes(found: &Bandwidth) -> Option<String> {
    match (found.nodes, found.between_nodes.is_empty()) {
        (Some(0 | 1), _) => Some("There is one memory node, so nothing is remote.".to_owned()),
        (Some(_), true) => Some(
            "Between memory nodes nothing was measured: see the reasons for degraded.".to_owned(),
        ),
        (None, _) => Some("The machine does not say which memory nodes it has.".to_owned()),
        (Some(_), false) => None,
    }
}

fn no_latency(found: &Bandwidth) -> Option<String> {
    let why = if found.cpus.len() < 2 {
        "there is one CPU only"
    } else {
        "no window in which all threads ran, or no time"
    };
    let is_missing = found.loaded_latency.is_empty();
    is_missing.then(|| format!("Latency beside bandwidth was not measured: {why}."))
}
