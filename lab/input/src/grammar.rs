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
//!            | SHARE "take" ( "less than" | "at most" ) BAR
//!              { "on" NAME | "by" METRIC | BAD }
//! BAD        = "with" SHARE "as bad"
//! LESS       = "less" | "fewer"
//! AT-MOST    = "at most" | "no more than"
//! BELOW      = "below" | "at most"
//! ```
//!
//! Of a single contestant `of NAME` may be left out after `median`, `mean` or a percentile, and
//! only of a single one is it said how many `take` less than something.
//!
//! Clauses between braces come in any order and once each; `in SHARE of rounds` only after
//! `faster`, `less` or `fewer`.

use crate::amount::{Bar, Scale, Share, amount, bar, percentile, share, written};
use crate::cursor::{Cursor, Part, Words};
use crate::decimal::hundredfold;
use crate::error::{
    CANNOT_STAND, ClaimError, MAX_CLAIM_BYTES, OUT_OF_RANGE, Read, listed, offered, shown,
};
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;

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

/// Does what [`parse`] does, and also returns the places of the claim's words.
pub fn parse_spanned(text: &str, contestants: &[&str]) -> Read<(Claim, Words)> {
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
    let statement = match of_one(&mut cursor)? {
        Some(property) => Statement::Property(property),
        None => about_runs(&mut cursor)?,
    };
    let (text, metric) = (cursor.normalised(), cursor.metric());
    let Cursor { left, right, workload, named, .. } = cursor;
    Ok((Claim { text, left, right, statement, metric, workload }, named))
}

/// Reads a sentence that starts with the name of a contestant.
fn about_runs(cursor: &mut Cursor<'_>) -> Read<Statement> {
    contestant(cursor, Part::Left)?;
    // Whether the metric follows, or is the time.
    let verbs = [("is", Some(false)), ("uses", Some(true)), ("succeeds", None)];
    let Some(uses) = cursor.choose(&verbs)? else {
        return succeeds(cursor).map(Statement::Property);
    };
    let relation = comparison(cursor, uses)?;
    contestant(cursor, Part::Right)?;
    let Relation::AtLeast { factor } = relation else {
        tail(cursor, &[Clause::On, Clause::By])?;
        return Ok(Statement::Ratio(relation));
    };
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Rounds])?;
    Ok(match tail.rounds {
        Some(Share { value: share, .. }) => {
            Statement::Property(Property::InShareOfRounds { factor, share })
        }
        None => Statement::Ratio(relation),
    })
}

/// Reads everything between the verb and the second name.
fn comparison(cursor: &mut Cursor<'_>, uses: bool) -> Read<Relation> {
    let relation = match bound(cursor, uses)? {
        Bound::Just => Relation::AtLeast { factor: 1.0 },
        Bound::AtLeast => {
            let factor = amount(cursor, if uses { Scale::Less } else { Scale::Faster })?;
            cursor.expect(if uses { &["less", "fewer"] } else { &["faster"] })?;
            Relation::AtLeast { factor }
        }
        Bound::AtMost => {
            let fraction = amount(cursor, Scale::More)?;
            cursor.expect(if uses { &["more"] } else { &["slower"] })?;
            Relation::NoMoreThan { fraction }
        }
        Bound::Within => {
            let fraction = amount(cursor, Scale::Within)?;
            cursor.expect(&["of"])?;
            return Ok(Relation::Within { fraction });
        }
    };
    if uses {
        metric(cursor)?;
    }
    cursor.expect(&["than"])?;
    Ok(relation)
}

/// Reads the bound of the claim, up to the amount.
fn bound(cursor: &mut Cursor<'_>, uses: bool) -> Read<Bound> {
    let bounds = [
        ("faster", Bound::Just),
        ("at least", Bound::AtLeast),
        ("no more than", Bound::AtMost),
        ("at most", Bound::AtMost),
        ("within", Bound::Within),
    ];
    let less = [("less", Bound::Just), ("fewer", Bound::Just), bounds[1], bounds[2], bounds[3]];
    let (bounds, better, worse) =
        if uses { (&less, "less", "more") } else { (&bounds, "faster", "slower") };
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
    let number = cursor.ahead(0).filter(|word| word.starts_with_digit())?;
    let mut bounds = [(worse, "no more than"), ("of", "within")].into_iter();
    let bound = bounds.find(|(word, _)| cursor.is_word(1, word) || cursor.is_word(2, word));
    Some(format!("{} {}", bound.map_or("at least", |(_, bound)| bound), number.raw))
}

/// Reads a sentence that starts with `mean of`, `median of` or `p99 of`; `None` if it starts with
/// the name of a contestant, or with an unknown word.
fn of_one(cursor: &mut Cursor<'_>) -> Read<Option<Property>> {
    let of = if is_of_the_only(cursor) { 0 } else { 1 };
    let starts =
        of == 0 || cursor.is_word(1, "of") && cursor.ahead(0).is_some_and(|word| !word.is_quoted);
    if !starts {
        return Ok(None);
    }
    if cursor.is_word(1, "take") {
        let good = share(cursor)?.value;
        cursor.expect(&["take"])?;
        cursor.left = cursor.names[0].to_owned();
        return quantile(cursor, good, &["less than", "at most"]).map(Some);
    }
    // A mean has no share.
    let share = if let Some(share) = percentile(cursor) {
        Some(share?)
    } else {
        let names = [("median", Some(0.5)), ("mean", None)];
        let is_subject = names.iter().any(|(word, _)| cursor.is_word(0, word));
        if !is_subject && cursor.ahead(0).is_some_and(|word| cursor.names.contains(&word.raw)) {
            return Ok(None);
        }
        cursor.choose(&names).map_err(|error| error.or_expect("a percentile such as p99"))?
    };
    if of == 0 {
        cursor.left = cursor.names[0].to_owned();
    } else {
        cursor.expect(&["of"])?;
        contestant(cursor, Part::Left)?;
    }
    cursor.expect(&["is"])?;
    match share {
        None => mean(cursor).map(Some),
        Some(share) => quantile(cursor, share, &["below", "at most"]).map(Some),
    }
}

/// Returns whether the sentence begins with what is claimed of the only contestant, without its
/// name: `p99 is`, `mean is`, `99% take`.
fn is_of_the_only(cursor: &Cursor<'_>) -> bool {
    let &[only] = cursor.names else { return false };
    let Some(first) = cursor.ahead(0).filter(|word| !word.is_quoted && word.raw != only) else {
        return false;
    };
    let after_p = first.raw.strip_prefix(['p', 'P']).unwrap_or_default();
    let is_quantity = cursor.is_word(0, "mean")
        || cursor.is_word(0, "median")
        || after_p.starts_with(|c: char| c.is_ascii_digit());
    is_quantity && cursor.is_word(1, "is") || first.starts_with_digit() && cursor.is_word(1, "take")
}

/// Reads the rest after `p99 of A is` or `99% take`: the bar follows one of these words.
fn quantile(cursor: &mut Cursor<'_>, good: f64, below: &[&'static str]) -> Read<Property> {
    cursor.expect(below)?;
    let bar = bar(cursor, &KEYWORDS)?;
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Bad])?;
    Ok(Property::Quantile { good, bad: bad(cursor, &tail, good)?, bar: bar.value(cursor)? })
}

/// Reads the rest after `mean of A is`.
fn mean(cursor: &mut Cursor<'_>) -> Read<Property> {
    let sides = [("below", true), ("at most", true), ("above", false), ("at least", false)];
    let is_below = cursor.choose(&sides)?;
    let bar = bar(cursor, &KEYWORDS)?;
    let tail = tail(cursor, &[Clause::On, Clause::By, Clause::Cap])?;
    let bar = bar.value(cursor)?;
    let Some(read) = tail.cap else { return Ok(Property::Mean { is_below, bar, cap: None }) };
    let cap = read.value(cursor)?;
    if cap <= bar {
        let expected = vec![format!("a cap above {}", written(bar, cursor.metric().unit()))];
        return Err(cursor.error_at(read.span, OUT_OF_RANGE, expected));
    }
    Ok(Property::Mean { is_below, bar, cap: Some(cap) })
}

/// Reads the rest after `A succeeds`.
fn succeeds(cursor: &mut Cursor<'_>) -> Read<Property> {
    if let Some(word) = cursor.ahead(0).filter(|word| word.starts_with_digit()) {
        let error = cursor.error(CANNOT_STAND, offered(["at least"]));
        return Err(error.suggest(Some(&format!("at least {}", word.raw))));
    }
    cursor.expect(&["at least"])?;
    let good = share(cursor)?.value;
    cursor.expect(&["of the time"])?;
    let tail = tail(cursor, &[Clause::On, Clause::Bad])?;
    Ok(Property::Succeeds { good, bad: bad(cursor, &tail, good)? })
}

/// Returns the bad share: the good one if only that is given, and never more than it.
fn bad(cursor: &Cursor<'_>, tail: &Tail<'_>, good: f64) -> Read<f64> {
    match &tail.bad {
        None => Ok(good),
        Some(Share { value, .. }) if *value <= good => Ok(*value),
        Some(Share { span, .. }) => {
            let expected = vec![format!("at most the good share, {}%", hundredfold(good))];
            Err(cursor.error_at(span.clone(), OUT_OF_RANGE, expected))
        }
    }
}

/// The words that start a clause. None of them is the unit of a number before it.
pub const KEYWORDS: [&str; 5] = ["on", "by", "with", "capped", "in"];

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

/// The content of the clauses, but for the workload and the metric.
#[derive(Debug, Default)]
struct Tail<'a> {
    bad: Option<Share>,
    cap: Option<Bar<'a>>,
    rounds: Option<Share>,
}

/// Reads the clauses to the end of the claim. The metric may have been named before, in other
/// words.
fn tail<'a>(cursor: &mut Cursor<'a>, clauses: &[Clause]) -> Read<Tail<'a>> {
    let mut tail = Tail::default();
    let mut open = clauses.to_vec();
    open.retain(|clause| *clause != Clause::By || cursor.metric.is_none());
    while cursor.ahead(0).is_some() {
        let next = Clause::ALL.into_iter().find(|(clause, _)| cursor.is_word(0, clause.word()));
        if let Some((clause, _)) = next.filter(|(clause, _)| open.contains(clause)) {
            cursor.skip(1);
            read(cursor, clause, &mut tail)?;
            open.retain(|other| *other != clause);
            continue;
        }
        let words: Vec<&str> = open.iter().map(|clause| clause.word()).collect();
        let mut expected = offered(words.iter().copied());
        expected.push("the end of the claim".to_owned());
        return Err(match next {
            Some((clause, subject)) if clauses.contains(&clause) => {
                cursor.error(&format!("the {subject} is named twice"), expected)
            }
            // A word that starts another clause is not a slip.
            Some(_) => cursor.error(CANNOT_STAND, expected),
            None => {
                let meant = cursor.meant(words.into_iter());
                cursor.error(CANNOT_STAND, expected).suggest(meant)
            }
        });
    }
    Ok(tail)
}

/// Reads a clause after its first word.
fn read<'a>(cursor: &mut Cursor<'a>, clause: Clause, tail: &mut Tail<'a>) -> Read<()> {
    match clause {
        Clause::On => workload(cursor)?,
        Clause::By => metric(cursor)?,
        Clause::Bad => {
            tail.bad = Some(share(cursor)?);
            cursor.expect(&["as bad"])?;
        }
        Clause::Cap => {
            cursor.expect(&["at"])?;
            tail.cap = Some(bar(cursor, &KEYWORDS)?);
        }
        Clause::Rounds => {
            tail.rounds = Some(share(cursor)?);
            cursor.expect(&["of rounds", "of the rounds"])?;
        }
    }
    Ok(())
}

/// Reads the name of a contestant; the right one must differ from the left one.
fn contestant(cursor: &mut Cursor<'_>, part: Part) -> Read<()> {
    let names = cursor.names.iter().copied();
    let others: Vec<&str> =
        names.filter(|name| part == Part::Left || *name != cursor.left).collect();
    let expected = if others.is_empty() {
        vec!["a contestant, but there is no other".to_owned()]
    } else {
        listed(&others)
    };
    let Some(token) = cursor.ahead(0) else { return Err(cursor.error(CANNOT_STAND, expected)) };
    let name = token.value.clone().into_owned();
    if others.contains(&name.as_str()) {
        cursor.take(part);
        match part {
            Part::Left => cursor.left = name,
            _ => cursor.right = Some(name),
        }
        return Ok(());
    }
    let mut error = cursor.error("", expected);
    if cursor.names.contains(&name.as_str()) {
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

/// Reads the name of a metric.
fn metric(cursor: &mut Cursor<'_>) -> Read<()> {
    let named = Metric::ALL.map(|metric| (metric.name(), metric));
    let names: Vec<_> = named.into_iter().chain([("memory", Metric::PeakMemory)]).collect();
    let start = cursor.span(1).start;
    cursor.metric = Some(cursor.choose(&names)?);
    cursor.named.push((Part::Metric, start..cursor.last_end()));
    Ok(())
}

/// Reads the name of a workload, which is not a word that could follow it.
fn workload(cursor: &mut Cursor<'_>) -> Read<()> {
    match cursor.ahead(0) {
        Some(name) if !KEYWORDS.iter().any(|word| cursor.is_word(0, word)) => {
            cursor.workload = Some(name.value.clone().into_owned());
            cursor.take(Part::Workload);
            Ok(())
        }
        _ => Err(cursor.error(CANNOT_STAND, vec!["the name of a workload".to_owned()])),
    }
}
