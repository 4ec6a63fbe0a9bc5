//! Verdicts as sentences that can be quoted.

use crate::look::{NO_BREAK, Span, Spans, Tone, letters, span, words};
use crate::number::{Rounding, count, lone_ratio, percent, ratio_text, seconds, value_text};
use crate::presented::{Presented, Subject};
use crate::property::{self, capitalised, trial_noun, trials};
use crate::ratios::of_no_factor;
use crate::text::{plain, short};
use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::journal::StopReason;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Centre, Gate, Scope};
use tiebreak_core::result::{BesideResult, Blame, ClaimResult, RunResult};
use tiebreak_core::verdict::Verdict;
use tiebreak_core::warning::Warning;

/// The verdict on one claim of a run, in one or two sentences with their scope: on one line,
/// without styles, so that it can be quoted as it stands.
///
/// A ratio is `right / left`, above 1 where the left contestant needs less; what it is of the
/// rounds stands in the small print. Of a question that the right contestant won it is turned
/// round. Of a rate, a quantile or a mean the counts, the interval with its confidence, and what
/// one observation is are said. Limits are rounded outwards.
pub fn sentence(run: &RunResult, claim: &ClaimResult) -> String {
    letters(&spans(run, claim)).replace(NO_BREAK, " ")
}

/// Returns the sentence of [`sentence`] with tones.
pub(crate) fn spans(run: &RunResult, claim: &ClaimResult) -> Spans {
    spans_of(run, claim, run.false_share.is_none())
}

/// Returns the sentence with tones; `has_error` says whether it names the claim's own error.
pub(crate) fn spans_of(run: &RunResult, claim: &ClaimResult, has_error: bool) -> Spans {
    let mut text = head(run, claim);
    if claim.verdict != Verdict::Void && Presented::of(claim).is_known() {
        if let Some(observation) = property::observation(claim) {
            text.push(words(format!(", {observation}")));
        }
        text.push(words(format!(", {}", scope_words(run, claim))));
        let effect = claim.effect();
        let has_bounds = effect.low.is_some() || effect.high.is_some();
        let error = match claim.verdict {
            _ if !has_error || property::is_bursty(claim) => None,
            // What is said of a property has the confidence beside its limits.
            Verdict::Undecided if !has_bounds || claim.statement.property().is_some() => None,
            Verdict::Undecided => Some(("the interval is ", 1.0 - effect.confidence)),
            _ => Some(("", claim.error)),
        };
        let promise = error.map(|(what, error)| {
            format!("{what}wrong with probability at most {}", percent(error, Rounding::Up))
        });
        // The confidence of limits needs the condition where no error is said, too.
        let condition = property::condition(claim).or_else(|| adjusted(run, claim));
        let condition = condition.filter(|_| has_bounds || promise.is_some());
        let said: Vec<String> = condition.into_iter().chain(promise).collect();
        if !said.is_empty() {
            text.push(words(format!("; {}", said.join(", "))));
        }
        text.extend(of_bursts(claim));
        text.extend(of_no_factor(claim));
    }
    if let Some(needed) = property::still_needed(claim) {
        text.push(words(format!("; {needed}")));
    }
    text.push(words("."));
    text.extend(whose(claim).map(words));
    text
}

/// Returns the condition for the error of a ratio whose rounds are weighted by waits for a CPU.
fn adjusted(run: &RunResult, claim: &ClaimResult) -> Option<String> {
    let mut warnings = run.warnings.iter();
    let is_weighted = warnings.any(|warning| matches!(warning, Warning::Weighted { .. }));
    let is_adjusted = is_weighted && claim.statement.property().is_none();
    is_adjusted.then(|| "if the two are nearly equal".to_owned())
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
    let is_measure = claim.statement.is_measure();
    let mut text = match (claim.verdict, claim.is_question) {
        (Verdict::Holds, true) if is_measure => {
            vec![span(tone, "Measured"), words(format!(": {}", pair_and_metric(claim)))]
        }
        (Verdict::Holds, true) => {
            vec![span(tone, order(&Presented::of(claim), claim.metric) + in_what(run, claim))]
        }
        (Verdict::TooClose, true) => vec![span(tone, tie(run, claim))],
        (Verdict::Undecided, _) => {
            let after = format!(" after {}", effort(run, claim));
            let (word, rest) = match gate_word(claim) {
                Some(gate) => (gate, format!(" (undecided{after}): {}", subject(claim))),
                None => ("Undecided", format!("{after}: {}", subject(claim))),
            };
            vec![span(tone, word), words(rest)]
        }
        (verdict, _) if gate_word(claim).is_none() && property::proven(claim).is_some() => {
            // Of two rates the claim as it reads may be false where its verdict is right.
            let proven = property::proven(claim).unwrap_or_default();
            let rest = format!(" ({verdict}: {})", subject(claim));
            vec![span(tone, capitalised(&proven)), words(rest)]
        }
        (verdict, is_question) => {
            let whether = if verdict == Verdict::Void && !is_question { "whether " } else { "" };
            let (word, note) = match gate_word(claim) {
                Some(gate) => (gate.to_owned(), format!(" ({verdict})")),
                None => (capitalised(verdict.name()), String::new()),
            };
            vec![span(tone, word), words(format!("{note}: {whether}{}", subject(claim)))]
        }
    };
    text.push(words(estimate(run, claim)));
    text.extend(capped(claim).map(words));
    text.extend(beside(claim).map(words));
    text
}

/// Returns the cap of a ratio of means that is known.
fn capped(claim: &ClaimResult) -> Option<String> {
    let is_said = claim.verdict != Verdict::Void && Presented::of(claim).is_known();
    is_said.then(|| of_means(claim))?
}

/// Returns the cap of a ratio of means.
pub(crate) fn of_means(claim: &ClaimResult) -> Option<String> {
    let cap = value_text(claim.metric.unit(), claim.cap?);
    Some(format!(", counting what takes longer than {cap} as {cap}"))
}

/// Returns the load by other processes, and the ratio by the programs' own time on a CPU.
fn beside(claim: &ClaimResult) -> Option<String> {
    let BesideResult { foreign_share, metric, ratio } = claim.beside?;
    let quantity = Presented::of(claim);
    if claim.verdict == Verdict::Void || !quantity.is_known() {
        return None;
    }
    let share = percent(foreign_share, Rounding::Nearest);
    let condition = format!(", while other processes used {share} of these CPUs");
    let (ahead, _) = names(&quantity);
    let by = metric.name();
    // The ratio of the medians would stand beside one of means.
    let own = ratio.filter(|_| claim.centre != Centre::Mean);
    let own = own.map(|ratio| if ahead == claim.left { ratio } else { 1.0 / ratio });
    let own = own.filter(|ratio| ratio.is_finite()).map(|own| {
        let own = lone_ratio(own);
        format!(" (by {by} it was {own}; --by '{by}' asks for that)")
    });
    Some(condition + &own.unwrap_or_default())
}

/// Returns the outcome of a gate whose verdict is neither `refuted` nor `holds`.
fn gate_word(claim: &ClaimResult) -> Option<&'static str> {
    let is_between = matches!(claim.verdict, Verdict::TooClose | Verdict::Undecided);
    match claim.gate {
        Gate::OpenUnlessRefuted if is_between && !claim.is_question => Some("Passes"),
        Gate::ClosedUnlessHolds if is_between && !claim.is_question => Some("Does not pass"),
        _ => None,
    }
}

/// Returns the tone of a verdict's words.
pub(crate) fn tone(claim: &ClaimResult) -> Tone {
    match claim.verdict {
        Verdict::Holds => Tone::Good,
        Verdict::Refuted | Verdict::Void => Tone::Bad,
        Verdict::TooClose | Verdict::Undecided if claim.gate == Gate::ClosedUnlessHolds => {
            Tone::Bad
        }
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
    let [left, right] = [plain(&claim.left), plain(right(claim))];
    let metric = in_metric(claim);
    format!("{right}{NO_BREAK}/{NO_BREAK}{left}{metric}")
}

/// Names the metric behind a pair, unless it is wall time.
fn in_metric(claim: &ClaimResult) -> String {
    match claim.metric {
        Metric::WallTime => String::new(),
        metric => format!(" in {}", metric.name()),
    }
}

/// `A is faster than B`, `A uses less peak memory than B`.
fn order(quantity: &Presented, metric: Metric) -> String {
    let (ahead, behind) = names(quantity);
    format!("{} {} than {}", plain(ahead), metric.needs_less(), plain(behind))
}

/// The contestants of a ratio.
fn names<'a>(quantity: &Presented<'a>) -> (&'a str, &'a str) {
    match quantity.subject {
        Subject::Ratio { ahead, behind } => (ahead, behind),
        _ => ("", ""),
    }
}

/// Returns what an order or a tie is proven for, where that is not every round.
fn in_what(run: &RunResult, claim: &ClaimResult) -> &'static str {
    let is_close = claim.verdict == Verdict::TooClose;
    match claim.centre {
        Centre::Mean => " in the mean",
        Centre::Factor if claim.no_factor().is_none() => "",
        _ if !is_close => "",
        _ if observation_noun(run) == "unit" => " in the typical unit",
        _ => " in the typical round",
    }
}

fn tie(run: &RunResult, claim: &ClaimResult) -> String {
    let metric = in_metric(claim);
    let [left, right] = [plain(&claim.left), plain(right(claim))];
    format!("{left} and {right} are too close{metric}{} to matter", in_what(run, claim))
}

fn right(claim: &ClaimResult) -> &str {
    claim.right.as_deref().unwrap_or_default()
}

/// Returns the claim or the question.
fn subject(claim: &ClaimResult) -> String {
    if !claim.is_question {
        return plain(&claim.claim).trim_end_matches('.').to_owned();
    }
    if claim.statement.is_measure() {
        return format!("how large {} is", pair_and_metric(claim));
    }
    let [left, right] = [plain(&claim.left), plain(right(claim))];
    let mean = if claim.centre == Centre::Mean { " in the mean" } else { "" };
    format!("which of {left} and {right} {}{mean}", claim.metric.needs_less())
}

/// Returns the second part of the head: the estimate, or the fault.
fn estimate(run: &RunResult, claim: &ClaimResult) -> String {
    match (claim.verdict, claim.statement) {
        (Verdict::Void, _) => void(claim),
        (_, Statement::Ratio(_)) => ratio(run, claim),
        (Verdict::Undecided, _) if !Presented::of(claim).is_known() => {
            ". Nothing is known yet".to_owned()
        }
        (Verdict::Undecided, Statement::Property(property)) => {
            format!(". So far: {}", uncapitalised(&property::found(claim, property)))
        }
        (_, Statement::Property(property)) => format!(". {}", property::found(claim, property)),
    }
}

fn uncapitalised(text: &str) -> String {
    let mut text = text.to_owned();
    text.get_mut(..1).into_iter().for_each(str::make_ascii_lowercase);
    text
}

fn ratio(run: &RunResult, claim: &ClaimResult) -> String {
    let quantity = Presented::of(claim);
    let (ahead, behind) = names(&quantity);
    let found = quantity.found();
    let limits = quantity.limits();
    let is_mean = claim.centre == Centre::Mean;
    let [ahead, behind] = [plain(ahead), plain(behind)];
    let pair = if is_mean {
        format!("{behind}'s mean time{NO_BREAK}/{NO_BREAK}{ahead}'s")
    } else {
        format!("{behind}{NO_BREAK}/{NO_BREAK}{ahead}")
    };
    let close = percent(run.resolution, Rounding::Nearest);
    match (claim.verdict, claim.is_question) {
        (Verdict::Void, _) => String::new(),
        (Verdict::Holds, true) if claim.statement.is_measure() => format!(" is {found}"),
        (Verdict::Holds, true) if is_mean => format!(": {pair} is {found}"),
        (Verdict::Holds, true) => format!(": {found}"),
        (Verdict::TooClose, true) => {
            let what = match claim.centre {
                Centre::Mean => "the ratio of their mean times",
                Centre::Median => "the median of their ratios",
                Centre::Factor => "their ratio, as one factor,",
            };
            format!(": {what} is within {close} of 1x ({limits})")
        }
        (Verdict::TooClose, false) => {
            let bar = ratio_text(quantity.nearest_bar());
            let what = match claim.centre {
                Centre::Mean => pair,
                Centre::Median => format!("The median of {pair}"),
                Centre::Factor => format!("{pair}, as one factor,"),
            };
            format!(". {what} is within {close} of {bar} ({limits})")
        }
        (Verdict::Undecided, _) if !quantity.is_known() => {
            format!(". Nothing is known of {pair} yet")
        }
        (Verdict::Undecided, _) => format!(". So far {pair} is {found}"),
        (Verdict::Holds | Verdict::Refuted, _) => format!(". {pair} is {found}"),
    }
}

fn void(claim: &ClaimResult) -> String {
    match &claim.fault {
        Some(Blame { contestant, fault }) => {
            format!(" is not known, because {} {}", plain(contestant), short(&fault.to_string()))
        }
        None => " is not known, because a contestant is void".to_owned(),
    }
}

/// Returns the scope and the error that several verdicts share.
pub(crate) fn common_tail(run: &RunResult) -> Option<String> {
    let proven = || run.verdicts.iter().filter(|claim| claim.verdict != Verdict::Void);
    let scope = capitalised(&scope_words(run, proven().next()?));
    let bursty = proven().filter(|claim| property::is_bursty(claim)).count();
    if bursty == proven().count() {
        return Some(format!("{scope}."));
    }
    if let Some(share) = run.false_share {
        let but = if bursty == 0 { "" } else { " That leaves out those with failures in bursts." };
        return Some(format!("{scope}. {}{but}", of_a_family(share)));
    }
    let wrong = percent(run.error, Rounding::Up);
    let any = if bursty == 0 { "any verdict" } else { "any other verdict" };
    Some(format!("{scope}; the probability that {any} is wrong is at most {wrong}."))
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

/// Returns the command that goes on with a run: an interrupted run has budget left, and one that
/// used it up gets as much again. A stream cannot be read twice, so it takes further lines.
pub fn resume_command(run: &RunResult) -> String {
    let more = if run.stopped == Some(StopReason::Interrupted) { "" } else { " --more" };
    let is_stream = run.verdicts.iter().any(|claim| claim.scope == Scope::Stream);
    let lines = if is_stream { " < LINES" } else { "" };
    format!("tiebreak resume {}{more}{lines}", plain(&run.journal))
}

/// Returns an option with which a similar run would end before its budget.
fn what_ends_it(run: &RunResult, claim: &ClaimResult) -> Option<&'static str> {
    let share_cut_off = |name: &str| {
        let found = run.contestants.iter().find(|contestant| contestant.name == name);
        found.map_or(0.0, |found| found.timed_out as f64 / found.samples.max(1) as f64)
    };
    let cut_off = share_cut_off(&claim.left).max(share_cut_off(right(claim)));
    match claim.statement {
        Statement::Ratio(_) if claim.centre == Centre::Factor && claim.no_factor().is_some() => {
            Some("there is no one factor: a new run without --centre factor can end")
        }
        Statement::Ratio(_) if claim.centre == Centre::Mean => match cut_off {
            0.0 => Some("a new run with a smaller --timeout needs fewer rounds"),
            share if share >= 0.5 => {
                Some("most runs were cut off: a new run with a larger --timeout tells them apart")
            }
            _ => None,
        },
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
    let what = match (claim.scope, &run.study) {
        (Scope::Layout, Some(_)) => "these binaries as they lie in memory",
        (Scope::Binary, Some(_)) => "these binaries in fresh processes",
        (Scope::Code, Some(_)) => "this code, placed afresh in memory",
        _ => return scope_of_programs(claim).to_owned(),
    };
    let is_drawn = run.study.as_ref().is_some_and(|study| study.workload.is_drawn);
    let inputs = match claim.scope {
        Scope::Binary | Scope::Code if is_drawn => "inputs drawn afresh",
        _ => "this input",
    };
    format!("for {what}, on {inputs} and this machine")
}

fn scope_of_programs(claim: &ClaimResult) -> &'static str {
    match (claim.scope, claim.right.is_some()) {
        (Scope::Layout, true) => {
            "for these binaries as they happen to lie in memory on this machine"
        }
        (Scope::Layout, false) => "for this binary as it happens to lie in memory on this machine",
        (Scope::Binary, true) => "for these exact binaries on this machine",
        (Scope::Binary, false) => "for this exact binary on this machine",
        (Scope::Code, _) => "for this code on this machine, freshly placed in memory",
        (Scope::Stream, _) => "for this stream of lines",
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
