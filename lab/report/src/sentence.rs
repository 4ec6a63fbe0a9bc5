//! Verdicts as sentences that can be quoted.

use crate::command::resume_command;
use crate::number::{lone_ratio, ratio_text};
use crate::prelude::*;
use crate::presented::Subject;
use crate::property::{self, capitalised, trial_noun, trials};
use crate::ratios::of_no_factor;
use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::plan::Centre;
use tiebreak_core::result::{BesideResult, Blame};
use tiebreak_core::warning::Warning;

/// The verdict on one claim of a run, in one or two sentences with their scope: on one line,
/// without styles, so that it can be quoted as it stands.
///
/// A ratio is `right / left`, above 1 where the left contestant needs less; what it is of the
/// rounds stands in the small print. Of a question that the right contestant won it is turned
/// round. Of a rate, a quantile or a mean the counts, the interval with its confidence, and what
/// one observation is are said. Limits are rounded outwards.
pub fn sentence(run: &RunResult, claim: &ClaimResult) -> String {
    quotable(&spans(run, claim))
}

/// Returns the sentence of [`sentence`] with tones.
pub(crate) fn spans(run: &RunResult, claim: &ClaimResult) -> Spans {
    spans_of(run, claim, run.false_share.is_none())
}

/// Returns the sentence with tones; `has_error` says whether it names the claim's own error.
pub(crate) fn spans_of(run: &RunResult, claim: &ClaimResult, has_error: bool) -> Spans {
    let mut text = head(run, claim);
    if Presented::of(claim).is_known() {
        if let Some(observation) = property::observation(claim) {
            text.push(words(format!(", {observation}")));
        }
        text.push(words(format!(", {}", scope_words(run, claim))));
        let effect = claim.effect();
        let has_bounds = effect.low.is_some() || effect.high.is_some();
        let error = match claim.verdict {
            _ if !has_error || property::is_bursty(claim) => None,
            // What is said of a property has the confidence next to its limits.
            Verdict::Undecided if !has_bounds || claim.statement.property().is_some() => None,
            Verdict::Undecided => Some(("the interval is ", 1.0 - effect.confidence)),
            _ => Some(("", claim.error)),
        };
        let promise = error.map(|(what, error)| {
            format!("{what}wrong with probability at most {}", percent(error, Rounding::Up))
        });
        // A ratio whose rounds are weighted by waits for a CPU has a condition of its own.
        let is_adjusted = claim.statement.property().is_none()
            && run.warnings.iter().any(|warning| matches!(warning, Warning::Weighted { .. }));
        let adjusted = is_adjusted.then(|| "if the two are nearly equal".to_owned());
        // The confidence of limits needs the condition where no error is said, too.
        let condition = property::condition(claim).or(adjusted);
        let condition = condition.filter(|_| has_bounds || promise.is_some());
        let said: Vec<String> = condition.into_iter().chain(promise).collect();
        if !said.is_empty() {
            text.push(words(format!("; {}", said.join(", "))));
        }
        text.extend(of_bursts(claim));
        text.extend(of_no_factor(claim));
    }
    text.extend(property::still_needed(claim).map(|needed| words(format!("; {needed}"))));
    text.push(words("."));
    text.extend(whose(claim).map(words));
    text
}

/// Returns a note if a study's claim is that of its source.
pub(crate) fn whose(claim: &ClaimResult) -> Option<&'static str> {
    claim.is_published.then_some(" This is the source's claim.")
}

/// Returns what replaces the error of a claim whose failures come in bursts.
pub(crate) fn of_bursts(claim: &ClaimResult) -> Option<Span> {
    property::bursts(claim).map(|text| words(format!("; {text}")))
}

/// Returns the first part of a sentence, without its scope and without a full stop at the end.
pub(crate) fn head(run: &RunResult, claim: &ClaimResult) -> Spans {
    let tone = tone(claim);
    let verdict = claim.verdict;
    let mut text = match (verdict, claim.is_question, gate_word(claim)) {
        (Verdict::Holds, true, _) if claim.statement.is_measure() => {
            vec![span(tone, "Measured"), words(format!(": {}", pair_and_metric(claim)))]
        }
        (Verdict::Holds, true, _) => {
            let [ahead, behind] = names(&Presented::of(claim));
            let order = format!("{ahead} {} than {behind}", needs_less(run, claim));
            vec![span(tone, order + in_what(run, claim))]
        }
        (Verdict::TooClose, true, _) => {
            let [left, right] = sides(claim);
            let (metric, what) = (in_metric(claim), in_what(run, claim));
            let tie = format!("{left} and {right} are too close{metric}{what} to matter");
            vec![span(tone, tie)]
        }
        (Verdict::Undecided, _, gate) => {
            let effort = effort(run, claim);
            let (word, rest) = match gate {
                Some(gate) => (gate, format!(" (undecided after {effort}): {}", subject(claim))),
                None => ("Undecided", format!(" after {effort}: {}", subject(claim))),
            };
            vec![span(tone, word), words(rest)]
        }
        (_, is_question, gate) => {
            let whether = if verdict == Verdict::Void && !is_question { "whether " } else { "" };
            let subject = format!("{whether}{}", subject(claim));
            match (gate, property::proven(claim)) {
                (Some(gate), _) => {
                    vec![span(tone, gate), words(format!(" ({verdict}): {subject}"))]
                }
                // Of two rates the claim as it reads may be false where its verdict is right.
                (None, Some(proven)) => {
                    vec![
                        span(tone, capitalised(&proven)),
                        words(format!(" ({verdict}: {subject})")),
                    ]
                }
                (None, None) => {
                    vec![span(tone, capitalised(verdict.name())), words(format!(": {subject}"))]
                }
            }
        }
    };
    text.push(words(estimate(run, claim)));
    if Presented::of(claim).is_known() {
        text.extend(of_means(claim).map(words));
        text.extend(beside(claim).map(words));
    }
    text
}

/// Returns what the contestant ahead does: of servers by time, what it does faster.
fn needs_less(run: &RunResult, claim: &ClaimResult) -> String {
    match &run.servers {
        Some(servers) if claim.metric == Metric::WallTime => servers.traffic.faster().to_owned(),
        _ => claim.metric.needs_less(),
    }
}

/// Returns the cap of a ratio of means.
pub(crate) fn of_means(claim: &ClaimResult) -> Option<String> {
    let cap = value_text(claim.metric.unit(), claim.cap?);
    Some(format!(", counting what takes longer than {cap} as {cap}"))
}

/// Returns the load by other processes, and the ratio by the programs' own time on a CPU.
fn beside(claim: &ClaimResult) -> Option<String> {
    let BesideResult { foreign_share, metric, ratio } = claim.beside?;
    let share = percent(foreign_share, Rounding::Nearest);
    let mut text = format!(", while other processes used {share} of these CPUs");
    let by = metric.name();
    let [ahead, _] = names(&Presented::of(claim));
    // The ratio of the medians would stand next to one of means.
    let own = ratio.filter(|_| claim.centre != Centre::Mean);
    let own = own.map(|ratio| if ahead == plain(&claim.left) { ratio } else { 1.0 / ratio });
    if let Some(own) = finite(own).map(lone_ratio) {
        text += &format!(" (by {by} it was {own}; --by '{by}' asks for that)");
    }
    Some(text)
}

/// Returns the outcome of a gate whose verdict is neither `refuted` nor `holds`.
fn gate_word(claim: &ClaimResult) -> Option<&'static str> {
    match (claim.gate, claim.verdict) {
        _ if claim.is_question => None,
        (Gate::OpenUnlessRefuted, Verdict::TooClose | Verdict::Undecided) => Some("Passes"),
        (Gate::ClosedUnlessHolds, Verdict::TooClose | Verdict::Undecided) => Some("Does not pass"),
        _ => None,
    }
}

/// Returns the tone of a verdict's words.
pub(crate) fn tone(claim: &ClaimResult) -> Tone {
    match claim.verdict {
        Verdict::Holds => Tone::Good,
        Verdict::Refuted | Verdict::Void => Tone::Bad,
        _ if claim.gate == Gate::ClosedUnlessHolds => Tone::Bad,
        Verdict::TooClose | Verdict::Undecided => Tone::Doubt,
    }
}

/// Returns the observations and the time that the claim had.
fn effort(run: &RunResult, claim: &ClaimResult) -> String {
    let noun = match trial_noun(claim) {
        "round" => observation_noun(run),
        noun => noun,
    };
    format!("{} in {}", count(trials(claim), noun), seconds(claim.seconds))
}

/// `B / A`, with the metric unless it is wall time.
fn pair_and_metric(claim: &ClaimResult) -> String {
    let [left, right] = sides(claim);
    format!("{right}{NO_BREAK}/{NO_BREAK}{left}{}", in_metric(claim))
}

/// Returns the contestants of a claim about two.
fn sides(claim: &ClaimResult) -> [String; 2] {
    [&claim.left, claim.right.as_deref().unwrap_or_default()].map(plain)
}

/// Names the metric behind a pair, unless it is wall time.
fn in_metric(claim: &ClaimResult) -> String {
    match claim.metric {
        Metric::WallTime => String::new(),
        metric => format!(" in {}", metric.name()),
    }
}

/// Returns the contestants of a ratio: the one ahead, and the other.
fn names(quantity: &Presented) -> [String; 2] {
    match quantity.subject {
        Subject::Ratio { ahead, behind } => [ahead, behind].map(plain),
        _ => [String::new(), String::new()],
    }
}

/// Returns what an order or a tie is proven for, where that is not every round.
fn in_what(run: &RunResult, claim: &ClaimResult) -> &'static str {
    match claim.centre {
        Centre::Mean => " in the mean",
        Centre::Factor if claim.no_factor().is_none() => "",
        _ if claim.verdict != Verdict::TooClose => "",
        _ if observation_noun(run) == "unit" => " in the typical unit",
        _ => " in the typical round",
    }
}

/// Returns the claim or the question.
fn subject(claim: &ClaimResult) -> String {
    if !claim.is_question {
        return plain(&claim.claim).trim_end_matches('.').to_owned();
    }
    if claim.statement.is_measure() {
        return format!("how large {} is", pair_and_metric(claim));
    }
    let [left, right] = sides(claim);
    let mean = if claim.centre == Centre::Mean { " in the mean" } else { "" };
    format!("which of {left} and {right} {}{mean}", claim.metric.needs_less())
}

/// Returns the second part of the head: the estimate, or the fault.
fn estimate(run: &RunResult, claim: &ClaimResult) -> String {
    let property = match claim.statement {
        _ if claim.verdict == Verdict::Void => return void(claim),
        Statement::Ratio(_) => return ratio(run, claim),
        Statement::Property(property) => property,
    };
    let found = property::found(claim, property);
    match claim.verdict {
        Verdict::Undecided if !Presented::of(claim).is_known() => ". Nothing is known yet".into(),
        Verdict::Undecided => format!(". So far: {found}"),
        _ => format!(". {}", capitalised(&found)),
    }
}

fn void(claim: &ClaimResult) -> String {
    let because = match &claim.fault {
        Some(Blame { contestant, fault }) => {
            format!("{} {}", plain(contestant), short(&fault.to_string()))
        }
        None => "a contestant is void".to_owned(),
    };
    format!(" is not known, because {because}")
}

fn ratio(run: &RunResult, claim: &ClaimResult) -> String {
    let quantity = Presented::of(claim);
    let [ahead, behind] = names(&quantity);
    let (found, limits) = (quantity.found(), quantity.limits());
    let is_mean = claim.centre == Centre::Mean;
    let pair = if is_mean {
        format!("{behind}'s mean time{NO_BREAK}/{NO_BREAK}{ahead}'s")
    } else {
        format!("{behind}{NO_BREAK}/{NO_BREAK}{ahead}")
    };
    match (claim.verdict, claim.is_question) {
        (Verdict::Holds, true) if claim.statement.is_measure() => format!(" is {found}"),
        (Verdict::Holds, true) if !is_mean => format!(": {found}"),
        (Verdict::Holds, true) => format!(": {pair} is {found}"),
        (Verdict::TooClose, is_question) => {
            let close = percent(run.resolution, Rounding::Nearest);
            let bar = if is_question { "1x".into() } else { ratio_text(quantity.nearest_bar()) };
            let what = match (claim.centre, is_question) {
                (Centre::Mean, true) => ": the ratio of their mean times".to_owned(),
                (Centre::Mean, false) => format!(". {pair}"),
                (Centre::Median, true) => ": the median of their ratios".to_owned(),
                (Centre::Median, false) => format!(". The median of {pair}"),
                (Centre::Factor, true) => ": their ratio, as one factor,".to_owned(),
                (Centre::Factor, false) => format!(". {pair}, as one factor,"),
            };
            format!("{what} is within {close} of {bar} ({limits})")
        }
        (Verdict::Undecided, _) if !quantity.is_known() => {
            format!(". Nothing is known of {pair} yet")
        }
        (Verdict::Undecided, _) => format!(". So far {pair} is {found}"),
        _ => format!(". {pair} is {found}"),
    }
}

/// Returns the scope and the error that several verdicts share.
pub(crate) fn common_tail(run: &RunResult) -> Option<String> {
    let proven = run.verdicts.iter().filter(|claim| claim.verdict != Verdict::Void);
    let (bursty, kept): (Vec<_>, Vec<_>) =
        proven.clone().partition(|claim| property::is_bursty(claim));
    let scope = capitalised(&scope_words(run, proven.clone().next()?));
    Some(match run.false_share {
        _ if kept.is_empty() => format!("{scope}."),
        Some(share) if bursty.is_empty() => format!("{scope}. {}", of_a_family(share)),
        Some(share) => {
            let but = "That leaves out those with failures in bursts.";
            format!("{scope}. {} {but}", of_a_family(share))
        }
        None => {
            let wrong = percent(run.error, Rounding::Up);
            let any = if bursty.is_empty() { "any verdict" } else { "any other verdict" };
            format!("{scope}; the probability that {any} is wrong is at most {wrong}.")
        }
    })
}

/// Returns the error of verdicts that were settled together with those of other runs.
pub(crate) fn of_a_family(false_share: f64) -> String {
    let share = percent(false_share, Rounding::Up);
    format!(
        "Settled together with the other claims of its file: of all that the file says is proven, \
         at most {share} is wrong on average."
    )
}

/// Returns the command that goes on with a run whose verdicts are still open.
pub(crate) fn what_helps(run: &RunResult) -> Option<Spans> {
    let mut open = run.verdicts.iter().filter(|claim| claim.verdict == Verdict::Undecided);
    let first = open.next().filter(|_| run.self_check.is_none())?;
    let mut spans = vec![words("To go on: "), span(Tone::Strong, resume_command(run))];
    if let Some(hint) = what_ends_it(run, first) {
        spans.push(words(format!("; {hint}")));
    }
    Some(spans)
}

/// Returns an option with which a similar run would end before its budget.
fn what_ends_it(run: &RunResult, claim: &ClaimResult) -> Option<&'static str> {
    match claim.statement {
        Statement::Ratio(_) if claim.centre == Centre::Factor && claim.no_factor().is_some() => {
            Some("there is no one factor: a new run without --centre factor can end")
        }
        Statement::Ratio(_) if claim.centre == Centre::Mean => {
            let two = run.contestants.iter();
            let two =
                two.filter(|one| one.name == claim.left || Some(&one.name) == claim.right.as_ref());
            let cut_off = two.map(|one| one.timed_out as f64 / one.samples.max(1) as f64);
            match cut_off.fold(0.0, f64::max) {
                0.0 => Some("a new run with a smaller --timeout needs fewer rounds"),
                0.5.. => Some(
                    "most runs were cut off: a new run with a larger --timeout tells them apart",
                ),
                _ => None,
            }
        }
        Statement::Ratio(_) if run.resolution == 0.0 && !claim.statement.is_measure() => {
            Some("a new run with --resolution 1% can end at 'too close'")
        }
        Statement::Property(
            Property::Succeeds { good, bad } | Property::Quantile { good, bad, .. },
        ) if good == bad => Some("a run with a good and a bad rate some way apart is sure to end"),
        _ => None,
    }
}

/// Returns the scope of a verdict as the end of a sentence, with the inputs of a study.
fn scope_words(run: &RunResult, claim: &ClaimResult) -> String {
    let mut warnings = run.warnings.iter();
    if warnings.any(|warning| matches!(warning, Warning::PlacementsReused { .. })) {
        return "for this code, in placements that were drawn again and again, which is not valid,"
            .to_owned();
    }
    let inputs = match &run.study {
        Some(study) if study.workload.is_drawn => "inputs drawn afresh",
        _ => "this input",
    };
    match (claim.scope, run.study.is_some(), claim.right.is_some()) {
        (Scope::Layout, true, _) => {
            "for these binaries as they lie in memory, on this input and this machine".to_owned()
        }
        (Scope::Binary, true, _) => {
            format!("for these binaries in fresh processes, on {inputs} and this machine")
        }
        (Scope::Code, true, _) => {
            format!("for this code, placed afresh in memory, on {inputs} and this machine")
        }
        (Scope::Layout, _, true) => {
            "for these binaries as they happen to lie in memory on this machine".to_owned()
        }
        (Scope::Layout, _, false) => {
            "for this binary as it happens to lie in memory on this machine".to_owned()
        }
        (Scope::Binary, _, true) => "for these exact binaries on this machine".to_owned(),
        (Scope::Binary, _, false) => "for this exact binary on this machine".to_owned(),
        (Scope::Code, ..) => "for this code on this machine, freshly placed in memory".to_owned(),
        (Scope::Stream, ..) => "for this stream of lines".to_owned(),
        (Scope::Load, ..) => "for this server under this load".to_owned(),
    }
}

/// Returns the noun for a round of a run: for a study the unit of several rounds that share what
/// was drawn, except where everything stays in one process.
pub(crate) fn observation_noun(run: &RunResult) -> &'static str {
    match &run.study {
        Some(study) if study.scope != Scope::Layout => "unit",
        _ => "round",
    }
}
