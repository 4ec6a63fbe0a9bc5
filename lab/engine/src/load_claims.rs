//! Claims about the messages of a load: judged in blocks of the schedule while the load runs.

use crate::error::{LabError, Result, require, usage};
use crate::load::scenario;
use crate::load::url::{self, Url};
use crate::load::{LoadRequest, Pacing, lab_error, number_of, outcome, pace_of, threads, tls};
use crate::planning::{self, Request};
use crate::referee::Referee;
use crate::session::Session;
use crate::stream::{Observations, Read};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;
use tiebreak_core::claim::{Property, Statement};
use tiebreak_core::journal::{Event, StopReason, Tally};
use tiebreak_core::load::{
    LoadEnd, LoadEnding, LoadPlan, MessageCounts, Pace, PaceResult, Traffic,
};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Budget, Plan, PlannedClaim};
use tiebreak_core::result::RunResult;
use tiebreak_core::verdict::Fault;
use tiebreak_load::blocks::{Blocks, Mark};
use tiebreak_load::generator::{Load, LoadError, Watch};
use tiebreak_load::ledger::{Ledger, Outcome, Reach};
use tiebreak_load::schedule::{End, SECOND_NS};
use tiebreak_load::seen::Account;

/// The name of the server in claims that name it.
const NAME: &str = "A";

/// What is claimed of a load.
#[derive(Clone, Debug)]
pub struct LoadClaims {
    /// The sentences.
    pub sentences: Vec<String>,
    /// The error of all of them together.
    pub error: f64,
    /// How much of the schedule makes one observation, in nanoseconds.
    pub block_ns: u64,
}

/// Makes the plan of claims about a load. The server must be reachable.
///
/// # Errors
/// Fails if the request or a claim is impossible, or the server cannot be reached.
pub fn plan(asked: &LoadRequest, claims: &LoadClaims) -> Result<Plan> {
    let (rate_per_second, spacing) = match asked.pacing {
        Pacing::At(Pace::Open { rate_per_second, spacing }) => (rate_per_second, spacing),
        Pacing::At(Pace::Closed { .. }) => {
            return usage(
                "--claim with --closed: a closed loop does not send while the server stands still, \
                 so the latencies that would refute the claim are missing; say --rate N instead",
            );
        }
        Pacing::Sweep { .. } => {
            return usage("--claim with --sweep: a claim is about one rate; say --rate N instead");
        }
    };
    pace_of(Pace::Open { rate_per_second, spacing })?;
    let url = Url::parse(&asked.url, url::scheme_of(&asked.traffic)).map_err(LabError::Usage)?;
    let scenario = scenario::of(&asked.traffic, &url, number_of(&asked.seed));
    let facts = scenario.map_err(LabError::Usage)?.facts();
    let load = LoadPlan {
        url: asked.url.clone(),
        traffic: asked.traffic.clone(),
        rate_per_second,
        spacing,
        arrivals_a_message: facts.arrivals_a_message,
        connections: facts.connections,
        threads: threads(asked, facts),
        patience_ns: asked.patience.as_nanos() as u64,
        trust: asked.trust.clone(),
    };
    let (messages, budget) = measures(asked.end, claims.block_ns, &load)?;
    let mut request = Request::new(vec![asked.url.clone()], asked.seed.clone());
    request.names = vec![NAME.to_owned()];
    request.claims = claims.sentences.clone();
    request.error = claims.error;
    request.block_runs = messages * u64::from(load.arrivals_a_message.max(1));
    // What does not arrive within it is lost: that caps a mean.
    request.program.timeout_ns = Some(load.patience_ns);
    let mut plan = planning::about_load(&request, load, budget)?;
    let patience_ns = asked.patience.as_nanos() as f64;
    plan.claims.iter_mut().try_for_each(|planned| check(planned, patience_ns))?;
    tls::client(&asked.trust, &url, url::scheme_of(&asked.traffic))?;
    let address = url.resolve(asked.patience)?;
    TcpStream::connect_timeout(&address, asked.patience)
        .map_err(|source| lab_error(LoadError::Connect { address, connection: 0, source }))?;
    Ok(plan)
}

/// Returns the messages of a block, and the budget of a load that ends there.
fn measures(end: LoadEnd, block_ns: u64, load: &LoadPlan) -> Result<(u64, Budget)> {
    let rate = load.rate_per_second;
    let messages = u128::from(rate) * u128::from(block_ns) / u128::from(SECOND_NS);
    let messages = u64::try_from(messages).unwrap_or(u64::MAX);
    let block = typed(block_ns as f64);
    require(
        messages > 0,
        format!("--block {block} has no message at --rate {rate}: give a longer one"),
    )?;
    let (is_enough, given) = match end {
        LoadEnd::Messages(given) => (given >= messages, format!("--messages {given}")),
        LoadEnd::DurationNs(ns) => (ns >= block_ns, format!("--duration {}", typed(ns as f64))),
    };
    require(
        is_enough,
        format!(
            "{given} is less than one block of {block}, so nothing could be observed: give more, \
             or a smaller --block"
        ),
    )?;
    let budget = match end {
        LoadEnd::Messages(given) => {
            let blocks = given / messages * messages;
            let arrivals = blocks.saturating_mul(load.arrivals_a_message.max(1).into());
            Budget { rounds: Some(arrivals), seconds: None }
        }
        LoadEnd::DurationNs(ns) => Budget { rounds: None, seconds: Some(ns as f64 / 1e9) },
    };
    Ok((messages, budget))
}

/// Writes a time as an option takes it, in the largest unit in which it is a whole number.
fn typed(ns: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
    let unit = units.into_iter().find(|(_, size)| ns % size == 0.0);
    let (name, size) = unit.unwrap_or(("ns", 1.0));
    format!("{}{name}", ns / size)
}

/// Refuses a claim about anything but latencies that a load can know, and caps a mean.
fn check(planned: &mut PlannedClaim, patience_ns: f64) -> Result<()> {
    let (text, metric) = (&planned.claim.text, planned.claim.metric);
    if metric != Metric::WallTime {
        let name = metric.name();
        return usage(format!("'{text}' is about {name}: of a load only latencies are known"));
    }
    let property = planned.claim.statement.property();
    let greatest = match property {
        Some(Property::Quantile { bar, .. }) => bar,
        Some(Property::Mean { bar, cap, .. }) => cap.unwrap_or(bar),
        _ => 0.0,
    };
    if greatest > patience_ns {
        return usage(format!(
            "'{text}': what takes longer than --timeout {} is lost, so nothing longer is known: \
             give --timeout {} or more",
            typed(patience_ns),
            typed(greatest)
        ));
    }
    if let Some(Property::Mean { is_below, bar, cap: None }) = property {
        let mean = Property::Mean { is_below, bar, cap: Some(patience_ns) };
        planned.claim.statement = Statement::Property(mean);
    }
    Ok(())
}

/// Loads the server of a run until its claims are settled or its budget is spent. Calls `watch` as
/// [`Session::go`] does.
///
/// # Errors
/// Fails if the server cannot be reached or refuses a connection before the first message, or the
/// journal cannot be written.
pub(crate) fn go(
    session: Session,
    plan: LoadPlan,
    stop: &AtomicBool,
    watch: impl FnMut(&dyn Fn() -> RunResult),
) -> Result<RunResult> {
    let watched = Watch { ledger: Some(Ledger::default()), ..Watch::default() };
    thread::scope(|scope| {
        let begin = |referee: &Referee| Messages::begin(scope, &watched, &plan, referee);
        session.observe(begin, stop, watch)
    })
}

/// The messages of a load that runs.
struct Messages<'scope> {
    watched: &'scope Watch,
    loading: Option<ScopedJoinHandle<'scope, Result<Account, LoadError>>>,
    /// What was seen, once the load has ended.
    seen: Option<PaceResult>,
    traffic: Traffic,
    pace: Pace,
    blocks: Blocks,
    reach: Reach,
    room: Vec<Outcome>,
    /// The blocks that are done and not taken yet.
    done: VecDeque<(u64, Vec<Tally>)>,
    /// Why the server is void, to be taken behind them.
    fault: Option<Event>,
    /// How many arrivals may still be taken, if the load's own end does not say it.
    left: u64,
    taken: u64,
}

impl<'scope> Messages<'scope> {
    /// Begins to load, where earlier sessions have ended.
    fn begin<'env>(
        scope: &'scope Scope<'scope, 'env>,
        watched: &'scope Watch,
        plan: &LoadPlan,
        referee: &Referee,
    ) -> Result<Messages<'scope>> {
        let copies = plan.arrivals_a_message.max(1);
        let url = Url::parse(&plan.url, url::scheme_of(&plan.traffic)).map_err(LabError::Usage)?;
        let before = referee.rounds / referee.plan.block_runs;
        // A session of its own: with its own schedule, and names that the server does not know yet.
        let seed = number_of(&referee.plan.seed).wrapping_add(before);
        let scenario = scenario::of(&plan.traffic, &url, seed).map_err(LabError::Usage)?;
        let Budget { rounds, seconds } = referee.budget;
        let left = rounds.map_or(u64::MAX, |most| most.saturating_sub(referee.rounds));
        let (end, left) = match seconds {
            Some(seconds) => {
                let left_s = seconds - referee.elapsed_ns as f64 / 1e9;
                (End::Ns((left_s.max(0.0) * 1e9) as u64), left)
            }
            None => (End::Sends(left / u64::from(copies)), u64::MAX),
        };
        let patience = Duration::from_nanos(plan.patience_ns);
        let (rate_per_second, spacing) = (plan.rate_per_second, plan.spacing);
        let pace = Pace::Open { rate_per_second, spacing };
        let load = Load {
            address: url.resolve(patience)?,
            tls: tls::client(&plan.trust, &url, url::scheme_of(&plan.traffic))?,
            seed,
            pace: pace_of(pace)?,
            end,
            threads: plan.threads,
            patience,
        };
        let here = thread::current();
        let loading = scope.spawn(move || {
            let seen = scenario.load(&load, watched);
            here.unpark();
            seen
        });
        let marks = referee.plan.claims.iter().map(mark).collect();
        let messages = referee.plan.block_runs / u64::from(copies);
        Ok(Messages {
            watched,
            loading: Some(loading),
            seen: None,
            traffic: plan.traffic.clone(),
            pace,
            blocks: Blocks::new(messages, copies, marks, plan.patience_ns),
            reach: Reach::default(),
            room: Vec::new(),
            done: VecDeque::new(),
            fault: None,
            left,
            taken: referee.rounds,
        })
    }

    /// Takes what the load's threads have reported.
    fn collect(&mut self) {
        if let Some(ledger) = &self.watched.ledger {
            self.reach = ledger.collect(&mut self.room, |outcome| self.blocks.take(outcome));
        }
        self.done.extend(std::iter::from_fn(|| self.blocks.next(self.reach)));
    }

    /// Waits for the load's end, and keeps what was seen.
    fn join(&mut self) -> Result<(), LoadError> {
        let Some(loading) = self.loading.take() else { return Ok(()) };
        let seen = loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        self.seen = Some(outcome::of(&seen, self.pace));
        Ok(())
    }

    /// Returns why a load that has ended did so.
    fn reason(&mut self) -> Read {
        match self.join() {
            Err(LoadError::Interrupted) => return Read::End(StopReason::Interrupted),
            Err(error) => return Read::Failed(lab_error(error)),
            Ok(()) => {}
        }
        match self.seen.as_ref().map(|seen| &seen.ending) {
            Some(LoadEnding::Broken { connection, why }) => {
                let fault = Fault::Connection { connection: *connection, what: why.clone() };
                self.void(fault)
            }
            Some(LoadEnding::Interrupted) => Read::End(StopReason::Interrupted),
            _ => self.breach().unwrap_or(Read::End(StopReason::Budget)),
        }
    }

    /// Ends if the server is known to have broken a promise. What is lost counts against claims,
    /// and behind it nothing is known of acknowledgements.
    fn breach(&mut self) -> Option<Read> {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (duplicated, reordered) = (of(&self.watched.duplicated), of(&self.watched.reordered));
        let whole = self.seen.as_ref().map(|seen| seen.counts).filter(|counts| counts.lost == 0);
        let MessageCounts { sent, unacknowledged, .. } = whole.unwrap_or_default();
        let counts =
            MessageCounts { sent, duplicated, reordered, unacknowledged, ..Default::default() };
        let what = self.traffic.broken_promise(&self.pace, &counts)?;
        Some(self.void(Fault::Server { what, stderr: String::new() }))
    }

    /// Ends because the server is void, behind what is still to be taken.
    fn void(&mut self, fault: Fault) -> Read {
        let (round, attempt) = (self.taken, None);
        self.fault = Some(Event::Void { contestant: 0, round, attempt, fault });
        Read::End(StopReason::Void)
    }
}

impl Observations for Messages<'_> {
    fn read(&mut self, patience: Duration, _elapsed: Duration) -> Read {
        if let Some(end) = self.breach() {
            return end;
        }
        if self.left < self.blocks.arrivals() {
            return Read::End(StopReason::Budget);
        }
        if !self.done.is_empty() {
            return Read::Due;
        }
        let is_over = self.loading.as_ref().is_none_or(ScopedJoinHandle::is_finished);
        self.collect();
        match self.done.is_empty() {
            false => return Read::Due,
            true if is_over => return self.reason(),
            true => thread::park_timeout(patience),
        }
        self.collect();
        if self.done.is_empty() { Read::Silence } else { Read::Due }
    }

    fn take(&mut self, elapsed: Duration) -> Option<Event> {
        let Some((arrivals, tallies)) = self.done.pop_front() else { return self.fault.take() };
        self.left = self.left.saturating_sub(arrivals);
        self.taken += arrivals;
        Some(Event::Block { arrivals, tallies, elapsed_ns: elapsed.as_nanos() as u64 })
    }

    fn end(&mut self, reason: StopReason) -> Option<Event> {
        self.watched.stop.store(true, Ordering::SeqCst);
        // Whatever it was, there is nothing to keep then.
        self.join().ok()?;
        let mut load = self.seen.take()?;
        if reason != StopReason::Interrupted && load.ending == LoadEnding::Interrupted {
            load.ending = LoadEnding::Settled;
        }
        Some(Event::Loaded { load: Box::new(load) })
    }
}

/// A load does not outlive who reads it.
impl Drop for Messages<'_> {
    fn drop(&mut self) {
        self.watched.stop.store(true, Ordering::SeqCst);
    }
}

/// Returns what the messages are compared with for a claim.
fn mark(planned: &PlannedClaim) -> Mark {
    match planned.claim.statement.property() {
        Some(Property::Quantile { bar, .. }) => Mark { bar_ns: bar, cap_ns: None },
        Some(Property::Mean { bar, cap, .. }) => Mark { bar_ns: bar, cap_ns: cap },
        _ => Mark { bar_ns: f64::INFINITY, cap_ns: None },
    }
}
