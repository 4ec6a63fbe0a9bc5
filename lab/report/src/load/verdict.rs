//! The sentences about a load: what the server did, and what that does not say.

use super::{at, ns_text, rate_text};
use crate::prelude::*;
use std::collections::BTreeMap;
use tiebreak_core::load::{
    LoadEnding, LoadResult, Overload, Pace, PaceResult, SaturationResult, Traffic,
};

/// Returns the paragraphs at the beginning of the page.
pub(super) fn paragraphs(result: &LoadResult) -> Vec<Spans> {
    let traffic = &result.traffic;
    let mut paragraphs: Vec<Spans> =
        result.loads.last().into_iter().filter_map(cut_short).collect();
    paragraphs.extend(result.failure.as_ref().map(|why| {
        let text = format!(": the sweep ended early, as {}.", plain(why));
        vec![span(Tone::Bad, "Cut short"), words(text)]
    }));
    paragraphs.extend(result.saturation.as_ref().map(|found| saturation(found, traffic)));
    if let [load] = &result.loads[..] {
        paragraphs.push(headline(load, traffic));
    }
    paragraphs.extend(lost(result));
    paragraphs.extend(unacknowledged(result));
    paragraphs.extend(disorder(result));
    paragraphs.extend(behind_schedule(result));
    if result.loads.iter().any(|load| matches!(load.pace, Pace::Closed { .. })) {
        let text = format!(
            ": the latencies of a server that stops are missing, since nothing is sent while its \
             {}s are waited for. With --rate they are there.",
            traffic.arrival_noun()
        );
        paragraphs.push(vec![span(Tone::Doubt, "Closed loop"), words(text)]);
    }
    paragraphs
}

/// Says that a load did not come to its end.
fn cut_short(load: &PaceResult) -> Option<Spans> {
    let (tone, word, why) = match &load.ending {
        LoadEnding::Complete | LoadEnding::Waited | LoadEnding::Settled => return None,
        LoadEnding::Interrupted => (Tone::Doubt, "Interrupted", "the load was interrupted"),
        LoadEnding::Broken { .. } => (Tone::Bad, "Cut short", "the server broke a connection"),
    };
    let text = format!(": the figures are those of the time before {why}.");
    Some(vec![span(tone, word), words(text)])
}

/// Says how fast messages arrived, and how long they took.
fn headline(load: &PaceResult, traffic: &Traffic) -> Spans {
    let noun = traffic.message_noun();
    let sent = count(load.counts.sent, noun);
    let arrived = count(load.counts.arrived, traffic.arrival_noun());
    if load.counts.arrived == 0 {
        return vec![span(Tone::Bad, "Nothing arrived"), words(format!(": {sent} sent."))];
    }
    let rate = match (load.pace, load.arrived_per_second) {
        (Pace::Open { rate_per_second, .. }, _) => format!("{rate_per_second} {noun}s a second"),
        (Pace::Closed { .. }, Some(rate)) => {
            format!("{} {}s a second", rate_text(rate.low), traffic.arrival_noun())
        }
        (Pace::Closed { .. }, None) => sent,
    };
    let times = [(0.5, "half"), (0.99, "99%"), (0.999, "99.9%"), (1.0, "all")];
    let times = times.into_iter().filter_map(|(share, name)| {
        let high = ns_text(at(load, share)?.high_ns, Rounding::Up);
        Some(format!("{name} took at most {high}"))
    });
    let times: Vec<String> = times.collect();
    let text = format!(": of {arrived}, {}.", times.join(", "));
    vec![span(Tone::Strong, rate), words(text)]
}

/// Says how much was never sent or never arrived.
fn lost(result: &LoadResult) -> Option<Spans> {
    let counts = || result.loads.iter().map(|load| load.counts);
    let unsent = counts().map(|of| of.intended.saturating_sub(of.sent)).sum::<u64>();
    let unsent = (unsent, "were never sent");
    let lost = (counts().map(|of| of.lost).sum::<u64>(), "never arrived");
    let refused = (counts().map(|of| of.refused).sum::<u64>(), "were refused");
    let under_way = (counts().map(|of| of.under_way).sum::<u64>(), "were still under way");
    let what = [unsent, lost, refused, under_way].into_iter().filter(|(number, _)| *number > 0);
    let what: Vec<String> = what
        .map(|(number, what)| {
            let what = if number == 1 { what.replace("were", "was") } else { what.to_owned() };
            let by = if what.ends_with("refused") { refusals(result) } else { String::new() };
            format!("{number} {what}{by}")
        })
        .collect();
    let text = format!(": {}; no latency counts them.", what.join(", "));
    (!what.is_empty()).then(|| vec![span(Tone::Bad, "Missing"), words(text)])
}

/// Says what the server said when it refused: ` (status 404)`, or how often it said what.
fn refusals(result: &LoadResult) -> String {
    let mut all: BTreeMap<u16, u64> = BTreeMap::new();
    for refusal in result.loads.iter().flat_map(|load| &load.refusals) {
        *all.entry(refusal.code).or_default() += refusal.count;
    }
    let code = |code: u16| match result.traffic {
        Traffic::Mqtt(_) => format!("reason code {code:#04x}"),
        Traffic::Http { .. } | Traffic::Websocket(_) => format!("status {code}"),
    };
    let all: Vec<(u16, u64)> = all.into_iter().collect();
    match all[..] {
        [] => String::new(),
        [(only, _)] => format!(" ({})", code(only)),
        _ => {
            let each = all.iter().map(|(of, count)| format!("{count} with {}", code(*of)));
            format!(" ({})", each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Says how many messages the server took without saying so.
fn unacknowledged(result: &LoadResult) -> Option<Spans> {
    let number = result.loads.iter().map(|load| load.counts.unacknowledged).sum::<u64>();
    let text = format!(": the acknowledgements of {}.", count(number, "message"));
    (number > 0).then(|| vec![span(Tone::Bad, "Missing"), words(text)])
}

/// Says what did not arrive once and in order.
fn disorder(result: &LoadResult) -> Option<Spans> {
    let counts = || result.loads.iter().map(|load| load.counts);
    let twice =
        (counts().map(|of| of.duplicated).sum::<u64>(), "came again after they had arrived");
    let late = (counts().map(|of| of.reordered).sum::<u64>(), "came after a later one");
    let what = [twice, late].into_iter().filter(|(number, _)| *number > 0);
    let what: Vec<String> = what.map(|(number, what)| format!("{number} {what}")).collect();
    let text = format!(": {}.", what.join(", "));
    (!what.is_empty()).then(|| vec![span(Tone::Doubt, "Not once and in order"), words(text)])
}

/// Says that the generator was late, and what the figures are then.
fn behind_schedule(result: &LoadResult) -> Option<Spans> {
    let noun = result.traffic.message_noun();
    let late = result.loads.iter();
    let late: Vec<&PaceResult> =
        late.filter(|load| load.is_behind_schedule && load.counts.arrived > 0).collect();
    let which = match late[..] {
        [] => return None,
        [load] => {
            let due = count(load.counts.intended.max(load.counts.sent), noun);
            let late = load.late;
            let tolerance = ns_text(load.tolerance_ns, Rounding::Nearest);
            let rate = match load.pace {
                Pace::Open { rate_per_second, .. } => format!(" at {rate_per_second} a second"),
                Pace::Closed { .. } => String::new(),
            };
            format!("the generator was more than {tolerance} late with {late} of {due}{rate}")
        }
        _ => format!("the generator sent too many {noun}s late in {} loads", late.len()),
    };
    let text = format!(
        ": {which}. So latencies are only known to lie between those from the actual and those \
         from the intended send, and the server may be able to do more. Ask for less, give the \
         generator more CPUs, or end what else runs on this machine."
    );
    Some(vec![span(Tone::Doubt, "Behind schedule"), words(text)])
}

/// Says how much a server sustains, and what it does above that.
fn saturation(found: &SaturationResult, traffic: &Traffic) -> Spans {
    let noun = traffic.message_noun();
    let low = found.low_per_second;
    let trials = count(found.trials, "trial");
    let time = seconds(found.trial_ns as f64 / 1e9);
    let by = format!("({trials} of {time})");
    let what = match (low, found.high_per_second) {
        (0, Some(high)) => format!(": not even {high} {noun}s a second are sustained {by}."),
        (0, None) => format!(": no rate was sustained {by}."),
        (low, _) if found.is_generator_bound => {
            format!(": at least {low} {noun}s a second; the generator could not ask for more {by}.")
        }
        (low, None) => format!(": at least {low} {noun}s a second {by}."),
        (low, Some(high)) => {
            format!(": {low} {noun}s a second are sustained, {high} are not {by}.")
        }
    };
    let above = match found.overload {
        Overload::Unknown => String::new(),
        Overload::Holds => " Asked for more, the server goes on at that rate.".to_owned(),
        Overload::Falls { to_per_second } => {
            format!(" Asked for more, the server falls to {to_per_second} a second, and recovers.")
        }
        Overload::Fell { from_per_second } => format!(
            " Before it was asked for too much, the server sustained {from_per_second} a second, \
             and no longer afterwards."
        ),
    };
    vec![span(Tone::Strong, "Saturation"), words(what + &above)]
}
