//! Counts in a variable of its thread that has a destructor, by a map that is made in each call.

use std::cell::RefCell;
use std::collections::HashMap;

thread_local! {
    static COUNTS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

struct Sum;

fn sum(bytes: &[u8]) -> u64 {
    COUNTS.with_borrow_mut(|counts| {
        counts.clear();
        counts.resize(256, 0);
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let map: HashMap<u64, u64> = (0..).zip(counts.iter().copied()).collect();
        map.iter().map(|(byte, count)| byte * count).sum()
    })
}

impl tiebreak_abi::Contestant for Sum {
    const NAME: &'static core::ffi::CStr = c"rust-locals";
    const ALLOCATES: bool = true;
    type State<'w> = tiebreak_abi::Workload<'w>;

    fn prepare(workload: tiebreak_abi::Workload<'_>) -> Option<tiebreak_abi::Workload<'_>> {
        Some(workload)
    }

    fn run(workload: &mut tiebreak_abi::Workload<'_>) -> u64 {
        sum(tiebreak_abi::launder(workload.input()))
    }

    fn dump(workload: &mut tiebreak_abi::Workload<'_>, sink: &mut tiebreak_abi::Sink<'_>) {
        sink.line(sum(workload.input()));
    }
}

tiebreak_abi::contestant!(Sum);
