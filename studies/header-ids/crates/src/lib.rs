//! The contestants of this study that are Rust, one a feature. Each finds the place of each name in
//! the list; where the names are in the input was found before the clock starts.

mod contestants;

use contestants::List;
use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};

const UNKNOWN: u16 = u16::MAX;

/// A text of the input: how many bytes of it are the name.
struct Text<'w> {
    bytes: &'w [u8],
    length: usize,
}

struct Ids;

struct State<'w> {
    texts: Vec<Text<'w>>,
    list: List,
    workload: Workload<'w>,
}

impl Contestant for Ids {
    const NAME: &'static CStr = c"names to ids";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        let (mut texts, mut left) = (Vec::new(), workload.input());
        while let [name, value, bytes @ ..] = left {
            texts.push(Text { bytes, length: usize::from(*name) });
            left = &bytes[usize::from(*name) + usize::from(*value)..];
        }
        Some(State { texts, list: List::new(), workload })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let mut sum = 0;
        for (text, into) in state.texts.iter().zip(state.workload.output_as::<u16>()) {
            *into = state.list.id(text).map_or(UNKNOWN, |id| id as u16);
            sum += u64::from(*into);
        }
        sum
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        state.workload.output_as::<u16>().iter().for_each(|id| sink.line(u64::from(*id)));
    }
}

contestant!(Ids);
