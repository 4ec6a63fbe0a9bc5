//! The tables of bandwidth.

use super::{best, gb, name};
use crate::{Bandwidth, BandwidthCurve, Traffic};
use tiebreak_report::look::Look;
use tiebreak_report::number::{Rounding, percent};
use tiebreak_report::table::{Align, Column, render};

/// A row for each number of threads, a column for each curve.
pub(super) fn by_threads(found: &Bandwidth, look: &Look) -> String {
    let mut threads: Vec<u32> =
        found.curves.iter().flat_map(|curve| &curve.points).map(|point| point.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let numbers = threads.iter().map(u32::to_string).collect();
    let mut columns = vec![Column::new("threads, GB/s", Align::Right, numbers)];
    for curve in &found.curves {
        let at = |threads: &u32| curve.points.iter().find(|point| point.threads == *threads);
        let cells = threads.iter().map(|t| at(t).map_or("-".into(), |p| gb(p.bytes_per_s)));
        let title = format!("{}{}", curve.traffic.name(), if curve.is_pinned { "" } else { "*" });
        let column = Column::new(&title, Align::Decimal, cells.collect());
        columns.push(column.rank(rank(curve)));
    }
    let mut text = render(columns, look);
    if found.curves.iter().any(|curve| !curve.is_pinned) {
        text += "* not pinned\n";
    }
    text
}

/// Reads stay the longest on a narrow screen.
fn rank(curve: &BandwidthCurve) -> u8 {
    match (curve.traffic, curve.is_pinned) {
        (Traffic::Read, true) => 0,
        (Traffic::Touch | Traffic::Copy | Traffic::CopyPast, true) => 1,
        (Traffic::Write | Traffic::Fill, true) => 2,
        (_, false) => 3,
    }
}

/// Where more threads stop paying, and what the rounds make of it.
pub(super) fn knees(found: &Bandwidth, look: &Look) -> String {
    let known: Vec<_> = found
        .curves
        .iter()
        .filter_map(|curve| Some((curve, best(curve)?, curve.knee.as_ref()?)))
        .collect();
    let column = |title: &str, align: Align, cells: Vec<String>, rank: u8| {
        Column::new(title, align, cells).rank(rank)
    };
    let cells = |write: &dyn Fn(usize) -> String| (0..known.len()).map(write).collect::<Vec<_>>();
    let range = |low: u32, high: u32| {
        if low == high { low.to_string() } else { format!("{low} to {high}") }
    };
    render(
        vec![
            column("curve", Align::Left, cells(&|at| name(known[at].0)), 0),
            column("best GB/s", Align::Decimal, cells(&|at| gb(known[at].1.bytes_per_s)), 0),
            column(
                "its rounds",
                Align::Left,
                cells(&|at| {
                    let best = known[at].1;
                    format!("{} to {}", gb(best.low_bytes_per_s), gb(best.high_bytes_per_s))
                }),
                2,
            ),
            column("with", Align::Right, cells(&|at| known[at].1.threads.to_string()), 3),
            column("95% with", Align::Right, cells(&|at| known[at].2.threads.to_string()), 0),
            column(
                "rounds say",
                Align::Left,
                cells(&|at| range(known[at].2.low_threads, known[at].2.high_threads)),
                1,
            ),
            column(
                "so many agree",
                Align::Right,
                cells(&|at| percent(known[at].2.agreeing_share, Rounding::Nearest)),
                4,
            ),
        ],
        look,
    )
}

/// Reads between nodes; empty where there is one only.
pub(super) fn between_nodes(found: &Bandwidth, look: &Look) -> String {
    let rows = &found.between_nodes;
    if rows.is_empty() {
        return String::new();
    }
    let place = |cpu: u32, memory: u32| if cpu == memory { "local" } else { "remote" };
    let places = rows.iter().map(|row| place(row.cpu_node, row.memory_node).to_owned()).collect();
    let texts =
        |write: fn(&crate::NodeBandwidth) -> String| rows.iter().map(write).collect::<Vec<_>>();
    render(
        vec![
            Column::new("CPUs of node", Align::Right, texts(|row| row.cpu_node.to_string())),
            Column::new("memory of node", Align::Right, texts(|row| row.memory_node.to_string())),
            Column::new("", Align::Left, places),
            Column::new("threads", Align::Right, texts(|row| row.threads.to_string())).rank(1),
            Column::new("read GB/s", Align::Decimal, texts(|row| gb(row.bytes_per_s))),
        ],
        look,
    )
}

/// Latency by load; empty where it was not measured.
pub(super) fn loaded(found: &Bandwidth, look: &Look) -> String {
    let rows = &found.loaded_latency;
    if rows.is_empty() {
        return String::new();
    }
    let texts =
        |write: fn(&crate::LoadedLatency) -> String| rows.iter().map(write).collect::<Vec<_>>();
    let asked = texts(|row| percent(row.asked_share, Rounding::Nearest));
    render(
        vec![
            Column::new("load asked for", Align::Right, asked),
            Column::new("threads", Align::Right, texts(|row| row.threads.to_string())).rank(2),
            Column::new("read GB/s", Align::Decimal, texts(|row| gb(row.bytes_per_s))),
            Column::new("ns a load", Align::Right, texts(|row| format!("{:.0}", row.latency_ns))),
            Column::new("windows", Align::Right, texts(|row| row.windows_kept.to_string())).rank(1),
        ],
        look,
    )
}
