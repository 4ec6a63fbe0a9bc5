//! Whether a load speaks TLS, and whether it should.

use super::url::{Scheme, Url};
use crate::error::{LabError, require};
use std::net::SocketAddr;
use std::time::Duration;
use tiebreak_core::load::{LoadEnding, Trust};
use tiebreak_load::generator::LoadError;
use tiebreak_load::seen::Account;
use tiebreak_load::tls::{self, Tls, TlsError};

/// How long a server that may speak TLS is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns the client of a URL that asks for TLS.
///
/// # Errors
/// Fails if certificates cannot be used, or are named where there are none.
pub(crate) fn client(trust: &Trust, url: &Url, scheme: &Scheme) -> Result<Option<Tls>, LabError> {
    if !url.is_tls {
        let is_plain = *trust == Trust::System;
        let tls = scheme.tls;
        let wrong = format!("--ca and --insecure are about TLS: give {tls}://, or leave them out");
        return require(is_plain, &wrong).map(|()| None);
    }
    Tls::new(&url.host, scheme.alpn, trust).map(Some).map_err(|error| match error {
        TlsError::Name(_) => LabError::Usage(error.to_string()),
        _ => LabError::Data(error.to_string()),
    })
}

/// Returns whether a load without TLS had no success because TLS is spoken there. Only a load that
/// failed altogether makes the connection that tells.
pub(super) fn is_wanted(seen: &Result<Account, LoadError>, address: SocketAddr, url: &Url) -> bool {
    let is_in_vain = match seen {
        Ok(seen) => seen.counts.arrived == 0 && seen.ending != LoadEnding::Interrupted,
        Err(LoadError::Refused { .. } | LoadError::NotOpen { .. }) => true,
        Err(_) => false,
    };
    is_in_vain && tls::is_spoken_at(address, &url.host, PATIENCE)
}
