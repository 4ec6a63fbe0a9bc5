//! The contestants of this study in Rust, one a feature.

mod node;
mod scheme;
mod writer;

#[cfg_attr(feature = "epoch", path = "schemes/epoch.rs")]
#[cfg_attr(feature = "epoch-pin", path = "schemes/epoch_pin.rs")]
#[cfg_attr(feature = "epoch-seqcst", path = "schemes/epoch.rs")]
#[cfg_attr(feature = "hazard", path = "schemes/hazard.rs")]
#[cfg_attr(feature = "hazard-seqcst", path = "schemes/hazard.rs")]
#[cfg_attr(feature = "crossbeam", path = "schemes/crossbeam.rs")]
#[cfg_attr(feature = "crossbeam-pin", path = "schemes/crossbeam_pin.rs")]
#[cfg_attr(feature = "seize", path = "schemes/seize.rs")]
#[cfg_attr(feature = "haphazard", path = "schemes/haphazard.rs")]
#[cfg_attr(feature = "arc-swap", path = "schemes/arc_swap.rs")]
#[cfg_attr(feature = "arc", path = "schemes/arc.rs")]
#[cfg_attr(feature = "rwlock", path = "schemes/rwlock.rs")]
#[cfg_attr(feature = "mutex", path = "schemes/mutex.rs")]
#[cfg_attr(feature = "plain", path = "schemes/plain.rs")]
mod chosen;

use chosen::Chosen;
use node::Node;
use scheme::Scheme;
use std::mem::ManuallyDrop;
use tiebreak_abi::{Contestant, Sink, Workload, contestant, keep, launder};
use writer::Writer;

/// More objects than this may not be there at once.
const ALIVE_MAX: i64 = 20_000;
/// In so many objects that are retired while an answer is dumped.
const RETIRED_MIN: u64 = 4 * ALIVE_MAX as u64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pin,
    Protect,
    Retire,
    ReadWrite,
}

/// The input: what every whole object gives, what is done, and how often.
struct Input {
    key: u64,
    kind: Kind,
    count: u64,
}

impl Input {
    fn new(bytes: &[u8]) -> Option<Input> {
        let word = |index: usize| {
            bytes.get(index * 8..index * 8 + 8)?.try_into().ok().map(u64::from_le_bytes)
        };
        let kind = match word(1)? {
            0 => Kind::Pin,
            1 => Kind::Protect,
            2 => Kind::Retire,
            3 => Kind::ReadWrite,
            _ => return None,
        };
        Some(Input { key: word(0)?, kind, count: word(2)? })
    }
}

struct State {
    input: Input,
    /// Ends before what it shares.
    writer: Option<Writer>,
    local: ManuallyDrop<<Chosen as Scheme>::Local>,
    shared: &'static <Chosen as Scheme>::Shared,
    number: u64,
}

impl State {
    fn new(bytes: &[u8]) -> Option<State> {
        let input = Input::new(bytes)?;
        let shared: &'static _ = Box::leak(Box::new(Chosen::share(Node::new(input.key, 0))));
        #[allow(clippy::unit_arg, reason = "some have nothing of their own in a thread")]
        let local = ManuallyDrop::new(Chosen::register(shared));
        let writer = match input.kind {
            Kind::ReadWrite => Some(Writer::start::<Chosen>(shared, input.key)?),
            _ => None,
        };
        Some(State { input, writer, local, shared, number: 0 })
    }

    #[inline(always)]
    fn repeat(
        &mut self,
        one: impl Fn(&'static <Chosen as Scheme>::Shared, &mut <Chosen as Scheme>::Local) -> u64,
    ) -> u64 {
        let mut sum = 0_u64;
        for _ in 0..self.input.count {
            let read = one(launder(self.shared), launder(&mut *self.local));
            sum = sum.wrapping_add(read);
            keep(sum);
        }
        sum
    }

    fn retire(&mut self) -> u64 {
        let mut sum = 0_u64;
        for _ in 0..self.input.count {
            self.number += 1;
            let next = Node::new(self.input.key, self.number);
            let read = Chosen::retire(launder(self.shared), launder(&mut *self.local), next);
            sum = sum.wrapping_add(read);
            keep(sum);
        }
        sum
    }

    fn run(&mut self) -> u64 {
        match self.input.kind {
            Kind::Pin => self.repeat(Chosen::pin),
            Kind::Protect => self.repeat(Chosen::protect),
            Kind::Retire => self.retire(),
            Kind::ReadWrite => {
                self.writer.as_ref().inspect(|writer| writer.begin());
                let sum = self.repeat(Chosen::protect);
                self.writer.as_ref().inspect(|writer| writer.end());
                sum
            }
        }
    }

    /// Whether few enough objects are there at once.
    fn is_bounded(&mut self) -> bool {
        if self.input.kind != Kind::Retire {
            return true;
        }
        let runs = RETIRED_MIN.div_ceil(self.input.count.max(1));
        node::peak(|| (0..runs).for_each(|_| keep(self.run()))) <= ALIVE_MAX
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.writer = None;
        // SAFETY: it is dropped once, here, and before what it refers to.
        unsafe { ManuallyDrop::drop(&mut self.local) };
        // SAFETY: it came from a box; the writer has ended, and what this thread had of it is gone.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(self.shared).cast_mut()) });
    }
}

struct Reclamation;

impl Contestant for Reclamation {
    const NAME: &'static core::ffi::CStr = c"reclamation";
    const ALLOCATES: bool = true;
    type State<'w> = State;

    fn prepare(workload: Workload<'_>) -> Option<State> {
        State::new(workload.input())
    }

    fn run(state: &mut State) -> u64 {
        state.run()
    }

    fn dump(state: &mut State, sink: &mut Sink<'_>) {
        sink.line(state.run());
        let is_bounded = state.is_bounded();
        sink.line(if is_bounded { "bounded" } else { "unbounded" });
    }
}

contestant!(Reclamation);
