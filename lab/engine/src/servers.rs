//! What a request must be like if its commands are servers.

use crate::error::{LabError, Result, require, usage};
use crate::load::driver;
use crate::request::Request;
use tiebreak_core::claim::{Claim, Property, Statement};
use tiebreak_core::load::Pace;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Check, Contestant, PlannedClaim, Success};
use tiebreak_core::server::{FOLDER, PORT, ServerPlan};

/// Reads the load of servers, as the words of `tiebreak load`. The text of an error says what would
/// be right.
pub type ReadLoad = fn(&str) -> Result<ServerPlan, String>;

/// Checks a request, its contestants and its claims: whether they are of servers, and if so,
/// whether they make sense.
///
/// # Errors
/// Fails for a claim about latencies of programs; of servers for a load that is impossible, for
/// commands that do not know their port, and for options and claims that mean nothing.
pub(crate) fn check(
    request: &Request,
    contestants: &[Contestant],
    claims: &[PlannedClaim],
) -> Result<()> {
    let claims = claims.iter().map(|planned| &planned.claim);
    let Some(plan) = request.servers.as_deref() else {
        return match claims.into_iter().find(|claim| claim.metric.latency().is_some()) {
            None => Ok(()),
            Some(Claim { text, metric, .. }) => usage(format!(
                "'{text}' is about {}, which only a server under load has: say how to load it by \
                 --load",
                metric.name()
            )),
        };
    };
    driver::check(plan)?;
    check_options(request)?;
    contestants.iter().try_for_each(check_command)?;
    for claim in claims {
        check_claim(plan, claim).map_err(|why| {
            LabError::Usage(format!("'{}' cannot be judged of servers: {why}", claim.text))
        })?;
    }
    Ok(())
}

/// Refuses options that mean nothing of servers.
fn check_options(request: &Request) -> Result<()> {
    let program = &request.program;
    require(
        program.input.is_none(),
        "--input: a server gets no standard input: leave it out, or --load",
    )?;
    require(
        matches!(program.check, Check::Default | Check::Exit),
        "--check: a server is judged by its answers, not by its output: leave it out, or --load",
    )?;
    require(
        program.success == Success::Statuses(Vec::new()),
        "--success and --ignore-failure: a server that ends by itself has failed, whatever its \
         status: leave them out, or --load",
    )?;
    require(
        !request.adjust.strata,
        "--adjust strata: how long a server waited for a CPU is not known: leave it out, or --load",
    )?;
    let taken = request.parameters.iter().map(|(name, _)| format!("{{{name}}}"));
    match taken.into_iter().find(|name| [PORT, FOLDER].contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => usage(format!(
            "with --load, {name} stands for what each run of a server gets: give the parameter \
             another name"
        )),
    }
}

/// Checks that a command, or what prepares it, gets its port.
fn check_command(contestant: &Contestant) -> Result<()> {
    let Contestant { name, command, hooks, .. } = contestant;
    let prepare = hooks.prepare.as_deref().unwrap_or_default();
    require(
        command.contains(PORT) || prepare.contains(PORT),
        format!(
            "each run of a server has a port of its own, so write {PORT} where it goes in the \
             command of {name}, '{command}', or in its --prepare"
        ),
    )?;
    for (option, hook) in [("--setup", &hooks.setup), ("--cleanup", &hooks.cleanup)] {
        let hook = hook.as_deref().unwrap_or_default();
        require(
            !hook.contains(PORT) && !hook.contains(FOLDER),
            format!(
                "{option} runs once, and {PORT} and {FOLDER} differ from run to run: use --prepare \
                 and --conclude"
            ),
        )?;
    }
    Ok(())
}

/// Checks that a claim means something of servers. The error is the end of a sentence.
fn check_claim(plan: &ServerPlan, claim: &Claim) -> Result<(), String> {
    let is_open = matches!(plan.pace, Pace::Open { .. });
    let is_tail = matches!(
        claim.statement,
        Statement::Property(Property::Quantile { good, .. }) if good != 0.5
    );
    let share = claim.metric.latency().map_or(0.0, |index| Metric::LATENCIES[index].1);
    let messages = plan.messages().unwrap_or(f64::INFINITY);
    match claim.metric {
        _ if claim.statement.is_about_success() => Ok(()),
        Metric::RunTime => Err("run time is that of one thread: say 'by cpu time'".to_owned()),
        Metric::WallTime if is_open => Err("--rate decides how long a load lasts: say 'by p99 \
             latency', 'by cpu time' or 'by memory', or load them by --closed --messages N"
            .to_owned()),
        Metric::WallTime if is_tail => Err("it is about the times of whole loads: say 'median of \
             A is below 5 ms by p99 latency' if you mean its answers"
            .to_owned()),
        metric if (1.0 - share) * messages < 1.0 - 1e-6 => Err(format!(
            "a load of {messages:.0} has no {}: give --messages {:.0} or more",
            metric.name(),
            1.0 / (1.0 - share)
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::{plan, tests::request};
    use tiebreak_core::load::{LoadEnd, Spacing, Traffic};
    use tiebreak_core::plan::{Adjust, Centre, OutputPlan, Primer, ProgramPlan};

    fn servers(pace: Pace, messages: u64) -> ServerPlan {
        let (traffic, end) = (Traffic::Http { connections: 2 }, LoadEnd::Messages(messages));
        ServerPlan::new("as typed", "http://127.0.0.1:{port}/", traffic, pace, end)
    }

    const CLOSED: Pace = Pace::Closed { in_flight: Some(1) };
    const OPEN: Pace = Pace::Open { rate_per_second: 100, spacing: Spacing::Constant };

    fn asked(pace: Pace) -> Request {
        let servers = Some(Box::new(servers(pace, 1000)));
        Request { servers, ..request(&["a {port}", "b -p {port}"]) }
    }

    fn refused(request: &Request, expected: &str) {
        let said = plan(request).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }

    fn claiming(pace: Pace, claim: &str) -> Request {
        Request { claims: vec![claim.to_owned()], ..asked(pace) }
    }

    #[test]
    fn a_plan_of_servers_has_no_output_and_no_primer() {
        let planned = plan(&asked(CLOSED)).unwrap();
        assert_eq!(planned.servers.as_deref(), Some(&servers(CLOSED, 1000)));
        assert_eq!(planned.program.output, OutputPlan::Null);
        assert_eq!(planned.program.primer, Primer::Never);
        let program = ProgramPlan { primer: Primer::Always, ..ProgramPlan::default() };
        let planned = plan(&Request { program, ..asked(CLOSED) }).unwrap();
        assert_eq!(planned.program.primer, Primer::Always);
    }

    #[test]
    fn what_means_nothing_of_servers_is_refused() {
        refused(
            &Request { commands: vec!["a {port}".into(), "b".into()], ..asked(CLOSED) },
            "of B",
        );
        let of = |program| Request { program, ..asked(CLOSED) };
        refused(&of(ProgramPlan { input: Some("x".into()), ..Default::default() }), "--input");
        refused(&of(ProgramPlan { check: Check::SameOutput, ..Default::default() }), "--check");
        refused(&of(ProgramPlan { success: Success::Any, ..Default::default() }), "--success");
        let adjust = Adjust { slot: false, strata: true };
        refused(&Request { adjust, centre: Centre::Factor, ..asked(CLOSED) }, "--adjust strata");
        let parameters = vec![("port".to_owned(), vec!["1".to_owned()])];
        refused(&Request { parameters, ..asked(CLOSED) }, "another name");
        let mut hooked = asked(CLOSED);
        hooked.hooks.setup = vec!["touch {dir}/x".to_owned()];
        refused(&hooked, "--setup runs once");
        let mut prepared = asked(CLOSED);
        prepared.commands[1] = "b -c {dir}/b.conf".to_owned();
        prepared.hooks.prepare = vec!["echo listen {port} > {dir}/b.conf".to_owned()];
        assert!(plan(&prepared).is_ok());
    }

    #[test]
    fn claims_are_about_what_servers_have() {
        for claim in ["A is faster than B", "A is faster than B by cpu time"] {
            assert!(plan(&claiming(CLOSED, claim)).is_ok(), "{claim}");
        }
        for claim in [
            "A is faster than B by p99.9 latency",
            "A uses less memory than B",
            "median of A is below 5 ms by p99 latency",
            "A succeeds at least 98% of the time",
        ] {
            assert!(plan(&claiming(OPEN, claim)).is_ok(), "{claim}");
        }
        refused(&claiming(OPEN, "A is faster than B"), "say 'by p99 latency'");
        refused(&claiming(CLOSED, "A uses less run time than B"), "say 'by cpu time'");
        refused(&claiming(CLOSED, "p99 of A is below 5 ms"), "by p99 latency' if you mean");
        let mut few = claiming(OPEN, "A is faster than B by p99.9 latency");
        few.servers.as_mut().unwrap().end = LoadEnd::Messages(999);
        refused(&few, "a load of 999 has no p99.9 latency: give --messages 1000 or more");
        few.servers = None;
        refused(&few, "only a server under load has");
    }
}
