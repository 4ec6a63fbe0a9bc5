//! The peers of this study that are Rust crates, one a feature: a new vector of the exact size for
//! each path.

use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel, launder};

/// Copies the pieces between percent signs, which are at `signs`, in order.
#[cfg(any(feature = "memchr", feature = "bytecount"))]
fn joined(path: &[u8], count: usize, signs: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(path.len() + 2 * count);
    let mut from = 0;
    for sign in signs {
        escaped.extend_from_slice(&path[from..=sign]);
        escaped.extend_from_slice(b"25");
        from = sign + 1;
    }
    escaped.extend_from_slice(&path[from..]);
    escaped
}

#[cfg(feature = "memchr")]
kernel! {
    fn escape(path: &[u8]) -> Vec<u8> {
        match memchr::memchr(b'%', path) {
            None => path.to_vec(),
            Some(first) => {
                let count = memchr::memchr_iter(b'%', &path[first..]).count();
                joined(path, count, memchr::memchr_iter(b'%', path))
            }
        }
    }
}

#[cfg(feature = "bytecount")]
kernel! {
    fn escape(path: &[u8]) -> Vec<u8> {
        match bytecount::count(path, b'%') {
            0 => path.to_vec(),
            count => {
                let signs = path.iter().enumerate().filter(|(_, byte)| **byte == b'%');
                joined(path, count, signs.map(|(at, _)| at))
            }
        }
    }
}

#[cfg(feature = "percent-encoding")]
kernel! {
    fn escape(path: &[u8]) -> Vec<u8> {
        use percent_encoding::{AsciiSet, percent_encode};
        const SIGN: AsciiSet = AsciiSet::EMPTY.add(b'%');
        std::borrow::Cow::from(percent_encode(path, &SIGN)).into_owned().into_bytes()
    }
}

/// Size and middle byte, as the contestants in C++ have it.
fn checksum(escaped: &[u8]) -> u64 {
    let middle = escaped.get(escaped.len() / 2).copied().unwrap_or(0);
    escaped.len() as u64 + (u64::from(middle) << 32)
}

/// The strings of an input, each behind its length as 4 bytes, little end first.
fn paths(mut input: &[u8]) -> Vec<&[u8]> {
    let mut paths = Vec::new();
    while let Some((length, rest)) = input.split_first_chunk() {
        let (path, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        paths.push(path);
        input = rest;
    }
    paths
}

struct Peer;

impl Contestant for Peer {
    const NAME: &'static core::ffi::CStr = c"percent-escape";
    const ALLOCATES: bool = true;
    type State<'w> = Vec<&'w [u8]>;

    fn prepare(workload: Workload<'_>) -> Option<Vec<&[u8]>> {
        Some(paths(workload.input()))
    }

    fn run(paths: &mut Vec<&[u8]>) -> u64 {
        launder(&paths[..]).iter().map(|path| checksum(&escape(path))).sum()
    }

    fn dump(paths: &mut Vec<&[u8]>, sink: &mut Sink<'_>) {
        for path in paths.iter() {
            sink.bytes(&escape(path));
            sink.bytes(b"\n");
        }
    }
}

contestant!(Peer);
