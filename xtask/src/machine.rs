//! The tables of `docs/manual/machine.md`: tiebreak's probes and other programs, from the
//! measurements of `bench/machine`.

use crate::measured::{Data, median, read, spread};
use anyhow::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use tiebreak_probes::Probe;
use tiebreak_report::markdown::aligned;
use tiebreak_report::table::Align::{Left, Right};

/// The path of the data about latency from core to core, from the root.
pub const CORES: &str = "docs/measured/machine-cores.json";
/// The path of the data about bandwidth.
pub const BANDWIDTH: &str = "docs/measured/machine-bandwidth.json";

/// The kernels that both programs have, as the data names them and as the page does.
const KERNELS: [(&str, &str); 2] =
    [("two-lines", "two lines"), ("compare-exchange", "compare-exchange")];
/// The largest factor between two means of the other program, before and after a turn, of one
/// placement of the CPUs.
const SAME: f64 = 1.1;

#[derive(Deserialize)]
struct Cores {
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    series: String,
    busy_before: f64,
    peer: Vec<BTreeMap<String, f64>>,
    peer_least: Vec<BTreeMap<String, f64>>,
    ours: Ours,
}

#[derive(Deserialize)]
struct Ours {
    /// Modes of a kernel: the latency of each, one way, in nanoseconds, and its share of rounds.
    modes: BTreeMap<String, Vec<(f64, f64)>>,
}

#[derive(Deserialize)]
struct Bandwidth {
    compiler: String,
    ratios: Vec<Ratio>,
}

#[derive(Deserialize)]
struct Ratio {
    kernel: String,
    threads: u32,
    turns: u32,
    ratio: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    /// The same over the median repetition of the C program instead of its best.
    over_median: Option<f64>,
}

/// Renders the table of the probes.
pub fn probes() -> String {
    let head = ["name", "on the screen", "what it finds", "short look", "by name"];
    let rows = Probe::ALL.map(|probe| {
        let [short, few, many] = [(2, true), (2, false), (256, false)]
            .map(|(cpus, is_quick)| probe.budget(cpus, is_quick).as_secs_f64());
        let more = if many > few { " or more" } else { "" };
        [
            format!("`{}`", probe.name()),
            probe.words().to_owned(),
            probe.help().to_owned(),
            format!("{short} s"),
            format!("{few} s{more}"),
        ]
    });
    aligned(&head, &[Left; 5], rows)
}

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what `bench/machine` writes.
pub fn render(cores: &str, bandwidth: &str) -> Result<String> {
    let cores = latency(&read(cores, CORES, "tiebreak/machine-cores/1")?);
    let bandwidth = rates(&read(bandwidth, BANDWIDTH, "tiebreak/machine-bandwidth/1")?);
    Ok(cores + "\n" + &bandwidth)
}

fn latency(data: &Data<Cores>) -> String {
    let version = data.tools.get("core-to-core-latency").map_or("", String::as_str);
    let means = format!("core-to-core-latency {version}, means");
    let head = [
        "nanoseconds, one way",
        &means,
        "its least mean of 25 short runs",
        "tiebreak, lowest mode",
        "ours over its least, same placement",
    ];
    let of = |series| data.of.turns.iter().filter(move |turn| turn.series == series);
    let rows = ["quiet", "loaded"].into_iter().flat_map(|series| {
        let turns: Vec<&Turn> = of(series).collect();
        KERNELS.map(|kernel| latency_row(series, &turns, kernel))
    });
    let [quiet, loaded] = ["quiet", "loaded"]
        .map(|series| 100.0 * median(of(series).map(|turn| turn.busy_before)).unwrap_or_default());
    format!(
        "{}\n{}, {}. Each cell: median, least to most. The CPUs were busy with other programs for \
         {quiet:.0}% of the time before the turns that are called quiet, and for {loaded:.0}% \
         before the loaded ones.\n",
        aligned(&head, &[Left, Right, Right, Right, Right], rows),
        data.date,
        data.machine,
    )
}

fn latency_row(series: &str, turns: &[&Turn], (key, words): (&str, &str)) -> [String; 5] {
    let ratios = turns.iter().filter_map(|turn| ratio(turn, key));
    let compared = ratios.clone().count();
    [
        format!("{series}, {words}, {} turns", turns.len()),
        range(turns.iter().flat_map(|turn| of_kernel(&turn.peer, key)), 0),
        range(turns.iter().flat_map(|turn| of_kernel(&turn.peer_least, key)), 0),
        range(turns.iter().filter_map(|turn| lowest(turn, key)), 1),
        format!("{} ({compared} turns)", range(ratios, 2)),
    ]
}

fn of_kernel(maps: &[BTreeMap<String, f64>], kernel: &str) -> impl Iterator<Item = f64> + Clone {
    maps.iter().filter_map(move |map| map.get(kernel).copied())
}

fn lowest(turn: &Turn, kernel: &str) -> Option<f64> {
    let modes = turn.ours.modes.get(kernel)?.iter().map(|mode| mode.0);
    modes.min_by(f64::total_cmp)
}

/// Returns our latency over the least of the other program, where both saw one placement of the
/// CPUs.
fn ratio(turn: &Turn, kernel: &str) -> Option<f64> {
    let least = of_kernel(&turn.peer_least, kernel);
    let low = least.clone().min_by(f64::total_cmp)?;
    let high = least.max_by(f64::total_cmp)?;
    let is_one = turn.ours.modes.get(kernel)?.len() == 1 && high <= low * SAME;
    is_one.then(|| lowest(turn, kernel).map(|ours| ours / low)).flatten()
}

fn range(values: impl IntoIterator<Item = f64>, decimals: usize) -> String {
    spread(values, decimals).unwrap_or_else(|| "-".to_owned())
}

fn rates(data: &Data<Bandwidth>) -> String {
    let mut kernels: Vec<&str> = data.of.ratios.iter().map(|ratio| ratio.kernel.as_str()).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let what = "tiebreak over the best of a STREAM-like C program; over its median";
    let rows = kernels.into_iter().map(|kernel| {
        let [one, two] = [1, 2].map(|threads| {
            let found = data.of.ratios.iter().find(|r| r.kernel == kernel && r.threads == threads);
            let Some(Ratio { turns, ratio: Some(ratio), least, most, over_median, .. }) = found
            else {
                return "-".to_owned();
            };
            let [least, most, median] = [least, most, over_median].map(|v| v.unwrap_or(f64::NAN));
            format!("{ratio:.3} ({least:.3} to {most:.3}, {turns} turns); {median:.3}")
        });
        [format!("{kernel}: {what}"), one, two]
    });
    let head = ["bandwidth", "one thread", "two threads"];
    let compiler = data.of.compiler.split(" (").next().unwrap_or(&data.of.compiler);
    format!(
        "{}\n{}, {}, {compiler}. Medians over turns in which the C program's own figures before \
         and after agree within a tenth.\n",
        aligned(&head, &[Left, Right, Right], rows),
        data.date,
        data.machine
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_one_placement() {
        let turn = |peer: [f64; 2], modes: &[(f64, f64)]| Turn {
            series: "quiet".to_owned(),
            busy_before: 0.1,
            peer: Vec::new(),
            peer_least: peer.map(|ns| BTreeMap::from([("two-lines".to_owned(), ns)])).to_vec(),
            ours: Ours { modes: BTreeMap::from([("two-lines".to_owned(), modes.to_vec())]) },
        };
        assert_eq!(ratio(&turn([50.0, 51.0], &[(55.0, 1.0)]), "two-lines"), Some(1.1));
        assert_eq!(ratio(&turn([50.0, 250.0], &[(55.0, 1.0)]), "two-lines"), None);
        assert_eq!(ratio(&turn([50.0, 51.0], &[(55.0, 0.5), (250.0, 0.5)]), "two-lines"), None);
        assert_eq!(ratio(&turn([50.0, 51.0], &[]), "two-lines"), None);
        assert_eq!(range(vec![3.0, 1.0, 2.0], 1), "2.0 (1.0 to 3.0)");
        assert_eq!(range(Vec::new(), 1), "-");
    }
}
