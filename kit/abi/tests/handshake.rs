//! Tables that a loader takes, and tables that it refuses.

use core::ffi::c_void;
use tiebreak_abi::{
    ABI, Contestant, MAGIC, Oracle, RawContestant, RawOracle, RawSink, RawWorkload, Refusal,
    Request, Sink, Unknown, Workload, check, contestant, oracle,
};

/// Doubles 16-bit numbers: the input as one type, the output as another, with a reset.
struct Double;

struct State<'w> {
    workload: Workload<'w>,
    resets: u64,
}

impl Contestant for Double {
    const NAME: &'static core::ffi::CStr = c"double";
    const NEEDS: &'static core::ffi::CStr = c"avx2";
    const ALLOCATES: bool = true;
    const OUTPUT_SLACK_BYTES: u32 = 8;
    const RESETS: bool = true;
    type State<'w> = State<'w>;

    fn prepare(workload: Workload<'_>) -> Option<State<'_>> {
        (workload.items() > 0).then_some(State { workload, resets: 0 })
    }

    fn reset(state: &mut State<'_>) {
        state.resets += 1;
    }

    fn run(state: &mut State<'_>) -> u64 {
        let (input, output) = state.workload.split_as::<u16, u32>();
        for (from, to) in input.iter().zip(output) {
            *to = 2 * u32::from(*from);
        }
        state.resets
    }

    fn dump(state: &mut State<'_>, sink: &mut Sink<'_>) {
        state.workload.output_as::<u32>().iter().for_each(|number| sink.line(number));
    }
}
contestant!(Double);

struct Picky;

impl Oracle for Picky {
    fn generate(request: &Request<'_>, sink: &mut Sink<'_>) -> Result<(), Unknown> {
        if request.distribution != "known" {
            return Err(Unknown);
        }
        sink.line(request.seed);
        Ok(())
    }

    fn items(_: &Request<'_>, input: &[u8]) -> u64 {
        input.len() as u64
    }

    fn answer(_: &Request<'_>, _: &[u8], _: &mut Sink<'_>) -> Result<u64, Unknown> {
        Err(Unknown)
    }
}
oracle!(Picky);

unsafe extern "C" fn gather(context: *mut c_void, bytes: *const c_void, count: u64) {
    // SAFETY: the context is a vector of the caller, who waits; the bytes are there.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize);
        (*context.cast::<Vec<u8>>()).extend_from_slice(bytes);
    }
}

#[test]
fn a_rust_contestant_does_what_the_trait_says() {
    let (input, mut output) = ([1_u16, 2, 40_000], [0_u32; 3]);
    let mut workload = RawWorkload {
        struct_bytes: size_of::<RawWorkload>() as u32,
        reserved: 0,
        input: input.as_ptr().cast(),
        input_bytes: 6,
        output: output.as_mut_ptr().cast(),
        output_bytes: 12,
        items: 3,
    };
    let table = &tiebreak_contestant_table;
    assert_eq!((table.flags, table.output_slack_bytes, table.input_slack_bytes), (1, 8, 0));
    let mut text = Vec::<u8>::new();
    let sink = RawSink { context: (&raw mut text).cast(), write: gather };
    // SAFETY: as the header says, in its order.
    unsafe {
        let state = table.prepare.unwrap()(&raw const workload);
        table.reset.unwrap()(state);
        assert_eq!(table.run.unwrap()(state), 1);
        table.dump.unwrap()(state, &raw const sink);
        table.release.unwrap()(state);
        workload.items = 0;
        assert!(table.prepare.unwrap()(&raw const workload).is_null(), "it cannot");
    }
    assert_eq!(text, b"2\n4\n80000\n");
}

#[test]
fn an_oracle_refuses_what_it_does_not_know() {
    let table = &tiebreak_oracle_table;
    let mut text = Vec::<u8>::new();
    let sink = RawSink { context: (&raw mut text).cast(), write: gather };
    let mut sum = 5;
    for (distribution, expected) in [(c"known", 0), (c"strange", 1), (c"\xff", 1)] {
        let request = tiebreak_abi::RawRequest {
            struct_bytes: size_of::<tiebreak_abi::RawRequest>() as u32,
            reserved: 0,
            workload: core::ptr::null(),
            distribution: distribution.as_ptr(),
            contract: core::ptr::null(),
            size: 0,
            seed: 9,
            part: 0,
            parts: 1,
        };
        // SAFETY: as the header says; no byte of an empty input is read.
        unsafe {
            assert_eq!(table.generate.unwrap()(&raw const request, &raw const sink), expected);
            let nothing = core::ptr::null();
            let answer = table.answer.unwrap();
            assert_eq!(answer(&raw const request, nothing, 0, &raw const sink, &raw mut sum), 1);
        }
    }
    assert_eq!((text.as_slice(), sum), (&b"9\n"[..], 5), "no answer leaves no checksum");
    assert!(table.output_bytes.is_none());
}

fn contestant_with(change: impl FnOnce(&mut RawContestant)) -> Result<(), Refusal> {
    let mut table = tiebreak_contestant_table;
    change(&mut table);
    // SAFETY: it is a table.
    unsafe { check(&raw const table) }.map(drop)
}

#[test]
fn tables_are_refused_for_what_is_wrong_with_them() {
    let bytes = size_of::<RawContestant>() as u32;
    type Row = (fn(&mut RawContestant), Refusal, &'static str);
    let rows: [Row; 7] = [
        (|t| t.magic = 1, Refusal::NotATable(1), "TIEBREAK_MAGIC"),
        (|t| t.abi = ABI + 1, Refusal::OtherVersion(ABI + 1), "build it again"),
        (|t| t.struct_bytes = 16, Refusal::TooShort(16, bytes), "has 16 bytes"),
        (|t| t.prepare = None, Refusal::NoFunction("prepare"), "`prepare` is null"),
        (|t| t.run = None, Refusal::NoFunction("run"), "`run` is null"),
        (|t| t.alignment_bytes = 48, Refusal::Alignment(48), "power of two"),
        (|t| t.alignment_bytes = 8192, Refusal::Alignment(8192), "up to 4096"),
    ];
    for (change, expected, text) in rows {
        let refusal = contestant_with(change).expect_err("it is refused");
        assert_eq!(refusal, expected);
        assert!(refusal.to_string().contains(text), "{refusal}");
    }
}

#[test]
fn tables_are_taken_as_they_come_and_from_later_headers() {
    assert_eq!(contestant_with(|_| ()), Ok(()));
    assert_eq!(contestant_with(|table| table.struct_bytes += 8), Ok(()), "fields were appended");
    assert_eq!(contestant_with(|table| table.reset = None), Ok(()));
    // SAFETY: null is allowed; the first is a table, and the words are read as far as they say.
    unsafe {
        assert_eq!(check(&raw const tiebreak_oracle_table).map(drop), Ok(()));
        assert_eq!(check(core::ptr::null::<RawOracle>()).err(), Some(Refusal::Missing));
        let old = [MAGIC, 0, 12, 0];
        let old = old.as_ptr().cast::<RawOracle>();
        if old.is_aligned() {
            assert_eq!(check(old).err(), Some(Refusal::OtherVersion(0)));
        }
    }
}
