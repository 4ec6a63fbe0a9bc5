//! The contract "batch": the strings as lines of one text. One that has a line feed in it cannot be
//! asked for.

use tiebreak_abi::{Contestant, Sink, Workload, contestant, kernel, launder};
use tiebreak_simd::uint8::{Lines, NONE};

kernel! {
    fn parse_lines(lines: &Lines, text: &[u8], numbers: &mut [u16]) -> usize {
        lines.parse(text, numbers)
    }
}

struct Text<'w> {
    lines: Lines,
    /// The strings of 8-byte records: 7 bytes of text, then the length.
    records: &'w [[u8; 8]],
    text: Vec<u8>,
    numbers: Vec<u16>,
}

/// The string of a record, if it can be asked for.
fn asked(record: &[u8; 8]) -> Option<&[u8]> {
    let text = &record[..usize::from(record[7])];
    (!text.contains(&b'\n')).then_some(text)
}

struct Batch;

impl Contestant for Batch {
    const NAME: &'static core::ffi::CStr = c"parse_uint8";
    type State<'w> = Text<'w>;

    fn prepare(workload: Workload<'_>) -> Option<Text<'_>> {
        let records = workload.input().as_chunks().0;
        let mut text = Vec::new();
        let mut count = 0;
        for string in records.iter().filter_map(asked) {
            text.extend_from_slice(string);
            text.push(b'\n');
            count += 1;
        }
        Some(Text { lines: Lines::new().ok()?, records, text, numbers: vec![0; count] })
    }

    fn run(text: &mut Text<'_>) -> u64 {
        parse_lines(&text.lines, launder(&text.text[..]), &mut text.numbers);
        let (mut sum, mut rejected) = (0_u32, 0_u32);
        for number in &text.numbers {
            rejected += u32::from(number >> 8);
            sum += u32::from(number & 255);
        }
        u64::from(sum) + (u64::from(rejected) << 32)
    }

    fn dump(text: &mut Text<'_>, sink: &mut Sink<'_>) {
        let mut numbers = text.numbers.iter();
        for record in text.records {
            match asked(record).and_then(|_| numbers.next()) {
                None => sink.bytes(b"..\n"),
                Some(&NONE) => sink.bytes(b"--\n"),
                Some(number) => sink.line(format_args!("{number:02x}")),
            }
        }
    }
}

contestant!(Batch);
