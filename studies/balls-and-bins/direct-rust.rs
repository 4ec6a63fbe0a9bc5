//! The simulation as described, in Rust: a ball at a time, until a bin is full. See frame.h.

use tiebreak_abi::{Contestant, Random, Sink, Workload, contestant, kernel};

struct Direct;

struct State<'w> {
    workload: Workload<'w>,
    counts: [u32; 1024],
}

fn bin_of(half: u32, bins: u64) -> usize {
    (u64::from(half) * bins >> 32) as usize
}

kernel! {
    fn trial(counts: &mut [u32], capacity: u64, stream: &mut Random) -> u64 {
        let bins = counts.len() as u64;
        counts.fill(0);
        let mut balls = 0;
        loop {
            let word = stream.next_u64();
            for half in [word as u32, (word >> 32) as u32] {
                balls += 1;
                let count = &mut counts[bin_of(half, bins)];
                *count += 1;
                if u64::from(*count) == capacity {
                    return balls;
                }
            }
        }
    }
}

impl Contestant for Direct {
    const NAME: &'static core::ffi::CStr = c"direct-rust";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        Some(State { workload, counts: [0; 1024] })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (game, balls) = state.workload.split_as::<u64, u64>();
        let [bins, capacity, _, seed] = *game else { return 0 };
        let counts = &mut state.counts[..bins as usize];
        let mut stream = Random::new(seed);
        balls.iter_mut().fold(0_u64, |checksum, place| {
            *place = trial(counts, capacity, &mut stream);
            checksum.wrapping_mul(31).wrapping_add(*place)
        })
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        for balls in state.workload.output_as::<u64>() {
            sink.line(*balls);
        }
    }
}

contestant!(Direct);
