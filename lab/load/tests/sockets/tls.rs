//! Loads over TLS: servers to be trusted, and others. Certificates are made for each test.

use super::echo::{Echo, FRAME_BYTES};
use super::http::request;
use super::server::Server;
use super::{load as load_of, number};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tiebreak_core::load::LoadEnding;
use tiebreak_core::load::{TlsAgreed, Trust};
use tiebreak_load::generator::{self, Load, LoadError, Pace, Watch};
use tiebreak_load::http::Http;
use tiebreak_load::schedule::End;
use tiebreak_load::seen::Account;
use tiebreak_load::tls::{Tls, TlsError, is_spoken_at};

/// The host that servers have a certificate for.
const HOST: &str = "server.example";
const SMALL: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

type Stream = StreamOwned<ServerConnection, TcpStream>;

/// An authority, and a folder with its certificate.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let folder = TempDir::new().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        std::fs::write(folder.path().join("authority.pem"), pem).unwrap();
        Authority { issuer: Issuer::new(params, key), folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    fn client(&self) -> Tls {
        Tls::new(HOST, Some("http/1.1"), &Trust::Also(self.file())).unwrap()
    }

    /// Returns what a server of this authority has, with a certificate as `change` makes it.
    fn server(&self, change: impl Fn(&mut CertificateParams)) -> ServerConfig {
        self.server_of(change, &[&TLS12, &TLS13])
    }

    fn server_of(
        &self,
        change: impl Fn(&mut CertificateParams),
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerConfig {
        let mut params = CertificateParams::new([HOST.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        config(certificate.der().clone(), &key, versions)
    }
}

fn config(
    certificate: rustls::pki_types::CertificateDer<'static>,
    key: &KeyPair,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions);
    let config = config.unwrap().with_no_client_auth();
    config.with_single_cert(vec![certificate], key).unwrap()
}

/// Starts a server that talks so on each connection.
fn serve(config: ServerConfig, talk: impl Fn(&mut Stream) + Send + Sync + 'static) -> Server {
    let config = Arc::new(config);
    Server::start(move |socket, _| {
        let session = ServerConnection::new(Arc::clone(&config)).unwrap();
        talk(&mut StreamOwned::new(session, socket));
    })
}

/// Answers so many requests, and says that the end comes.
fn answer(stream: &mut Stream, answer: &[u8], answers: usize) {
    for _ in 0..answers {
        if request(stream).is_none() || stream.write_all(answer).is_err() {
            return;
        }
    }
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

fn load(server: &Server, tls: &Tls) -> Load {
    Load {
        tls: Some(tls.clone()),
        threads: number(2),
        pace: Pace::Closed { in_flight: Some(number(1)) },
        ..load_of(server, 1000, End::Sends(60))
    }
}

fn asked(server: &Server, tls: &Tls) -> Result<Account, LoadError> {
    let http = Http::new("GET", "/", HOST, number(3)).unwrap();
    generator::load(&load(server, tls), &http, &Watch::default())
}

#[test]
fn every_version_and_size() {
    let authority = Authority::new("an authority");
    let large = [&b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"[..], &[b'x'; 100_000]];
    for (version, name) in [(&TLS12, "1.2"), (&TLS13, "1.3")] {
        for sent in [SMALL.to_vec(), large.concat()] {
            let bytes = sent.len() as u64;
            let server = serve(authority.server_of(|_| {}, &[version]), move |stream| {
                answer(stream, &sent, usize::MAX);
            });
            let seen = asked(&server, &authority.client()).unwrap();
            assert_eq!((seen.counts.sent, seen.counts.arrived), (60, 60));
            assert_eq!(seen.ending, LoadEnding::Complete);
            let [agreed] = agreed_in(&seen) else { panic!("{:?}", seen.tls) };
            assert_eq!((agreed.version.as_str(), agreed.handshakes), (name, 3));
            assert!(agreed.cipher.starts_with("TLS_"), "{}", agreed.cipher);
            // What is on the wire is counted: records are larger than what they say.
            assert!(seen.read_bytes > 60 * bytes, "{}", seen.read_bytes);
        }
    }
}

/// Connections that are made again resume their sessions, of both versions.
#[test]
fn sessions_are_resumed() {
    let authority = Authority::new("an authority");
    for version in [&TLS12, &TLS13] {
        let server = serve(authority.server_of(|_| {}, &[version]), |stream| {
            answer(stream, SMALL, 7);
        });
        let seen = asked(&server, &authority.client()).unwrap();
        assert_eq!((seen.counts.arrived, &seen.ending), (60, &LoadEnding::Complete));
        let [agreed] = agreed_in(&seen) else { panic!("{:?}", seen.tls) };
        assert_eq!(agreed.handshakes, 3 + seen.counts.reconnected);
        assert!(seen.counts.reconnected >= 6 && agreed.resumed >= 6, "{agreed:?}");
    }
}

/// All that is said in a turn goes into few records, however many messages it is.
#[test]
fn messages_share_records() {
    let authority = Authority::new("an authority");
    let server = serve(authority.server(|_| {}), |stream| {
        let mut bytes = [0; 1 << 14];
        while let Ok(length @ 1..) = stream.read(&mut bytes) {
            if stream.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
    });
    let messages = 20_000;
    let load = Load {
        pace: Pace::Closed { in_flight: None },
        end: End::Sends(messages),
        ..load(&server, &authority.client())
    };
    let seen = generator::load(&load, &Echo::of(3), &Watch::default()).unwrap();
    assert_eq!((seen.counts.arrived, seen.ending), (messages, LoadEnding::Complete));
    // A record of its own would cost each message 22 bytes.
    let bytes = messages * FRAME_BYTES as u64;
    let each = (seen.written_bytes - bytes) as f64 / messages as f64;
    assert!(each < 5.0, "{each} bytes a message");
}

/// Returns what was agreed on.
fn agreed_in(seen: &Account) -> &[TlsAgreed] {
    &seen.tls.as_ref().expect("TLS was spoken").agreed
}

fn error_of(server: &Server, tls: &Tls) -> String {
    match asked(server, tls) {
        Err(error @ LoadError::Distrusted { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn servers_that_are_not_to_be_trusted() {
    let authority = Authority::new("an authority");
    let trusting = authority.client();
    let expect = |config: ServerConfig, tls: &Tls, expected: &str| {
        let server = serve(config, |stream| answer(stream, SMALL, usize::MAX));
        let said = error_of(&server, tls);
        assert!(said.contains(expected) && said.contains("--insecure"), "{said}");
        // Who asks for no check gets an answer, and it is encrypted all the same.
        let any = Tls::new(HOST, None, &Trust::Any).unwrap();
        let seen = asked(&server, &any).unwrap();
        assert_eq!((seen.counts.arrived, agreed_in(&seen)[0].handshakes), (60, 3));
    };
    let good = |_: &mut CertificateParams| {};
    for name in ["another", "an authority"] {
        let other = Authority::new(name).client();
        expect(authority.server(good), &other, "perhaps itself; trust it with --ca FILE");
    }
    let renamed = |params: &mut CertificateParams| {
        *params = CertificateParams::new(["a.example".to_owned(), "::1".to_owned()]).unwrap();
    };
    expect(authority.server(renamed), &trusting, "for a.example, ");
    let expired = |params: &mut CertificateParams| params.not_after = date_time_ymd(2020, 1, 1);
    expect(authority.server(expired), &trusting, "days ago; renew it");
    let early = |params: &mut CertificateParams| params.not_before = date_time_ymd(3000, 1, 1);
    expect(authority.server(early), &trusting, "days from now, by this machine's clock");
    let (_, itself) = signed_by_itself(|_| {});
    expect(itself, &trusting, "perhaps itself; trust it with --ca FILE");
}

/// Returns the certificate of a server that signed it itself, and what the server has.
fn signed_by_itself(change: impl Fn(&mut CertificateParams)) -> (String, ServerConfig) {
    let mut params = CertificateParams::new([HOST.to_owned()]).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), config(certificate.der().clone(), &key, &[&TLS13]))
}

/// Who names a certificate trusts its server, whether it is marked as an authority's or not; but
/// not for another name, nor after its end.
#[test]
fn a_certificate_that_is_named_is_trusted() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("server.pem");
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let client = |pem: String, host: &str| {
            std::fs::write(&file, pem).unwrap();
            Tls::new(host, None, &Trust::Also(file.clone())).unwrap()
        };
        let start = |config| serve(config, |stream| answer(stream, SMALL, usize::MAX));
        let (pem, config) = signed_by_itself(|params| params.is_ca = is_ca);
        let server = start(config);
        let seen = asked(&server, &client(pem.clone(), HOST)).unwrap();
        assert_eq!(seen.counts.arrived, 60, "{is_ca:?}");
        let said = error_of(&server, &client(pem, "other.example"));
        assert!(said.contains("for server.example, not for other.example"), "{said}");
        let (pem, config) = signed_by_itself(|params| {
            params.is_ca = is_ca;
            params.not_after = date_time_ymd(2020, 1, 1);
        });
        let said = error_of(&start(config), &client(pem, HOST));
        assert!(said.contains("that expired"), "{said}");
    }
}

#[test]
fn certificates_that_cannot_be_read() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file.pem");
    let error = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Tls::new(HOST, None, &Trust::Also(file.clone())).unwrap_err().to_string()
    };
    assert!(error("words").contains("file.pem': it has no certificate in PEM"));
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(error(broken).contains("certificates cannot be used"));
    let absent = Trust::Also(folder.path().join("absent.pem"));
    let said = Tls::new(HOST, None, &absent).unwrap_err();
    assert!(matches!(said, TlsError::File { .. }), "{said}");
    let said = Tls::new("a b", None, &Trust::Any).unwrap_err();
    assert_eq!(said, TlsError::Name("a b".to_owned()));
}

#[test]
fn servers_that_do_not_speak_tls() {
    let authority = Authority::new("an authority");
    let http = Server::start(|mut socket, _| {
        let mut bytes = [0; 1000];
        let _ = socket.read(&mut bytes);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let said = error_of(&http, &authority.client());
    assert!(said.contains("sent 'HTTP/1.1 400 Bad', which is not TLS"), "{said}");
    let closing = Server::start(|mut socket, _| {
        let _ = socket.read(&mut [0; 1000]);
    });
    let said = asked(&closing, &authority.client()).unwrap_err().to_string();
    assert!(said.contains("closed the connection in the handshake of TLS"), "{said}");
    let patience = Duration::from_secs(10);
    assert!(!is_spoken_at(http.address, HOST, patience));
    assert!(!is_spoken_at(closing.address, HOST, patience));
    let server = serve(authority.server(|_| {}), |stream| answer(stream, SMALL, usize::MAX));
    assert!(is_spoken_at(server.address, HOST, patience));
}

/// An answer that ends with the connection is whole only if TLS says that it ends there.
#[test]
fn an_end_without_a_word_is_a_break() {
    let authority = Authority::new("an authority");
    for says_so in [true, false] {
        let server = serve(authority.server(|_| {}), move |stream| {
            if request(stream).is_some() && stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhel").is_ok()
            {
                if says_so {
                    stream.conn.send_close_notify();
                }
                let _ = stream.flush();
            }
        });
        let seen = asked(&server, &authority.client()).unwrap();
        match &seen.ending {
            LoadEnding::Complete => assert!(says_so && seen.counts.arrived == 60),
            LoadEnding::Broken { why, .. } => {
                let expected = "broke the connection off in the middle of an answer (without";
                assert!(!says_so && why.starts_with(expected), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
}

/// What comes after the handshake and is not TLS ends the load, whatever was answered before.
#[test]
fn bytes_that_nobody_sealed() {
    let authority = Authority::new("an authority");
    let server = serve(authority.server(|_| {}), |stream| {
        if request(stream).is_some() && stream.write_all(SMALL).is_ok() {
            let _ = stream.sock.write_all(b"plain");
            let _ = request(stream);
        }
    });
    let seen = asked(&server, &authority.client()).unwrap();
    let is_found = matches!(
        &seen.ending,
        LoadEnding::Broken { why, .. } if why.starts_with("broke TLS: ")
    );
    assert!(is_found, "{:?}", seen.ending);
}
