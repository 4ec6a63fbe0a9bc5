//! Serves MQTT until it is told to end: `tiebreak-rumqttd CONFIG`.

use std::error::Error;
use tracing_subscriber::filter::LevelFilter;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tiebreak-rumqttd CONFIG")?;
    let config: rumqttd::Config = toml::from_str(&std::fs::read_to_string(path)?)?;
    // What it has to say about connections that it ends.
    let log = tracing_subscriber::fmt().with_max_level(LevelFilter::WARN);
    log.with_ansi(false).with_writer(std::io::stderr).init();
    rumqttd::Broker::new(config).start()?;
    Ok(())
}
