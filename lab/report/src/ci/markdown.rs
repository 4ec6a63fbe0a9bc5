//! Markdown, as GitHub and GitLab show it: for a comment or the summary of a job.

use crate::check::{effect, promise, sentence, summary};
use crate::repeat_line;
use crate::text::plain;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::result::{CheckResult, ClaimOutcome, ClaimResult, ContestResult, RunResult};
use tiebreak_core::verdict::Verdict;

/// What a comment may have on GitHub, in characters.
const MOST_CHARACTERS: usize = 65_536;
/// How many claims are shown: as many of these as a comment has room for.
const MOST_CLAIMS: [usize; 4] = [100, 60, 30, 10];

/// The result of a file of claims as Markdown: the summary, what its error means, a table of the
/// claims (of many, those that did not pass first), and folded up the sentences, what was odd, the
/// machine and the commands that repeat it.
///
/// Names and claims are shown as they are: nothing in them becomes markup, a link or a mention.
pub fn text(check: &CheckResult) -> String {
    let fits = |page: &String| page.chars().count() < MOST_CHARACTERS;
    let mut pages = MOST_CLAIMS.into_iter().map(|most| page(check, most));
    pages.find(fits).unwrap_or_else(|| page(check, 1))
}

fn page(check: &CheckResult, most: usize) -> String {
    let title = escaped(&summary(check));
    let mut out = format!("### {} {title}\n\n", icon_of(check));
    out += &escaped(&promise(check));
    out += "\n\n";
    let chosen = chosen(check, most);
    table(&mut out, check, &chosen);
    details(&mut out, check, &chosen);
    out
}

/// The sign of the worst outcome.
fn icon_of(check: &CheckResult) -> &'static str {
    check.claims().map(|(.., claim)| claim.outcome()).max().map_or(":grey_question:", icon)
}

fn icon(outcome: ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Passed => ":white_check_mark:",
        ClaimOutcome::PassedUnproven => ":warning:",
        ClaimOutcome::Unproven | ClaimOutcome::Failed => ":x:",
        ClaimOutcome::Void => ":no_entry:",
    }
}

/// A verdict, and whether a gate lets it pass.
fn verdict(claim: &ClaimResult) -> String {
    let note = match (claim.outcome(), claim.verdict) {
        (ClaimOutcome::PassedUnproven, _) => " (passes)",
        (ClaimOutcome::Failed, Verdict::TooClose | Verdict::Undecided) => " (fails)",
        _ => "",
    };
    let winner = claim.winner.as_deref().filter(|_| claim.is_question);
    match winner {
        Some(winner) => format!("{} {}", icon(claim.outcome()), escaped(winner)),
        None => format!("{} {}{note}", icon(claim.outcome()), claim.verdict.name()),
    }
}

/// The claims that are shown: all in the order of the file, or of too many those that did not pass
/// first.
fn chosen(check: &CheckResult, most: usize) -> Vec<(&ContestResult, &ClaimResult)> {
    let mut all: Vec<_> = check.claims().map(|(contest, _, claim)| (contest, claim)).collect();
    if all.len() > most {
        all.sort_by_key(|(_, claim)| claim.outcome() == ClaimOutcome::Passed);
        all.truncate(most);
    }
    all
}

fn table(out: &mut String, check: &CheckResult, chosen: &[(&ContestResult, &ClaimResult)]) {
    if chosen.is_empty() {
        return;
    }
    let left_out = check.claims().count() - chosen.len();
    *out += "| verdict | claim | effect | evidence | contest |\n|---|---|---|--:|---|\n";
    for (contest, claim) in chosen {
        *out += &format!(
            "| {} | {} | {} | {} | {} |\n",
            verdict(claim),
            escaped(&claim.claim),
            escaped(&effect(claim)),
            claim.share.as_ref().map_or(claim.rounds, |share| share.trials),
            escaped(&contest.name),
        );
    }
    if left_out > 0 {
        *out += &format!("\nand {left_out} more that passed or stand in the report\n");
    }
    out.push('\n');
}

fn details(out: &mut String, check: &CheckResult, chosen: &[(&ContestResult, &ClaimResult)]) {
    *out += "<details>\n<summary>what the verdicts say, and how to get them again</summary>\n\n";
    for (contest, claim) in chosen {
        *out += &format!("- {}\n", escaped(&sentence(check, &contest.run, claim)));
    }
    let mut odd: Vec<String> = Vec::new();
    for contest in &check.contests {
        for warning in &contest.run.warnings {
            let line = format!("- {}: {}\n", escaped(&contest.name), escaped(&warning.to_string()));
            if !odd.contains(&line) {
                odd.push(line);
            }
        }
    }
    if !odd.is_empty() {
        *out += &format!("\nWhat was odd:\n\n{}", odd.concat());
    }
    *out += &format!("\n{}\n", machine(check));
    let mut commands: Vec<String> = Vec::new();
    for contest in &check.contests {
        let repeat = plain(&repeat_line(&contest.run));
        if !commands.contains(&repeat) {
            commands.push(repeat);
        }
    }
    let replay =
        |contest: &ContestResult| format!("tiebreak replay {}", plain(&contest.run.journal));
    commands.extend(check.contests.iter().map(replay));
    *out += &fenced(&commands.join("\n"));
    *out += "\n</details>\n";
}

/// The machine on a line.
fn machine(check: &CheckResult) -> String {
    let fact = |run: &RunResult, key: &str| match run.machine.facts.0.get(key) {
        Some(Fact::Text(text)) => Some(plain(text)),
        Some(Fact::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let first = check.contests.first().map(|contest| &contest.run);
    let model = first.and_then(|run| fact(run, "cpu_model"));
    let cpus = first.and_then(|run| fact(run, "cpu_count"));
    let seconds = format!("{:.1} s", check.seconds.max(0.0));
    let machine = match (model, cpus) {
        (Some(model), Some(cpus)) => format!("{}, {} CPUs", escaped(&model), escaped(&cpus)),
        (Some(model), None) => escaped(&model),
        (None, _) => "unknown".to_owned(),
    };
    format!("Machine: {machine}. Raced for {seconds}.\n")
}

/// A block of code whose fence is longer than any row of backticks in it.
fn fenced(code: &str) -> String {
    let mut longest = 0;
    let mut row = 0;
    for c in code.chars() {
        row = if c == '`' { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}sh\n{code}\n{fence}\n")
}

/// A text that stays a text: on one line, and what could begin markup, a mention, an issue's number
/// or a cell of a table is written as its character reference.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let text = plain(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // A colon before a letter could begin an icon's name, or be in the middle of a link.
        let is_live_colon = c == ':' && rest.peek().is_some_and(|next| !next.is_whitespace());
        if is_live_colon || "&<>|`*_~[]\\@#$".contains(c) {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::shares::{checked, nasty};
    use tiebreak_core::result::Family;

    #[test]
    fn a_comment_looks_as_it_was_approved() {
        insta::assert_snapshot!(text(&checked(Family::EBonferroni)));
    }

    #[test]
    fn every_row_has_its_cells_whatever_the_names_are() {
        let page = text(&nasty());
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 2 + nasty().contests[0].run.verdicts.len());
        assert!(rows.iter().all(|row| row.matches('|').count() == 6), "{page}");
        let (shown, code) = page.split_once("```").unwrap();
        assert!(!shown.contains("<script") && !shown.contains("@team"), "{shown}");
        assert!(code.contains("<script>x</script>"), "code is shown as it is: {code}");
        assert!(!page.contains('\u{1b}'), "{page}");
    }

    #[test]
    fn many_claims_keep_to_what_a_comment_may_have() {
        let mut check = checked(Family::EBonferroni);
        let claims = &mut check.contests[0].run.verdicts;
        let passed = claims[0].clone();
        claims.splice(0..0, std::iter::repeat_n(passed, 400));
        let page = text(&check);
        assert!(page.len() < 65536, "{}", page.len());
        assert!(page.contains(":x: refuted") && page.contains("and 309 more"), "{page}");
        for claim in &mut check.contests[0].run.verdicts {
            claim.verdict = Verdict::Undecided;
            claim.claim = format!("{} {}", claim.claim, "with a long name ".repeat(40));
        }
        let page = text(&check);
        assert!(page.len() < 65536, "{}", page.len());
        assert!(page.contains("and 349 more"), "{page}");
    }

    #[test]
    fn only_what_could_be_markup_is_escaped() {
        assert_eq!(escaped("A is 1.5x: sure - 'so'"), "A is 1.5x: sure - 'so'");
        assert_eq!(escaped(":x: #1 a|b\nc"), "&#58;x: &#35;1 a&#124;b c");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("a"), "```sh\na\n```\n");
        assert_eq!(fenced("a ```` b"), "`````sh\na ```` b\n`````\n");
    }
}
