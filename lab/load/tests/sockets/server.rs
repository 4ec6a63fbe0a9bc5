//! A server for tests: a thread for each connection, on a free port of this machine.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A server that runs until it is dropped.
pub struct Server {
    /// Where it is.
    pub address: SocketAddr,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server. Each connection is closed when `serve` returns; it gets the connection and
    /// the number of those before.
    pub fn start(serve: impl Fn(TcpStream, u64) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (serve, over) = (Arc::new(serve), Arc::clone(&is_over));
        let accepting = std::thread::spawn(move || {
            for (number, stream) in (0..).zip(listener.incoming()) {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (serve, stream) = (Arc::clone(&serve), stream.unwrap());
                stream.set_nodelay(true).unwrap();
                std::thread::spawn(move || serve(stream, number));
            }
        });
        Server { address, is_over, accepting: Some(accepting) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // It waits for a connection, so it gets one.
        let _ = TcpStream::connect(self.address);
        let accepting = self.accepting.take();
        accepting.map(JoinHandle::join);
    }
}
