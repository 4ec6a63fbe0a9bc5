//! Form A in Rust.

mod frame;

use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel};

kernel! {
    fn compute(data: &mut [f64]) {
        const A: f64 = 1.1;
        const B: f64 = 2.2;
        const C: f64 = 3.3;
        let mut i = 0;
        while i < data.len() {
            let x = f64::from(i as i32);
            data[i] = A * x * x + B * x + C;
            i += 1;
        }
    }
}

struct FormA;

impl Contestant for FormA {
    const NAME: &'static core::ffi::CStr = c"form A";
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

contestant!(FormA);
