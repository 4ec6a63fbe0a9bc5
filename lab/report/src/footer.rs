//! The last lines of a report: seed, effort, and the commands that repeat the run.

use crate::command::{repeat_words, replay_line};
use crate::live::round_noun;
use crate::odd::remarks;
use crate::page::{INTERRUPTED, LABEL};
use crate::prelude::*;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::journal::StopReason;

/// Adds the run, its machine, and the commands that repeat it.
pub(crate) fn footer(page: &mut Page, run: &RunResult) {
    page.gap();
    page.entry("run", effort(run));
    let odd = remarks(run, page.look()).is_empty().then(|| "nothing odd was seen".to_owned());
    let machine: Vec<String> = machine_model(run).into_iter().chain(odd).collect();
    let machine = (!machine.is_empty()).then(|| machine.join("; "));
    page.entries("machine", machine.into_iter().chain(print_line(run)));
    repeat(page, run);
    page.entry("replay", replay_line(run));
}

/// Adds the last lines of several runs of one command, each with its name: the machine,
/// the command, and how to replay each.
pub(crate) fn again(page: &mut Page, runs: &[(&RunResult, &str)]) {
    let Some((first, _)) = runs.first() else { return };
    page.entries("machine", machine_model(first));
    page.entries("", print_line(first));
    repeat(page, first);
    let replay = runs.iter().map(|(run, name)| format!("{} ({})", replay_line(run), plain(name)));
    page.entries("replay", replay);
}

fn repeat(page: &mut Page, run: &RunResult) {
    let labels = std::iter::once("repeat").chain(std::iter::repeat(""));
    for (label, line) in labels.zip(repeat_lines(run, page.look())) {
        page.line(&[span(Tone::Dim, format!("{INDENT}{label:<LABEL$}")), words(line)]);
    }
}

/// Returns why a run's result is not final, if it is not.
pub(crate) fn state(run: &RunResult) -> Option<&'static str> {
    match run.stopped {
        None => Some("Still running, or cut off; this is what is known so far."),
        Some(StopReason::Interrupted) => Some(INTERRUPTED),
        Some(_) => None,
    }
}

/// `k7w2: 12 rounds in 1.9 s (0.31 s waiting for quiet), seed 8c1f03d2`.
pub(crate) fn effort(run: &RunResult) -> String {
    let (rounds, time) = (count(run.rounds, round_noun(run)), seconds(run.seconds));
    let mut text = format!("{}: {rounds} in {time}", plain(&run.journal));
    if run.seconds_waited > 0.0 {
        text += &format!(" ({} waiting for quiet)", seconds(run.seconds_waited));
    }
    if run.lost > 0 {
        text += &format!(", {} cut off", count(run.lost, "attempt"));
    }
    text + &format!(", seed {}", plain(&run.seed))
}

/// Returns the model of the machine's processor.
pub(crate) fn machine_model(run: &RunResult) -> Option<String> {
    match run.machine.facts.0.get("cpu_model") {
        Some(Fact::Text(model)) => Some(plain(model)),
        _ => None,
    }
}

/// Returns the command that shows the print of the machine.
fn print_line(run: &RunResult) -> Option<String> {
    let name = plain(run.machine.print.as_ref()?);
    Some(format!("measured as {name}: tiebreak machine show {name}"))
}

/// Returns the command, broken between words so that it can still be copied; if it takes too many
/// lines, or a word is too long for one, a single line without its middle. None if there is none.
fn repeat_lines(run: &RunResult, look: Look) -> Vec<String> {
    const MOST: usize = 5;
    let room = look.columns() - INDENT.len() - LABEL;
    let Some(words) = repeat_words(run) else { return Vec::new() };
    let mut lines = vec![String::new()];
    for word in &words {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.width() + 1 + word.width() + 2 > room {
            line.push_str(" \\");
            lines.push(format!("  {word}"));
        } else {
            line.push_str(&format!(" {word}"));
        }
    }
    if lines.len() > MOST || lines.iter().any(|line| line.width() > room) {
        return vec![shorten_middle(&words.join(" "), room, look)];
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    fn check(command: &[&str], expected: &[&str]) {
        let mut run = fixture::empty();
        run.command = command.iter().map(|word| word.to_string()).collect();
        run.seed = "7f".to_owned();
        let look = Look { width: 50, color: false, unicode: false };
        assert_eq!(repeat_lines(&run, look), expected, "{command:?}");
    }

    #[test]
    fn the_command_can_be_copied_back() {
        check(
            &["/usr/bin/tiebreak", "compare", "sleep 0.1", "it's"],
            &["tiebreak compare 'sleep 0.1' \\", "  'it'\\''s' --seed 7f"],
        );
        check(&["compare", "a"], &["tiebreak compare a --seed 7f"]);
        check(&["tiebreak", "slo", "--", "a"], &["tiebreak slo --seed 7f -- a"]);
        check(&["tiebreak", "--seed=7f", "compare"], &["tiebreak --seed=7f compare"]);
        check(
            &["tiebreak", "compare", "a", "--json", "it", "b"],
            &["tiebreak compare a b --seed 7f"],
        );
        check(
            &["tiebreak", "slo", "--html=a", "--", "--json"],
            &["tiebreak slo --seed 7f -- --json"],
        );
        check(&["tiebreak", "slo", "--json"], &["tiebreak slo --seed 7f"]);
        check(&["tiebreak", "wire", "--port", "0"], &[]);
        check(&["tiebreak", "--", "--seed"], &["tiebreak --seed 7f -- --seed"]);
        check(&["tiebreak", &"long".repeat(20)], &["tiebreak longlongl...longlong --seed 7f"]);
    }
}
