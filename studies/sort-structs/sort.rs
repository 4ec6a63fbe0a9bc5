//! The slice's own sort: stable (driftsort), or unstable (ipnsort) with `--cfg unstable`.

#![allow(unexpected_cfgs)]

#[path = "list.rs"]
mod list;

use list::{Foo, Sort};
use tiebreak_abi::contestant;

fn sort(foos: &mut [Foo]) {
    if cfg!(unstable) {
        foos.sort_unstable();
    } else {
        foos.sort();
    }
}

contestant!(Sort);
