//! Where a server is: the URL that a user types, and the address that it means.

use crate::error::{LabError, data};
use std::net::{Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;
use tiebreak_core::load::Traffic;

/// The scheme of a protocol, without TLS and with it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    name: &'static str,
    /// The name over TLS.
    pub tls: &'static str,
    /// The word after `tiebreak load`.
    command: &'static str,
    port: u16,
    tls_port: u16,
    /// The name over TLS of what is spoken, where it has one (ALPN).
    pub alpn: Option<&'static str>,
    has_path: bool,
}

const SCHEMES: [Scheme; 3] = [
    Scheme {
        name: "http",
        tls: "https",
        command: "http",
        port: 80,
        tls_port: 443,
        alpn: Some("http/1.1"),
        has_path: true,
    },
    Scheme {
        name: "ws",
        tls: "wss",
        command: "websocket",
        port: 80,
        tls_port: 443,
        // It begins as a request (RFC 6455 section 4.1).
        alpn: Some("http/1.1"),
        has_path: true,
    },
    Scheme {
        name: "mqtt",
        tls: "mqtts",
        command: "mqtt",
        port: 1883,
        tls_port: 8883,
        alpn: None,
        has_path: false,
    },
];

/// Returns the scheme that the URL of such a load has.
pub(crate) fn scheme_of(traffic: &Traffic) -> &'static Scheme {
    let [http, websocket, mqtt] = &SCHEMES;
    match traffic {
        Traffic::Http { .. } => http,
        Traffic::Websocket(_) => websocket,
        Traffic::Mqtt(_) => mqtt,
    }
}

impl Scheme {
    fn example(&self) -> String {
        let path = if self.has_path { "/PATH" } else { "" };
        format!("{}://HOST[:PORT]{path} or, over TLS, {}://HOST[:PORT]{path}", self.name, self.tls)
    }
}

/// A server, and what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    /// Whether TLS is spoken there.
    pub is_tls: bool,
    /// The name or the address of the server, without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Host and port as a `Host` field has them: without the scheme's own port.
    pub authority: String,
    /// The path and the query, beginning with `/`.
    pub target: String,
}

impl Url {
    /// Reads a URL of a scheme: RFC 3986 without user names; a fragment is left out, since it is
    /// not sent.
    ///
    /// # Errors
    /// Returns a text that says what is wrong, and what to type.
    pub fn parse(text: &str, scheme: &Scheme) -> Result<Url, String> {
        let (is_tls, rest) = after_scheme(text, scheme)?;
        let usual = if is_tls { scheme.tls_port } else { scheme.port };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        if authority.contains('@') {
            // What may be a password is not repeated.
            return Err("the URL has a user name: a load sends none, leave it out".to_owned());
        }
        let (host, port) = host_and_port(authority, text, scheme)?;
        let port = port.unwrap_or(usual);
        if !scheme.has_path && !matches!(target, "" | "/") {
            let name = scheme.name;
            return Err(format!("'{text}' has a path, and {name}:// has none: leave it out"));
        }
        if let Some(wrong) = target.chars().find(|c| !c.is_ascii_graphic()) {
            let mut bytes = [0; 4];
            let bytes = wrong.encode_utf8(&mut bytes).bytes();
            let escaped: String = bytes.map(|byte| format!("%{byte:02X}")).collect();
            return Err(format!("'{text}' has a {wrong:?} in its path: write {escaped} for it"));
        }
        let shown = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let authority = if port == usual { shown } else { format!("{shown}:{port}") };
        let target = match target.as_bytes().first() {
            Some(b'/') => target.to_owned(),
            _ => format!("/{target}"),
        };
        Ok(Url { is_tls, host, port, authority, target })
    }

    /// Returns the address of the server. If the name has several, such as those of `localhost`,
    /// returns the first that takes a connection; each is waited for at most this long.
    ///
    /// # Errors
    /// Fails if the name has no address, or none of several takes a connection.
    pub fn resolve(&self, patience: Duration) -> Result<SocketAddr, LabError> {
        let Url { host, port, .. } = self;
        let found = (host.as_str(), *port).to_socket_addrs();
        let found: Vec<SocketAddr> = match found {
            Ok(found) => found.collect(),
            Err(error) => return data(format!("cannot find the host '{host}': {error}")),
        };
        if let [only] = found[..] {
            return Ok(only);
        }
        let mut why = "it has no address".to_owned();
        for address in found {
            match TcpStream::connect_timeout(&address, patience) {
                Ok(_) => return Ok(address),
                Err(error) => why = format!("{address}: {error}"),
            }
        }
        data(format!("cannot connect to '{host}' on port {port}: {why}; is the server started?"))
    }
}

/// Returns whether the scheme is the one with TLS, and what stands after it, if it is a right one.
fn after_scheme<'a>(text: &'a str, scheme: &Scheme) -> Result<(bool, &'a str), String> {
    let example = scheme.example();
    let Some((typed, rest)) = text.split_once("://") else {
        return Err(format!("'{text}' is not a URL: give {example}"));
    };
    let is = |name: &str| typed.eq_ignore_ascii_case(name);
    if is(scheme.name) || is(scheme.tls) {
        return Ok((is(scheme.tls), rest));
    }
    Err(match SCHEMES.iter().find(|known| is(known.name) || is(known.tls)) {
        Some(Scheme { command, .. }) => {
            format!("{typed}:// is for 'tiebreak load {command}': here give {example}")
        }
        None => format!("'{typed}' is not a scheme that a load knows: give {example}"),
    })
}

/// Splits an authority into its host, without brackets, and its port, if it has one.
fn host_and_port(
    authority: &str,
    text: &str,
    scheme: &Scheme,
) -> Result<(String, Option<u16>), String> {
    let name = scheme.name;
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let parts = rest.split_once(']');
            let parts = parts.filter(|(host, _)| host.parse::<Ipv6Addr>().is_ok());
            let wrong = || format!("'{text}' has no IPv6 address in brackets, such as [::1]");
            let (host, port) = parts.ok_or_else(wrong)?;
            let port = if port.is_empty() { Some("") } else { port.strip_prefix(':') };
            (host, port.ok_or_else(wrong)?)
        }
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    if port.contains(':') {
        return Err(format!("'{text}': an IPv6 address stands in brackets: {name}://[::1]:8080"));
    }
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if host.is_empty() {
        return Err(format!("'{text}' has no host: give {}", scheme.example()));
    }
    if !host.chars().all(is_good) {
        return Err(format!("'{host}' is not the name of a host"));
    }
    let port = match port {
        "" => None,
        port => match port.parse() {
            Ok(port) if port > 0 => Some(port),
            _ => return Err(format!("'{port}' is not a port: give 1 to 65535")),
        },
    };
    Ok((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTP: &Scheme = &SCHEMES[0];
    const WEBSOCKET: &Scheme = &SCHEMES[1];
    const MQTT: &Scheme = &SCHEMES[2];

    #[test]
    fn urls_are_split() {
        for (text, scheme, host, port, authority, target) in [
            ("http://localhost", HTTP, "localhost", 80, "localhost", "/"),
            ("http://a.example:8080/", HTTP, "a.example", 8080, "a.example:8080", "/"),
            ("HTTP://a:80/b?c=d#e", HTTP, "a", 80, "a", "/b?c=d"),
            ("http://a?b", HTTP, "a", 80, "a", "/?b"),
            ("http://a:/x", HTTP, "a", 80, "a", "/x"),
            ("http://127.0.0.1:1/%20", HTTP, "127.0.0.1", 1, "127.0.0.1:1", "/%20"),
            ("http://[::1]/", HTTP, "::1", 80, "[::1]", "/"),
            ("ws://[fe80::1]:9/chat", WEBSOCKET, "fe80::1", 9, "[fe80::1]:9", "/chat"),
            ("ws://a", WEBSOCKET, "a", 80, "a", "/"),
            ("https://a/b", HTTP, "a", 443, "a", "/b"),
            ("https://a:80/", HTTP, "a", 80, "a:80", "/"),
            ("wss://a:443/", WEBSOCKET, "a", 443, "a", "/"),
            ("mqtts://[::1]", MQTT, "::1", 8883, "[::1]", "/"),
            ("mqtt://broker", MQTT, "broker", 1883, "broker", "/"),
            ("mqtt://broker:65535/", MQTT, "broker", 65535, "broker:65535", "/"),
        ] {
            let [host, authority, target] = [host, authority, target].map(str::to_owned);
            let is_tls = ["https:", "wss:", "mqtts:"].iter().any(|name| text.starts_with(name));
            let expected = Url { is_tls, host, port, authority, target };
            assert_eq!(Url::parse(text, scheme), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_urls_are_named() {
        for (text, scheme, says) in [
            ("localhost:8080", HTTP, "is not a URL: give http://HOST[:PORT]/PATH"),
            ("", HTTP, "is not a URL"),
            ("wss://a/", HTTP, "wss:// is for 'tiebreak load websocket': here give http://"),
            ("https://a/", MQTT, "or, over TLS, mqtts://HOST[:PORT]"),
            ("ws://a/", HTTP, "ws:// is for 'tiebreak load websocket': here give http://"),
            ("http://a/", MQTT, "http:// is for 'tiebreak load http': here give mqtt://"),
            ("ftp://a/", HTTP, "'ftp' is not a scheme"),
            ("http://", HTTP, "has no host"),
            ("http:///x", HTTP, "has no host"),
            ("http://:80/", HTTP, "has no host"),
            ("http://a:0/", HTTP, "'0' is not a port: give 1 to 65535"),
            ("http://a:65536/", HTTP, "'65536' is not a port"),
            ("http://a:x/", HTTP, "'x' is not a port"),
            ("http://::1/", HTTP, "stands in brackets"),
            ("http://[::1/", HTTP, "no IPv6 address in brackets"),
            ("http://[a]/", HTTP, "no IPv6 address in brackets"),
            ("http://[::1]8080/", HTTP, "no IPv6 address in brackets"),
            ("http://me:secret@a/", HTTP, "the URL has a user name"),
            ("http://a b/", HTTP, "'a b' is not the name of a host"),
            ("http://a/b c", HTTP, "write %20 for it"),
            ("http://a/\u{e9}", HTTP, "write %C3%A9 for it"),
            ("http://a/\r\nHost: b", HTTP, "write %0D for it"),
            ("mqtt://a/topic", MQTT, "has a path"),
        ] {
            let said = Url::parse(text, scheme).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn addresses_need_no_name() {
        let patience = Duration::from_secs(1);
        for (text, address) in
            [("http://127.0.0.1:81/", "127.0.0.1:81"), ("http://[::1]:82/", "[::1]:82")]
        {
            let url = Url::parse(text, HTTP).unwrap();
            assert_eq!(url.resolve(patience).unwrap().to_string(), address);
        }
        // No name is as long as this one, so no other machine is asked for it.
        let absent = Url::parse(&format!("http://{}/", "a".repeat(300)), HTTP).unwrap();
        let said = absent.resolve(patience).unwrap_err().to_string();
        assert!(said.contains("cannot find the host 'aaa"), "{said}");
    }
}
