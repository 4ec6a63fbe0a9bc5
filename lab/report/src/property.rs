//! Sentences about claims that are not about a ratio: success rates, quantiles, means, and shares
//! of rounds.

use crate::number::GIVEN_DECIMALS;
use crate::prelude::*;
use crate::presented::quantile_name;
use tiebreak_core::claim::Property;
use tiebreak_core::result::{ShareResult, SpellsResult};

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
        Scope::Load => "message",
        _ if claim.statement.is_of_two() => "round",
        _ => "run",
    }
}

/// Returns the number of trials in the evidence of a claim.
pub(crate) fn trials(claim: &ClaimResult) -> u64 {
    claim.share.as_ref().map_or(claim.rounds, |share| share.trials)
}

/// Returns the result as a sentence that begins with a small letter, without its full stop.
pub(crate) fn found(claim: &ClaimResult, property: Property) -> String {
    let noun = trial_noun(claim);
    let quantity = Presented::of(claim);
    let interval = interval(&quantity, claim, claim.effect().confidence);
    // `4986 of 5000 runs`.
    let successes = claim.share.as_ref().map_or(0, |share| share.successes);
    let counted = format!("{successes} of {}", count(trials(claim), noun));
    let unit = claim.metric.unit();
    match property {
        Property::Succeeds { .. } if noun == "line" => format!("{counted} say success, {interval}"),
        Property::Succeeds { .. } if noun == "message" => format!("{counted} arrived, {interval}"),
        Property::Succeeds { .. } => format!("{counted} succeeded, {interval}"),
        Property::InShareOfRounds { .. } => format!("it was so in {counted}, {interval}"),
        Property::Quantile { bar, .. } if quantity.is_share() => {
            format!("{counted} took at most {}, {interval}", value_text(unit, bar))
        }
        Property::Quantile { good, bar, .. } => {
            let value = format!("its {} is {interval}", quantile_name(good));
            let Some(share) = Presented::share_of(claim) else { return value };
            let bar = value_text(unit, bar);
            match (share.estimate, share.found()) {
                (Some(_), found) => format!("{value}; {counted} gave at most {bar}, {found}"),
                (None, found) => format!("{value}; {counted} gave at most {bar} ({found})"),
            }
        }
        Property::Mean { cap, .. } => {
            let text = format!("the mean is {interval} over {}", count(trials(claim), noun));
            match cap.map(|cap| value_text(unit, cap)) {
                Some(cap) => format!("{text}, what is above {cap} counted as {cap}"),
                None => text,
            }
        }
    }
}

/// `99.72% (99.31% to 99.93% with confidence 98%)`.
pub(crate) fn interval(quantity: &Presented, claim: &ClaimResult, confidence: f64) -> String {
    let confidence = percent(confidence, Rounding::Down);
    let limits = quantity.limits();
    quantity.with_limits(match (quantity.low, quantity.high) {
        (None, None) => limits,
        _ if is_bursty(claim) => limits,
        (Some(_), Some(_)) => format!("{limits} with confidence {confidence}"),
        _ => format!("{limits}, with confidence {confidence}"),
    })
}

/// Returns the bad and the good rate of a claim whose two differ, and what they are rates of.
fn rates(claim: &ClaimResult) -> Option<([String; 2], String)> {
    let (bad, good, of) = match claim.statement.property()? {
        Property::Succeeds { good, bad } => (bad, good, "the rate".to_owned()),
        Property::Quantile { good, bad, bar } => {
            let bar = value_text(claim.metric.unit(), bar);
            (bad, good, format!("the share of values up to {bar}"))
        }
        Property::InShareOfRounds { .. } | Property::Mean { .. } => return None,
    };
    (good != bad).then(|| ([bad, good].map(|rate| share_text(rate, GIVEN_DECIMALS)), of))
}

/// Returns what the verdict proves on a claim with a good and a bad rate.
pub(crate) fn proven(claim: &ClaimResult) -> Option<String> {
    let ([bad, good], of) = rates(claim)?;
    match claim.verdict {
        Verdict::Holds => Some(format!("{of} is above {bad}")),
        Verdict::Refuted => Some(format!("{of} is below {good}")),
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
    let why = match (&claim.share, &claim.spells) {
        _ if !is_bursty(claim) => return None,
        (Some(share), _) => why_bursty(share),
        (None, spells) => why_dependent(spells.as_ref()?),
    };
    Some(format!("its error is not what was asked for, because {why}"))
}

fn why_bursty(share: &ShareResult) -> String {
    match (finite(share.values_z), finite(share.mean_burst), finite(share.spell_lines)) {
        _ if share.is_chain => "lines depend on more than the one before".to_owned(),
        (Some(z), ..) if z > SERIAL_Z => like_the_one_before(share.block, z),
        (_, burst, Some(spell)) if burst.is_none_or(|burst| spell > burst) => {
            format!("blocks differ as if failures came {spell:.1} in a row")
        }
        (_, Some(burst), _) => format!("failures come {burst:.1} in a row"),
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
        _ if claim.scope == Scope::Load => {
            "No error is promised of a claim whose messages are slow in spells."
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
    let none = format!("if no {noun} depends on those before");
    let (rests, seen) = match (&claim.share, &claim.spells) {
        (Some(share), _) if share.is_chain => {
            ("if each line depends on the one before alone".to_owned(), few_failures(share))
        }
        (Some(share), _) => {
            let rests = match share.block {
                ..2 => none,
                _ => format!(
                    "if no spell in which {noun}s fail more often is longer than a thirtieth of a \
                     block"
                ),
            };
            let blocks = (share.trials - share.left_over) / share.block.max(1);
            let few = (share.block > 1 && blocks < BLOCKS_MIN)
                .then(|| format!("{} would hardly show spells", count(blocks, "block")));
            (rests, few.or(few_failures(share)))
        }
        (None, Some(spells)) => {
            let rests = match spells.block {
                1 => none,
                _ => "if no spell is longer than a thirtieth of a block".to_owned(),
            };
            let few = match spells.rarer {
                0 => format!("all {noun}s are on one side of the bar: nothing is known of spells"),
                rarer => {
                    let lines = count(rarer, noun);
                    format!("{lines} on one side of the bar would hardly show spells")
                }
            };
            (rests, (spells.rarer < FAILURES_MIN).then_some(few))
        }
        (None, None) => {
            let of_stream = matches!(claim.scope, Scope::Stream | Scope::Load);
            let noun = if of_stream { "line, or block of lines," } else { noun };
            (format!("if no {noun} depends on those before"), None)
        }
    };
    Some(rests + &seen.map_or(String::new(), |seen| format!(" ({seen})")))
}

/// Failures that come together count as one: for a chain those of a run, and for blocks
/// as many as would have to come in a row for blocks to differ as they do.
fn few_failures(share: &ShareResult) -> Option<String> {
    let failures = share.trials - share.successes;
    let together = if share.is_chain { share.mean_burst } else { share.spell_lines };
    let alone = failures as f64 / finite(together).unwrap_or(1.0).max(1.0);
    Some(match failures {
        0 => "no failure was seen, so nothing is known of bursts".to_owned(),
        1..FAILURES_MIN => format!("{} would hardly show bursts", count(failures, "failure")),
        _ if alone < FAILURES_MIN as f64 => {
            format!("{failures} failures that come together would hardly show bursts")
        }
        _ => return None,
    })
}

/// Returns the least trials that an open claim needs, if it has not had them yet.
pub(crate) fn still_needed(claim: &ClaimResult) -> Option<String> {
    let share = claim.share.as_ref()?;
    let least = count(share.least_trials_to_hold, trial_noun(claim));
    (claim.verdict == Verdict::Undecided && share.trials < share.least_trials_to_hold)
        .then(|| format!("it needs at least {least} to hold"))
}

/// Returns the small print of a claim about a share or a mean, which is named if there are several.
pub(crate) fn small_print(claim: &ClaimResult, has_others: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(([bad, good], of)) = rates(claim) {
        lines.push(format!(
            "'Holds' says that {of} is above {bad}, 'refuted' that it is below {good}; between \
             them either is right."
        ));
    }
    if let Some(share) = &claim.share {
        let [hold, refute] = [share.least_trials_to_hold, share.least_trials_to_refute]
            .map(|least| count(least, trial_noun(claim)));
        let subject = if has_others {
            format!("'{}'", plain(&claim.claim).trim_end_matches('.'))
        } else {
            "It".to_owned()
        };
        lines.push(unit(claim, share.left_over));
        lines.push(format!(
            "{subject} cannot hold before {hold}, nor be refuted before {refute}, whatever they \
             are."
        ));
    } else if let Some(spells) = &claim.spells {
        lines.push(unit(claim, spells.left_over));
    }
    lines
}

/// Returns what one observation is, as a sentence.
fn unit(claim: &ClaimResult, left_over: u64) -> String {
    let noun = trial_noun(claim);
    let why = match claim.scope {
        Scope::Stream | Scope::Load if claim.share.is_none() => {
            "requests that come one after the other are slow in spells"
        }
        Scope::Load => "messages that come one after the other are slow in spells",
        Scope::Stream => "requests that come one after the other fail in bursts",
        _ => "runs that come one after the other may fail in bursts",
    };
    match (block(claim), left_over) {
        (None, _) => format!(
            "Each {noun} is supposed to depend on the one before and on nothing else; the rate is \
             the one of the long run."
        ),
        (Some(1), _) => format!(
            "Each {noun} is one observation, which supposes that those before say nothing about \
             it."
        ),
        (Some(block), 0) => {
            format!("Blocks of {block} {noun}s are one observation each, because {why}.")
        }
        (Some(block), left) => format!(
            "Blocks of {block} {noun}s are one observation each, because {why}; the last {} made \
             no whole block.",
            count(left, noun)
        ),
    }
}

/// Returns the text with a capital letter at the front.
pub(crate) fn capitalised(text: &str) -> String {
    let mut text = text.to_owned();
    text.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    text
}
