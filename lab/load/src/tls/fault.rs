//! What is wrong with a server's TLS, in words, and what to do about it.

use super::verifier::is_authority;
use rustls::{CertificateError, Error};
use std::time::Duration;

/// The bytes that are shown of what is not TLS.
const SHOWN_BYTES: usize = 16;
const DAY: Duration = Duration::from_secs(86_400);

/// Returns why a connection cannot go on, as the end of the sentence "the server ...". `first`
/// is what the server sent before it spoke TLS.
pub(crate) fn why(error: &Error, first: &[u8]) -> String {
    match error {
        Error::InvalidCertificate(_) if is_authority(error) => untrusted(),
        Error::InvalidCertificate(error) => certificate(error),
        Error::InvalidMessage(_) if !first.is_empty() => {
            let shown = first[..first.len().min(SHOWN_BYTES)].escape_ascii();
            format!(
                "sent '{shown}', which is not TLS; if it speaks none at this port, leave the s out \
                 of the URL's scheme"
            )
        }
        Error::AlertReceived(alert) => format!("refused TLS with the alert {alert:?}"),
        Error::PeerIncompatible(why) => {
            format!("has no TLS in common with this client, which has 1.2 and 1.3 ({why:?})")
        }
        other => format!("broke TLS: {other}"),
    }
}

fn untrusted() -> String {
    "has a certificate that no authority signed whom this machine trusts, but perhaps itself; \
     trust it with --ca FILE, or accept any with --insecure"
        .to_owned()
}

fn certificate(error: &CertificateError) -> String {
    let what = match error {
        // The signature is not that of the authority of this name which is trusted.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => return untrusted(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = if presented.is_empty() { "no host".into() } else { names(presented) };
            let expected = expected.to_str();
            return format!(
                "has a certificate for {names}, not for {expected}; give the URL a name that it \
                 has, or accept any with --insecure"
            );
        }
        CertificateError::ExpiredContext { time, not_after } => {
            let ago = Duration::from_secs(time.as_secs().saturating_sub(not_after.as_secs()));
            format!("that expired {}", days(ago, "ago"))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            let left = Duration::from_secs(not_before.as_secs().saturating_sub(time.as_secs()));
            format!("that becomes valid {}", days(left, "from now, by this machine's clock"))
        }
        other => format!("that is not accepted ({other})"),
    };
    format!("has a certificate {what}; renew it, or accept any with --insecure")
}

/// Writes names as a certificate has them, `DnsName("a")` as the library shows them.
fn names(presented: &[String]) -> String {
    let plain = |name: &String| {
        let quoted = name.split('"').nth(1);
        quoted.unwrap_or(name).to_owned()
    };
    presented.iter().map(plain).collect::<Vec<_>>().join(", ")
}

fn days(time: Duration, when: &str) -> String {
    match time.as_secs() / DAY.as_secs() {
        0 => format!("less than a day {when}"),
        1 => format!("a day {when}"),
        days => format!("{days} days {when}"),
    }
}
