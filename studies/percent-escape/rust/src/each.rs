//! The published contract: a new vector for each path; and "borrow": one only where something
//! changes.

use crate::{checksum, paths};
use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel, launder};

/// What a kernel is handed beside a path.
#[cfg(not(feature = "tiebreak-simd"))]
type Tables = ();
#[cfg(feature = "tiebreak-simd")]
type Tables = tiebreak_simd::percent::Escape;

#[cfg(not(feature = "tiebreak-simd"))]
fn tables() -> Option<Tables> {
    Some(())
}
#[cfg(feature = "tiebreak-simd")]
fn tables() -> Option<Tables> {
    crate::ours()
}

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
    fn escape(_tables: &Tables, path: &[u8]) -> Vec<u8> {
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
    fn escape(_tables: &Tables, path: &[u8]) -> Vec<u8> {
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
    fn escape(_tables: &Tables, path: &[u8]) -> Vec<u8> {
        use percent_encoding::{AsciiSet, percent_encode};
        const SIGN: AsciiSet = AsciiSet::EMPTY.add(b'%');
        std::borrow::Cow::from(percent_encode(path, &SIGN)).into_owned().into_bytes()
    }
}

/// Escapes a path of which a byte is escaped.
#[cfg(feature = "tiebreak-simd")]
fn written(tables: &Tables, path: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(tables.len(path));
    let bytes = tables.write_uninit(path, escaped.spare_capacity_mut());
    // SAFETY: so many bytes were written.
    unsafe { escaped.set_len(bytes) };
    escaped
}

#[cfg(feature = "kit")]
kernel! {
    fn escape(tables: &Tables, path: &[u8]) -> Vec<u8> {
        match tables.find(path) {
            None => path.to_vec(),
            Some(_) => written(tables, path),
        }
    }
}

#[cfg(feature = "kit-borrow")]
kernel! {
    fn escape<'p>(tables: &Tables, path: &'p [u8]) -> std::borrow::Cow<'p, [u8]> {
        match tables.find(path) {
            None => path.into(),
            Some(_) => written(tables, path).into(),
        }
    }
}

struct Each;

impl Contestant for Each {
    const NAME: &'static core::ffi::CStr = c"percent-escape";
    const ALLOCATES: bool = true;
    type State<'w> = (Tables, Vec<&'w [u8]>);

    fn prepare(workload: Workload<'_>) -> Option<Self::State<'_>> {
        Some((tables()?, paths(workload.input())))
    }

    fn run((tables, paths): &mut Self::State<'_>) -> u64 {
        launder(&paths[..]).iter().map(|path| checksum(&escape(tables, path))).sum()
    }

    fn dump((tables, paths): &mut Self::State<'_>, sink: &mut Sink<'_>) {
        for path in paths.iter() {
            sink.bytes(&escape(tables, path));
            sink.bytes(b"\n");
        }
    }
}

contestant!(Each);
