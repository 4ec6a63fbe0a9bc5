//! `tiebreak load`: a load on a server at one pace, or a sweep over rates.
//!
//! The generator and the protocols are `tiebreak-load`. Here a URL becomes an address, options
//! become a load, and what was seen becomes a result. `driver.rs` loads servers that are
//! contestants; claims about a load are judged by [`load_claims`](crate::load_claims).

pub(crate) mod driver;
pub(crate) mod outcome;
pub(crate) mod scenario;
mod sweep;
pub(crate) mod tls;
pub(crate) mod url;

use self::sweep::Swept;
use self::url::{Scheme, Url};
use crate::error::{LabError, data, require};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tiebreak_core::load::{
    LoadEnd, LoadPart, LoadProgress, LoadResult, Pace, Spacing, Traffic, Trust,
};
use tiebreak_load::generator::{self, Load, LoadError, Watch};
use tiebreak_load::protocol::{Facts, Protocol};
use tiebreak_load::schedule::{End, Rate};
use tiebreak_load::seen::Account;
use tiebreak_load::tls::Tls;
use tiebreak_machine::cpus;

pub use tiebreak_load::PAYLOAD_BYTES_MAX;
pub use tiebreak_load::schedule::RATE_PER_SECOND_MAX;
pub use tiebreak_load::stamp::MESSAGES_MAX;

/// How often a load that runs is looked at.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What is asked of a server.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// The command line.
    pub command: Vec<String>,
    /// Where the server is.
    pub url: String,
    /// Who says what to whom.
    pub traffic: Traffic,
    /// What decides when a message is sent.
    pub pacing: Pacing,
    /// Where each load ends; in a sweep it is a time.
    pub end: LoadEnd,
    /// The seed, any text.
    pub seed: String,
    /// The threads of the generator; by default all CPUs that this process may use but one, which
    /// is left to the server, and at least one.
    pub threads: Option<NonZeroU32>,
    /// How long connections are waited for, and messages after the last send.
    pub patience: Duration,
    /// Whom it trusts, over TLS.
    pub trust: Trust,
}

/// What decides when a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// One pace.
    At(Pace),
    /// Some shares of the highest rate that the server sustains, which is looked for first.
    Sweep {
        /// The rate at which the search begins.
        start_per_second: u64,
        /// How messages are spread over time.
        spacing: Spacing,
    },
}

/// Loads a server, and calls `watch` ten times a second meanwhile. It ends early if `stop` becomes
/// true; what was seen until then is the result.
///
/// # Errors
/// Fails if the request is impossible, or the server cannot be reached or refuses a connection
/// before the first message. What it does later is a part of the result.
pub fn run(
    request: &LoadRequest,
    stop: &AtomicBool,
    mut watch: impl FnMut(&LoadProgress),
) -> Result<LoadResult, LabError> {
    let scheme = url::scheme_of(&request.traffic);
    let url = Url::parse(&request.url, scheme).map_err(LabError::Usage)?;
    let is_counted = matches!(request.end, LoadEnd::Messages(_));
    require(
        !(is_counted && matches!(request.pacing, Pacing::Sweep { .. })),
        "--sweep tries rates, each for a time: give --duration instead of --messages",
    )?;
    if let Pacing::At(pace) = request.pacing {
        require_one_at_a_time(&request.traffic, pace)?;
    }
    let seed = number_of(&request.seed);
    let scenario = scenario::of(&request.traffic, &url, seed).map_err(LabError::Usage)?;
    let facts = scenario.facts();
    let threads = threads(request, facts);
    let mut server = Server {
        request,
        facts,
        scheme,
        tls: tls::client(&request.trust, &url, scheme)?,
        address: url.resolve(request.patience)?,
        url,
        threads,
        seed,
        stop,
        watch: &mut watch,
    };
    let swept = match request.pacing {
        Pacing::At(pace) => {
            let seen = server.observe(pace, request.end, LoadPart::Whole)?;
            Swept { loads: vec![outcome::of(&seen, pace)], ..Swept::default() }
        }
        Pacing::Sweep { start_per_second, spacing } => {
            sweep::sweep(&mut server, start_per_second, spacing)?
        }
    };
    Ok(LoadResult {
        command: request.command.clone(),
        url: request.url.clone(),
        traffic: request.traffic.clone(),
        connections: facts.connections,
        threads: threads.get(),
        seed: request.seed.clone(),
        end: request.end,
        saturation: swept.saturation,
        loads: swept.loads,
        failure: swept.failure.map(|error| error.to_string()),
    })
}

/// Refuses a closed loop over HTTP with more than one request under way on a connection.
fn require_one_at_a_time(traffic: &Traffic, pace: Pace) -> Result<(), LabError> {
    let is_one_at_a_time = matches!(traffic, Traffic::Http { .. });
    let has_several = matches!(pace, Pace::Closed { in_flight } if in_flight != Some(1));
    require(
        !(is_one_at_a_time && has_several),
        "--in-flight: HTTP has one request under way on each connection: give more --connections",
    )
}

/// Returns the threads of the generator: as many as were asked for, or all CPUs but one.
pub(crate) fn threads(request: &LoadRequest, facts: Facts) -> NonZeroU32 {
    let spare = cpus::allowed().len().saturating_sub(1);
    threads_on(request.threads, facts.connections, spare)
}

/// Returns the threads of a load: as many as were asked for, or as there are CPUs that the server
/// does not need; at least one, and at most one a connection.
fn threads_on(asked: Option<NonZeroU32>, connections: u32, cpus: usize) -> NonZeroU32 {
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX);
    let threads = asked.map_or(cpus, NonZeroU32::get).min(connections);
    NonZeroU32::new(threads).unwrap_or(NonZeroU32::MIN)
}

/// Runs a load, and calls `look` ten times a second meanwhile. The generator's threads run on these
/// CPUs only; if there are none, where the kernel puts them.
fn observe(
    scenario: &Protocol,
    load: &Load,
    cpus: &[usize],
    watched: &Watch,
    mut look: impl FnMut(),
) -> Result<Account, LoadError> {
    let (here, is_over) = (thread::current(), AtomicBool::new(false));
    thread::scope(|scope| {
        let loading = scope.spawn(|| {
            // The threads of the generator inherit it.
            let pinned = if cpus.is_empty() { Ok(()) } else { cpus::pin_this_thread(cpus) };
            let pinned = pinned.map_err(|error| LoadError::System("no CPU can be chosen", error));
            let seen = pinned.and_then(|()| scenario.load(load, watched));
            is_over.store(true, Ordering::SeqCst);
            here.unpark();
            seen
        });
        while !is_over.load(Ordering::SeqCst) && !loading.is_finished() {
            look();
            thread::park_timeout(BETWEEN_LOOKS);
        }
        loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Returns the number that a seed stands for: the first 64 bits of its SHA-256.
pub(crate) fn number_of(seed: &str) -> u64 {
    let digest = Sha256::digest(seed.as_bytes());
    u64::from_le_bytes(std::array::from_fn(|byte| digest[byte]))
}

/// A server under load.
struct Server<'a> {
    request: &'a LoadRequest,
    address: SocketAddr,
    url: Url,
    scheme: &'static Scheme,
    /// TLS, if the URL asks for it.
    tls: Option<Tls>,
    facts: Facts,
    threads: NonZeroU32,
    /// The seed of the next load.
    seed: u64,
    stop: &'a AtomicBool,
    watch: &'a mut dyn FnMut(&LoadProgress),
}

impl Server<'_> {
    /// Loads it, and shows meanwhile how far the load has come.
    fn observe(&mut self, pace: Pace, end: LoadEnd, part: LoadPart) -> Result<Account, LabError> {
        // Each load has topics and names of its own: what a broker still holds of one is not for
        // the next.
        let scenario = scenario::of(&self.request.traffic, &self.url, self.seed);
        let scenario = scenario.map_err(LabError::Usage)?;
        let load = Load {
            address: self.address,
            tls: self.tls.clone(),
            seed: self.seed,
            pace: pace_of(pace)?,
            end: end_of(end),
            threads: self.threads,
            patience: self.request.patience,
        };
        self.seed = self.seed.wrapping_add(1);
        let watched = Watch::default();
        let started = Instant::now();
        let seen = observe(&scenario, &load, &[], &watched, || {
            if self.stop.load(Ordering::SeqCst) {
                watched.stop.store(true, Ordering::SeqCst);
            }
            (self.watch)(&LoadProgress {
                part,
                pace,
                end,
                elapsed_ns: started.elapsed().as_nanos() as u64,
                open: watched.open.load(Ordering::Relaxed),
                connections: self.facts.connections,
                sent: watched.sent.load(Ordering::Relaxed),
                arrived: watched.arrived.load(Ordering::Relaxed),
            });
        });
        if self.tls.is_none() && tls::is_wanted(&seen, self.address, &self.url) {
            return data(format!(
                "the server speaks TLS at this port: give {}:// instead of {}",
                self.scheme.tls, self.request.url
            ));
        }
        seen.map_err(lab_error)
    }
}

/// Returns the pace as the generator has it.
pub(crate) fn pace_of(pace: Pace) -> Result<generator::Pace, LabError> {
    Ok(match pace {
        Pace::Open { rate_per_second, spacing } => generator::Pace::Open {
            rate: Rate::per_second(rate_per_second)
                .map_err(|error| LabError::Usage(format!("--rate: {error}")))?,
            spacing,
        },
        Pace::Closed { in_flight } => {
            generator::Pace::Closed { in_flight: in_flight.and_then(NonZeroU32::new) }
        }
    })
}

/// Returns the end as the generator has it.
fn end_of(end: LoadEnd) -> End {
    match end {
        LoadEnd::Messages(messages) => End::Sends(messages),
        LoadEnd::DurationNs(ns) => End::Ns(ns),
    }
}

/// Returns the error of a load that did not begin.
pub(crate) fn lab_error(error: LoadError) -> LabError {
    let text = error.to_string();
    match error {
        LoadError::Connect { .. }
        | LoadError::Refused { .. }
        | LoadError::Distrusted { .. }
        | LoadError::NotOpen { .. }
        | LoadError::Files { .. } => LabError::Data(text),
        LoadError::TooMuch | LoadError::Unanswered => LabError::Usage(text),
        LoadError::Interrupted => LabError::NoMessage,
        LoadError::System(..) => LabError::Broken(text),
    }
}
