//! The contestants of this study that are Rust crates, one a feature. Each parses head after head
//! into an array of headers, as its user would; what is found is then written as places in the
//! input.

#[cfg(feature = "httparse")]
mod httparse;
#[cfg(feature = "kit")]
mod kit;
#[cfg(feature = "picohttpparser-sys")]
mod pico;

#[cfg(feature = "httparse")]
use httparse::Parser;
#[cfg(feature = "kit")]
use kit::Parser;
#[cfg(feature = "picohttpparser-sys")]
use pico::Parser;

use std::ffi::CStr;
use tiebreak_abi::{Contestant, Sink, Workload, contestant};

/// The most headers of a head.
const HEADERS: usize = 64;

/// Where what was found goes, as places from the start of the input.
struct Places<'out> {
    input: *const u8,
    output: &'out mut [u32],
    used: usize,
}

impl Places<'_> {
    /// Writes where bytes of the input begin and end.
    #[inline(always)]
    fn give(&mut self, bytes: &[u8]) {
        let from = bytes.as_ptr().addr() - self.input.addr();
        self.output[self.used] = from as u32;
        self.output[self.used + 1] = (from + bytes.len()) as u32;
        self.used += 2;
    }
}

/// A parser of heads.
trait Parse: Sized {
    /// Makes what is made once.
    fn new() -> Option<Self>;

    /// Parses all heads, and gives what is in them; `None` if one is not right.
    fn heads(&self, input: &[u8], places: &mut Places<'_>) -> Option<()>;
}

struct Crate;

struct State<'w> {
    workload: Workload<'w>,
    parser: Parser,
}

impl Contestant for Crate {
    const NAME: &'static CStr = c"heads of requests";
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        Some(State { workload, parser: Parser::new()? })
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (input, output) = state.workload.split_as::<u8, u32>();
        let mut places = Places { input: input.as_ptr(), output, used: 0 };
        match state.parser.heads(input, &mut places) {
            Some(()) => places.used as u64,
            None => 0,
        }
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        state.workload.output_as::<u32>().iter().for_each(|place| sink.line(u64::from(*place)));
    }
}

contestant!(Crate);
