//! Topology, on a screen and as a picture.

mod drawn;
mod sharing;
mod svg;
mod tables;
pub(crate) mod tree;

use crate::show::*;
use crate::{CoreKind, Limits, Probed, Topology};

/// The lines of the screen that tells everything at once.
pub(crate) fn rows(found: &Topology) -> Vec<Row> {
    let mut rows = vec![Row::new("", counts(found))];
    let caches = tables::caches_in_short(found);
    if !caches.is_empty() {
        rows.push(Row::new("caches", caches));
    }
    rows.push(Row::new("threads of a core", sharing::in_short(found)));
    rows
}

/// `8 CPUs (6 may be used) on 4 cores, 2 sockets, 2 memory nodes with 15.5 GiB`.
fn counts(found: &Topology) -> String {
    let online = found.online().count();
    let mut text = count(online as u64, "CPU");
    if found.allowed() < online {
        text += &format!(" ({} may be used)", found.allowed());
    }
    if let Some(cores) = found.cores() {
        text += &format!(" on {}", count(cores as u64, "core"));
    }
    let of = |kind: CoreKind| {
        let cores = found.online().filter(|cpu| cpu.kind == Some(kind)).filter_map(|cpu| cpu.core);
        cores.collect::<std::collections::BTreeSet<_>>().len()
    };
    let [fast, slow] = [CoreKind::Performance, CoreKind::Efficiency].map(of);
    if slow > 0 {
        text += &format!(" ({fast} fast, {slow} slow)");
    }
    if let Some(sockets) = found.sockets() {
        text += &format!(", {}", count(sockets as u64, "socket"));
    }
    if !found.nodes.is_empty() {
        text += &format!(", {}", count(found.nodes.len() as u64, "memory node"));
    }
    if let Some(memory) = found.memory_bytes() {
        text += &format!(" with {}", bytes(memory));
    }
    text
}

/// The CPUs that this process may use.
fn allowed(found: &Topology) -> Vec<usize> {
    found.cpus.iter().filter(|cpu| cpu.is_allowed).map(|cpu| cpu.cpu).collect()
}

/// Everything that was found, with its pictures in letters.
pub(crate) fn page(found: &Topology, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Strong, counts(found))]);
    page.gap();
    drawn::draw(&mut page, found, *look);
    page.gap();
    page.paragraph("", &[span(Tone::Plain, sharing::told(found))]);
    page.gap();
    let mut text = page.finish();
    for part in [
        sharing::table(found, look),
        tables::caches(found, look),
        tables::nodes(found, look),
        paragraph(Tone::Plain, limits(&found.limits), look),
        tables::compilers(found, look),
    ] {
        text = apart(text, &part);
    }
    text
}

/// One text below another, with an empty line between, unless one of them is empty.
fn apart(above: String, below: &str) -> String {
    let gap =
        if above.is_empty() || above.ends_with("\n\n") || below.is_empty() { "" } else { "\n" };
    above + gap + below
}

/// What this process may use, in sentences.
fn limits(limits: &Limits) -> String {
    let quota = limits.cpu_quota_us.zip(limits.cpu_period_us.filter(|period| *period > 0));
    let quota = match quota {
        Some((quota, period)) => format!(
            "Control groups allow {:.2} CPUs' time ({quota} us every {period} us).",
            quota as f64 / period as f64
        ),
        None if limits.is_cpu_quota_known => "No control group limits CPU time.".to_owned(),
        None => "Whether a control group limits CPU time is not told.".to_owned(),
    };
    let memory = match limits.memory_bytes {
        Some(limit) => format!(" Control groups allow {} of memory.", bytes(limit)),
        None => " No limit on memory is seen.".to_owned(),
    };
    quota + &memory
}

/// The picture as SVG.
pub(crate) fn svg(found: &Topology) -> String {
    let note = match &found.sharing {
        Probed::Inconclusive { .. } | Probed::Unavailable { .. } => String::new(),
        _ => sharing::told(found),
    };
    svg::topology(found, &counts(found), &note)
}

#[cfg(test)]
pub(crate) mod tests;
