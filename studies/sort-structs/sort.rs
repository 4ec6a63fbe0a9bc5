//! The slice's own sort: stable (driftsort), or unstable (ipnsort) with `--cfg unstable`.

#![allow(unexpected_cfgs)]

#[path = "list.rs"]
mod list;

use list::{Foo, List};
use tiebreak_abi::{Contestant, Sink, Workload, contestant};

struct Sort;

fn sort(foos: &mut [Foo]) {
    if cfg!(unstable) {
        foos.sort_unstable();
    } else {
        foos.sort();
    }
}

impl Contestant for Sort {
    const NAME: &'static core::ffi::CStr = c"slice::sort";
    // The stable sort takes memory for a part of the list.
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
        sort(list.foos());
        list.checksum()
    }

    fn dump(list: &mut List, sink: &mut Sink<'_>) {
        list.dump(sink);
    }
}

contestant!(Sort);
