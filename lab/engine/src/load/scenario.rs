//! The protocols: which scenario of the generator a traffic is.

use super::url::Url;
use std::num::NonZeroU32;
use tiebreak_core::load::{MqttShape, MqttTraffic, MqttVersion, Traffic};
use tiebreak_load::conversation::Scenario;
use tiebreak_load::generator::{self, Load, LoadError, Watch};
use tiebreak_load::http::Http;
use tiebreak_load::mqtt::{self, Mqtt, MqttOptions, Qos, Version};
use tiebreak_load::seen::Account;
use tiebreak_load::websocket::{WebSocket, WebSocketOptions};

/// The scenario of a load, whatever its protocol.
pub(crate) enum AnyScenario {
    Http(Http),
    WebSocket(WebSocket),
    Mqtt(Mqtt),
}

/// What the rest of a load must know of its scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The connections in all.
    pub connections: u32,
    /// How often each message is to arrive.
    pub arrivals_a_message: u32,
}

impl AnyScenario {
    /// Makes the scenario of a traffic with the server of a URL.
    ///
    /// # Errors
    /// Returns what is impossible about the traffic, such as a payload without room for a stamp.
    pub fn new(traffic: &Traffic, url: &Url, seed: u64) -> Result<AnyScenario, String> {
        Ok(match traffic {
            Traffic::Http { connections } => {
                let connections = NonZeroU32::new(*connections).ok_or("give a connection")?;
                let scenario = Http::new("GET", &url.target, &url.authority, connections);
                AnyScenario::Http(scenario.map_err(|error| error.to_string())?)
            }
            Traffic::Websocket(traffic) => {
                let scenario = WebSocket::new(WebSocketOptions {
                    host: url.authority.clone(),
                    target: url.target.clone(),
                    shape: traffic.shape,
                    connections: traffic.connections,
                    payload_bytes: traffic.payload_bytes as usize,
                    text: traffic.is_text,
                    seed,
                });
                AnyScenario::WebSocket(scenario.map_err(|error| error.to_string())?)
            }
            Traffic::Mqtt(traffic) => {
                let scenario = Mqtt::new(mqtt_options(traffic, seed));
                AnyScenario::Mqtt(scenario.map_err(|error| error.to_string())?)
            }
        })
    }

    /// Returns what the rest of a load must know of it.
    pub fn facts(&self) -> Facts {
        match self {
            AnyScenario::Http(scenario) => facts_of(scenario),
            AnyScenario::WebSocket(scenario) => facts_of(scenario),
            AnyScenario::Mqtt(scenario) => facts_of(scenario),
        }
    }

    /// Refuses what cannot be loaded, whatever the server.
    ///
    /// # Errors
    /// As [`generator::check`].
    pub fn check(&self, load: &Load) -> Result<(), LoadError> {
        match self {
            AnyScenario::Http(scenario) => generator::check(load, scenario),
            AnyScenario::WebSocket(scenario) => generator::check(load, scenario),
            AnyScenario::Mqtt(scenario) => generator::check(load, scenario),
        }
    }

    /// Runs a load of it.
    ///
    /// # Errors
    /// As [`generator::load`].
    pub fn load(&self, load: &Load, watch: &Watch) -> Result<Account, LoadError> {
        match self {
            AnyScenario::Http(scenario) => generator::load(load, scenario, watch),
            AnyScenario::WebSocket(scenario) => generator::load(load, scenario, watch),
            AnyScenario::Mqtt(scenario) => generator::load(load, scenario, watch),
        }
    }
}

fn mqtt_options(traffic: &MqttTraffic, seed: u64) -> MqttOptions {
    let others = traffic.connections.saturating_sub(1);
    let publish_qos = match traffic.qos {
        0 => Qos::AtMostOnce,
        1 => Qos::AtLeastOnce,
        _ => Qos::ExactlyOnce,
    };
    MqttOptions {
        version: match traffic.version {
            MqttVersion::V31 => Version::V31,
            MqttVersion::V311 => Version::V311,
            MqttVersion::V5 => Version::V5,
        },
        shape: match traffic.shape {
            MqttShape::Pairs => mqtt::Shape::Pairs { connections: traffic.connections },
            MqttShape::Ping => {
                mqtt::Shape::Ping { pairs: traffic.pairs, wildcards: traffic.wildcards }
            }
            MqttShape::Fanout => mqtt::Shape::Fan { publishers: 1, subscribers: others },
            MqttShape::Fanin => mqtt::Shape::Fan { publishers: others, subscribers: 1 },
        },
        payload_bytes: traffic.payload_bytes as usize,
        publish_qos,
        // The published load test asks for QoS 1 and publishes with QoS 0.
        subscribe_qos: if traffic.qos == 0 { Qos::AtLeastOnce } else { publish_qos },
        keep_alive_s: traffic.keep_alive_s,
        seed,
    }
}

fn facts_of(scenario: &impl Scenario) -> Facts {
    Facts { connections: scenario.connections(), arrivals_a_message: scenario.arrivals_a_message() }
}
