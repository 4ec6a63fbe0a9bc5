//! Connections are made, some at a time, and their conversations begun.

use super::super::LoadError;
use super::super::connection::State;
use super::super::system;
use super::{Clock, LOOK_FOR_START, Thread, system_failed};
use crate::conversation::{Broken, Scenario};
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

impl<S: Scenario> Thread<'_, S> {
    /// Opens all connections and sleeps until the start. Returns whether there is one.
    pub(super) fn open_all(&mut self) -> Result<bool, LoadError> {
        let mut progress = (0, Instant::now());
        let mut is_open = false;
        while !self.shared.is_over() {
            if self.shared.watch.stop.load(Relaxed) {
                return Err(LoadError::Interrupted);
            }
            if self.open == self.connections.len() && !is_open {
                is_open = true;
                self.shared.opened();
            }
            let now = Instant::now();
            if let Some(start) = self.shared.start() {
                self.clock = Clock(Some(start));
                std::thread::sleep(start.duration_since(now));
                return Ok(true);
            }
            if self.open != progress.0 {
                progress = (self.open, now);
            } else if !is_open && now.duration_since(progress.1) > self.load.patience {
                return Err(self.not_open());
            }
            self.write()?;
            self.turn(LOOK_FOR_START)?;
        }
        Ok(false)
    }

    fn not_open(&self) -> LoadError {
        LoadError::NotOpen {
            open: self.shared.watch.open.load(Relaxed) as u32,
            connections: self.all_connections,
            patience: self.load.patience,
        }
    }

    /// Begins to connect.
    pub(super) fn connect(&mut self, place: usize) -> Result<(), LoadError> {
        let connection = &mut self.connections[place];
        match system::connect(self.load.address) {
            Ok(socket) => {
                self.epoll.add(&socket, place).map_err(system_failed)?;
                connection.connect(socket);
                self.opening += 1;
                Ok(())
            }
            Err(error) => self.not_connected(place, error),
        }
    }

    /// Begins the conversation, or TLS, on a connection whose socket is connected, or is not.
    pub(super) fn open(&mut self, place: usize) -> Result<(), LoadError> {
        match self.connections[place].open(self.load.tls.as_ref(), &mut self.heard) {
            Ok(()) => {
                self.push(place);
                self.hear(place, self.clock.now_ns())
            }
            Err(error) => self.not_connected(place, error),
        }
    }

    fn not_connected(&mut self, place: usize, source: io::Error) -> Result<(), LoadError> {
        let (address, connection) = (self.load.address, self.connections[place].number);
        if !self.clock.is_set() {
            return Err(LoadError::Connect { address, connection, source });
        }
        let why = format!("closed the connection and did not take it again: {source}");
        self.broken(place, Broken(why))
    }

    /// Counts a connection whose conversation is open.
    pub(super) fn opened(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        if connection.state == State::Opening {
            connection.state = State::Open;
            self.opening -= 1;
            self.open += 1;
            self.shared.watch.open.fetch_add(1, Relaxed);
            self.list(place);
        }
    }
}
