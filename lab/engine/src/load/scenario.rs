//! The protocols: which scenario of the generator a traffic is.

use super::url::Url;
use std::num::NonZeroU32;
use tiebreak_core::load::{MqttShape, MqttTraffic, MqttVersion, Traffic};
use tiebreak_load::http::Http;
use tiebreak_load::mqtt::{self, Mqtt, MqttOptions, Qos, Version};
use tiebreak_load::protocol::Protocol;
use tiebreak_load::websocket::{WebSocket, WebSocketOptions};

/// Makes the scenario of a traffic with the server of a URL.
///
/// # Errors
/// Returns what is impossible about the traffic, such as a payload without room for a stamp.
pub(crate) fn of(traffic: &Traffic, url: &Url, seed: u64) -> Result<Protocol, String> {
    Ok(match traffic {
        Traffic::Http { connections } => {
            let connections = NonZeroU32::new(*connections).ok_or("give a connection")?;
            let scenario = Http::new("GET", &url.target, &url.authority, connections);
            Protocol::Http(scenario.map_err(|error| error.to_string())?)
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
            Protocol::WebSocket(scenario.map_err(|error| error.to_string())?)
        }
        Traffic::Mqtt(traffic) => {
            let scenario = Mqtt::new(mqtt_options(traffic, seed));
            Protocol::Mqtt(scenario.map_err(|error| error.to_string())?)
        }
    })
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
