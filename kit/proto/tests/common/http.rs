//! What holds for all bytes that are read as HTTP/1.1.

use super::{Outcome, check_cut, cut, encoded, feed, outcome, whole};
use tiebreak_proto::Decoded;
use tiebreak_proto::http::{Body, Chunk, Chunked, Error, Field, Fields, LastChunk, Piece};
use tiebreak_proto::http::{Request, Response};

/// The most bytes of a head.
pub const HEAD_LIMIT: usize = 1000;
/// The most bytes of a body.
const BODY_LIMIT: u64 = 1000;
/// The most bytes of extensions, and of trailers.
const EXTRA_LIMIT: usize = 100;

/// Names and values.
pub type Trailers = Vec<(String, Vec<u8>)>;
/// A body and its trailers.
pub type Unchunked = (Vec<u8>, Trailers);

/// Reads a body in chunks that comes in pieces. Returns what was read, with trailers if it ended,
/// and how many bytes it took.
pub fn unchunk(
    pieces: &[&[u8]],
    limit: u64,
    extra_limit: usize,
) -> Result<(Unchunked, bool, usize), Error> {
    let mut chunked = Chunked::new(limit, extra_limit);
    let (mut body, mut trailers) = (Vec::new(), Vec::new());
    let taken = feed(pieces, |bytes| {
        let (piece, length) = match chunked.decode(bytes)? {
            Decoded::Whole { value, length } => (value, length),
            Decoded::Short { needs } => return Ok(Decoded::Short { needs }),
        };
        match piece {
            Piece::Data(data) => {
                assert!(!data.is_empty());
                body.extend_from_slice(data);
            }
            Piece::End(fields) => {
                let owned = |field: Field<'_>| (field.name().to_owned(), field.value().to_vec());
                trailers = fields.iter().map(owned).collect();
            }
        }
        Ok(Decoded::Whole { value: chunked.is_ended(), length })
    })?;
    if chunked.is_ended() {
        assert_eq!(chunked.decode(b"0\r\n\r\n"), Err(Error::BodyEnded));
    }
    Ok(((body, trailers), chunked.is_ended(), taken))
}

/// Writes a body in chunks of this many bytes.
pub fn chunk(body: &[u8], size: usize, trailers: Fields<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for data in body.chunks(size) {
        bytes.extend(encoded(Chunk(data).encoded_len(), |out| Chunk(data).encode(out)));
    }
    let last = LastChunk(trailers);
    bytes.extend(encoded(last.encoded_len(), |out| last.encode(out)));
    bytes
}

/// Decodes the head of a request.
pub fn request(bytes: &[u8]) -> Outcome {
    outcome(bytes, Request::decode(bytes, HEAD_LIMIT))
}

/// Decodes the head of a response.
pub fn response(bytes: &[u8]) -> Outcome {
    outcome(bytes, Response::decode(bytes, HEAD_LIMIT))
}

/// Checks what holds for all bytes, cut at two places.
pub fn check(bytes: &[u8], a: usize, b: usize) {
    let pieces = cut(bytes, a, b);
    check_cut(bytes, pieces[0].len(), request);
    check_cut(bytes, pieces[0].len(), response);
    if let Ok(Decoded::Whole { value, .. }) = Request::decode(bytes, HEAD_LIMIT) {
        assert_ne!(value.body(u64::MAX), Ok(Body::UntilClose));
        check_fields(&value.fields());
        let again = encoded(value.encoded_len(), |out| value.encode(out));
        assert_eq!(whole(Request::decode(&again, again.len())), (value, again.len()));
    }
    if let Ok(Decoded::Whole { value, .. }) = Response::decode(bytes, HEAD_LIMIT) {
        assert_eq!(value.body("HEAD", 0), Ok(Body::None));
        check_fields(&value.fields());
        let again = encoded(value.encoded_len(), |out| value.encode(out));
        assert_eq!(whole(Response::decode(&again, again.len())), (value, again.len()));
    }
    check_chunked(bytes, &pieces);
}

/// Checks that a field that was decoded can be made.
fn check_fields(fields: &Fields<'_>) {
    for field in fields {
        assert_eq!(Field::new(field.name(), field.value()), Ok(field));
        assert!(fields.get(field.name()).is_some());
    }
}

fn check_chunked(bytes: &[u8], pieces: &[&[u8]]) {
    let all = unchunk(&[bytes], BODY_LIMIT, EXTRA_LIMIT);
    assert_eq!(unchunk(pieces, BODY_LIMIT, EXTRA_LIMIT), all);
    if let Ok(((body, trailers), true, taken)) = all {
        assert_eq!(unchunk(&[&bytes[..taken]], BODY_LIMIT, EXTRA_LIMIT).unwrap().2, taken);
        let fields: Vec<Field<'_>> =
            trailers.iter().map(|(name, value)| Field::new(name, value).unwrap()).collect();
        let again = chunk(&body, 7, Fields::new(&fields));
        let length = again.len();
        // Written again, each field has a space after its colon.
        let read = unchunk(&[&again], BODY_LIMIT, 2 * EXTRA_LIMIT);
        assert_eq!(read, Ok(((body, trailers), true, length)));
    }
}
