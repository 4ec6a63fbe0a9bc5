//! The grammar of claims.
//!
//! ```text
//! claim      = ( of-two | of-one ) [ "." ]
//! of-two     = NAME comparison NAME
//!              { "on" NAME | "by" METRIC | "in" SHARE "of" [ "the" ] "rounds" }
//! comparison = "is" ( "faster" | "at least" AMOUNT "faster" | AT-MOST AMOUNT "slower" ) "than"
//!            | "is" "within" AMOUNT "of"
//!            | "uses" ( LESS | "at least" AMOUNT LESS | AT-MOST AMOUNT "more" ) METRIC "than"
//! of-one     = NAME "succeeds at least" SHARE "of the time" { "on" NAME | BAD }
//!            | ( "median" | PERCENTILE ) "of" NAME "is" BELOW BAR
//!              { "on" NAME | "by" METRIC | BAD }
//!            | "mean of" NAME "is" ( BELOW | "above" | "at least" ) BAR
//!              { "on" NAME | "by" METRIC | "capped at" BAR }
//! BAD        = "with" SHARE "as bad"
//! LESS       = "less" | "fewer"
//! AT-MOST    = "at most" | "no more than"
//! BELOW      = "below" | "at most"
//! ```
//!
//! Clauses between braces come in any order and once each; `in SHARE of rounds` only after
//! `faster`, `less` or `fewer`.

use crate::amount::{Bar, Scale, Share, amount, bar, percentile, share, written};
use crate::cursor::Cursor;
use crate::decimal::hundredfold;
use crate::error::{CANNOT_STAND, ClaimError, OUT_OF_RANGE, listed, offered, shown};
use std::ops::Range;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;

/// The longest sentence that is read, in bytes.
pub const MAX_CLAIM_BYTES: usize = 1000;

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    Is,
    Uses,
    Succeeds,
}

#[derive(Clone, Copy)]
enum Bound {
    Just,
    AtLeast,
    AtMost,
    Within,
}

/// Reads a claim about one of the contestants, or about two of them. The text of the claim is the
/// sentence with single spaces between its words and without its full stop.
///
/// Cost: linear in the sentence and the contestants, except that a wrong word is compared with what
/// is expected there.
///
/// # Errors
/// Fails if the sentence is not a claim, or names something unknown: the error points at the word
/// and says what is expected there.
pub fn parse(text: &str, contestants: &[&str]) -> Result<Claim, ClaimError> {
    parse_spanned(text, contestants).map(|(claim, _)| claim)
}

/// The parts of a claim that name something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Left,
    Right,
    Metric,
    Workload,
}

/// The places of the words in a claim that name something, in bytes.
pub(crate) type Words = Vec<(Part, Range<usize>)>;

/// Returns the place of a part, if the claim has it.
pub(crate) fn place_of(words: &Words, part: Part) -> Option<Range<usize>> {
    words.iter().find(|(other, _)| *other == part).map(|(_, span)| span.clone())
}

/// Does what [`parse`] does, and also returns the places of the claim's words.
pub(crate) fn parse_spanned(
    text: &str,
    contestants: &[&str],
) -> Result<(Claim, Words), ClaimError> {
    if text.len() > MAX_CLAIM_BYTES {
        let rest = text.floor_char_boundary(MAX_CLAIM_BYTES)..text.len();
        let expected = vec![format!("at most {MAX_CLAIM_BYTES}")];
        let message = format!("the claim has {} bytes", text.len());
        return Err(ClaimError::new(text, rest, message, expected));
    }
    let mut cursor = Cursor::new(text, contestants)?;
    let example = vec!["one such as 'A is faster than B'".to_owned()];
    if cursor.ahead(0).is_none() {
        return Err(cursor.error_at(cursor.span(0), "the claim is empty", example));
    }
    if cursor.is_word(0, "which") && cursor.is_word(1, "of") {
        return Err(cursor.error("a question is not a claim", example));
    }
    let claim = match of_one(&mut cursor)? {
        Some(claim) => claim,
        None => about_runs(&mut cursor)?,
    };
    Ok((Claim { text: cursor.normalised(), ..claim }, cursor.named))
}

/// Returns a claim without its text.
fn claim(left: String, right: Option<String>, statement: Statement, tail: Tail<'_>) -> Claim {
    let metric = tail.metric();
    Claim { text: String::new(), left, right, statement, metric, workload: tail.workload }
}

/// Reads a sentence that starts with the name of a contestant.
fn about_runs(cursor: &mut Cursor<'_>) -> Result<Claim, ClaimError> {
    let left = contestant(cursor, None)?;
    let verbs = [("is", Verb::Is), ("uses", Verb::Uses), ("succeeds", Verb::Succeeds)];
    let verb = cursor.choose(&verbs)?;
    if verb == Verb::Succeeds {
        return succeeds(cursor, left);
    }
    let (relation, metric) = comparison(cursor, verb)?;
    let right = contestant(cursor, Some(&left))?;
    let clauses: &[Clause] = match relation {
        Relation::AtLeast { .. } => &[Clause::On, Clause::By, Clause::Rounds],
        _ => &[Clause::On, Clause::By],
    };
    let tail = tail(cursor, clauses, metric)?;
    let statement = match (relation, &tail.rounds) {
        (Relation::AtLeast { factor }, Some(share)) => {
            Statement::Property(Property::InShareOfRounds { factor, share: share.value })
        }
        _ => Statement::Ratio(relation),
    };
    Ok(claim(left, Some(right), statement, tail))
}

/// Reads everything between the verb and the second name.
fn comparison(
    cursor: &mut Cursor<'_>,
    verb: Verb,
) -> Result<(Relation, Option<Metric>), ClaimError> {
    let bound = bound(cursor, verb)?;
    let relation = match bound {
        Bound::Just => Relation::AtLeast { factor: 1.0 },
        Bound::AtLeast => {
            let scale = if verb == Verb::Uses { Scale::Less } else { Scale::Faster };
            Relation::AtLeast { factor: amount(cursor, scale)? }
        }
        Bound::AtMost => Relation::NoMoreThan { fraction: amount(cursor, Scale::More)? },
        Bound::Within => Relation::Within { fraction: amount(cursor, Scale::Within)? },
    };
    match (verb, bound) {
        (_, Bound::Just) => {}
        (_, Bound::Within) => {
            cursor.choose(&[("of", ())])?;
            return Ok((relation, None));
        }
        (Verb::Uses, Bound::AtLeast) => cursor.choose(&[("less", ()), ("fewer", ())])?,
        (Verb::Uses, Bound::AtMost) => cursor.choose(&[("more", ())])?,
        (_, Bound::AtLeast) => cursor.choose(&[("faster", ())])?,
        (_, Bound::AtMost) => cursor.choose(&[("slower", ())])?,
    }
    let metric = if verb == Verb::Uses { Some(metric(cursor)?) } else { None };
    cursor.choose(&[("than", ())])?;
    Ok((relation, metric))
}

/// Reads the bound of the claim, up to the amount.
fn bound(cursor: &mut Cursor<'_>, verb: Verb) -> Result<Bound, ClaimError> {
    let bounds = [
        ("faster", Bound::Just),
        ("at least", Bound::AtLeast),
        ("no more than", Bound::AtMost),
        ("at most", Bound::AtMost),
        ("within", Bound::Within),
    ];
    let less = [("less", Bound::Just), ("fewer", Bound::Just), bounds[1], bounds[2], bounds[3]];
    let (bounds, better, worse) = match verb {
        Verb::Uses => (&less, "less", "more"),
        _ => (&bounds, "faster", "slower"),
    };
    if cursor.is_word(0, worse) {
        let expected = vec![
            format!("'{better}' with the two names swapped"),
            format!("'no more than 2% {worse}'"),
        ];
        return Err(cursor.error(CANNOT_STAND, expected));
    }
    let meant = bounded_amount(cursor, worse);
    cursor.choose(bounds).map_err(|error| match meant {
        Some(meant) => error.suggest(Some(&meant)),
        None => error,
    })
}

/// Returns what was meant by an amount without a bound: `5% faster` is ambiguous, `at least 5%` is
/// not.
fn bounded_amount(cursor: &Cursor<'_>, worse: &str) -> Option<String> {
    let number =
        cursor.ahead(0).filter(|word| word.raw.starts_with(|c: char| c.is_ascii_digit()))?;
    let bounds = [(worse, "no more than"), ("of", "within")];
    let bound = bounds
        .into_iter()
        .find(|(word, _)| cursor.is_word(1, word) || cursor.is_word(2, word))
        .map_or("at least", |(_, bound)| bound);
    Some(format!("{bound} {}", number.raw))
}

/// The quantity that is claimed to be below a bar.
#[derive(Clone, Copy)]
enum Subject {
    Mean,
    Quantile(f64),
}

/// Reads a sentence that starts with `mean of`, `median of` or `p99 of`; `None` if it starts with
/// the name of a contestant, or with an unknown word.
fn of_one(cursor: &mut Cursor<'_>) -> Result<Option<Claim>, ClaimError> {
    let starts = cursor.is_word(1, "of") && cursor.ahead(0).is_some_and(|word| !word.is_quoted);
    if !starts {
        return Ok(None);
    }
    let subject = if let Some(share) = percentile(cursor) {
        Subject::Quantile(share?)
    } else {
        let names = [("median", Subject::Quantile(0.5)), ("mean", Subject::Mean)];
        let is_subject = names.iter().any(|(word, _)| cursor.is_word(0, word));
        if !is_subject && cursor.ahead(0).is_some_and(|word| cursor.names.contains(&word.raw)) {
            return Ok(None);
        }
        cursor.choose(&names).map_err(|error| error.or_expect("a percentile such as p99"))?
    };
    cursor.choose(&[("of", ())])?;
    let left = contestant(cursor, None)?;
    cursor.choose(&[("is", ())])?;
    match subject {
        Subject::Mean => mean(cursor, left).map(Some),
        Subject::Quantile(share) => quantile(cursor, left, share).map(Some),
    }
}

/// Reads the rest after `p99 of A is`.
fn quantile(cursor: &mut Cursor<'_>, left: String, good: f64) -> Result<Claim, ClaimError> {
    cursor.choose(&[("below", ()), ("at most", ())])?;
    let bar = bar(cursor, &KEYWORDS)?;
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Bad], None)?;
    let property = Property::Quantile {
        good,
        bad: bad(cursor, &tail, good)?,
        bar: bar.value(cursor, tail.metric(), tail.by.is_some())?,
    };
    Ok(claim(left, None, Statement::Property(property), tail))
}

/// Reads the rest after `mean of A is`.
fn mean(cursor: &mut Cursor<'_>, left: String) -> Result<Claim, ClaimError> {
    let sides = [("below", true), ("at most", true), ("above", false), ("at least", false)];
    let is_below = cursor.choose(&sides)?;
    let bar = bar(cursor, &KEYWORDS)?;
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Cap], None)?;
    let (metric, by) = (tail.metric(), tail.by.is_some());
    let value = bar.value(cursor, metric, by)?;
    let cap = tail.cap.as_ref().map(|cap| cap.value(cursor, metric, by)).transpose()?;
    if let (Some(cap), Some(read)) = (cap, &tail.cap)
        && cap <= value
    {
        let expected = vec![format!("a cap above {}", written(value, metric.unit()))];
        return Err(cursor.error_at(read.span.clone(), OUT_OF_RANGE, expected));
    }
    let property = Property::Mean { is_below, bar: value, cap };
    Ok(claim(left, None, Statement::Property(property), tail))
}

/// Reads the rest after `A succeeds`.
fn succeeds(cursor: &mut Cursor<'_>, left: String) -> Result<Claim, ClaimError> {
    if cursor.ahead(0).is_some_and(|word| word.raw.starts_with(|c: char| c.is_ascii_digit())) {
        let meant = cursor.ahead(0).map(|word| format!("at least {}", word.raw));
        let error = cursor.error(CANNOT_STAND, offered(["at least"]));
        return Err(error.suggest(meant.as_deref()));
    }
    cursor.choose(&[("at least", ())])?;
    let good = share(cursor)?.value;
    cursor.choose(&[("of the time", ())])?;
    let tail = tail(cursor, &[Clause::On, Clause::Bad], None)?;
    let property = Property::Succeeds { good, bad: bad(cursor, &tail, good)? };
    Ok(claim(left, None, Statement::Property(property), tail))
}

/// Returns the bad share: the good one if only that is given, and never more than it.
fn bad(cursor: &Cursor<'_>, tail: &Tail<'_>, good: f64) -> Result<f64, ClaimError> {
    match &tail.bad {
        None => Ok(good),
        Some(Share { value, .. }) if *value <= good => Ok(*value),
        Some(Share { span, .. }) => {
            let expected = vec![format!("at most the good share, {}%", hundredfold(good))];
            Err(cursor.error_at(span.clone(), OUT_OF_RANGE, expected))
        }
    }
}

const THE_END: &str = "the end of the claim";

/// The words that start a clause. None of them is the unit of a number before it.
pub(crate) const KEYWORDS: [&str; 5] = ["on", "by", "with", "capped", "in"];

/// A clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clause {
    /// `on WORKLOAD`.
    On,
    /// `by METRIC`.
    By,
    /// `with 96% as bad`.
    Bad,
    /// `capped at 50 ms`.
    Cap,
    /// `in 98% of rounds`.
    Rounds,
}

impl Clause {
    /// Each clause with what it names.
    const ALL: [(Clause, &str); 5] = [
        (Clause::On, "workload"),
        (Clause::By, "metric"),
        (Clause::Bad, "bad share"),
        (Clause::Cap, "cap"),
        (Clause::Rounds, "share of rounds"),
    ];

    /// Returns its first word.
    fn word(self) -> &'static str {
        KEYWORDS[self as usize]
    }
}

/// The content of the clauses.
#[derive(Debug, Default)]
struct Tail<'a> {
    workload: Option<String>,
    by: Option<Metric>,
    bad: Option<Share>,
    cap: Option<Bar<'a>>,
    rounds: Option<Share>,
}

impl Tail<'_> {
    /// Returns the metric of the claim.
    fn metric(&self) -> Metric {
        self.by.unwrap_or(Metric::WallTime)
    }

    fn has(&self, clause: Clause) -> bool {
        match clause {
            Clause::On => self.workload.is_some(),
            Clause::By => self.by.is_some(),
            Clause::Bad => self.bad.is_some(),
            Clause::Cap => self.cap.is_some(),
            Clause::Rounds => self.rounds.is_some(),
        }
    }
}

/// Reads the clauses to the end of the claim. The metric may have been named before, in other words
/// (`by`).
fn tail<'a>(
    cursor: &mut Cursor<'a>,
    clauses: &[Clause],
    by: Option<Metric>,
) -> Result<Tail<'a>, ClaimError> {
    let mut tail = Tail { by, ..Tail::default() };
    while cursor.ahead(0).is_some() {
        let next = Clause::ALL.into_iter().find(|(clause, _)| cursor.is_word(0, clause.word()));
        match next.filter(|(clause, _)| clauses.contains(clause)) {
            Some((clause, subject)) if tail.has(clause) => {
                let expected = expected(&tail, clauses);
                return Err(cursor.error(&format!("the {subject} is named twice"), expected));
            }
            Some((clause, _)) => {
                cursor.skip(1);
                read(cursor, clause, &mut tail)?;
            }
            None => {
                // A word that starts another clause is not a slip.
                let open = if next.is_some() { Vec::new() } else { open(&tail, clauses) };
                let meant = cursor.meant(open.into_iter());
                let expected = expected(&tail, clauses);
                return Err(cursor.error(CANNOT_STAND, expected).suggest(meant));
            }
        }
    }
    Ok(tail)
}

/// Reads a clause after its first word.
fn read<'a>(
    cursor: &mut Cursor<'a>,
    clause: Clause,
    tail: &mut Tail<'a>,
) -> Result<(), ClaimError> {
    match clause {
        Clause::On => tail.workload = Some(workload(cursor)?),
        Clause::By => tail.by = Some(metric(cursor)?),
        Clause::Bad => {
            tail.bad = Some(share(cursor)?);
            cursor.choose(&[("as bad", ())])?;
        }
        Clause::Cap => {
            cursor.choose(&[("at", ())])?;
            tail.cap = Some(bar(cursor, &KEYWORDS)?);
        }
        Clause::Rounds => {
            tail.rounds = Some(share(cursor)?);
            cursor.choose(&[("of rounds", ()), ("of the rounds", ())])?;
        }
    }
    Ok(())
}

/// Returns the words of the clauses that may still follow.
fn open(tail: &Tail<'_>, clauses: &[Clause]) -> Vec<&'static str> {
    clauses.iter().filter(|clause| !tail.has(**clause)).map(|clause| clause.word()).collect()
}

fn expected(tail: &Tail<'_>, clauses: &[Clause]) -> Vec<String> {
    let mut expected = offered(open(tail, clauses));
    expected.push(THE_END.to_owned());
    expected
}

/// Reads the name of a contestant; the right one must differ from the left one.
fn contestant(cursor: &mut Cursor<'_>, left: Option<&str>) -> Result<String, ClaimError> {
    let names = cursor.names.iter().copied();
    let others: Vec<&str> = names.filter(|name| Some(*name) != left).collect();
    let Some(token) = cursor.ahead(0) else {
        return Err(cursor.error(CANNOT_STAND, expected_names(&others)));
    };
    let name = token.value.clone().into_owned();
    let is_known = cursor.names.contains(&name.as_str());
    if is_known && left != Some(name.as_str()) {
        let part = if left.is_none() { Part::Left } else { Part::Right };
        cursor.take(1, part);
        return Ok(name);
    }
    let mut error = cursor.error("", expected_names(&others));
    if is_known {
        error.message = format!("'{}' is compared with itself", shown(&name));
        return Err(error);
    }
    error.message = format!("no contestant is called '{}'", shown(&name));
    error.always_lists = true;
    let of_first_word = others
        .iter()
        .copied()
        .find(|other| other.split_once(' ').is_some_and(|(first, _)| first == name));
    Err(error.suggest(cursor.meant(others.iter().copied()).or(of_first_word)))
}

/// Returns the contestants that are expected, as errors list them.
fn expected_names(names: &[&str]) -> Vec<String> {
    match names {
        [] => vec!["a contestant, but there is no other".to_owned()],
        names => listed(names),
    }
}

/// Reads the name of a metric.
fn metric(cursor: &mut Cursor<'_>) -> Result<Metric, ClaimError> {
    let named = Metric::ALL.map(|metric| (metric.name(), metric));
    let names: Vec<_> = named.into_iter().chain([("memory", Metric::PeakMemory)]).collect();
    let start = cursor.span(1).start;
    let metric = cursor.choose(&names)?;
    cursor.named.push((Part::Metric, start..cursor.last_end()));
    Ok(metric)
}

/// Reads the name of a workload, which is not a word that could follow it.
fn workload(cursor: &mut Cursor<'_>) -> Result<String, ClaimError> {
    match cursor.ahead(0) {
        Some(name) if !KEYWORDS.iter().any(|word| cursor.is_word(0, word)) => {
            let name = name.value.clone().into_owned();
            cursor.take(1, Part::Workload);
            Ok(name)
        }
        _ => Err(cursor.error(CANNOT_STAND, vec!["the name of a workload".to_owned()])),
    }
}
