//! Ours: 64 lanes in portable Rust, which the compiler turns into the registers that there are.

use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel};

const LANES: usize = 64;

kernel! {
    fn sum(data: &[f32]) -> f32 {
        let mut lanes = [0.0_f64; LANES];
        let blocks = data.chunks_exact(LANES);
        let rest: f64 = blocks.remainder().iter().map(|value| f64::from(*value)).sum();
        for block in blocks {
            for (lane, value) in lanes.iter_mut().zip(block) {
                *lane += f64::from(*value);
            }
        }
        (lanes.iter().sum::<f64>() + rest) as f32
    }
}

struct Lanes;

impl Contestant for Lanes {
    const NAME: &'static core::ffi::CStr = c"lanes";
    type State<'w> = Workload<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Workload<'_>> {
        Some(workload)
    }

    fn run(workload: &mut Workload<'_>) -> u64 {
        u64::from(sum(workload.input_as()).to_bits())
    }

    fn dump(workload: &mut Workload<'_>, sink: &mut Sink<'_>) {
        sink.line(Lanes::run(workload));
    }
}

contestant!(Lanes);
