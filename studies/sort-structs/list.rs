//! The contestants in Rust: a list of a number and a `String`, which the function `sort` of the
//! crate that this module stands in sorts.

use std::mem::ManuallyDrop;
use tiebreak_abi::{Contestant, Sink, Workload};

/// The source's struct, compared field by field.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Foo {
    pub i: i32,
    pub s: String,
}

/// The list, and its structs in their first order, bit for bit.
pub struct List {
    foos: Vec<Foo>,
    unsorted: Vec<ManuallyDrop<Foo>>,
}

impl List {
    /// The list of these pairs: the number, and what stands within the string.
    pub fn new(pairs: &[i32]) -> List {
        let foo = |pair: &[i32]| Foo { i: pair[0], s: format!("foo{}foo", pair[1] as u32) };
        let foos: Vec<Foo> = pairs.chunks_exact(2).map(foo).collect();
        // SAFETY: a copy of the bits that is never dropped and never read but by `reset`.
        let copy = |foo: &Foo| ManuallyDrop::new(unsafe { std::ptr::read(foo) });
        let unsorted = foos.iter().map(copy).collect();
        List { foos, unsorted }
    }

    /// Puts the first order back: each string is where it was, at its old address.
    pub fn reset(&mut self) {
        // SAFETY: a sort only permutes, so the list owns each of these strings once before and
        // after; what is overwritten is not dropped. Both have the same length and lie apart.
        unsafe {
            let from = self.unsorted.as_ptr().cast::<Foo>();
            std::ptr::copy_nonoverlapping(from, self.foos.as_mut_ptr(), self.foos.len());
        }
    }

    /// What is to be sorted; only the order may change.
    pub fn foos(&mut self) -> &mut [Foo] {
        tiebreak_abi::launder(&mut self.foos[..])
    }

    /// 1024 places spread over the list, and the last.
    pub fn checksum(&self) -> u64 {
        let mut sum = 0xcbf2_9ce4_8422_2325;
        let mut add = |word: u32| sum = (sum ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
        let count = self.foos.len();
        for k in 0..if count == 0 { 0 } else { 1025 } {
            let foo = &self.foos[if k < 1024 { k * count / 1024 } else { count - 1 }];
            add(foo.i as u32);
            foo.s.bytes().for_each(|byte| add(u32::from(byte)));
        }
        sum
    }

    /// A line a struct: the number and the string.
    pub fn dump(&self, sink: &mut Sink<'_>) {
        self.foos.iter().for_each(|foo| sink.line(format_args!("{} {}", foo.i, foo.s)));
    }
}

/// The contestant that sorts by `sort` of the crate's root.
pub struct Sort;

impl Contestant for Sort {
    const NAME: &'static core::ffi::CStr = c"sort";
    // A stable sort takes memory for a part of the list, and so do most others.
    const ALLOCATES: bool = true;
    const RESETS: bool = true;
    type State<'w> = List;

    fn prepare(workload: Workload<'_>) -> Option<List> {
        Some(List::new(workload.input_as()))
    }

    fn reset(list: &mut List) {
        list.reset();
    }

    fn run(list: &mut List) -> u64 {
        crate::sort(list.foos());
        list.checksum()
    }

    fn dump(list: &mut List, sink: &mut Sink<'_>) {
        list.dump(sink);
    }
}
