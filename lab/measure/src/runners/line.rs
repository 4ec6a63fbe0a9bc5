//! Parses the answers of a runner, line by line, and describes a wrong one.

/// The version of the protocol: the first word after `hello`, on both sides.
pub(super) const VERSION: u32 = 1;
/// The longest line that is accepted as an answer.
pub(super) const LINE_BYTES_MAX: usize = 1 << 16;
/// The most characters of a wrong line that a message quotes.
const QUOTED_CHARS: usize = 60;

/// The answer of a runner.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// It speaks this protocol's version.
    Hello,
    /// The workload is loaded; whether each run needs a reset before it.
    Loaded { resets: bool },
    /// The runs are done.
    Ran(Timed),
    /// Ready for the next run.
    Reset,
    /// The answer is written.
    Dumped { bytes: u64 },
    /// It cannot do what was requested, and says why.
    Error(String),
}

/// What a runner reports about a batch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Timed {
    /// The time of all runs, with all parts.
    pub(super) elapsed_ns: u64,
    /// The checksum of each run.
    pub(super) checksum: u64,
    /// The time of each part, if the contestant has several; their sum is `elapsed_ns`.
    pub(super) parts_ns: Vec<u64>,
}

impl Timed {
    /// Returns the time that counts for the batch: that of all runs, or the geometric mean of the
    /// parts, `exp(sum of ln(part) / parts)`. The ratio of two batches is then the geometric mean
    /// of the ratios of their parts.
    pub(super) fn batch_ns(&self) -> u64 {
        if self.parts_ns.is_empty() {
            return self.elapsed_ns;
        }
        let logarithms = self.parts_ns.iter().map(|ns| (*ns).max(1) as f64).map(f64::ln);
        (logarithms.sum::<f64>() / self.parts_ns.len() as f64).exp().round() as u64
    }
}

impl Timed {
    /// Returns the same with another time of all runs. The parts keep their proportions; a part
    /// that took nothing counts as 1 ns.
    pub(super) fn with_elapsed(&self, elapsed_ns: u64) -> Timed {
        let sum: f64 = self.parts_ns.iter().map(|ns| (*ns).max(1) as f64).sum();
        let scaled = |ns: u64| (ns.max(1) as f64 / sum * elapsed_ns as f64).round() as u64;
        let parts_ns = self.parts_ns.iter().map(|ns| scaled(*ns)).collect();
        Timed { elapsed_ns, parts_ns, checksum: self.checksum }
    }
}

/// Parses the answer to a request, whose first word is `asked`.
///
/// # Errors
/// Returns what the runner did, and what would be right, as the end of a sentence that starts with
/// its name.
pub(super) fn parse(asked: &str, line: &str) -> Result<Answer, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if word == "error" {
        return Ok(Answer::Error(quoted(rest)));
    }
    let answer = match (asked, word) {
        ("hello", "hello") => hello(rest)?,
        ("load", "loaded") => loaded(rest),
        ("run", "ran") => ran(rest),
        ("reset", "reset") => Some(Answer::Reset),
        ("dump", "dumped") => number(rest, "bytes").map(|bytes| Answer::Dumped { bytes }),
        _ => None,
    };
    answer.ok_or_else(|| {
        let (got, right) = (quoted(line), right(asked));
        format!("answered '{asked}' with '{got}', where '{right}' would be right")
    })
}

fn right(asked: &str) -> &'static str {
    match asked {
        "hello" => "hello 1 RUNTIME VERSION",
        "load" => "loaded reset=no",
        "run" => "ran elapsed_ns=NANOSECONDS checksum=NUMBER",
        "reset" => "reset",
        _ => "dumped bytes=NUMBER",
    }
}

fn hello(rest: &str) -> Result<Option<Answer>, String> {
    let version = rest.split(' ').next().unwrap_or_default();
    match version.parse::<u32>() {
        Ok(VERSION) => Ok(Some(Answer::Hello)),
        Ok(other) => Err(format!(
            "speaks version {other} of the runner protocol, and this tiebreak speaks {VERSION}: \
             take the client of the same release"
        )),
        Err(_) => Ok(None),
    }
}

fn loaded(rest: &str) -> Option<Answer> {
    match value(rest, "reset") {
        None | Some("no") => Some(Answer::Loaded { resets: false }),
        Some("yes") => Some(Answer::Loaded { resets: true }),
        Some(_) => None,
    }
}

fn ran(rest: &str) -> Option<Answer> {
    let parts = value(rest, "parts_ns").map_or_else(
        || Some(Vec::new()),
        |list| list.split(',').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>(),
    )?;
    let timed = Timed {
        elapsed_ns: number(rest, "elapsed_ns")?,
        checksum: number(rest, "checksum")?,
        parts_ns: parts,
    };
    let sum = timed.parts_ns.iter().try_fold(0_u64, |sum, part| sum.checked_add(*part));
    (timed.parts_ns.is_empty() || sum == Some(timed.elapsed_ns)).then_some(Answer::Ran(timed))
}

/// Returns the value of the word `NAME=VALUE`. Ignores words with other names: a later version of a
/// client may add some.
fn value<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let mut words = rest.split(' ').filter_map(|word| word.split_once('='));
    words.find(|(found, _)| *found == name).map(|(_, value)| value)
}

fn number(rest: &str, name: &str) -> Option<u64> {
    value(rest, name)?.parse().ok()
}

/// Shortens a foreign text for a message and replaces control characters.
pub(super) fn quoted(text: &str) -> String {
    let plain = text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = plain.take(QUOTED_CHARS + 1).collect();
    if let Some((end, _)) = short.char_indices().nth(QUOTED_CHARS) {
        short.truncate(end);
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(elapsed_ns: u64, checksum: u64, parts_ns: &[u64]) -> Answer {
        Answer::Ran(Timed { elapsed_ns, checksum, parts_ns: parts_ns.to_vec() })
    }

    #[test]
    fn answers_are_read() {
        let check = |asked: &str, line: &str, expected| {
            assert_eq!(parse(asked, line), Ok(expected), "{line}");
        };
        check("hello", "hello 1 node 20.1.0", Answer::Hello);
        check("hello", "hello 1", Answer::Hello);
        check("load", "loaded", Answer::Loaded { resets: false });
        check("load", "loaded later=5 reset=yes", Answer::Loaded { resets: true });
        check("run", "ran elapsed_ns=5 checksum=18446744073709551615", ran(5, u64::MAX, &[]));
        check("run", "ran checksum=0 parts_ns=2,3 elapsed_ns=5", ran(5, 0, &[2, 3]));
        check("reset", "reset", Answer::Reset);
        check("dump", "dumped bytes=12", Answer::Dumped { bytes: 12 });
        check("run", "error it is\tbroken", Answer::Error("it is broken".into()));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        let check = |asked: &str, line: &str, needle: &str| {
            let said = parse(asked, line).unwrap_err();
            assert!(said.contains(needle), "{line}: {said}");
        };
        check("hello", "hello 2 node", "speaks version 2");
        check("hello", "hello you", "'hello 1 RUNTIME VERSION' would be right");
        check("hello", "ran elapsed_ns=1 checksum=1", "answered 'hello' with 'ran elapsed_ns=1");
        check("load", "loaded reset=maybe", "'loaded reset=no' would be right");
        check("run", "", "answered 'run' with ''");
        check("run", "ran elapsed_ns=-1 checksum=2", "ran elapsed_ns=NANOSECONDS");
        check("run", "ran elapsed_ns=1.5 checksum=2", "ran elapsed_ns=NANOSECONDS");
        check("run", "ran elapsed_ns=1", "checksum=NUMBER");
        check("run", "ran elapsed_ns=6 checksum=1 parts_ns=2,3", "would be right");
        check("run", "ran elapsed_ns=6 checksum=1 parts_ns=", "would be right");
        let most = u64::MAX;
        check("run", &format!("ran elapsed_ns=1 checksum=1 parts_ns={most},2"), "would be right");
        check("dump", "dumped", "'dumped bytes=NUMBER' would be right");
        check("reset", &"x".repeat(1000), &format!("'{}...'", "x".repeat(60)));
    }

    #[test]
    fn the_time_of_parts_is_their_geometric_mean() {
        let check = |parts: &[u64], expected: u64| {
            let Answer::Ran(timed) = ran(100, 0, parts) else { unreachable!() };
            assert_eq!(timed.batch_ns(), expected);
        };
        check(&[], 100);
        check(&[100], 100);
        check(&[1_000_000, 4_000_000], 2_000_000);
        check(&[0, 1_000_000], 1000);
        check(&[1 << 20, 1 << 40], 1 << 30);
    }

    #[test]
    fn another_time_is_shared_by_the_parts() {
        let check = |parts: &[u64], shared: &[u64]| {
            let told =
                Timed { elapsed_ns: parts.iter().sum(), checksum: 7, parts_ns: parts.into() };
            let right = Timed { elapsed_ns: 9000, checksum: 7, parts_ns: shared.into() };
            assert_eq!(told.with_elapsed(9000), right);
        };
        check(&[], &[]);
        check(&[5], &[9000]);
        check(&[10, 20], &[3000, 6000]);
        check(&[0, 0, 0], &[3000, 3000, 3000]);
        check(&[0, u64::MAX], &[0, 9000]);
    }
}
