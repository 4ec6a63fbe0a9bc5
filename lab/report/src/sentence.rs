//! Verdicts as sentences that a person can quote.

use crate::look::{Spans, Tone, letters, span};
use crate::number::{Rounding, count, percent, seconds};
use crate::ratio::{Told, bar_text};
use crate::text::{NO_BREAK, plain};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Centre, Scope};
use tiebreak_core::result::{ClaimResult, RunResult};
use tiebreak_core::verdict::Verdict;

/// The verdict on one claim of a run, in one or two sentences with their scope: on one line,
/// without styles, so that it can be quoted as it stands.
///
/// The ratio is `right / left`, above 1 where the left contestant needs less. Of a question that
/// the right contestant won it is turned round. Limits are rounded outwards.
pub fn sentence(run: &RunResult, claim: &ClaimResult) -> String {
    letters(&spans(run, claim)).replace(NO_BREAK, " ")
}

/// The same with tones.
pub(crate) fn spans(run: &RunResult, claim: &ClaimResult) -> Spans {
    let mut text = head(run, claim);
    if claim.verdict != Verdict::Void && Told::of(claim).is_known() {
        text.push(span(Tone::Plain, format!(", {}", scope_words(claim.scope))));
        let has_bounds = claim.ratio.low.is_some() || claim.ratio.high.is_some();
        let error = match claim.verdict {
            Verdict::Undecided if !has_bounds => None,
            Verdict::Undecided => Some(("the interval is ", 1.0 - claim.ratio.confidence)),
            _ => Some(("", claim.error)),
        };
        if let Some((what, error)) = error {
            let wrong = percent(error, Rounding::Up);
            text.push(span(Tone::Plain, format!("; {what}wrong with probability at most {wrong}")));
        }
    }
    text.push(span(Tone::Plain, "."));
    text
}

/// What is said of one claim, without its scope and without a full stop at the end.
pub(crate) fn head(run: &RunResult, claim: &ClaimResult) -> Spans {
    let tone = tone(claim.verdict);
    let mut text = match (claim.verdict, claim.is_question) {
        (Verdict::Holds, true) => vec![span(tone, order(&Told::of(claim), claim.metric))],
        (Verdict::TooClose, true) => vec![span(tone, tie(claim))],
        (Verdict::Undecided, _) => vec![
            span(tone, "Undecided"),
            span(Tone::Plain, format!(" after {}: {}", effort(claim), subject(claim))),
        ],
        (verdict, is_question) => {
            let whether = if verdict == Verdict::Void && !is_question { "whether " } else { "" };
            vec![
                span(tone, capitalised(verdict.name())),
                span(Tone::Plain, format!(": {whether}{}", subject(claim))),
            ]
        }
    };
    text.push(span(Tone::Plain, estimate(run, claim)));
    text
}

/// The tone of a verdict's words.
pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Holds => Tone::Good,
        Verdict::Refuted | Verdict::Void => Tone::Bad,
        Verdict::TooClose | Verdict::Undecided => Tone::Doubt,
    }
}

/// What a verdict speaks of, as the end of a sentence.
pub(crate) fn scope_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Layout => "for these binaries as they happen to lie in memory on this machine",
        Scope::Binary => "for these programs as cached on this machine",
        Scope::Code => "for this code on this machine, freshly placed in memory",
    }
}

/// What the ratio is: what the engine's guarantee speaks of.
fn centre_words(centre: Centre) -> &'static str {
    match centre {
        Centre::Factor => "as a constant factor",
        Centre::Median => "as the median of paired ratios",
    }
}

/// How long the claim was looked at.
fn effort(claim: &ClaimResult) -> String {
    format!("{} in {}", count(claim.rounds, "round"), seconds(claim.seconds))
}

/// `A is faster than B`, `A uses less peak memory than B`.
fn order(told: &Told, metric: Metric) -> String {
    format!("{} {} than {}", plain(told.ahead), comparison(metric), plain(told.behind))
}

/// The words between two names that say that the first needs less.
fn comparison(metric: Metric) -> String {
    let verb = match metric {
        Metric::WallTime => return "is faster".to_owned(),
        Metric::PageFaults | Metric::ContextSwitches => "has fewer",
        Metric::BranchMisses | Metric::CacheMisses => "has fewer",
        Metric::Cycles | Metric::Instructions => "needs fewer",
        _ => "uses less",
    };
    format!("{verb} {}", metric.name())
}

fn tie(claim: &ClaimResult) -> String {
    let metric = match claim.metric {
        Metric::WallTime => String::new(),
        metric => format!(" in {}", metric.name()),
    };
    let [left, right] = [plain(&claim.left), plain(&claim.right)];
    format!("{left} and {right} are too close{metric} to matter")
}

/// What was claimed or asked.
fn subject(claim: &ClaimResult) -> String {
    if !claim.is_question {
        return plain(&claim.claim).trim_end_matches('.').to_owned();
    }
    let [left, right] = [plain(&claim.left), plain(&claim.right)];
    format!("which of {left} and {right} {}", comparison(claim.metric))
}

/// The rest of the head: the ratio, or the fault.
fn estimate(run: &RunResult, claim: &ClaimResult) -> String {
    let told = Told::of(claim);
    let found = found(&told, claim.centre);
    let limits = told.limits();
    let pair = format!("{}{NO_BREAK}/{NO_BREAK}{}", plain(told.behind), plain(told.ahead));
    let close = percent(run.resolution, Rounding::Nearest);
    match (claim.verdict, claim.is_question) {
        (Verdict::Void, _) => void(claim),
        (Verdict::Holds, true) => format!(": {found}"),
        (Verdict::TooClose, true) => {
            let ratio = match claim.centre {
                Centre::Factor => "their constant factor",
                Centre::Median => "the median of their paired ratios",
            };
            format!(": {ratio} is within {close} of 1x ({limits})")
        }
        (Verdict::TooClose, false) => {
            let bar = bar_text(told.nearest_bar());
            let centre = centre_words(claim.centre);
            format!(". {pair} is within {close} of {bar} {centre} ({limits})")
        }
        (Verdict::Undecided, _) if !told.is_known() => format!(". Nothing is known of {pair} yet"),
        (Verdict::Undecided, _) => format!(". So far {pair} is {found}"),
        (Verdict::Holds | Verdict::Refuted, _) => format!(". {pair} is {found}"),
    }
}

/// `1.42x as a constant factor (1.31x to 1.55x)`.
fn found(told: &Told, centre: Centre) -> String {
    let [estimate, ..] = told.numbers();
    let (centre, limits) = (centre_words(centre), told.limits());
    match estimate {
        Some(estimate) => format!("{estimate} {centre} ({limits})"),
        None => format!("{limits}, {centre}"),
    }
}

fn void(claim: &ClaimResult) -> String {
    match &claim.fault {
        Some((name, fault)) => {
            format!(" is not known, because {} {}", plain(name), short(&fault.to_string()))
        }
        None => " is not known, because a contestant is void".to_owned(),
    }
}

/// A fault's text, cut where a program's last words go on and on.
fn short(text: &str) -> String {
    const MOST: usize = 240;
    let text = plain(text);
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown.trim_end_matches('.').to_owned()
}

/// With a capital letter at the front.
fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// What the scope and the error of several verdicts are, said once.
pub(crate) fn common_tail(run: &RunResult) -> Option<String> {
    let mut proven = run.verdicts.iter().filter(|claim| claim.verdict != Verdict::Void);
    let scope = capitalised(scope_words(proven.next()?.scope));
    let wrong = percent(run.error, Rounding::Up);
    Some(format!("{scope}; the probability that any verdict is wrong is at most {wrong}."))
}

/// What the reader can do about verdicts that are still open: going on with the run.
pub(crate) fn what_helps(run: &RunResult) -> Option<Spans> {
    let open = run.verdicts.iter().any(|claim| claim.verdict == Verdict::Undecided);
    if !open || run.self_check.is_some() {
        return None;
    }
    let budget = match (run.budget.seconds, run.budget.rounds) {
        (Some(limit), _) if limit.is_finite() => format!(" --budget {:.0}s", (2.0 * limit).ceil()),
        (_, Some(rounds)) => format!(" --budget '{} rounds'", rounds.saturating_mul(2)),
        _ => String::new(),
    };
    let command = format!("tiebreak resume {}{budget}", plain(&run.journal));
    let mut spans = vec![span(Tone::Plain, "To go on: "), span(Tone::Strong, command)];
    if run.resolution == 0.0 {
        let hint = "; a new run with --resolution 1% can end at 'too close'";
        spans.push(span(Tone::Plain, hint));
    }
    Some(spans)
}
