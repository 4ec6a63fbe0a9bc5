// The loop around a formatter in Rust: see record.h and lines.h.

/// An item: what one line is made of.
pub struct Record {
    pub real: f64,
    pub whole: i32,
    word: [u8; 12],
    word_bytes: usize,
}

impl Record {
    pub fn word(&self) -> &str {
        core::str::from_utf8(&self.word[..self.word_bytes]).unwrap_or_default()
    }
}

const HEAD_BYTES: usize = 24;
const RECORD_BYTES: usize = 24;
/// No line is longer.
pub const LINE_BYTES: usize = 40;

pub struct Lines {
    has_words: bool,
    records: Vec<Record>,
    text: Vec<u8>,
    bytes: usize,
}


impl Lines {
    pub fn new(input: &[u8]) -> Lines {
        let record = |bytes: &[u8]| {
            let mut word = [0; 12];
            word.copy_from_slice(&bytes[12..]);
            let mut real = [0; 8];
            real.copy_from_slice(&bytes[..8]);
            let mut whole = [0; 4];
            whole.copy_from_slice(&bytes[8..12]);
            Record {
                real: f64::from_le_bytes(real),
                whole: i32::from_le_bytes(whole),
                word,
                word_bytes: word.iter().position(|byte| *byte == 0).unwrap_or(word.len()),
            }
        };
        let records: Vec<Record> =
            input[HEAD_BYTES..].chunks_exact(RECORD_BYTES).map(record).collect();
        let text = vec![0; records.len() * LINE_BYTES + 64];
        Lines { has_words: input[0] != 0, records, text, bytes: 0 }
    }

    #[inline(always)]
    pub fn run(
        &mut self,
        integer: impl Fn(&mut [u8], &Record) -> usize,
        line: impl Fn(&mut [u8], &Record) -> usize,
    ) -> u64 {
        match self.has_words {
            true => self.all(line),
            false => self.all(integer),
        }
    }

    #[inline(always)]
    fn all(&mut self, put: impl Fn(&mut [u8], &Record) -> usize) -> u64 {
        let (mut sum, mut at) = (0_u64, 0);
        for record in tiebreak_abi::launder(&self.records[..]) {
            let room = &mut self.text[at..];
            let bytes = put(room, record);
            let ends = u64::from(room[0]) << 8 | u64::from(room[bytes - 2]);
            sum = (sum ^ ((bytes as u64) << 16 | ends)).wrapping_mul(0x100_0000_01b3);
            at += bytes;
        }
        self.bytes = at;
        sum
    }

    pub fn written(&self) -> &[u8] {
        &self.text[..self.bytes]
    }
}

/// A contestant of these two kernels.
#[macro_export]
macro_rules! lines {
    ($allocates:expr) => {
        struct Formatter;

        impl tiebreak_abi::Contestant for Formatter {
            const NAME: &'static core::ffi::CStr = c"lines";
            const ALLOCATES: bool = $allocates;
            type State<'w> = Lines;

            fn prepare(workload: tiebreak_abi::Workload<'_>) -> Option<Lines> {
                Some(Lines::new(workload.input()))
            }

            fn run(lines: &mut Lines) -> u64 {
                lines.run(integer, line)
            }

            fn dump(lines: &mut Lines, sink: &mut tiebreak_abi::Sink<'_>) {
                sink.bytes(lines.written());
            }
        }

        tiebreak_abi::contestant!(Formatter);
    };
}
