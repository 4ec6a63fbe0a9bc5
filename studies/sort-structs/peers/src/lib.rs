//! The peers of this study that are Rust crates, one a feature, on a number and a `String`.
//!
//! A radix sort takes the number only, and the runs of equal numbers are then sorted by the slice's
//! own sort: that part is ours.

#[path = "../../list.rs"]
mod list;

use list::{Foo, Sort};
use tiebreak_abi::contestant;

#[cfg(any(feature = "radsort", feature = "rdst"))]
fn sort_ties(foos: &mut [Foo]) {
    for run in foos.chunk_by_mut(|left, right| left.i == right.i) {
        run.sort_unstable_by(|left, right| left.s.cmp(&right.s));
    }
}

#[cfg(feature = "glidesort")]
fn sort(foos: &mut [Foo]) {
    glidesort::sort(foos);
}

#[cfg(feature = "radsort")]
fn sort(foos: &mut [Foo]) {
    radsort::sort_by_key(foos, |foo| foo.i);
    sort_ties(foos);
}

/// The crate sorts what can be copied: the numbers, each with its place, by which the structs are
/// then moved.
#[cfg(feature = "rdst")]
fn sort(foos: &mut [Foo]) {
    use rdst::{RadixKey, RadixSort};

    #[derive(Clone, Copy)]
    struct Place(i32, u32);

    impl RadixKey for Place {
        const LEVELS: usize = 4;
        fn get_level(&self, level: usize) -> u8 {
            ((self.0 as u32 ^ (1 << 31)) >> (8 * level)) as u8
        }
    }

    let place = |(at, foo): (usize, &Foo)| Place(foo.i, at as u32);
    let mut places: Vec<Place> = foos.iter().enumerate().map(place).collect();
    places.radix_sort_unstable();
    let taken = |place: &Place| std::mem::take(&mut foos[place.1 as usize].s);
    let strings: Vec<String> = places.iter().map(taken).collect();
    for ((foo, place), string) in foos.iter_mut().zip(&places).zip(strings) {
        *foo = Foo { i: place.0, s: string };
    }
    sort_ties(foos);
}

contestant!(Sort);
