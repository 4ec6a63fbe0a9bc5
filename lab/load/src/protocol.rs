//! The scenarios that there are, behind one type.
//!
//! Whoever runs a load calls these functions, and not the generic ones of the [`generator`]: so the
//! generator is compiled here, with this crate's optimisation, and not with the caller's.

use crate::conversation::Scenario;
use crate::generator::{self, Load, LoadError, Watch};
use crate::http::Http;
use crate::mqtt::Mqtt;
use crate::seen::Account;
use crate::websocket::WebSocket;

/// The scenario of a load, whatever its protocol.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// HTTP/1.1.
    Http(Http),
    /// WebSocket.
    WebSocket(WebSocket),
    /// MQTT.
    Mqtt(Mqtt),
}

/// What the rest of a load must know of its scenario.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The connections in all.
    pub connections: u32,
    /// How often each message is to arrive.
    pub arrivals_a_message: u32,
}

/// Calls a generic function with the scenario.
macro_rules! with {
    ($protocol:expr, $scenario:ident => $call:expr) => {
        match $protocol {
            Protocol::Http($scenario) => $call,
            Protocol::WebSocket($scenario) => $call,
            Protocol::Mqtt($scenario) => $call,
        }
    };
}

impl Protocol {
    /// Returns what the rest of a load must know of it.
    pub fn facts(&self) -> Facts {
        fn of(scenario: &impl Scenario) -> Facts {
            Facts {
                connections: scenario.connections(),
                arrivals_a_message: scenario.arrivals_a_message(),
            }
        }
        with!(self, scenario => of(scenario))
    }

    /// Refuses what cannot be loaded, whatever the server.
    ///
    /// # Errors
    /// As [`generator::check`].
    pub fn check(&self, load: &Load) -> Result<(), LoadError> {
        with!(self, scenario => generator::check(load, scenario))
    }

    /// Runs a load of it.
    ///
    /// # Errors
    /// As [`generator::load`].
    pub fn load(&self, load: &Load, watch: &Watch) -> Result<Account, LoadError> {
        with!(self, scenario => generator::load(load, scenario, watch))
    }
}
