//! TLS between a socket and a conversation: bytes of either side in, bytes of the other out.

use super::connection::empty;
use crate::tls;
use rustls::client::ClientConnection;
use rustls::{HandshakeKind, ProtocolVersion};
use std::io::{self, ErrorKind, Read, Write};
use tiebreak_core::load::TlsAgreed;

/// One session. It keeps records that have not come as a whole, and nothing else between two reads.
pub(super) struct Session {
    tls: ClientConnection,
    /// What the conversation says and is not sealed yet.
    pub(super) said: Vec<u8>,
    /// Whether the server has said that nothing more comes.
    pub(super) is_ended: bool,
}

impl Session {
    /// Begins a session: the first message of the handshake can be [sealed](Session::seal).
    ///
    /// # Errors
    /// Fails if the library refuses its own configuration.
    pub(super) fn new(tls: &tls::Tls) -> Result<Session, rustls::Error> {
        Ok(Session { tls: tls.connect()?, said: Vec::new(), is_ended: false })
    }

    /// Returns what was agreed on, once the handshake is done.
    pub(super) fn agreed(&self) -> Option<TlsAgreed> {
        if self.tls.is_handshaking() {
            return None;
        }
        let version = match self.tls.protocol_version()? {
            ProtocolVersion::TLSv1_3 => "1.3",
            _ => "1.2",
        };
        let cipher = format!("{:?}", self.tls.negotiated_cipher_suite()?.suite());
        let is_resumed = self.tls.handshake_kind() == Some(HandshakeKind::Resumed);
        Some(TlsAgreed {
            version: version.to_owned(),
            // The library has names of its own for those of TLS 1.3.
            cipher: cipher.replace("TLS13_", "TLS_"),
            handshakes: 1,
            resumed: u64::from(is_resumed),
        })
    }

    /// Returns whether there is something to seal.
    pub(super) fn has_more(&self) -> bool {
        !self.said.is_empty() || self.tls.wants_write()
    }

    /// Appends the records that are to be written: of the handshake, and of all that was said.
    pub(super) fn seal(&mut self, out: &mut Vec<u8>) {
        // Neither fails: the library keeps what it cannot send, without a limit, and a vector takes
        // all.
        let _ = self.tls.writer().write_all(&self.said);
        empty(&mut self.said);
        while self.tls.wants_write() {
            let _ = self.tls.write_tls(out);
        }
    }

    /// Takes bytes that were read, none of them at the end of the stream, and places what they say
    /// in a buffer, from a place on. Returns how many bytes that is: 0 at the end of what the
    /// server says, `None` if there is nothing yet.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::InvalidData`] and the end of the sentence "the server ..." if the
    /// bytes are not those of a server to be trusted, and with [`ErrorKind::UnexpectedEof`] if the
    /// stream ends without a word (RFC 8446 section 6.1): what was said last may be missing.
    pub(super) fn open(
        &mut self,
        mut wire: &[u8],
        buffer: &mut Vec<u8>,
        from: usize,
    ) -> io::Result<Option<usize>> {
        let (all, mut end) = (wire, from);
        loop {
            // The library takes some thousand bytes at a time, and none after the end.
            let taken = self.tls.read_tls(&mut wire)?;
            let state = self.tls.process_new_packets().map_err(|error| {
                // What comes before any word of TLS tells what the server speaks instead.
                let first = if self.tls.protocol_version().is_none() { all } else { &[] };
                io::Error::new(ErrorKind::InvalidData, tls::why(&error, first))
            })?;
            let new = state.plaintext_bytes_to_read();
            if buffer.len() < end + new {
                buffer.resize(end + new, 0);
            }
            self.tls.reader().read_exact(&mut buffer[end..end + new])?;
            end += new;
            self.is_ended = state.peer_has_closed();
            if taken == 0 || wire.is_empty() {
                break;
            }
        }
        if end > from || self.is_ended {
            Ok(Some(end - from))
        } else if all.is_empty() {
            Err(io::Error::new(ErrorKind::UnexpectedEof, "without the end that TLS wants"))
        } else {
            Ok(None)
        }
    }
}
