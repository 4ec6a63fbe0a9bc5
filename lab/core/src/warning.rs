//! What a user should know, each with its remedy.

use crate::metric::Unit;
use crate::quantity::{Rounding, format_ns, format_percent};
use serde::{Deserialize, Serialize};

/// Something that does not stop a run but that a reader of the result should know.
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
        /// Name of the contestant.
        contestant: String,
        /// Name of one such process.
        process: String,
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
    /// The machine was busy: other processes used this share of our CPUs' time beside the samples.
    #[error(
        "other processes used {:.0}% of our CPUs' time beside the samples: on a quieter machine \
         a ratio is settled sooner, and times are shorter",
        .share * 100.0
    )]
    ForeignLoad {
        /// 0.1 for 10%.
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
        /// 0.1 for 10%.
        #[serde(with = "crate::float")]
        share: f64,
    },
    /// The control group held contestants back in this many samples.
    #[error(
        "the control group held back {}: raise its CPU quota, or measure outside it",
        count(*.samples, "sample")
    )]
    Throttled {
        /// How many.
        samples: u64,
    },
    /// Rounds that waited for quiet did not get it.
    #[error(
        "{} started while other processes ran: '--cpus' may pin to an idle CPU, '--no-wait' \
         stops waiting",
        count(*.rounds, "round")
    )]
    NeverQuiet {
        /// How many.
        rounds: u64,
    },
    /// Runs ended at the time-out.
    #[error(
        "{} of {contestant} ended at the time-out and {}; '--timeout' changes it",
        count(*.samples, "run"),
        timed_out(*.is_cap)
    )]
    TimedOut {
        /// Name of the contestant.
        contestant: String,
        /// How many runs.
        samples: u64,
        /// A claim is about a mean of which the time-out is the cap.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cap: bool,
    },
    /// The ratio of two contestants changed along the run, as it does where one of them is faster
    /// or slower for having run before.
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
        /// By how much the ratio of the later half is above that of the earlier one: 0.1 for 10%.
        #[serde(with = "crate::float")]
        change: f64,
        /// The two contestants, and how often each ran, untimed runs included.
        ran: [(String, u64); 2],
    },
    /// The time that a contestant spends on a CPU changed along its runs.
    #[error(
        "{contestant} ran {ran} times and used {:.0}% {} CPU time in the later half of its runs \
         than in the earlier half: it keeps something from run to run, or the machine changed",
        .change.abs() * 100.0,
        by_sign(*.change, "more", "less")
    )]
    Grows {
        /// Name of the contestant.
        contestant: String,
        /// By how much that of the later half of its runs is above that of the earlier one: 0.1 for
        /// 10%.
        #[serde(with = "crate::float")]
        change: f64,
        /// How often it ran, untimed runs included.
        ran: u64,
    },
    /// Attempts at rounds were lost to kills and interruptions.
    #[error("{} at a round cut off{}", count(*.attempts, "attempt"), lost(*.charged))]
    LostAttempts {
        /// How many.
        attempts: u64,
        /// Whether the verdict had to pay for them.
        charged: bool,
    },
    /// The clock went backwards.
    #[error(
        "the clock went backwards in {}, which count as unknown: check the clock source",
        count(*.samples, "sample")
    )]
    ClockBackwards {
        /// In how many samples.
        samples: u64,
    },
    /// The step of the metric is coarse for this resolution. Values count as intervals; of a ratio
    /// of means nothing is added.
    #[error(
        "the metric comes in steps of {}, coarse for this resolution, {}: let the program do \
         more work",
        with_unit(*.step, *.unit),
        coarse(*.of_means)
    )]
    CoarseClock {
        /// Step of the metric, in its own unit.
        #[serde(with = "crate::float")]
        step: f64,
        /// That unit, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<Unit>,
        /// The claim is about a ratio of means.
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
        /// This is run n.
        run: u64,
        /// The error of one run.
        #[serde(with = "crate::float")]
        error: f64,
        /// It is about a stream, of which each run has one of its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_stream: bool,
    },
    /// A file that the run depends on was another one at its end.
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
        /// Name of the contestant.
        contestant: String,
        /// What went wrong.
        why: String,
    },
    /// Failures come in bursts, and an observation (a run, a line, a round, a block of them) is not
    /// many times as long as one of them.
    #[error(
        "in '{claim}' failures come {mean_burst:.1} in a row, long for what is one observation, \
         so its observations are not independent and its error is not what was asked for: let \
         blocks of at least 30 times as many be one (--block {:.0})",
        (30.0 * .mean_burst).ceil()
    )]
    Dependent {
        /// The claim.
        claim: String,
        /// Failures over runs of failures.
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
        /// By how many standard deviations neighbours are more alike than chance makes them.
        #[serde(with = "crate::float")]
        z: f64,
    },
    /// Values on one side of a mean's bar come in spells that are long for what is one observation.
    #[error(
        "in '{claim}' values on one side of the bar come {mean_spell:.1} in a row, so its \
         observations are not independent and its error is not what was asked for: let blocks of \
         at least 30 times as many be one (--block {:.0})",
        (30.0 * .mean_spell).ceil()
    )]
    Spells {
        /// The claim.
        claim: String,
        /// How many come in a row on average.
        #[serde(with = "crate::float")]
        mean_spell: f64,
    },
    /// Blocks differ as much as if failures came in bursts for which they are short.
    #[error(
        "in '{claim}' blocks differ as if failures came {spell_lines:.1} in a row, so lines fail \
         more often in spells, its observations are not independent and its error is not what was \
         asked for: let blocks of at least 30 spells be one each (--block {:.0} or more)",
        (30.0 * .spell_lines).ceil()
    )]
    Uneven {
        /// The claim.
        claim: String,
        /// How long such bursts would be.
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
    /// Lines at the end made no whole block and are no evidence.
    #[error(
        "{} at the end made no whole block of {block} and are no evidence",
        count(*.lines, "line")
    )]
    LeftOver {
        /// How many.
        lines: u64,
        /// Lines of a block.
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
    /// What running second costs was taken out of the rounds of a claim.
    #[error(
        "in '{claim}' the second run of a round takes {:.2}% {}: that was taken out of its rounds",
        .cost.abs() * 100.0,
        by_sign(*.cost, "more", "less")
    )]
    SlotTakenOut {
        /// The claim.
        claim: String,
        /// How much longer the second run of a round takes, as a fraction; negative if it is
        /// shorter.
        #[serde(with = "crate::float")]
        cost: f64,
    },
    /// Rounds of a claim were weighted by how long contestants waited for a CPU.
    #[error(
        "{rounds} of {} in which a contestant waited for a CPU count less than in full: that \
         keeps the error where contestants are equal, and not beside a large ratio",
        count(*.of, "round")
    )]
    Weighted {
        /// How many counted less than in full.
        rounds: u64,
        /// Of how many.
        of: u64,
    },
    /// Of some runs it is not known how long they waited for a CPU, so their rounds count in full.
    #[error(
        "the kernel did not say of every run how long it waited for a CPU (it says it of a \
         program's main thread only), so the rounds of those runs count in full"
    )]
    NoRunDelay,
    /// A claim of a study that nobody can judge here.
    #[error("'{claim}' was not judged: {why}")]
    NotJudged {
        /// The claim.
        claim: String,
        /// Why.
        why: String,
    },
    /// The contestant that a study compares the others with takes no part.
    #[error("{reference} takes no part, so the others are compared with {instead}")]
    OtherReference {
        /// The study's.
        reference: String,
        /// The one that stands in for it.
        instead: String,
    },
    /// Placements are drawn from so many again and again, which is not valid.
    #[error(
        "placements are drawn from {count} again and again, so the error is not kept: luck with \
         one of them counts as often as it comes; without --placements it is"
    )]
    PlacementsReused {
        /// From how many.
        count: u32,
    },
    /// Calls are timed one by one, and one is short for the clock.
    #[error(
        "a call of {contestant} takes {} and is timed by itself, which costs {}: a larger \
         workload would hide that",
        format_ns(*.call_ns),
        format_ns(*.clock_ns)
    )]
    ShortCall {
        /// Name of the contestant.
        contestant: String,
        /// What a call takes.
        #[serde(with = "crate::float")]
        call_ns: f64,
        /// What reading the clock around it costs.
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
        /// Name of the contestant.
        contestant: String,
        /// What a batch of it takes.
        #[serde(with = "crate::float")]
        batch_ns: f64,
        /// Name of the other one.
        other: String,
        /// What a batch of that takes.
        #[serde(with = "crate::float")]
        other_ns: f64,
    },
    /// What a contestant does before its first call takes far longer than what another does there,
    /// and than many of its own calls.
    #[error(
        "what {contestant} does before its first call takes {}, as long as {calls:.0} of its \
         calls, and that of {other} {}: none of it is timed, so look whether it does what others \
         do in each call",
        format_ns(*.prepare_ns),
        format_ns(*.other_ns)
    )]
    LongPreparation {
        /// Name of the contestant.
        contestant: String,
        /// What its `prepare` takes, or of a runner its `load`.
        #[serde(with = "crate::float")]
        prepare_ns: f64,
        /// How many of its calls take as long.
        #[serde(with = "crate::float")]
        calls: f64,
        /// Name of the contestant that prepares in the shortest time.
        other: String,
        /// What that takes.
        #[serde(with = "crate::float")]
        other_ns: f64,
    },
    /// The program spends so little time that most of it is its start.
    #[error(
        "{contestant} takes little longer than starting a process does: give it more work to \
         compare the work"
    )]
    MostlyStart {
        /// Name of the contestant.
        contestant: String,
    },
    /// A meter is not there or was not read, so that its metrics were not measured.
    #[error("{what}: its metrics were not measured")]
    NoMeter {
        /// Which and why, with each way that was tried and what came of it.
        what: String,
    },
    /// The journal that was replayed has no hash chain.
    #[error(
        "the journal has no chain: an older tiebreak made it, or the chain was removed; its \
         verdicts follow from its coins and samples, but nothing shows that it is unchanged"
    )]
    NoChain,
}

impl Warning {
    /// The stable name in JSON.
    pub fn code(&self) -> &'static str {
        match self {
            Warning::OutputsDiffer => "outputs_differ",
            Warning::LeftBehind { .. } => "left_behind",
            Warning::LimitsCross { .. } => "limits_cross",
            Warning::ForeignLoad { .. } => "foreign_load",
            Warning::Steal { .. } => "steal",
            Warning::Throttled { .. } => "throttled",
            Warning::NeverQuiet { .. } => "never_quiet",
            Warning::TimedOut { .. } => "timed_out",
            Warning::Drifts { .. } => "drifts",
            Warning::Grows { .. } => "grows",
            Warning::LostAttempts { .. } => "lost_attempts",
            Warning::ClockBackwards { .. } => "clock_backwards",
            Warning::CoarseClock { .. } => "coarse_clock",
            Warning::Repeated { .. } => "repeated",
            Warning::FileChanged { .. } => "file_changed",
            Warning::CleanUpFailed { .. } => "clean_up_failed",
            Warning::MostlyStart { .. } => "mostly_start",
            Warning::Dependent { .. } => "dependent",
            Warning::Serial { .. } => "serial",
            Warning::Spells { .. } => "spells",
            Warning::Uneven { .. } => "uneven",
            Warning::Memory { .. } => "memory",
            Warning::LeftOver { .. } => "left_over",
            Warning::GatePassed { .. } => "gate_passed",
            Warning::SlotTakenOut { .. } => "slot_taken_out",
            Warning::Weighted { .. } => "weighted",
            Warning::NoRunDelay => "no_run_delay",
            Warning::NotJudged { .. } => "not_judged",
            Warning::OtherReference { .. } => "other_reference",
            Warning::PlacementsReused { .. } => "placements_reused",
            Warning::ShortCall { .. } => "short_call",
            Warning::UnevenBatches { .. } => "uneven_batches",
            Warning::LongPreparation { .. } => "long_preparation",
            Warning::NoMeter { .. } => "no_meter",
            Warning::NoChain => "no_chain",
        }
    }
}

/// What runs that were ended count as.
fn timed_out(is_cap: bool) -> &'static str {
    if is_cap {
        "count as exactly that long in a mean, and as 'at least that long' else"
    } else {
        "count as 'at least that long'"
    }
}

/// What a coarse step does to the values.
fn coarse(of_means: bool) -> &'static str {
    if of_means {
        "and each mean may be off by half of one, which its limits do not count"
    } else {
        "so every value counts as an interval"
    }
}

/// What became of lost attempts.
fn lost(charged: bool) -> &'static str {
    if charged {
        ": each is charged as a round that went as badly as it could, so the verdict needs \
         more evidence"
    } else {
        " and made again"
    }
}

/// What earlier runs were on.
fn repeated_on(is_stream: bool) -> &'static str {
    if is_stream { ", each on a stream of its own" } else { " on these files" }
}

fn by_sign(change: f64, up: &'static str, down: &'static str) -> &'static str {
    if change < 0.0 { down } else { up }
}

/// A step of a metric: `20 ns`, `1 us`, `4096`; a plain number where its unit is not known.
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

/// A number of things: `1 round`, `2 rounds`.
fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
