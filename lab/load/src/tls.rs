//! TLS 1.2 and 1.3 (RFC 5246, RFC 8446) of the client: whom it trusts, and what it offers.
//!
//! The [generator](crate::generator) puts a session between each socket and its conversation, so no
//! protocol knows of TLS. Algorithms and records are those of rustls.

mod fault;
mod verifier;

pub(crate) use fault::why;

use rustls::client::{ClientConnection, Resumption, WebPkiServerVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tiebreak_core::load::Trust;
use verifier::Verifier;

/// Where systems keep the certificates of the authorities that they trust: Debian, Fedora,
/// openSUSE, Alpine. The first that is there is read, unless the variable `SSL_CERT_FILE` names
/// another.
const AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The client of one server. Its copies share the sessions that can be resumed.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    host: ServerName<'static>,
    /// Whether the server's certificate is checked.
    pub(crate) is_verified: bool,
}

impl Tls {
    /// Makes a client for the server of this name or address. It sends a name along (SNI), and
    /// checks that the certificate is for it. `protocol` is what is spoken over TLS, by its name in
    /// IANA's registry of ALPN, such as `http/1.1`; `None` offers none.
    ///
    /// # Errors
    /// Fails if the host can have no certificate, or certificates cannot be read.
    pub fn new(host: &str, protocol: Option<&str>, trust: &Trust) -> Result<Tls, TlsError> {
        let no_name = |_| TlsError::Name(host.to_owned());
        let name = ServerName::try_from(host.to_owned()).map_err(no_name)?;
        let provider = Arc::new(ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let named = match trust {
            Trust::Also(path) => certificates(path)?,
            Trust::System | Trust::Any => Vec::new(),
        };
        let authorities = match trust {
            Trust::Any => None,
            _ => {
                let roots = Arc::new(roots(&named)?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                Some(verifier.build().map_err(|error| TlsError::Other(error.to_string()))?)
            }
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::Other(error.to_string()))?;
        let verifier = Verifier { authorities, named, algorithms };
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = protocol.iter().map(|name| name.as_bytes().to_vec()).collect();
        let is_verified = *trust != Trust::Any;
        Ok(Tls { config: Arc::new(config), host: name, is_verified })
    }

    /// Returns the same client without any session to resume: a server that was just started has
    /// none of the server before it.
    pub fn without_sessions(&self) -> Tls {
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::default();
        Tls { config: Arc::new(config), ..self.clone() }
    }

    /// Begins a connection, without a socket.
    pub(crate) fn connect(&self) -> Result<ClientConnection, rustls::Error> {
        let mut connection = ClientConnection::new(Arc::clone(&self.config), self.host.clone())?;
        // The generator bounds what waits to be written.
        connection.set_buffer_limit(None);
        Ok(connection)
    }
}

/// Returns whether a server speaks TLS at this address: it answers a handshake, if only to refuse
/// it. Each read and write is waited for at most this long.
pub fn is_spoken_at(address: SocketAddr, host: &str, patience: Duration) -> bool {
    let shake_hands = || {
        let tls = Tls::new(host, None, &Trust::Any).ok()?;
        let mut socket = TcpStream::connect_timeout(&address, patience).ok()?;
        socket.set_read_timeout(Some(patience)).ok()?;
        socket.set_write_timeout(Some(patience)).ok()?;
        Some(match tls.connect().ok()?.complete_io(&mut socket) {
            Ok(_) => true,
            Err(error) => {
                let error = error.get_ref().and_then(|error| error.downcast_ref());
                matches!(error, Some(rustls::Error::AlertReceived(_)))
            }
        })
    };
    shake_hands().unwrap_or(false)
}

/// Returns whom the system trusts, and these.
fn roots(named: &[CertificateDer<'static>]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let given = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = || AUTHORITIES.into_iter().map(PathBuf::from).find(|file| file.exists());
    if let Some(file) = given.or_else(usual) {
        // Of the hundred and more authorities of a system some may be beyond this library.
        roots.add_parsable_certificates(certificates(&file)?);
    }
    for certificate in named {
        let unread = |error: rustls::Error| TlsError::Other(error.to_string());
        roots.add(certificate.clone()).map_err(unread)?;
    }
    if roots.is_empty() { Err(TlsError::NoAuthorities) } else { Ok(roots) }
}

/// Reads certificates from a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let unread = |why: String| TlsError::File { path: path.to_owned(), why };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unread(error.to_string()))?;
    if read.is_empty() {
        let why = "it has no certificate in PEM, which begins with '-----BEGIN CERTIFICATE-----'";
        return Err(unread(why.to_owned()));
    }
    Ok(read)
}

/// Why there is no client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsError {
    /// No certificate can be for this host.
    Name(String),
    /// A file of certificates cannot be read.
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The system has no file of authorities, and none was given.
    NoAuthorities,
    /// A certificate that cannot be used, and the library's words.
    Other(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Name(host) => write!(f, "no certificate can be for the host '{host}'"),
            TlsError::File { path, why } => {
                write!(f, "certificates cannot be read from '{}': {why}", path.display())
            }
            TlsError::NoAuthorities => write!(
                f,
                "this machine says nowhere whose certificates it trusts ({}): install \
                 ca-certificates, give --ca FILE, or accept any certificate with --insecure",
                AUTHORITIES.join(", ")
            ),
            TlsError::Other(why) => write!(f, "certificates cannot be used: {why}"),
        }
    }
}

impl std::error::Error for TlsError {}
