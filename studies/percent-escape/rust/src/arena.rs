//! The contract "batch": all paths into one piece of memory that is there already.

use crate::{checksum, ours, paths};
use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel, launder};
use tiebreak_simd::percent::Escape;

kernel! {
    fn escape_all(tables: &Escape, paths: &[&[u8]], arena: &mut [u8], ends: &mut [usize]) {
        let mut at = 0;
        for (path, end) in paths.iter().zip(ends) {
            at += tables.write(path, &mut arena[at..]);
            *end = at;
        }
    }
}

struct Arena<'w> {
    tables: Escape,
    paths: Vec<&'w [u8]>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Arena<'_> {
    fn escaped(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

struct Batch;

impl Contestant for Batch {
    const NAME: &'static core::ffi::CStr = c"percent-escape";
    type State<'w> = Arena<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Arena<'_>> {
        let paths = paths(workload.input());
        // As much more than the longest text as the contestants in C++ have.
        let bytes = vec![0; Escape::room(workload.input().len()) + 64];
        Some(Arena { tables: ours()?, bytes, ends: vec![0; paths.len()], paths })
    }

    fn run(arena: &mut Arena<'_>) -> u64 {
        escape_all(&arena.tables, launder(&arena.paths[..]), &mut arena.bytes, &mut arena.ends);
        arena.escaped().map(checksum).sum()
    }

    fn dump(arena: &mut Arena<'_>, sink: &mut Sink<'_>) {
        for escaped in arena.escaped() {
            sink.bytes(escaped);
            sink.bytes(b"\n");
        }
    }
}

contestant!(Batch);
