//! Form B in Rust.

mod frame;

use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel};

kernel! {
    fn compute(data: &mut [f64]) {
        const A: f64 = 1.1;
        const B: f64 = 2.2;
        const C: f64 = 3.3;
        const A2: f64 = A + A;
        let mut z = A + B;
        let mut y = C;
        let mut i = 0;
        while i < data.len() {
            data[i] = y;
            y += z;
            z += A2;
            i += 1;
        }
    }
}

struct FormB;

impl Contestant for FormB {
    const NAME: &'static core::ffi::CStr = c"form B";
    type State<'w> = Workload<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> {
        Some(workload)
    }

    fn run(workload: &mut Workload<'_>) -> u64 {
        frame::run(workload, compute)
    }

    fn dump(workload: &mut Workload<'_>, sink: &mut Sink<'_>) {
        frame::dump(workload, sink);
    }
}

contestant!(FormB);
