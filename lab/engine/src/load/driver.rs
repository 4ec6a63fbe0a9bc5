//! The generator of load as the driver of servers that are contestants.

use super::scenario;
use super::url::{self, Url};
use super::{end_of, observe, pace_of, require_one_at_a_time, threads_on, tls};
use crate::error::{LabError, Result};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiebreak_core::load::{LoadEnd, Pace};
use tiebreak_core::metric::Metric;
use tiebreak_core::sample::{BatchTime, Served};
use tiebreak_core::server::{Driver, LoadFailure, LoadOrder, LoadSeen, PORT, ServerPlan};
use tiebreak_load::generator::{Hold, Load, LoadError, Watch};
use tiebreak_load::protocol::Protocol;
use tiebreak_load::seen::Account;
use tiebreak_load::tls::Tls;
use tiebreak_machine::cpus;

/// A closed loop whose threads run for this share of its time may be as slow as they are.
const BUSY_SHARE: f64 = 0.95;
/// A port, to look whether a URL is one.
const ANY_PORT: u16 = 1;

/// Loads servers as plans say that are the same but for connections and ends.
pub(crate) struct Generator {
    /// TLS, if the URL asks for it.
    tls: Option<Tls>,
    /// The CPUs that are the generator's; empty for any.
    cpus: Vec<usize>,
    /// How many CPUs there are for it.
    spare: usize,
    stop: &'static AtomicBool,
}

impl Generator {
    /// Returns the generator of a plan whose servers run on these CPUs, or on any if there are
    /// none. It then gets the others, unless there are no others.
    ///
    /// # Errors
    /// Fails if the load is impossible, whatever the server.
    pub(crate) fn new(
        plan: &ServerPlan,
        of_servers: &[usize],
        stop: &'static AtomicBool,
    ) -> Result<Generator> {
        let tls = checked(plan)?;
        let allowed = cpus::allowed();
        let mut cpus = allowed.clone();
        cpus.retain(|cpu| !of_servers.contains(cpu));
        let spare =
            if of_servers.is_empty() { allowed.len().saturating_sub(1) } else { cpus.len() };
        if of_servers.is_empty() {
            cpus.clear();
        }
        Ok(Generator { tls, cpus, spare, stop })
    }

    /// Returns what is asked of a server.
    fn asked(&self, order: &LoadOrder<'_>) -> Result<(Protocol, Load), LoadFailure> {
        let tls = self.tls.as_ref().map(Tls::without_sessions);
        let (url, scenario, load) = asked(order.plan, tls, order.port, order.seed)
            .map_err(|error| LoadFailure::Broken(error.to_string()))?;
        let patience = Duration::from_nanos(order.plan.patience_ns);
        let address = url.resolve(patience).map_err(|e| LoadFailure::NotOpen(e.to_string()))?;
        let threads = order.plan.threads.and_then(NonZeroU32::new);
        let threads = threads_on(threads, scenario.facts().connections, self.spare);
        Ok((scenario, Load { address, patience, threads, ..load }))
    }

    /// Runs a load for at most this time.
    fn run(
        &self,
        scenario: &Protocol,
        load: &Load,
        limit: Duration,
        opened: &mut dyn FnMut(),
    ) -> Result<Account, LoadFailure> {
        let hold = Some(Hold::by_this_thread());
        let (watched, started) = (Watch { hold, ..Watch::default() }, Instant::now());
        let seen = observe(scenario, load, &self.cpus, &watched, || {
            if let Some(hold) = watched.hold.as_ref().filter(|hold| hold.is_waiting()) {
                opened();
                hold.release();
            }
            if self.stop.load(Ordering::SeqCst) || started.elapsed() >= limit {
                watched.stop.store(true, Ordering::SeqCst);
            }
        });
        match seen {
            _ if self.stop.load(Ordering::SeqCst) => Err(LoadFailure::Interrupted),
            Ok(seen) => Ok(seen),
            Err(error @ (LoadError::Files { .. } | LoadError::System(..))) => {
                Err(LoadFailure::Broken(error.to_string()))
            }
            Err(LoadError::Interrupted) => {
                Err(LoadFailure::NotOpen("connections were not open in time".to_owned()))
            }
            Err(LoadError::Distrusted { why, .. }) => {
                Err(LoadFailure::Distrusted(format!("it {why}")))
            }
            Err(LoadError::Connect { source, .. }) => {
                Err(LoadFailure::NotOpen(format!("connecting to its port: {source}")))
            }
            Err(error) => Err(LoadFailure::NotOpen(error.to_string())),
        }
    }
}

impl Driver for Generator {
    fn load(
        &mut self,
        order: &LoadOrder<'_>,
        opened: &mut dyn FnMut(),
    ) -> Result<LoadSeen, LoadFailure> {
        let (scenario, load) = self.asked(order)?;
        let seen = self.run(&scenario, &load, Duration::from_nanos(order.limit_ns), opened)?;
        Ok(read(&seen, &order.plan.pace, load.threads))
    }
}

/// Returns what an account says of the server, and whether so many threads may have been the limit.
fn read(seen: &Account, pace: &Pace, threads: NonZeroU32) -> LoadSeen {
    let ends = seen.times.sends_ns.zip(seen.times.arrivals_ns);
    let wall_ns = ends.map_or(0, |((first, _), (_, last))| last.saturating_sub(first));
    let busy_ns = wall_ns as f64 * f64::from(threads.get()) * BUSY_SHARE;
    let is_behind_schedule = match pace {
        Pace::Open { .. } => seen.punctuality.is_behind_schedule(),
        Pace::Closed { .. } => seen.generator_cpu_ns as f64 > busy_ns,
    };
    let latencies_ns = Metric::LATENCIES.map(|(_, share)| {
        let found = seen.latencies.value_at(share);
        found.map_or_else(BatchTime::default, |at| BatchTime::between(at.low_ns, at.high_ns))
    });
    LoadSeen {
        served: Served {
            counts: seen.counts,
            late: seen.punctuality.late,
            generator_cpu_ns: seen.generator_cpu_ns,
            latencies_ns,
        },
        wall_ns,
        is_behind_schedule,
        ending: seen.ending.clone(),
        histogram: seen.latencies.to_bytes(),
    }
}

/// Returns what a plan asks of the server at a port; the address, the patience and the threads are
/// to be filled in.
fn asked(
    plan: &ServerPlan,
    tls: Option<Tls>,
    port: u16,
    seed: u64,
) -> Result<(Url, Protocol, Load)> {
    let url = plan.url.replace(PORT, &port.to_string());
    let url = Url::parse(&url, url::scheme_of(&plan.traffic)).map_err(LabError::Usage)?;
    let scenario = scenario::of(&plan.traffic, &url, seed).map_err(LabError::Usage)?;
    let (pace, end) = (pace_of(plan.pace)?, end_of(plan.end));
    let (patience, threads) = (Duration::ZERO, NonZeroU32::MIN);
    let address = (std::net::Ipv4Addr::LOCALHOST, port).into();
    Ok((url, scenario, Load { address, tls, seed, pace, end, threads, patience }))
}

/// Checks that a load is possible, whatever the server.
///
/// # Errors
/// Fails if it is not; the text says what would be.
pub(crate) fn check(plan: &ServerPlan) -> Result<()> {
    checked(plan).map(drop)
}

/// Checks as [`check`], and returns TLS if the URL asks for it.
fn checked(plan: &ServerPlan) -> Result<Option<Tls>> {
    let named = |error: LabError| LabError::Usage(format!("--load: {error}"));
    if !plan.url.contains(PORT) {
        return Err(LabError::Usage(format!(
            "--load: each run has a port of its own, so write {PORT} where the port goes in '{}'",
            plan.url
        )));
    }
    if let (Pace::Closed { .. }, LoadEnd::DurationNs(_)) = (plan.pace, plan.end) {
        return Err(LabError::Usage(
            "--load: in a closed loop give --messages N, so that each server gets as many and a \
             ratio of times is one of throughputs"
                .to_owned(),
        ));
    }
    require_one_at_a_time(&plan.traffic, plan.pace).map_err(named)?;
    let (url, scenario, load) = asked(plan, None, ANY_PORT, 0).map_err(named)?;
    scenario.check(&load).map_err(|error| match super::lab_error(error) {
        error @ LabError::Usage(_) => named(error),
        error => error,
    })?;
    tls::client(&plan.trust, &url, url::scheme_of(&plan.traffic)).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::outcome::tests::seen;
    use tiebreak_core::load::{LoadEnding, Spacing, Traffic};

    fn plan(url: &str, pace: Pace) -> ServerPlan {
        let (traffic, end) = (Traffic::Http { connections: 4 }, LoadEnd::Messages(10));
        ServerPlan {
            threads: Some(1),
            patience_ns: 100_000_000,
            ..ServerPlan::new("as typed", url, traffic, pace, end)
        }
    }

    const CLOSED: Pace = Pace::Closed { in_flight: Some(1) };
    const URL: &str = "http://127.0.0.1:{port}/";
    static GO_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn impossible_loads_are_refused_before_a_server_starts() {
        let refused = |plan: &ServerPlan| check(plan).unwrap_err().to_string();
        assert!(check(&plan(URL, CLOSED)).is_ok());
        assert!(refused(&plan("http://127.0.0.1:80/", CLOSED)).contains("write {port}"));
        assert!(refused(&plan("ws://127.0.0.1:{port}/", CLOSED)).contains("ws:// is for"));
        let forever = ServerPlan { end: LoadEnd::DurationNs(1), ..plan(URL, CLOSED) };
        assert!(refused(&forever).contains("give --messages"));
        let fast = Pace::Open { rate_per_second: u64::MAX, spacing: Spacing::Constant };
        assert!(refused(&plan(URL, fast)).contains("--load: --rate: a rate of"));
        let many = ServerPlan { end: LoadEnd::Messages(u64::MAX), ..plan(URL, CLOSED) };
        assert!(refused(&many).contains("this load is too long"));
    }

    #[test]
    fn a_generator_that_never_rests_may_be_the_limit() {
        let read = |account: &Account, pace: Pace| super::read(account, &pace, NonZeroU32::MIN);
        // 1000 arrivals, one a microsecond, for 500 ns each of the generator's time.
        let mut account = seen(&[(10, 20); 1000]);
        let found = read(&account, CLOSED);
        assert_eq!((found.wall_ns, found.is_behind_schedule), (1_000_000, false));
        assert_eq!(found.served.latencies_ns, [BatchTime::between(10, 20); 4]);
        assert_eq!((found.served.counts.arrived, found.ending), (1000, LoadEnding::Complete));
        account.generator_cpu_ns = 960_000;
        assert!(read(&account, CLOSED).is_behind_schedule);
        let pace = Pace::Open { rate_per_second: 1000, spacing: Spacing::Constant };
        assert!(!read(&account, pace).is_behind_schedule);
        account.punctuality.late = 2;
        assert!(read(&account, pace).is_behind_schedule);
    }

    #[test]
    fn a_server_that_is_not_there_is_not_open() {
        let plan = plan(URL, CLOSED);
        let mut generator = Generator::new(&plan, &[], &GO_ON).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let order = LoadOrder { plan: &plan, port, seed: 1, limit_ns: 10_000_000_000 };
        // It takes connections, and answers nothing.
        let mut times_opened = 0;
        let seen = generator.load(&order, &mut || times_opened += 1).unwrap();
        assert_eq!((seen.served.counts.arrived, times_opened), (0, 1));
        drop(listener);
        let failure = generator.load(&order, &mut || panic!("nobody is there")).unwrap_err();
        assert!(matches!(failure, LoadFailure::NotOpen(_)), "{failure:?}");
    }
}
