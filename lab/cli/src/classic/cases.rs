//! The four functions on words: one case from the command line, or one a line.

use super::digits::g17;
use super::input::next_line;
use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use tiebreak_lab::stats::classic::{
    ClassicError, End, Rank, beta_icdf, csm, log_choose, quantile_index,
};

/// A function, and the names of its arguments.
pub struct Function {
    name: &'static str,
    arguments: &'static [&'static str],
    answer: fn(&Case) -> Result<String, Wrong>,
}

pub const CSM: Function =
    Function { name: "csm", arguments: &["n", "alpha", "s", "log_eps"], answer: answer_csm };

pub const LOG_CHOOSE: Function =
    Function { name: "log-choose", arguments: &["n", "s"], answer: answer_log_choose };

pub const BETA_ICDF: Function = Function {
    name: "beta-icdf",
    arguments: &["a", "b", "alpha", "lower|upper"],
    answer: answer_beta_icdf,
};

pub const QUANTILE_INDEX: Function = Function {
    name: "quantile-index",
    arguments: &["n", "q", "log_eps", "lower|estimate|upper"],
    answer: answer_quantile_index,
};

/// The words of a case, as many as the function has arguments.
struct Case<'a> {
    words: &'a [String],
}

/// An invalid word, by its index from 0, and what would be right.
struct Wrong {
    place: usize,
    expected: String,
}

impl Case<'_> {
    fn whole(&self, place: usize) -> Result<u64, Wrong> {
        let expected = || Wrong { place, expected: "a whole number such as 1000".to_owned() };
        self.words[place].parse().map_err(|_| expected())
    }

    fn number(&self, place: usize) -> Result<f64, Wrong> {
        let expected = || Wrong { place, expected: "a number such as 0.98 or -6.9".to_owned() };
        self.words[place].parse().map_err(|_| expected())
    }

    /// Reads one of several names.
    fn choice<T: Copy>(&self, place: usize, choices: &[(&str, T)]) -> Result<T, Wrong> {
        let found = choices.iter().find(|(name, _)| *name == self.words[place]);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            Wrong { place, expected: names.join(" or ") }
        })
    }
}

/// Converts an error that names an argument to the argument's index among the function's names.
fn refuse(arguments: &'static [&'static str]) -> impl Fn(ClassicError) -> Wrong {
    move |error| {
        let place = arguments.iter().position(|name| *name == error.argument).unwrap_or(0);
        Wrong { place, expected: error.expected.to_owned() }
    }
}

fn answer_csm(case: &Case) -> Result<String, Wrong> {
    let (n, alpha, s, log_eps) = (case.whole(0)?, case.number(1)?, case.whole(2)?, case.number(3)?);
    let got = csm(n, alpha, s, log_eps).map_err(refuse(CSM.arguments))?;
    Ok(format!("{} {}", u8::from(got.is_rejected), g17(got.log_level)))
}

fn answer_log_choose(case: &Case) -> Result<String, Wrong> {
    let got = log_choose(case.whole(0)?, case.whole(1)?);
    Ok(g17(got.map_err(refuse(LOG_CHOOSE.arguments))?))
}

fn answer_beta_icdf(case: &Case) -> Result<String, Wrong> {
    let (a, b, alpha) = (case.whole(0)?, case.whole(1)?, case.number(2)?);
    let end = case.choice(3, &[("lower", End::Lower), ("upper", End::Upper)])?;
    let got = beta_icdf(a, b, alpha, end).map_err(refuse(BETA_ICDF.arguments))?;
    Ok(g17(got.bound))
}

fn answer_quantile_index(case: &Case) -> Result<String, Wrong> {
    let (n, q, log_eps) = (case.whole(0)?, case.number(1)?, case.number(2)?);
    let ranks = [("lower", Rank::Lower), ("estimate", Rank::Estimate), ("upper", Rank::Upper)];
    let rank = case.choice(3, &ranks)?;
    let got = quantile_index(n, q, log_eps, rank).map_err(refuse(QUANTILE_INDEX.arguments))?;
    Ok(got.map_or_else(|| "-".to_owned(), |index| index.to_string()))
}

impl Function {
    fn usage(&self) -> String {
        self.arguments.join(" ")
    }

    /// Returns the answer to a case, or what is wrong with it; `place` is "" or "line 3: ".
    fn of_words(&self, words: &[String], place: &str) -> Result<String, String> {
        let (wanted, given) = (self.arguments.len(), words.len());
        if given != wanted {
            let usage = self.usage();
            let name = self.name;
            return Err(format!("{place}{name} takes {wanted} words ({usage}), not {given}"));
        }
        (self.answer)(&Case { words }).map_err(|wrong| {
            let (word, name) = (&words[wrong.place], self.arguments[wrong.place]);
            let number = wrong.place + 1;
            format!("{place}word {number} ({name}) is '{word}', but must be {}", wrong.expected)
        })
    }
}

/// Answers the case of the command line, or each line of standard input.
pub fn run(
    function: &Function,
    words: &[String],
    from_stdin: bool,
    io: &mut Io,
) -> Result<u8, Failure> {
    if !from_stdin {
        let answer = function.of_words(words, "").map_err(Failure::usage)?;
        io.out(&(answer + "\n"));
        return Ok(exit::HOLDS);
    }
    let mut input = io.take_input();
    let mut number = 0;
    while let Some(line) = next_line(&mut input, &mut number).map_err(Failure::data)? {
        let place = format!("line {}: ", line.number);
        let answer = function.of_words(&line.words, &place).map_err(Failure::data)?;
        io.out(&(answer + "\n"));
        if io.out_is_closed() {
            break;
        }
    }
    Ok(exit::HOLDS)
}
