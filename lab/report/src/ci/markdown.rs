//! Markdown, as GitHub and GitLab show it: for a comment or the summary of a job.

use crate::check::{effect, gate_note, promise, sentence, summary};
use crate::fact;
use crate::footer::machine_model;
use crate::markdown::{self, Place, aligned, escaped, fenced, folded, heading};
use crate::prelude::*;
use crate::property::trials;
use crate::repeat_line;

/// The longest comment on GitHub, in characters.
const MOST_CHARACTERS: usize = 65_536;
/// The numbers of claims to show, of which the first that fits a comment is taken.
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
    let worst = check.claims().map(|(.., claim)| claim.outcome()).max();
    let icon = worst.map_or(":grey_question:", icon);
    let chosen = chosen(check, most);
    let place = Place::Comment;
    let [summary, promise] = [summary(check), promise(check)].map(|text| escaped(&text, place));
    let (table, details) = (table(check, &chosen, place), details(check, &chosen));
    heading(2, &format!("{icon} {summary}")) + &format!("{promise}\n\n{table}{details}")
}

/// The result of a file of claims as a block of a page: what its error means, a table of all
/// claims, their sentences, what was odd, and the machine.
pub fn block(check: &CheckResult) -> String {
    let (place, all) = (Place::File, chosen(check, usize::MAX));
    let promise = escaped(&promise(check), place);
    let [table, said] = [table(check, &all, place), said(check, &all, place)];
    format!("{promise}\n\n{table}{said}\n{}", machine(check, place))
}

fn icon(outcome: ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Passed => ":white_check_mark:",
        ClaimOutcome::PassedUnproven => ":warning:",
        ClaimOutcome::Unproven | ClaimOutcome::Failed => ":x:",
        ClaimOutcome::Void => ":no_entry:",
    }
}

/// A verdict, and whether a gate lets it pass; where icons are shown, behind one.
fn verdict(claim: &ClaimResult, place: Place) -> String {
    let text = match claim.winner.as_deref().filter(|_| claim.is_question) {
        Some(winner) => escaped(winner, place),
        None => format!("{}{}", claim.verdict.name(), gate_note(claim)),
    };
    match place {
        Place::Comment => format!("{} {text}", icon(claim.outcome())),
        Place::File => text,
    }
}

/// Returns the claims to show: all in the order of the file, or of too many those that did not pass
/// first.
fn chosen(check: &CheckResult, most: usize) -> Vec<(&ContestResult, &ClaimResult)> {
    let mut all: Vec<_> = check.claims().map(|(contest, _, claim)| (contest, claim)).collect();
    if all.len() > most {
        all.sort_by_key(|(_, claim)| claim.outcome() == ClaimOutcome::Passed);
        all.truncate(most);
    }
    all
}

fn table(check: &CheckResult, chosen: &[(&ContestResult, &ClaimResult)], place: Place) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    use Align::{Decimal, Left};
    let rows = chosen.iter().map(|(contest, claim)| {
        let evidence = trials(claim).to_string();
        let [said, effect, name] =
            [&claim.claim, &effect(claim), &contest.name].map(|text| escaped(text, place));
        [verdict(claim, place), said, effect, evidence, name]
    });
    let head = ["verdict", "claim", "effect", "evidence", "contest"];
    let mut out = aligned(&head, &[Left, Left, Left, Decimal, Left], rows);
    let left_out = check.claims().count() - chosen.len();
    if left_out > 0 {
        out += &format!("\nand {left_out} more that passed or stand in the report\n");
    }
    out + "\n"
}

/// The sentences of these claims, and what was odd.
fn said(check: &CheckResult, chosen: &[(&ContestResult, &ClaimResult)], place: Place) -> String {
    let said = chosen.iter().map(|(contest, claim)| sentence(check, &contest.run, claim));
    let mut out = markdown::list(said.map(|text| escaped(&text, place)));
    let odd = check.contests.iter().flat_map(|contest| {
        let warnings = contest.run.warnings.iter();
        warnings.map(|warning| escaped(&format!("{}: {warning}", plain(&contest.name)), place))
    });
    let odd = each_once(odd);
    if !odd.is_empty() {
        out += &format!("\nWhat was odd:\n\n{}", markdown::list(odd));
    }
    out
}

fn details(check: &CheckResult, chosen: &[(&ContestResult, &ClaimResult)]) -> String {
    let place = Place::Comment;
    let mut out = said(check, chosen, place);
    out += &format!("\n{}\n", machine(check, place));
    let runs = check.contests.iter().map(|contest| &contest.run);
    let mut commands = each_once(runs.clone().filter_map(repeat_line).map(|line| plain(&line)));
    commands.extend(runs.map(|run| format!("tiebreak replay {}", plain(&run.journal))));
    out += &fenced("sh", &commands.join("\n"));
    folded("what the verdicts say, and how to get them again", &out)
}

/// Describes the machine on a line.
fn machine(check: &CheckResult, place: Place) -> String {
    let first = check.contests.first().map(|contest| &contest.run);
    let cpus = first.and_then(|run| run.machine.facts.0.get("cpu_count"));
    let machine = match (first.and_then(machine_model), cpus) {
        (Some(model), Some(cpus)) => {
            let cpus = fact::value("cpu_count", cpus);
            format!("{}, {} CPUs", escaped(&model, place), escaped(&cpus, place))
        }
        (Some(model), None) => escaped(&model, place),
        (None, _) => "unknown".to_owned(),
    };
    format!("Machine: {machine}. Raced for {:.1} s.\n", check.seconds.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::shares::{checked, nasty};
    use tiebreak_core::result::Family;

    #[test]
    fn a_comment_looks_as_it_was_approved() {
        insta::assert_snapshot!(text(&checked(Family::EBonferroni)));
    }

    #[test]
    fn a_block_of_a_page_looks_as_it_was_approved() {
        insta::assert_snapshot!(block(&checked(Family::EBonferroni)));
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
}
