//! Sentences about claims that are not about a ratio: success rates, quantiles, means, and shares
//! of rounds.

use crate::number::{GIVEN_DECIMALS, Rounding, count, finite, percent, share_text, value_text};
use crate::presented::{Presented, quantile_name};
use crate::text::plain;
use tiebreak_core::claim::Property;
use tiebreak_core::plan::Scope;
use tiebreak_core::result::{ClaimResult, ShareResult, SpellsResult};
use tiebreak_core::verdict::Verdict;

/// The fewest failures, or values beyond a bar, that show whether they come in bursts.
const FAILURES_MIN: u64 = 10;
/// The fewest blocks that show whether they depend on each other.
const BLOCKS_MIN: u64 = 30;
/// The standard deviations above which values depend on those before.
const SERIAL_Z: f64 = 4.0;

/// Returns the noun for one trial of a claim: a line of a stream, a run of a program, a round.
pub(crate) fn trial_noun(claim: &ClaimResult) -> &'static str {
    match claim.scope {
        Scope::Stream => "line",
        _ if claim.statement.is_of_two() => "round",
        _ => "run",
    }
}

/// Returns the number of trials in the evidence of a claim.
pub(crate) fn trials(claim: &ClaimResult) -> u64 {
    claim.share.as_ref().map_or(claim.rounds, |share| share.trials)
}

/// Returns the result as a sentence without its full stop.
pub(crate) fn found(claim: &ClaimResult, property: Property) -> String {
    let quantity = Presented::of(claim);
    let text = match property {
        Property::Succeeds { .. } => {
            let verb = if claim.scope == Scope::Stream { "say success" } else { "succeeded" };
            format!("{}, {}", counted(claim, verb), interval(&quantity, claim))
        }
        Property::InShareOfRounds { .. } => {
            format!(
                "it was so in {}, {}",
                counted(claim, "").trim_end(),
                interval(&quantity, claim)
            )
        }
        Property::Quantile { good, bar, .. } => quantile(claim, &quantity, good, bar),
        Property::Mean { cap, .. } => mean(claim, &quantity, cap),
    };
    capitalised(&text)
}

/// `4986 of 5000 runs succeeded`.
fn counted(claim: &ClaimResult, verb: &str) -> String {
    let successes = claim.share.as_ref().map_or(0, |share| share.successes);
    format!("{successes} of {} {verb}", count(trials(claim), trial_noun(claim)))
}

/// `99.72% (99.31% to 99.93% with confidence 98%)`.
fn interval(quantity: &Presented, claim: &ClaimResult) -> String {
    let confidence = percent(claim.effect().confidence, Rounding::Down);
    let limits = quantity.limits();
    let limits = match (quantity.low, quantity.high) {
        _ if is_bursty(claim) => limits,
        (None, None) => limits,
        (Some(_), Some(_)) => format!("{limits} with confidence {confidence}"),
        _ => format!("{limits}, with confidence {confidence}"),
    };
    let [estimate, ..] = quantity.numbers();
    match estimate {
        Some(estimate) => format!("{estimate} ({limits})"),
        None => limits,
    }
}

fn quantile(claim: &ClaimResult, quantity: &Presented, at: f64, bar: f64) -> String {
    let value = format!("its {} is {}", quantile_name(at), interval(quantity, claim));
    let (Some(share), Some(counted)) = (Presented::share_of(claim), claim.share.as_ref()) else {
        return value;
    };
    let [estimate, ..] = share.numbers();
    let of = format!("{} of {}", counted.successes, count(counted.trials, trial_noun(claim)));
    let bar = value_text(claim.metric.unit(), bar);
    let limits = share.limits();
    match estimate {
        Some(estimate) => format!("{value}; {of} gave at most {bar}, {estimate} ({limits})"),
        None => format!("{value}; {of} gave at most {bar} ({limits})"),
    }
}

fn mean(claim: &ClaimResult, quantity: &Presented, cap: Option<f64>) -> String {
    let over = count(trials(claim), trial_noun(claim));
    let text = format!("the mean is {} over {over}", interval(quantity, claim));
    match cap {
        Some(cap) => {
            let cap = value_text(claim.metric.unit(), cap);
            format!("{text}, what is above {cap} counted as {cap}")
        }
        None => text,
    }
}

/// Returns the good and the bad rate of a claim that may have both, and what they are rates of.
fn rates(claim: &ClaimResult, property: Property) -> Option<(f64, f64, String)> {
    match property {
        Property::Succeeds { good, bad } => Some((good, bad, "the rate".to_owned())),
        Property::Quantile { good, bad, bar } => {
            let bar = value_text(claim.metric.unit(), bar);
            Some((good, bad, format!("the share of values up to {bar}")))
        }
        Property::InShareOfRounds { .. } | Property::Mean { .. } => None,
    }
}

/// Returns what the verdict proves on a claim with a good and a bad rate.
pub(crate) fn proven(claim: &ClaimResult) -> Option<String> {
    let property = claim.statement.property()?;
    let (good, bad, of) = rates(claim, property).filter(|(good, bad, _)| good != bad)?;
    match claim.verdict {
        Verdict::Holds => Some(format!("{of} is above {}", share_text(bad, GIVEN_DECIMALS))),
        Verdict::Refuted => Some(format!("{of} is below {}", share_text(good, GIVEN_DECIMALS))),
        _ => None,
    }
}

/// Returns what one observation is, as a part of a sentence.
pub(crate) fn observation(claim: &ClaimResult) -> Option<String> {
    let noun = trial_noun(claim);
    match block(claim)? {
        1 => Some(format!("each {noun} one observation")),
        block => Some(format!("each block of {block} {noun}s one observation")),
    }
}

/// Returns the trials in one observation; `None` for a chain, and where a result does not say.
fn block(claim: &ClaimResult) -> Option<u64> {
    claim.statement.property()?;
    match (&claim.share, &claim.spells) {
        (Some(share), _) => (!share.is_chain).then_some(share.block.max(1)),
        (None, spells) => spells.map(|spells| spells.block),
    }
}

/// Whether no error and no confidence can be promised of a claim, because its failures come in
/// bursts, its chain is none or its values come in spells; of a void claim there is nothing to
/// promise.
pub(crate) fn is_bursty(claim: &ClaimResult) -> bool {
    let is_bursty = claim.share.as_ref().is_some_and(|share| share.is_bursty);
    let is_dependent = claim.spells.is_some_and(|spells| spells.is_dependent);
    claim.verdict != Verdict::Void && (is_bursty || is_dependent)
}

/// Returns why the error of a bursty claim is not kept, as a part of a sentence.
pub(crate) fn bursts(claim: &ClaimResult) -> Option<String> {
    if !is_bursty(claim) {
        return None;
    }
    let why = match (&claim.share, &claim.spells) {
        (Some(share), _) => why_bursty(share),
        (None, spells) => why_dependent(spells.as_ref()?),
    };
    Some(format!("its error is not what was asked for, because {why}"))
}

fn why_bursty(share: &ShareResult) -> String {
    match (finite(share.values_z), finite(share.mean_burst)) {
        _ if share.is_chain => "lines depend on more than the one before".to_owned(),
        (Some(z), _) if z > SERIAL_Z => like_the_one_before(share.block, z),
        (_, burst) if finite(share.spell_lines) > burst => {
            let spell = share.spell_lines.unwrap_or_default();
            format!("blocks differ as if failures came {spell:.1} in a row")
        }
        (_, Some(burst)) => format!("failures come {burst:.1} in a row"),
        _ => "failures come in bursts".to_owned(),
    }
}

fn why_dependent(spells: &SpellsResult) -> String {
    match (finite(spells.values_z), finite(spells.mean_spell)) {
        (Some(z), _) if z > SERIAL_Z => like_the_one_before(spells.block, z),
        (_, Some(spell)) => format!("values on one side of the bar come {spell:.1} in a row"),
        _ => "values come in spells".to_owned(),
    }
}

fn like_the_one_before(block: u64, z: f64) -> String {
    let each = if block > 1 { "block" } else { "value" };
    format!("each {each} is like the one before ({z:.0} standard deviations)")
}

/// Returns the small print of a bursty claim, in place of the meaning of its error.
pub(crate) fn unpromised(claim: &ClaimResult) -> &'static str {
    match claim.share.as_ref() {
        Some(share) if !share.is_chain => {
            "No error is promised of a claim whose failures come in bursts or in spells."
        }
        _ => "No error is promised of a claim whose lines depend on those before.",
    }
}

/// Returns the condition for the error and the confidence of a share, a quantile or a mean, as
/// no coin protects them, and whether the data could have shown a breach. Older results do not
/// say in which blocks a mean was judged.
pub(crate) fn condition(claim: &ClaimResult) -> Option<String> {
    claim.statement.property().filter(|_| !is_bursty(claim))?;
    let noun = trial_noun(claim);
    let (what, seen) = match (&claim.share, &claim.spells) {
        (Some(share), _) if share.is_chain => {
            let rests = "if each line depends on the one before alone".to_owned();
            return Some(rests + &in_brackets(few_failures(share)));
        }
        (Some(share), _) => {
            let spell = format!("spell in which {noun}s fail more often");
            (spell, few_blocks(share).or(few_failures(share)))
        }
        (None, Some(spells)) => ("spell".to_owned(), few_beyond(spells.rarer)),
        (None, None) => {
            let of_stream = claim.scope == Scope::Stream;
            let noun = if of_stream { "line, or block of lines," } else { noun };
            return Some(format!("if no {noun} depends on those before"));
        }
    };
    let rests = match block(claim) {
        Some(1) => format!("if no {noun} depends on those before"),
        _ => format!("if no {what} is longer than a thirtieth of a block"),
    };
    Some(rests + &in_brackets(seen))
}

fn in_brackets(seen: Option<String>) -> String {
    seen.map(|seen| format!(" ({seen})")).unwrap_or_default()
}

fn few_blocks(share: &ShareResult) -> Option<String> {
    let blocks = (share.trials - share.left_over) / share.block.max(1);
    (share.block > 1 && blocks < BLOCKS_MIN)
        .then(|| format!("{} would hardly show spells", count(blocks, "block")))
}

/// Failures that come together count as one: for a chain those of a run, and for blocks
/// as many as would have to come in a row for blocks to differ as they do.
fn few_failures(share: &ShareResult) -> Option<String> {
    let failures = share.trials - share.successes;
    let together = if share.is_chain { share.mean_burst } else { share.spell_lines };
    let alone = failures as f64 / finite(together).unwrap_or(1.0).max(1.0);
    match failures {
        0 => Some("no failure was seen, so nothing is known of bursts".to_owned()),
        1..FAILURES_MIN => Some(format!("{} would hardly show bursts", count(failures, "failure"))),
        _ => (alone < FAILURES_MIN as f64)
            .then(|| format!("{failures} failures that come together would hardly show bursts")),
    }
}

fn few_beyond(rarer: u64) -> Option<String> {
    match rarer {
        0 => Some("all lines are on one side of the bar: nothing is known of spells".to_owned()),
        1..FAILURES_MIN => Some(format!(
            "{} on one side of the bar would hardly show spells",
            count(rarer, "line")
        )),
        _ => None,
    }
}

/// Returns the least trials that an open claim needs, if it has not had them yet.
pub(crate) fn still_needed(claim: &ClaimResult) -> Option<String> {
    let share = claim.share.as_ref()?;
    let noun = trial_noun(claim);
    (claim.verdict == Verdict::Undecided && share.trials < share.least_trials_to_hold)
        .then(|| format!("it needs at least {} to hold", count(share.least_trials_to_hold, noun)))
}

/// Returns the small print of a claim about a share or a mean, which is named if there are several.
pub(crate) fn small_print(
    claim: &ClaimResult,
    property: Property,
    has_others: bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((good, bad, of)) = rates(claim, property).filter(|(good, bad, _)| good != bad) {
        let [bad, good] = [bad, good].map(|rate| share_text(rate, GIVEN_DECIMALS));
        lines.push(format!(
            "'Holds' says that {of} is above {bad}, 'refuted' that it is below {good}; between \
             them either is right."
        ));
    }
    if let Some(share) = &claim.share {
        lines.push(unit(claim, share.left_over));
        lines.push(least(claim, share, has_others));
    } else if let Some(spells) = &claim.spells {
        lines.push(unit(claim, spells.left_over));
    }
    lines
}

fn unit(claim: &ClaimResult, left_over: u64) -> String {
    let noun = trial_noun(claim);
    let block = match block(claim) {
        None => {
            return format!(
                "Each {noun} is supposed to depend on the one before and on nothing else; the rate \
                 is the one of the long run."
            );
        }
        Some(1) => {
            return format!(
                "Each {noun} is one observation, which supposes that those before say nothing \
                 about it."
            );
        }
        Some(block) => block,
    };
    let why = match claim.scope {
        Scope::Stream if claim.share.is_none() => {
            "requests that come one after the other are slow in spells"
        }
        Scope::Stream => "requests that come one after the other fail in bursts",
        _ => "runs that come one after the other may fail in bursts",
    };
    let text = format!("Blocks of {block} {noun}s are one observation each, because {why}");
    match left_over {
        0 => text + ".",
        left => format!("{text}; the last {} made no whole block.", count(left, noun)),
    }
}

/// Returns the least trials with which the claim can hold or be refuted.
fn least(claim: &ClaimResult, share: &ShareResult, has_others: bool) -> String {
    let noun = trial_noun(claim);
    let subject = if has_others {
        format!("'{}'", plain(&claim.claim).trim_end_matches('.'))
    } else {
        "It".to_owned()
    };
    format!(
        "{subject} cannot hold before {}, nor be refuted before {}, whatever they are.",
        count(share.least_trials_to_hold, noun),
        count(share.least_trials_to_refute, noun)
    )
}

/// Returns the text with a capital letter at the front.
pub(crate) fn capitalised(text: &str) -> String {
    let mut text = text.to_owned();
    text.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    text
}
