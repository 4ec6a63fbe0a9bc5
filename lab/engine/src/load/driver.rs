//! The generator of load as the driver of servers that are contestants.

use super::scenario::AnyScenario;
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
use tiebreak_load::generator::{Load, LoadError, Watch};
use tiebreak_load::schedule::End;
use tiebreak_load::seen::Account;
use tiebreak_load::tls::Tls;
use tiebreak_machine::cpus;

/// A closed loop whose threads run for this share of its time may be as slow as they are.
const BUSY_SHARE: f64 = 0.95;
/// A try to open all connections may take so long, even if less is left.
const TRY_MIN: Duration = Duration::from_millis(100);
/// A port, to look whether a URL is one.
const ANY_PORT: u16 = 1;

/// Loads servers as a plan says.
pub(crate) struct Generator {
    plan: ServerPlan,
    /// TLS, if the URL asks for it.
    tls: Option<Tls>,
    /// The CPUs that are the generator's; empty for any.
    cpus: Vec<usize>,
    threads: NonZeroU32,
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
        let (connections, tls) = checked(plan)?;
        let allowed = cpus::allowed();
        let mut cpus = allowed.clone();
        cpus.retain(|cpu| !of_servers.contains(cpu));
        let spare =
            if of_servers.is_empty() { allowed.len().saturating_sub(1) } else { cpus.len() };
        if of_servers.is_empty() {
            cpus.clear();
        }
        let asked = plan.threads.and_then(NonZeroU32::new);
        Ok(Generator {
            threads: threads_on(asked, connections, spare),
            plan: plan.clone(),
            tls,
            cpus,
            stop,
        })
    }

    /// Returns what is asked of the server at a port.
    fn asked(
        &self,
        port: u16,
        seed: u64,
        end: End,
        patience: Duration,
    ) -> Result<(AnyScenario, Load), LoadFailure> {
        let tls = self.tls.as_ref().map(Tls::without_sessions);
        let asked = asked(&self.plan, tls, port, seed, end, self.threads);
        let (url, scenario, load) =
            asked.map_err(|error| LoadFailure::Broken(error.to_string()))?;
        let address = url.resolve(patience).map_err(|e| LoadFailure::NotOpen(e.to_string()))?;
        Ok((scenario, Load { address, patience, ..load }))
    }

    /// Runs a load for at most this time.
    fn run(
        &self,
        scenario: &AnyScenario,
        load: &Load,
        limit: Duration,
    ) -> Result<Account, LoadFailure> {
        let (watched, started) = (Watch::default(), Instant::now());
        let seen = observe(scenario, load, &self.cpus, &watched, || {
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
    fn open(&mut self, port: u16, seed: u64, within_ns: u64) -> Result<(), LoadFailure> {
        let within = Duration::from_nanos(within_ns).max(TRY_MIN);
        let patience = within.min(Duration::from_nanos(self.plan.patience_ns));
        let (scenario, load) = self.asked(port, seed, End::Sends(0), patience)?;
        self.run(&scenario, &load, within).map(drop)
    }

    fn load(&mut self, order: &LoadOrder) -> Result<LoadSeen, LoadFailure> {
        let patience = Duration::from_nanos(self.plan.patience_ns);
        let (scenario, load) = self.asked(order.port, order.seed, end_of(order.end), patience)?;
        let seen = self.run(&scenario, &load, Duration::from_nanos(order.limit_ns))?;
        Ok(self.seen(&seen))
    }
}

impl Generator {
    fn seen(&self, seen: &Account) -> LoadSeen {
        let ends = seen.times.sends_ns.zip(seen.times.arrivals_ns);
        let wall_ns = ends.map_or(0, |((first, _), (_, last))| last.saturating_sub(first));
        let busy_ns = wall_ns as f64 * f64::from(self.threads.get()) * BUSY_SHARE;
        let is_behind_schedule = match self.plan.pace {
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
}

/// Returns what a plan asks of the server at a port; the address and the patience are to be filled
/// in.
fn asked(
    plan: &ServerPlan,
    tls: Option<Tls>,
    port: u16,
    seed: u64,
    end: End,
    threads: NonZeroU32,
) -> Result<(Url, AnyScenario, Load)> {
    let url = plan.url.replace(PORT, &port.to_string());
    let url = Url::parse(&url, url::scheme_of(&plan.traffic)).map_err(LabError::Usage)?;
    let scenario = AnyScenario::new(&plan.traffic, &url, seed).map_err(LabError::Usage)?;
    let (pace, patience) = (pace_of(plan.pace)?, Duration::ZERO);
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

/// Checks as [`check`], and returns the connections of the load, and TLS if its URL asks for it.
fn checked(plan: &ServerPlan) -> Result<(u32, Option<Tls>)> {
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
    let (end, one) = (end_of(plan.end), NonZeroU32::MIN);
    let (url, scenario, load) = asked(plan, None, ANY_PORT, 0, end, one).map_err(named)?;
    scenario.check(&load).map_err(|error| named(LabError::Usage(error.to_string())))?;
    let tls = tls::client(&plan.trust, &url, url::scheme_of(&plan.traffic)).map_err(named)?;
    Ok((scenario.facts().connections, tls))
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
        assert_eq!(checked(&plan(URL, CLOSED)).unwrap().0, 4);
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
        let generator = Generator::new(&plan(URL, CLOSED), &[], &GO_ON).unwrap();
        // 1000 arrivals, one a microsecond, for 500 ns each of the generator's time.
        let mut account = seen(&[(10, 20); 1000]);
        let read = generator.seen(&account);
        assert_eq!((read.wall_ns, read.is_behind_schedule), (1_000_000, false));
        assert_eq!(read.served.latencies_ns, [BatchTime::between(10, 20); 4]);
        assert_eq!((read.served.counts.arrived, read.ending), (1000, LoadEnding::Complete));
        account.generator_cpu_ns = 960_000;
        assert!(generator.seen(&account).is_behind_schedule);
        let pace = Pace::Open { rate_per_second: 1000, spacing: Spacing::Constant };
        let open = Generator::new(&plan(URL, pace), &[], &GO_ON).unwrap();
        assert!(!open.seen(&account).is_behind_schedule);
        account.punctuality.late = 2;
        assert!(open.seen(&account).is_behind_schedule);
    }

    #[test]
    fn a_server_that_is_not_there_is_not_open() {
        let mut generator = Generator::new(&plan(URL, CLOSED), &[], &GO_ON).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(generator.open(port, 1, 1_000_000_000), Ok(()));
        drop(listener);
        let failure = generator.open(port, 1, 1_000_000_000).unwrap_err();
        assert!(matches!(failure, LoadFailure::NotOpen(_)), "{failure:?}");
    }
}
