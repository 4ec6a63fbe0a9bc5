//! The commands that repeat a run, replay it, or go on with it.

use crate::prelude::*;
use crate::text::shell_quote;
use tiebreak_core::journal::StopReason;

/// The command whose races others ask for: it again would repeat none.
const SERVES: &str = "wire";

/// Returns the command line that repeats the run, on one line for a shell, if there is one.
pub fn repeat_line(run: &RunResult) -> Option<String> {
    repeat_words(run).map(|words| words.join(" "))
}

/// The options that say where something is written. They name files of the one who ran it, and
/// change nothing that is measured.
const WRITES: [&str; 8] =
    ["--json", "--html", "--svg", "--ecdf", "--markdown", "--junit", "--latencies", "--hlog"];

/// Returns the words of the command line that repeats the run, quoted: without [`WRITES`], and
/// with the seed, before a `--`, unless it is there already. There are none if the command
/// [`SERVES`].
pub(crate) fn repeat_words(run: &RunResult) -> Option<Vec<String>> {
    if run.command.get(1).is_some_and(|command| command == SERVES) {
        return None;
    }
    let mut words = run.command.clone();
    // The path of the program may differ for the reader.
    let program = words.first().and_then(|first| first.rsplit('/').next());
    let is_ours = program.is_some_and(|name| name.starts_with("tiebreak"));
    words.splice(..usize::from(is_ours), ["tiebreak".to_owned()]);
    let mut options = words.iter().position(|word| word == "--").unwrap_or(words.len());
    while let Some(at) = words[..options].iter().position(|word| writes(word)) {
        let end = options.min(at + if words[at].contains('=') { 1 } else { 2 });
        words.drain(at..end);
        options -= end - at;
    }
    if !words[..options].iter().any(|word| word == "--seed" || word.starts_with("--seed=")) {
        words.splice(options..options, ["--seed".to_owned(), run.seed.clone()]);
    }
    Some(words.iter().map(|word| shell_quote(word)).collect())
}

fn writes(word: &str) -> bool {
    WRITES.contains(&word.split_once('=').map_or(word, |(option, _)| option))
}

/// The digits of a chain's head that are shown: 64 bits.
const HEAD_DIGITS: usize = 16;

/// Returns the command that replays the run and checks the end of its journal.
pub(crate) fn replay_line(run: &RunResult) -> String {
    let replay =
        format!("tiebreak replay {}{}", shell_quote(&run.journal), store_option(&run.command));
    match run.chain_head.as_deref().and_then(|head| head.get(..HEAD_DIGITS)) {
        Some(head) => format!("{replay} --head {}", shell_quote(head)),
        None => replay,
    }
}

/// Returns the option of a command that names the store, after a space; nothing if it is the usual
/// one.
pub fn store_option(command: &[String]) -> String {
    let mut words = command.iter().map(String::as_str).take_while(|word| *word != "--");
    let store = words.find_map(|word| word.strip_prefix("--store"));
    let store = store.map(|rest| rest.strip_prefix('=').or_else(|| words.next()));
    store.flatten().map_or(String::new(), |store| format!(" --store {}", shell_quote(store)))
}

/// Returns the command that goes on with a run: an interrupted run has budget left, and one that
/// used it up gets as much again. A stream cannot be read twice, so it takes further lines.
pub fn resume_command(run: &RunResult) -> String {
    let more = if run.stopped == Some(StopReason::Interrupted) { "" } else { " --more" };
    let is_stream = run.verdicts.iter().any(|claim| claim.scope == Scope::Stream);
    let lines = if is_stream { " < LINES" } else { "" };
    resume(run, more) + lines
}

/// Returns the command that goes on with the study to which the run belongs.
pub fn resume_study_command(run: &RunResult) -> String {
    resume(run, "")
}

fn resume(run: &RunResult, more: &str) -> String {
    plain(&format!("tiebreak resume {}{more}{}", run.journal, store_option(&run.command)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn what_goes_on_with_a_run_names_its_store() {
        let check = |words: &[&str], expected: &str| {
            let mut run = fixture::empty();
            run.command = words.iter().map(|word| word.to_string()).collect();
            assert_eq!(store_option(&run.command), expected);
            let resumed = format!("tiebreak resume {}", run.journal);
            assert_eq!(resume_study_command(&run), format!("{resumed}{expected}"));
            assert_eq!(resume_command(&run), format!("{resumed} --more{expected}"));
        };
        check(&["tiebreak", "compare", "a", "b"], "");
        check(
            &["tiebreak", "compare", "--store", "my journal.db", "a"],
            " --store 'my journal.db'",
        );
        check(&["tiebreak", "compare", "--store=x.db", "a"], " --store x.db");
        check(&["tiebreak", "slo", "--", "--store", "x"], "");
    }
}
