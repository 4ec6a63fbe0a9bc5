//! Warnings for the user, each with its remedy.

use crate::metric::{Metric, Unit};
use crate::plan::Adjust;
use crate::quantity::{Rounding, format_ns, format_percent, format_rough_seconds};
use serde::{Deserialize, Serialize};

/// A warning: it does not stop a run, but a reader of the result should know it.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "code")]
pub enum Warning {
    /// The contestants write different outputs, so only exit statuses are checked.
    #[error(
        "the contestants write different outputs, so only exit statuses are checked: '--check \
         exit' says that this is meant, '--check same-output' forbids it, and '--check CMD' lets \
         a program judge each output"
    )]
    OutputsDiffer,
    /// A contestant left processes behind, which were ended.
    #[error(
        "{contestant} left the process '{process}' behind; it was ended: let the command wait \
         for its children, or end them in --conclude"
    )]
    LeftBehind {
        /// The name of the contestant.
        contestant: String,
        /// The name of one such process.
        process: String,
    },
    /// A server did not end when it was asked to.
    #[error(
        "{contestant} did not end within 5 s of SIGTERM and was killed: that takes time, and no \
         sample"
    )]
    NotStopped {
        /// The name of the contestant.
        contestant: String,
    },
    /// The generator of load may have been the limit in some samples.
    #[error(
        "the generator was late or busy all the time in {}: there the servers may be faster than \
         the times, and latencies are intervals: ask for less (--rate), give it more CPUs \
         (--threads), or give the servers one of their own (--cpus)",
        count(*.samples, "sample")
    )]
    BehindSchedule {
        /// The number of samples.
        samples: u64,
    },
    /// Messages of a load came more than once.
    #[error(
        "{} came again after it had arrived: only the first counts (over MQTT --qos 2 asks for a \
         promise that there is no other)",
        count(*.messages, "message")
    )]
    CameAgain {
        /// How often one did.
        messages: u64,
    },
    /// A server lost messages whose arrival nobody promised.
    #[error(
        "{contestant} lost {lost} of {arrivals} arrivals in {}, where its times are lower bounds: \
         --qos 1 asks for a promise",
        count(*.samples, "sample")
    )]
    LostMessages {
        /// The name of the contestant.
        contestant: String,
        /// The arrivals that did not come.
        lost: u64,
        /// The arrivals that were to come, in all samples.
        arrivals: u64,
        /// The number of samples in which some did not.
        samples: u64,
    },
    /// The two limits crossed: the effect is not a constant factor.
    #[error(
        "the limits of '{claim}' cross: the effect is not a constant factor; '--centre median' \
         asks for the median ratio instead"
    )]
    LimitsCross {
        /// The claim.
        claim: String,
    },
    /// The machine was busy: other processes used this share of our CPUs' time during the samples.
    #[error(
        "other processes used {:.0}% of our CPUs' time during the samples: on a quieter machine \
         a ratio is settled sooner, and times are shorter",
        .share * 100.0
    )]
    ForeignLoad {
        /// The share: 0.1 for 10%.
        #[serde(with = "crate::float")]
        share: f64,
    },
    /// The hypervisor took this share of the time.
    #[error(
        "the hypervisor took {:.1}% of the time: on a machine of its own a ratio is settled \
         sooner, and times are shorter",
        .share * 100.0
    )]
    Steal {
        /// The share: 0.1 for 10%.
        #[serde(with = "crate::float")]
        share: f64,
    },
    /// The control group throttled contestants in this many samples.
    #[error(
        "the control group held back {}: raise its CPU quota, or measure outside it",
        count(*.samples, "sample")
    )]
    Throttled {
        /// The number of samples.
        samples: u64,
    },
    /// Rounds that waited for quiet did not get it.
    #[error(
        "{} started while other processes ran: '--cpus' may pin to an idle CPU, '--no-wait' \
         stops waiting",
        count(*.rounds, "round")
    )]
    NeverQuiet {
        /// The number of rounds.
        rounds: u64,
    },
    /// Runs were ended at the time-out.
    #[error(
        "{} of {contestant} ended at the time-out and {}; '--timeout' changes it",
        count(*.samples, "run"),
        timed_out(*.is_cap)
    )]
    TimedOut {
        /// The name of the contestant.
        contestant: String,
        /// The number of runs.
        samples: u64,
        /// Whether a claim is about a mean whose cap is the time-out.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cap: bool,
    },
    /// The ratio of two contestants changed during the run, as it does where one of them becomes
    /// faster or slower by having run before.
    #[error(
        "in '{claim}' the ratio of the later half of the rounds is {:.2}% {} than that of the \
         earlier half ({} ran {} times, {} {}): if either keeps something from run to run, \
         '--prepare' may put it back",
        .change.abs() * 100.0,
        by_sign(*.change, "larger", "smaller"),
        .ran[0].0,
        .ran[0].1,
        .ran[1].0,
        .ran[1].1
    )]
    Drifts {
        /// The claim.
        claim: String,
        /// The ratio of the later half over that of the earlier half, minus 1: 0.1 for 10%.
        #[serde(with = "crate::float")]
        change: f64,
        /// The two contestants, and the number of runs of each, including untimed runs.
        ran: [(String, u64); 2],
    },
    /// The time that a contestant spends on a CPU changed over its runs.
    #[error(
        "{contestant} ran {ran} times and used {:.0}% {} CPU time in the later half of its runs \
         than in the earlier half: it keeps something from run to run, or the machine changed",
        .change.abs() * 100.0,
        by_sign(*.change, "more", "less")
    )]
    Grows {
        /// The name of the contestant.
        contestant: String,
        /// The time of the later half of its runs over that of the earlier half, minus 1: 0.1 for
        /// 10%.
        #[serde(with = "crate::float")]
        change: f64,
        /// The number of its runs, including untimed runs.
        ran: u64,
    },
    /// Attempts at rounds were lost to kills and interruptions.
    #[error("{} at a round cut off{}", count(*.attempts, "attempt"), lost(*.charged))]
    LostAttempts {
        /// The number of attempts.
        attempts: u64,
        /// Whether the verdict was charged for them.
        charged: bool,
    },
    /// The clock went backwards.
    #[error(
        "the clock went backwards in {}, which count as unknown: check the clock source",
        count(*.samples, "sample")
    )]
    ClockBackwards {
        /// The number of samples in which it did.
        samples: u64,
    },
    /// The step of the metric is coarse for this resolution. Values count as intervals; a ratio of
    /// means has no such correction.
    #[error(
        "the metric comes in steps of {}, coarse for this resolution, {}: let the program do \
         more work",
        with_unit(*.step, *.unit),
        coarse(*.of_means)
    )]
    CoarseClock {
        /// The step of the metric, in its own unit.
        #[serde(with = "crate::float")]
        step: f64,
        /// The unit, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<Unit>,
        /// Whether the claim is about a ratio of means.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_means: bool,
    },
    /// This claim was run before on the same files.
    #[error(
        "run {run} of this claim{}: any of {run} wrong with probability at most {}",
        repeated_on(*.is_stream),
        format_percent((.error * *.run as f64).min(1.0), Rounding::Up)
    )]
    Repeated {
        /// The number n: this is run n.
        run: u64,
        /// The error of one run.
        #[serde(with = "crate::float")]
        error: f64,
        /// Whether the claim is about a stream, so that each run has its own lines.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_stream: bool,
    },
    /// A file that the run depends on had changed by the end of the run.
    #[error(
        "{path} changed while the run went on: if it is a program or an input, the verdict is \
         about a mixture, so start a new run"
    )]
    FileChanged {
        /// The file.
        path: String,
    },
    /// A contestant's clean-up hook failed.
    #[error("{contestant} {why}: clean up by hand")]
    CleanUpFailed {
        /// The name of the contestant.
        contestant: String,
        /// The failure.
        why: String,
    },
    /// Failures come in bursts, and an observation (a run, a line, a round, a block of them) is not
    /// many times as long as a burst.
    #[error(
        "in '{claim}' failures come {mean_burst:.1} in a row, long for what is one observation, \
         so its observations are not independent and its error is not what was asked for: let \
         blocks of at least 30 times as many be one (--block {:.0})",
        (30.0 * .mean_burst).ceil()
    )]
    Dependent {
        /// The claim.
        claim: String,
        /// The number of failures over the number of runs of failures.
        #[serde(with = "crate::float")]
        mean_burst: f64,
    },
    /// Values follow each other, and each counts as an observation.
    #[error(
        "in '{claim}' each observation is like the one before ({z:.0} standard deviations), so \
         they are not independent and its error is not what was asked for: let longer blocks be \
         one observation each (--block)"
    )]
    Serial {
        /// The claim.
        claim: String,
        /// By how many standard deviations neighbours are more alike than by chance.
        #[serde(with = "crate::float")]
        z: f64,
    },
    /// Values on one side of a mean's bar come in spells that are long compared with one
    /// observation.
    #[error(
        "in '{claim}' values on one side of the bar come {mean_spell:.1} in a row, so its \
         observations are not independent and its error is not what was asked for: let blocks of \
         at least 30 times as many be one (--block {:.0})",
        (30.0 * .mean_spell).ceil()
    )]
    Spells {
        /// The claim.
        claim: String,
        /// The mean number of them in a row.
        #[serde(with = "crate::float")]
        mean_spell: f64,
    },
    /// Blocks differ as much as if failures came in bursts that are long compared with a block.
    #[error(
        "in '{claim}' blocks differ as if failures came {spell_lines:.1} in a row, so lines fail \
         more often in spells, its observations are not independent and its error is not what was \
         asked for: let blocks of at least 30 spells be one each (--block {:.0} or more)",
        (30.0 * .spell_lines).ceil()
    )]
    Uneven {
        /// The claim.
        claim: String,
        /// The length of such bursts.
        #[serde(with = "crate::float")]
        spell_lines: f64,
    },
    /// Lines that are taken for a chain depend on more than the one before.
    #[error(
        "in '{claim}' lines depend on more than the one before, so its error is not what was \
         asked for: let blocks of at least 30 bad spells be one each (--block)"
    )]
    Memory {
        /// The claim.
        claim: String,
    },
    /// Lines at the end did not fill a block and are not evidence.
    #[error(
        "{} at the end made no whole block of {block} and are no evidence",
        count(*.lines, "line")
    )]
    LeftOver {
        /// The number of lines.
        lines: u64,
        /// The number of lines in a block.
        block: u64,
    },
    /// A gate let a claim pass that was not proven.
    #[error(
        "'{claim}' is {verdict}, and the gate is open: only 'refuted' closes it; --strict lets \
         only 'holds' open it"
    )]
    GatePassed {
        /// The claim.
        claim: String,
        /// Its verdict.
        verdict: crate::verdict::Verdict,
    },
    /// The cost of running second was removed from the rounds of a claim.
    #[error(
        "in '{claim}' the second run of a round takes {:.2}% {}: that was taken out of its rounds",
        .cost.abs() * 100.0,
        by_sign(*.cost, "more", "less")
    )]
    SlotTakenOut {
        /// The claim.
        claim: String,
        /// The extra time of the second run of a round, as a fraction; negative if it is shorter.
        #[serde(with = "crate::float")]
        cost: f64,
    },
    /// Rounds of a claim were weighted by how long contestants waited for a CPU.
    #[error(
        "{rounds} of {} in which a contestant waited for a CPU count less than in full: that \
         keeps the error where contestants are equal, and not with a large ratio",
        count(*.of, "round")
    )]
    Weighted {
        /// The number of rounds that counted less than in full.
        rounds: u64,
        /// The number of all rounds.
        of: u64,
    },
    /// Another way would have settled a claim about wall time in at most half of the rounds.
    #[error(
        "'{claim}' would have been settled after {after} of these {} {}",
        count(*.rounds, "round"),
        way(*.metric, *.adjust, *.is_question)
    )]
    Sooner {
        /// The claim.
        claim: String,
        /// Whether it is only the question which one is faster.
        is_question: bool,
        /// The number of rounds in its evidence.
        rounds: u64,
        /// The number of those that the other way needs.
        after: u64,
        /// The metric of the other way.
        #[serde(with = "crate::metric::key")]
        metric: Metric,
        /// What the other way removes from the noise.
        adjust: Adjust,
    },
    /// For some runs, the kernel did not report how long they waited for a CPU, so their rounds
    /// count in full.
    #[error(
        "the kernel did not say of every run how long it waited for a CPU (it says it of a \
         program's main thread only), so the rounds of those runs count in full"
    )]
    NoRunDelay,
    /// A claim of a study cannot be judged here.
    #[error("'{claim}' was not judged: {why}")]
    NotJudged {
        /// The claim.
        claim: String,
        /// The reason.
        why: String,
    },
    /// The contestant that a study compares the others with takes no part.
    #[error("{reference} takes no part, so the others are compared with {instead}")]
    OtherReference {
        /// The name of the study's reference.
        reference: String,
        /// The name of the contestant that replaces it.
        instead: String,
    },
    /// Placements are drawn from a fixed number again and again, which is not valid.
    #[error(
        "placements are drawn from {count} again and again, so the error is not kept: luck with \
         one of them counts as often as it comes; without --placements it is"
    )]
    PlacementsReused {
        /// The number of placements.
        count: u32,
    },
    /// The budget ended before all ratios of a study's tables were as exact as asked.
    #[error(
        "{open} of {} of the study's tables {} not within {} of the middle: by what was \
         seen so far {} another {} or so{}",
        count(*.of, "ratio"),
        if *.open == 1 { "is" } else { "are" },
        format_percent(*.precision, Rounding::Nearest),
        if *.open == 1 { "it needs" } else { "they need" },
        format_rough_seconds(*.seconds_left),
        way_out(*.budget_s, .leave_out)
    )]
    Inexact {
        /// The number of ratios that are not as exact as asked.
        open: u64,
        /// The number of all ratios.
        of: u64,
        /// The precision that was asked for, as a fraction.
        #[serde(with = "crate::float")]
        precision: f64,
        /// The seconds that they are expected to need: an estimate.
        #[serde(with = "crate::float")]
        seconds_left: f64,
        /// The budget in seconds that is expected to suffice; `None` if rounds were limited.
        #[serde(with = "crate::float::option", default)]
        budget_s: Option<f64>,
        /// What takes most of that time.
        #[serde(flatten)]
        leave_out: LeaveOut,
    },
    /// The budget of a study cannot suffice for all ratios of its tables, by the costs of a pilot.
    #[error(
        "at most {fit} of {} can be within {} of the middle in this budget: each needs {fewest} \
         units or more, and all of them about {}{}",
        count(*.of, "ratio"),
        format_percent(*.precision, Rounding::Nearest),
        format_rough_seconds(*.seconds),
        way_out(Some(*.seconds), .leave_out)
    )]
    ShortBudget {
        /// The number of ratios for which there is time.
        fit: u64,
        /// The number of all ratios.
        of: u64,
        /// The precision that was asked for, as a fraction.
        #[serde(with = "crate::float")]
        precision: f64,
        /// The least number of units that give a ratio limits.
        fewest: u64,
        /// The seconds that all of them need at least.
        #[serde(with = "crate::float")]
        seconds: f64,
        /// What takes most of that time.
        #[serde(flatten)]
        leave_out: LeaveOut,
    },
    /// Only the linker can make the placements of a contestant.
    #[error(
        "the linker makes each placement of {contestant}, which takes some 10 ms, because of \
         {why}; that costs time and changes no verdict"
    )]
    Linked {
        /// The name of the contestant.
        contestant: String,
        /// What its objects have that tiebreak does not place.
        why: String,
    },
    /// Calls are timed one by one, and one is too short for the clock.
    #[error(
        "a call of {contestant} takes {} and is timed by itself, which costs {}: a larger \
         workload would hide that",
        format_ns(*.call_ns),
        format_ns(*.clock_ns)
    )]
    ShortCall {
        /// The name of the contestant.
        contestant: String,
        /// The duration of a call.
        #[serde(with = "crate::float")]
        call_ns: f64,
        /// The cost of reading the clock around it.
        #[serde(with = "crate::float")]
        clock_ns: f64,
    },
    /// A single call of a contestant takes far longer than the batches of another.
    #[error(
        "a batch of {contestant} takes {} and one of {other} {}: what other processes do hits \
         the longer one more often and makes their ratio by wall time too large: a longer \
         --budget or a smaller workload evens them out, and on a quiet machine the ratio is true",
        format_ns(*.batch_ns),
        format_ns(*.other_ns)
    )]
    UnevenBatches {
        /// The name of the contestant.
        contestant: String,
        /// The duration of its batch.
        #[serde(with = "crate::float")]
        batch_ns: f64,
        /// The name of the other contestant.
        other: String,
        /// The duration of the other's batch.
        #[serde(with = "crate::float")]
        other_ns: f64,
    },
    /// A contestant's work before its first call takes far longer than another's, and than many of
    /// its own calls.
    #[error(
        "what {contestant} does before its first call takes {}, as long as {calls:.0} of its \
         calls, and that of {other} {}: none of it is timed, so look whether it does what others \
         do in each call",
        format_ns(*.prepare_ns),
        format_ns(*.other_ns)
    )]
    LongPreparation {
        /// The name of the contestant.
        contestant: String,
        /// The duration of its `prepare`, or of a runner's `load`.
        #[serde(with = "crate::float")]
        prepare_ns: f64,
        /// The number of its calls that take as long.
        #[serde(with = "crate::float")]
        calls: f64,
        /// The name of the contestant that prepares in the shortest time.
        other: String,
        /// The duration of that preparation.
        #[serde(with = "crate::float")]
        other_ns: f64,
    },
    /// The program does so little work that most of its time is its start.
    #[error(
        "{contestant} takes little longer than starting a process does: give it more work to \
         compare the work"
    )]
    MostlyStart {
        /// The name of the contestant.
        contestant: String,
    },
    /// A meter is missing or was not read, so that its metrics were not measured.
    #[error("{what}: its metrics were not measured")]
    NoMeter {
        /// The meter and the reason, with each way that was tried and its result.
        what: String,
    },
    /// The journal that was replayed has no hash chain.
    #[error(
        "the journal has no chain: an older tiebreak made it, or the chain was removed; its \
         verdicts follow from its coins and samples, but nothing shows that it is unchanged"
    )]
    NoChain,
}

/// The contestants or the workloads of a study that take most of a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeaveOut {
    /// Their names; none if there is no choice.
    #[serde(rename = "leave_out")]
    pub names: Vec<String>,
    /// Whether they are workloads.
    pub are_workloads: bool,
    /// Their share of the time: 0.6 for 60%.
    #[serde(with = "crate::float")]
    pub share: f64,
}

impl Warning {
    /// Returns the stable name in JSON.
    pub fn code(&self) -> String {
        let written = serde_json::to_value(self).unwrap_or_default();
        written["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Describes how runs that were ended count.
fn timed_out(is_cap: bool) -> &'static str {
    if is_cap {
        "count as exactly that long in a mean, and as 'at least that long' else"
    } else {
        "count as 'at least that long'"
    }
}

/// Describes the effect of a coarse step on the values.
fn coarse(of_means: bool) -> &'static str {
    if of_means {
        "and each mean may be off by half of one, which its limits do not count"
    } else {
        "so every value counts as an interval"
    }
}

/// Describes another way to compare, and what it asks instead.
fn way(metric: Metric, adjust: Adjust, is_question: bool) -> String {
    let words = match (adjust.slot, adjust.strata) {
        (true, false) => "slot",
        (false, true) => "strata",
        (true, true) => "slot,strata",
        (false, false) => {
            let name = metric.name();
            let how = if is_question { "--by " } else { "a claim that ends in 'by' " };
            return format!("by {name}: {how}'{name}' asks for that, which is another question");
        }
    };
    format!("with --adjust {words}, which asks for one factor (--centre factor)")
}

/// Describes the effect of lost attempts.
fn lost(charged: bool) -> &'static str {
    if charged {
        ": each is charged as a round that went as badly as it could, so the verdict needs \
         more evidence"
    } else {
        " and made again"
    }
}

/// Describes what earlier runs were about.
fn repeated_on(is_stream: bool) -> &'static str {
    if is_stream { ", each on a stream of its own" } else { " on these files" }
}

/// Describes the budget that suffices, and what may be left out instead.
fn way_out(budget_s: Option<f64>, leave_out: &LeaveOut) -> String {
    let budget = budget_s.map(|seconds| format_rough_seconds(seconds).replace(' ', ""));
    let mut text = budget.map(|budget| format!(" (--budget {budget})")).unwrap_or_default();
    let LeaveOut { names, are_workloads, share } = leave_out;
    if !names.is_empty() {
        let option = if *are_workloads { "--only" } else { "--contestants" };
        let take = if names.len() == 1 { "takes" } else { "take" };
        let share = format_percent(*share, Rounding::Nearest);
        text += &format!(
            "; or leave out {} ({option} names those that stay), which {take} {share} of that",
            listed(names)
        );
    }
    text
}

/// Lists names: `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        _ => names.concat(),
    }
}

fn by_sign(change: f64, up: &'static str, down: &'static str) -> &'static str {
    if change < 0.0 { down } else { up }
}

/// Writes a step of a metric: `20 ns`, `1 us`, `4096`; a plain number where its unit is not known.
fn with_unit(step: f64, unit: Option<Unit>) -> String {
    let text = match unit {
        Some(Unit::Nanoseconds) => format_ns(step),
        Some(Unit::Bytes) => format!("{step} bytes"),
        Some(Unit::Nanojoules) => format!("{step} nJ"),
        Some(Unit::Count) | None => step.to_string(),
    };
    match text.split_once(' ') {
        Some((digits, unit)) if digits.contains('.') => {
            format!("{} {unit}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Writes a number of things: `1 round`, `2 rounds`.
fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_not_exact_says_what_helps() {
        let check = |open: u64, budget_s, names: &[&str], are_workloads, expected: &str| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let leave_out = LeaveOut { names, are_workloads, share: 0.6 };
            let (of, precision, seconds_left) = (60, 0.05, 131.0);
            let warning =
                Warning::Inexact { open, of, precision, seconds_left, budget_s, leave_out };
            assert_eq!(warning.to_string(), expected);
            assert_eq!(warning.code(), "inexact");
            let json = serde_json::to_string(&warning).unwrap();
            assert_eq!(serde_json::from_str::<Warning>(&json).unwrap(), warning);
        };
        let eight = "8 of 60 ratios of the study's tables are not within 5% of the middle: by what \
                     was seen so far they need another 140 s or so";
        check(8, None, &[], false, eight);
        let more = " (--budget 3.2min); or leave out fscanf and cin (--contestants names those \
                    that stay), which take 60% of that";
        check(8, Some(191.0), &["fscanf", "cin"], false, &format!("{eight}{more}"));
        let one = "1 of 60 ratios of the study's tables is not within 5% of the middle: by what \
                   was seen so far it needs another 140 s or so; or leave out random-1m (--only \
                   names those that stay), which takes 60% of that";
        check(1, None, &["random-1m"], true, one);
    }
}
