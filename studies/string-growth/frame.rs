// What the Rust contestants of this study share: see growth.h.

/// Is shown the string once, by a call of which the compiler knows nothing.
pub type Look<'a> = &'a mut dyn FnMut(&[u8]);

macro_rules! growth {
    ($grow:path) => {
        struct Growth;

        impl tiebreak_abi::Contestant for Growth {
            const NAME: &'static core::ffi::CStr = c"string";
            const ALLOCATES: bool = true;
            type State<'w> = u64;

            fn prepare(workload: tiebreak_abi::Workload<'_>) -> Option<u64> {
                Some(u64::from_le_bytes(workload.input().try_into().ok()?))
            }

            fn run(volume: &mut u64) -> u64 {
                let mut seen = 0;
                let mut look = |text: &[u8]| {
                    let ends = (text[0], text[text.len() - 1]);
                    seen = text.len() as u64 * 65536 + u64::from(ends.0) * 256 + u64::from(ends.1);
                };
                $grow(*volume, std::hint::black_box(&mut look as Look<'_>));
                seen
            }

            fn dump(volume: &mut u64, sink: &mut tiebreak_abi::Sink<'_>) {
                let mut look = |text: &[u8]| {
                    sink.line(text.len());
                    sink.line(text.iter().take_while(|byte| **byte == b'a').count());
                };
                $grow(*volume, std::hint::black_box(&mut look as Look<'_>));
            }
        }

        tiebreak_abi::contestant!(Growth);
    };
}
