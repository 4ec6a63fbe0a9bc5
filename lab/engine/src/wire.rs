//! A server of Cucumber's wire protocol, whose steps state claims and race for them.
//!
//! A client is one run of Cucumber. Each of its scenarios is a contest of a file of claims, which
//! [`steps`](tiebreak_input::steps) build up, and each step that states claims is a run of its own.
//! The claims of a client share one error, however many they are: see
//! [`open_ended_error`](tiebreak_stats::family::open_ended_error). Clients have the machine in
//! turns, as the contests of a file have.

mod client;
mod inbox;
mod message;
mod turns;

pub use inbox::MAX_LINE_BYTES;

use crate::error::{LabError, Result};
use crate::planning::seed_or_random;
use crate::session::Book;
use client::{PROTOCOL, Shared};
use message::Reply;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle, sleep};
use std::time::Duration;
use turns::Turns;

/// The most clients at once.
const MAX_CLIENTS: usize = 64;
/// The longest sleep before the next look at who has come, and at whether the user interrupted.
const SLICE: Duration = Duration::from_millis(100);
/// How long a client may take to take an answer.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
    shared: Shared,
}

/// A client that is being served.
struct Served<'scope> {
    stream: TcpStream,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl Server {
    /// Listens on this port of the loopback interface, or on any free one if it is 0. Without a
    /// seed, one is drawn.
    ///
    /// # Errors
    /// Fails if the port cannot be had.
    pub fn listen(port: u16, seed: Option<&str>, book: Book) -> Result<Server> {
        let seed = seed_or_random(seed)?;
        let failed = |error: std::io::Error| {
            let remedy = match error.kind() {
                ErrorKind::AddrInUse => "another program listens there; --port 0 takes a free port",
                ErrorKind::PermissionDenied => {
                    "ports below 1024 need a right; --port 0 takes a free port"
                }
                _ => "--port 0 takes a free port",
            };
            LabError::Data(format!("cannot listen on 127.0.0.1:{port} ({error}): {remedy}"))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Server { listener, port, shared: Shared { book, seed, turns: Turns::default() } })
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the seed, of which each client draws its own.
    pub fn seed(&self) -> &str {
        &self.shared.seed
    }

    /// Serves clients until `stop` becomes true; then what is raced ends, and its journal is kept.
    /// Calls `say` with a line for each thing of note.
    pub fn serve(&self, stop: &AtomicBool, mut say: impl FnMut(&str)) {
        let (said, lines) = channel();
        std::thread::scope(|scope| {
            let mut clients: Vec<Served<'_>> = Vec::new();
            let mut number = 0;
            while !stop.load(Ordering::SeqCst) {
                lines.try_iter().for_each(|line: String| say(&line));
                clients = without_gone(clients);
                match self.listener.accept() {
                    Ok((stream, _)) if clients.len() < MAX_CLIENTS => {
                        number += 1;
                        clients.extend(self.start(scope, number, stream, said.clone()));
                    }
                    Ok((stream, _)) => refuse(&stream),
                    Err(_) => sleep(SLICE),
                }
            }
            for client in &clients {
                let _ = client.stream.shutdown(Shutdown::Read);
            }
            clients.into_iter().for_each(end);
        });
        drop(said);
        lines.iter().for_each(|line: String| say(&line));
    }

    /// Serves a client in a thread of its own.
    fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        number: u64,
        stream: TcpStream,
        said: Sender<String>,
    ) -> Option<Served<'scope>> {
        let own = stream.try_clone().ok()?;
        let thread = scope.spawn(move || {
            let _ = own.set_nodelay(true);
            let _ = own.set_write_timeout(Some(WRITE_TIMEOUT));
            let stop = Stop::lent();
            client::serve(&self.shared, number, &own, stop.0, said);
        });
        Some(Served { stream, thread })
    }
}

/// Returns the clients that are still there.
fn without_gone(clients: Vec<Served<'_>>) -> Vec<Served<'_>> {
    let (gone, there): (Vec<_>, Vec<_>) =
        clients.into_iter().partition(|client| client.thread.is_finished());
    gone.into_iter().for_each(end);
    there
}

/// Waits for the end of a client's thread. A fault of ours in it costs this client only; the
/// thread has printed it.
fn end(client: Served<'_>) {
    let _ = client.thread.join();
}

/// Tells a client that there are too many.
fn refuse(mut stream: &TcpStream) {
    let why = format!("the server has {MAX_CLIENTS} clients, which are the most: try again later");
    let _ = stream.set_write_timeout(Some(SLICE));
    let _ = stream.write_all(Reply::Fail(why, PROTOCOL).line().as_bytes());
}

/// The flag that ends the races of a client: lent to one client after the other, because what
/// starts programs needs one that lives for ever.
struct Stop(&'static AtomicBool);

/// The flags that no client has; there are never more in all than there were clients at once.
static STOPS: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

impl Stop {
    fn lent() -> Stop {
        let free = STOPS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Stop(free.unwrap_or_else(|| Box::leak(Box::default())))
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        STOPS.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}
