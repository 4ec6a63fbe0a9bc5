//! The tables of `docs/manual/machine.md`: tiebreak's probes and other programs, from the
//! measurements of `bench/machine`.

use crate::measured::{Part, median, rendered, spread};
use anyhow::Result;
use std::collections::BTreeSet;
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

/// Renders the block.
///
/// # Errors
/// Fails if the data is not what `bench/machine` writes.
pub fn render(cores: &str, bandwidth: &str) -> Result<String> {
    let cores = rendered(cores, CORES, "tiebreak/machine-cores/1", |data| Ok(latency(data)))?;
    let schema = "tiebreak/machine-bandwidth/1";
    let bandwidth = rendered(bandwidth, BANDWIDTH, schema, |data| Ok(rates(data)))?;
    Ok(cores + "\n" + &bandwidth)
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

fn latency(data: Part<'_>) -> String {
    let means = format!("core-to-core-latency {}, means", data.text("tools/core-to-core-latency"));
    let head = [
        "nanoseconds, one way",
        &means,
        "its least mean of 25 short runs",
        "tiebreak, lowest mode",
        "ours over its least, same placement",
    ];
    let mut rows = Vec::new();
    let [quiet, loaded] = ["quiet", "loaded"].map(|series| {
        let turns: Vec<Part<'_>> =
            data.list("turns").filter(|turn| turn.text("series") == series).collect();
        rows.extend(KERNELS.map(|kernel| latency_row(series, &turns, kernel)));
        100.0 * median(turns.iter().map(|turn| turn.number("busy_before"))).unwrap_or_default()
    });
    let [date, machine] = data.day_and_machine();
    format!(
        "{}\n{date}, {machine}. Each cell: median, least to most. The CPUs were busy with other \
         programs for {quiet:.0}% of the time before the turns that are called quiet, and for \
         {loaded:.0}% before the loaded ones.\n",
        aligned(&head, &[Left, Right, Right, Right, Right], rows),
    )
}

fn latency_row(series: &str, turns: &[Part<'_>], (key, words): (&str, &str)) -> [String; 5] {
    let ratios = turns.iter().filter_map(|turn| ratio(*turn, key));
    let compared = ratios.clone().count();
    let [means, least] = ["peer", "peer_least"]
        .map(|list| range(turns.iter().flat_map(|turn| of_kernel(*turn, list, key)), 0));
    [
        format!("{series}, {words}, {} turns", turns.len()),
        means,
        least,
        range(turns.iter().filter_map(|turn| lowest(*turn, key)), 1),
        format!("{} ({compared} turns)", range(ratios, 2)),
    ]
}

/// Returns what the other program measured in a turn.
fn of_kernel(turn: Part<'_>, list: &str, kernel: &str) -> impl Iterator<Item = f64> + Clone {
    turn.list(list).filter_map(move |means| means.maybe(kernel))
}

/// Returns the modes of our latency, one way, in nanoseconds.
fn modes<'a>(turn: Part<'a>, kernel: &str) -> impl Iterator<Item = f64> + use<'a> {
    turn.list(&format!("ours/modes/{kernel}")).map(|mode| mode.number("0"))
}

fn lowest(turn: Part<'_>, kernel: &str) -> Option<f64> {
    modes(turn, kernel).min_by(f64::total_cmp)
}

/// Returns our latency over the least of the other program, where both saw one placement of the
/// CPUs.
fn ratio(turn: Part<'_>, kernel: &str) -> Option<f64> {
    let least = of_kernel(turn, "peer_least", kernel);
    let low = least.clone().min_by(f64::total_cmp)?;
    let high = least.max_by(f64::total_cmp)?;
    let is_one = modes(turn, kernel).count() == 1 && high <= low * SAME;
    lowest(turn, kernel).filter(|_| is_one).map(|ours| ours / low)
}

fn range(values: impl IntoIterator<Item = f64>, decimals: usize) -> String {
    spread(values, decimals).unwrap_or_else(|| "-".to_owned())
}

fn rates(data: Part<'_>) -> String {
    let ratios = data.list("ratios");
    let kernels: BTreeSet<&str> = ratios.clone().map(|ratio| ratio.text("kernel")).collect();
    let what = "tiebreak over the best of a STREAM-like C program; over its median";
    let rows = kernels.into_iter().map(|kernel| {
        let [one, two] = [1.0, 2.0].map(|threads| {
            let mut of_kernel = ratios.clone().filter(|ratio| ratio.text("kernel") == kernel);
            let found = of_kernel.find(|ratio| ratio.number("threads") == threads);
            let Some((found, ratio)) = found.and_then(|found| Some((found, found.maybe("ratio")?)))
            else {
                return "-".to_owned();
            };
            let [least, most, median] =
                ["least", "most", "over_median"].map(|place| found.number(place));
            let turns = found.number("turns");
            format!("{ratio:.3} ({least:.3} to {most:.3}, {turns} turns); {median:.3}")
        });
        [format!("{kernel}: {what}"), one, two]
    });
    let head = ["bandwidth", "one thread", "two threads"];
    let compiler = data.text("compiler").split(" (").next().unwrap_or_default();
    let [date, machine] = data.day_and_machine();
    format!(
        "{}\n{date}, {machine}, {compiler}. Medians over turns in which the C program's own \
         figures before and after agree within a tenth.\n",
        aligned(&head, &[Left, Right, Right], rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ratios_are_of_one_placement() {
        let check = |peer: [f64; 2], modes: &[(f64, f64)], expected: Option<f64>| {
            let least = peer.map(|ns| json!({ "two-lines": ns }));
            let turn = json!({ "schema": "s", "peer_least": least,
                               "ours": { "modes": { "two-lines": modes } } });
            let found = rendered(&turn.to_string(), "here", "s", |turn| {
                Ok(format!("{:?}", ratio(turn, "two-lines")))
            });
            assert_eq!(found.unwrap(), format!("{expected:?}"));
        };
        check([50.0, 51.0], &[(55.0, 1.0)], Some(1.1));
        check([50.0, 250.0], &[(55.0, 1.0)], None);
        check([50.0, 51.0], &[(55.0, 0.5), (250.0, 0.5)], None);
        check([50.0, 51.0], &[], None);
        assert_eq!(range(vec![3.0, 1.0, 2.0], 1), "2.0 (1.0 to 3.0)");
        assert_eq!(range(Vec::new(), 1), "-");
    }
}
