//! Converts a user's request to a plan.

use crate::error::{LabError, Result, usage};
use crate::request::contestants;
pub use crate::request::{HookRequest, Request, check_rule, seed_or_random};
use crate::servers;
use tiebreak_core::claim::{Claim, Property, Statement};
use tiebreak_core::load::LoadPlan;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Kind, OutputPlan, Plan, PlannedClaim,
    Primer, Scope,
};
use tiebreak_input as input;

/// The default budget of a claim in seconds.
pub const SECONDS_A_CLAIM: f64 = 60.0;
/// The default budget of all comparisons of a self-check together, in seconds.
const SECONDS_A_SELF_CHECK: f64 = 300.0;
/// The largest error that a request may have: above it a coin does as well.
const ERROR_MAX: f64 = 0.5;

/// Makes the plan of a comparison.
///
/// # Errors
/// Fails for fewer than two contestants, names that are not unique, a number out of its range, a
/// hook list of the wrong length, a parameter that nothing uses, or an invalid claim sentence.
pub fn plan(request: &Request) -> Result<Plan> {
    check_numbers(request)?;
    let contestants = contestants(request)?;
    let claims = planned_claims(request, &contestants)?;
    if contestants.is_empty() || claims.is_empty() {
        return usage(format!(
            "a comparison needs two commands, here {}: tiebreak compare 'CMD A' 'CMD B' (to \
             compare a command with itself: tiebreak aa 'CMD')",
            if contestants.is_empty() { "is none" } else { "is one" }
        ));
    }
    let seconds = Some(SECONDS_A_CLAIM * claims.len() as f64);
    let budget = request.budget.unwrap_or(Budget { rounds: None, seconds });
    servers::check(request, &contestants, &claims)?;
    Ok(Plan { adjust: request.adjust, ..assembled(request, contestants, claims, budget) })
}

/// Returns the plan of a request about commands, without adjustments.
pub(crate) fn assembled(
    request: &Request,
    contestants: Vec<Contestant>,
    claims: Vec<PlannedClaim>,
    budget: Budget,
) -> Plan {
    let mut program = request.program.clone();
    if request.servers.is_some() {
        program.output = OutputPlan::Null;
        // Each run of a server has an untimed load of its own.
        if program.primer == Primer::Short {
            program.primer = Primer::Never;
        }
    }
    Plan {
        engine_version: ENGINE_VERSION,
        kind: Kind::Compare,
        contestants,
        claims,
        error: request.error,
        resolution: request.resolution,
        budget,
        scope: Scope::Binary,
        centre: request.centre,
        seed: request.seed.clone(),
        clock_step_ns: request.clock_step_ns,
        program,
        block_runs: request.block_runs,
        adjust: Adjust::NONE,
        functions: None,
        load: None,
        servers: request.servers.clone(),
        suite: None,
    }
}

/// Makes the plan of `tiebreak aa`: this command against itself, `comparisons` times.
///
/// # Errors
/// As for [`plan`].
pub fn against_itself(
    command: String,
    mut request: Request,
    comparisons: u32,
    rounds_each: u32,
) -> Result<Plan> {
    request.commands = vec![command; 2];
    request.names = vec!["A".into(), "A again".into()];
    let budget = Budget { rounds: None, seconds: Some(SECONDS_A_SELF_CHECK) };
    request.budget.get_or_insert(budget);
    if request.centre == Centre::Mean {
        return usage(
            "aa counts false verdicts about the ratios of rounds, not about means: leave --mean \
             out",
        );
    }
    let kind = Kind::SelfCheck { comparisons, rounds_each };
    Ok(Plan { kind, ..plan(&request)? })
}

/// Rounds a budget of lines down to a whole block, because a stream ends at one.
fn whole_blocks(budget: Budget, request: &Request) -> Result<Budget> {
    let block = request.block_runs;
    let rounds = budget.rounds.map(|lines| lines - lines % block);
    match (rounds, budget.rounds) {
        (Some(0), Some(lines)) => usage(format!(
            "a budget of {lines} lines is less than one block of {block}, so nothing could be \
             observed: give more, or a smaller --block"
        )),
        _ => Ok(Budget { rounds, ..budget }),
    }
}

/// Makes the plan of one claim about one contestant (`tiebreak slo`): a command or a stream.
///
/// # Errors
/// Fails for a number out of its range, or for a claim about another subject.
pub fn about_one(request: &Request, claim: Claim, kind: Kind) -> Result<Plan> {
    check_numbers(request)?;
    let contestants = contestants(request)?;
    let [contestant] = contestants.as_slice() else {
        return usage("this is about one command: give one");
    };
    if claim.right.is_some() || claim.left != contestant.name {
        return usage(format!(
            "'{}' is not about {} alone: 'tiebreak compare' settles claims about two",
            claim.text, contestant.name
        ));
    }
    let claims = vec![planned(claim, &[&contestant.name], request, request.error)?];
    let mut budget = request.budget;
    let (mut scope, mut seconds) = (Scope::Binary, Some(SECONDS_A_CLAIM));
    if let Kind::Stream { .. } = kind {
        budget = budget.map(|budget| whole_blocks(budget, request)).transpose()?;
        // The end of the stream is the budget.
        (scope, seconds) = (Scope::Stream, None);
    }
    let budget = budget.unwrap_or(Budget { rounds: None, seconds });
    servers::check(request, &contestants, &claims)?;
    Ok(Plan { kind, scope, ..assembled(request, contestants, claims, budget) })
}

/// Makes the plan of claims about the messages of a load.
///
/// # Errors
/// Fails for an invalid claim sentence, or for a claim that is not about the server alone.
pub(crate) fn about_load(request: &Request, load: LoadPlan, budget: Budget) -> Result<Plan> {
    check_numbers(request)?;
    let contestants = contestants(request)?;
    let claims = planned_claims(request, &contestants)?;
    if let Some(planned) = claims.iter().find(|planned| planned.right.is_some()) {
        let text = &planned.claim.text;
        return usage(format!("'{text}' compares two, and a load has one server"));
    }
    let (kind, scope) = (Kind::Stream { scale: None, is_chain: false }, Scope::Load);
    let plan = assembled(request, contestants, claims, budget);
    Ok(Plan { kind, scope, load: Some(Box::new(load)), ..plan })
}

pub(crate) fn check_error(error: f64) -> Result<()> {
    if error > 0.0 && error < ERROR_MAX {
        return Ok(());
    }
    usage(format!(
        "an error of {error} proves nothing or never ends: it must be above 0 and below \
         {ERROR_MAX}, such as --error 0.01"
    ))
}

pub(crate) fn check_resolution(resolution: f64) -> Result<()> {
    if (0.0..1.0).contains(&resolution) {
        return Ok(());
    }
    usage(format!(
        "a resolution of {resolution} is none: it must be at least 0 and below 1, such as \
         --resolution 1%"
    ))
}

fn check_numbers(request: &Request) -> Result<()> {
    check_error(request.error)?;
    check_resolution(request.resolution)?;
    check_adjust(request.centre, request.adjust)?;
    if request.block_runs == 0 {
        return usage("a block of 0 runs observes nothing: --block 1 or more");
    }
    Ok(())
}

/// Checks that the centre permits adjustment. An adjusted round has another median, and other
/// values, than the round itself, so medians and means do not.
pub(crate) fn check_adjust(centre: Centre, adjust: Adjust) -> Result<()> {
    let name = match centre {
        Centre::Median if !adjust.is_none() => "median",
        Centre::Mean if !adjust.is_none() => "mean",
        _ => return Ok(()),
    };
    usage(format!(
        "--adjust does not go with --centre {name}, which promises the {name} of the rounds as \
         they are: leave one of them out"
    ))
}

/// Returns the claims, or the questions in their place, each with an equal share of the error (A10:
/// the shares are fixed before the first sample, and sum to the error).
fn planned_claims(request: &Request, contestants: &[Contestant]) -> Result<Vec<PlannedClaim>> {
    let names: Vec<&str> = contestants.iter().map(|c| c.name.as_str()).collect();
    let claims: Vec<Claim> = if request.claims.is_empty() {
        let references = if request.all_pairs { 0..names.len() } else { 0..1 };
        let pairs =
            references.flat_map(|left| (left + 1..names.len()).map(move |right| (left, right)));
        pairs
            .map(|(left, right)| input::question(names[left], names[right], request.metric))
            .collect()
    } else {
        let parsed = request.claims.iter().map(|text| input::parse(text, &names));
        parsed.collect::<Result<_, _>>().map_err(LabError::Claim)?
    };
    let error = request.error / claims.len().max(1) as f64;
    let planned = claims.into_iter().map(|claim| {
        let planned = planned(claim, &names, request, error)?;
        let claim = &planned.claim;
        if let Some(workload) = claim.workload.as_ref().filter(|name| **name != request.workload) {
            let here = match request.workload.as_str() {
                "" => "nothing was said of this run's".to_owned(),
                name => format!("this run's is '{name}'"),
            };
            return usage(format!(
                "'{}' is about the workload {workload}, but {here}: say --workload {workload}, or \
                 leave 'on {workload}' out",
                claim.text
            ));
        }
        Ok(planned)
    });
    planned.collect()
}

/// Returns a claim with its contestants, by their index among these names, and with its cap.
pub(crate) fn planned(
    claim: Claim,
    names: &[&str],
    request: &Request,
    error: f64,
) -> Result<PlannedClaim> {
    let index = |name: &str| match names.iter().position(|other| *other == name) {
        Some(index) => Ok(index),
        None => usage(format!("'{}' names {name}, who does not take part", claim.text)),
    };
    let (left, right) = (index(&claim.left)?, claim.right.as_deref().map(index).transpose()?);
    let claim = capped(claim, request.centre, request.program.timeout_ns)?;
    Ok(PlannedClaim { claim, left, right, error, gate: request.gate, waits_ns: 0 })
}

/// Gives a claim that a mean is below something its cap: the stated one, or the time-out. A ratio
/// of means needs one too: it claims for either side that a mean is below something.
fn capped(mut claim: Claim, centre: Centre, timeout_ns: Option<u64>) -> Result<Claim> {
    if centre == Centre::Mean && claim.statement.relation().is_some() {
        if claim.metric != Metric::WallTime {
            return usage(format!(
                "'{}' is about {}, which no time-out caps, so that no ratio of its means can be \
                 proven: leave --mean out, or ask about the wall time",
                claim.text,
                claim.metric.name()
            ));
        }
        if timeout_ns.is_none() {
            return usage(
                "a ratio of means cannot be proven without a cap, because one run in a million may \
                 take as long as it likes: say --timeout, such as --timeout 5s; a run that takes \
                 longer is ended, and counts as 5 s",
            );
        }
    }
    let Statement::Property(Property::Mean { is_below: true, bar, cap: None }) = claim.statement
    else {
        return Ok(claim);
    };
    let timeout_ns = timeout_ns.filter(|_| claim.metric == Metric::WallTime);
    let Some(timeout_ns) = timeout_ns.filter(|timeout_ns| *timeout_ns as f64 > bar) else {
        return usage(format!(
            "'{}' cannot be proven without a cap, because one long run could change any mean: add \
             'capped at' and the most that a value may count, or a --timeout above the bar, or \
             claim a median",
            claim.text
        ));
    };
    let cap = Some(timeout_ns as f64);
    claim.statement = Statement::Property(Property::Mean { is_below: true, bar, cap });
    Ok(claim)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tiebreak_core::plan::ProgramPlan;

    /// Returns a request with only these commands.
    pub(crate) fn request(commands: &[&str]) -> Request {
        let commands = commands.iter().map(|c| (*c).to_owned()).collect();
        let request = Request::new(commands, "seed".into());
        Request { centre: Centre::Factor, clock_step_ns: 1.0, ..request }
    }

    fn refused(request: &Request) -> String {
        plan(request).unwrap_err().to_string()
    }

    #[test]
    fn the_error_is_split_before_the_first_sample() {
        let plan_a = plan(&request(&["a", "b", "c", "d"])).unwrap();
        assert_eq!(plan_a.claims.len(), 3);
        assert!(plan_a.claims.iter().all(|claim| claim.left == 0 && claim.error == 0.01 / 3.0));
        assert_eq!(plan_a.budget.seconds, Some(180.0));
        let all = Request { all_pairs: true, ..request(&["a", "b", "c", "d"]) };
        assert_eq!(plan(&all).unwrap().claims.len(), 6);
        let claims = vec!["A is faster than B".into(), "B is within 2% of A".into()];
        let claimed = plan(&Request { claims, ..request(&["a", "b"]) }).unwrap();
        assert_eq!(claimed.claims[1].left, 1);
        assert_eq!(claimed.claims[1].error, 0.005);
    }

    #[test]
    fn parameters_make_contestants() {
        let mut asked = request(&["sort -n {file}", "gzip -{level} {file}"]);
        asked.parameters = vec![
            ("level".into(), vec!["1".into(), "9".into()]),
            ("file".into(), vec!["x".into(), "y".into()]),
        ];
        let plan_a = plan(&asked).unwrap();
        let commands: Vec<_> = plan_a.contestants.iter().map(|c| c.command.as_str()).collect();
        let expected =
            ["sort -n x", "sort -n y", "gzip -1 x", "gzip -1 y", "gzip -9 x", "gzip -9 y"];
        assert_eq!(commands, expected);
        assert_eq!(plan_a.contestants[5].name, "F");
        asked.names = vec!["sort-{file}".into(), "gzip-{level}".into()];
        assert!(refused(&asked).contains("two contestants are called 'gzip-1'"));
        asked.parameters.push(("depth".into(), vec!["1".into()]));
        assert!(refused(&asked).contains("nothing uses the parameter depth"));
    }

    #[test]
    fn hooks_are_for_all_or_one_each() {
        let mut asked = request(&["a", "b"]);
        asked.hooks.prepare = vec!["sync".into()];
        let plan_a = plan(&asked).unwrap();
        assert!(plan_a.contestants.iter().all(|c| c.hooks.prepare.as_deref() == Some("sync")));
        asked.hooks.prepare = vec!["1".into(), "2".into()];
        assert_eq!(plan(&asked).unwrap().contestants[1].hooks.prepare.as_deref(), Some("2"));
        asked.hooks.prepare.push("3".into());
        assert!(refused(&asked).contains("3 times --prepare for 2 commands"));
    }

    #[test]
    fn an_adjusted_round_has_another_median() {
        for (slot, strata) in [(true, false), (false, true)] {
            let adjust = Adjust { slot, strata };
            let asked = Request { centre: Centre::Median, adjust, ..request(&["a", "b"]) };
            assert!(refused(&asked).contains("does not go with --centre median"));
            assert!(plan(&Request { centre: Centre::Factor, ..asked }).is_ok());
        }
    }

    #[test]
    fn a_ratio_of_means_needs_the_time_out_as_its_cap() {
        let asked = Request { centre: Centre::Mean, ..request(&["a", "b"]) };
        assert!(refused(&asked).contains("say --timeout, such as --timeout 5s"));
        let program = ProgramPlan { timeout_ns: Some(5_000_000_000), ..ProgramPlan::default() };
        let asked = Request { program, ..asked };
        assert_eq!(plan(&asked).unwrap().cap_of_means(Metric::WallTime), Some(5e9));
        let memory = Request { metric: Metric::PeakMemory, ..asked.clone() };
        assert!(refused(&memory).contains("about peak memory, which no time-out caps"));
        let adjust = Adjust { slot: true, strata: false };
        let adjusted = Request { adjust, ..asked.clone() };
        assert!(refused(&adjusted).contains("does not go with --centre mean"));
        let checked = against_itself("a".into(), asked, 10, 10).unwrap_err().to_string();
        assert!(checked.contains("leave --mean out"), "{checked}");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for error in [0.0, 1.0, 0.5, -0.1, f64::NAN] {
            assert!(refused(&Request { error, ..request(&["a", "b"]) }).contains("an error of"));
        }
        for resolution in [-0.01, 1.0, f64::NAN] {
            let asked = Request { resolution, ..request(&["a", "b"]) };
            assert!(refused(&asked).contains("a resolution of"));
        }
        assert!(refused(&request(&["a"])).contains("needs two commands"));
        let claims = vec!["A succeeds at least 98% of the time".to_owned()];
        let alone = plan(&Request { claims, ..request(&["a"]) }).unwrap();
        assert_eq!(alone.claims[0].right, None);
    }
}
