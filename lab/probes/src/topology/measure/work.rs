//! Work that keeps the adders of a core busy.

/// Additions of one round of [`add`].
const WIDTH: u64 = 8;

/// One of the eight additions, and the end of the loop.
#[cfg(target_arch = "x86_64")]
macro_rules! add {
    ($to:literal) => {
        concat!("add {", $to, "}, {one}")
    };
    () => {
        "dec {n}\njnz 2b"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! add {
    ($to:literal) => {
        concat!("add {", $to, "}, {", $to, "}, {one}")
    };
    () => {
        "subs {n}, {n}, #1\nb.ne 2b"
    };
}

/// Eight independent chains of additions, `rounds` long: as many additions at a time as no core has
/// adders for two threads. Gives a number that depends on them, so that they must be made.
///
/// The summand comes from a register: some cores carry out the addition of a constant before the
/// instruction reaches an adder.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn add(rounds: u64) -> u64 {
    let mut sum: u64 = 0;
    // SAFETY: only the registers named below change; memory and stack are not touched. A count of
    // at least 1 reaches zero.
    unsafe {
        std::arch::asm!(
            "2:", add!("a"), add!("b"), add!("c"), add!("d"), add!("e"), add!("f"), add!("g"),
            add!("h"), add!(),
            a = inout(reg) sum, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _, e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _,
            g = inout(reg) 0_u64 => _, h = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64, n = inout(reg) rounds.max(1) => _, options(nomem, nostack),
        );
    }
    sum * WIDTH
}

/// The same anywhere else; the compiler is kept from adding at once what is added one by one, at
/// the price of a store each, of which a core has no more than one thread can use either.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn add(rounds: u64) -> u64 {
    let mut sums = [0_u64; WIDTH as usize];
    for _ in 0..rounds.max(1) {
        for sum in &mut sums {
            *sum = std::hint::black_box(*sum + 1);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_addition_is_made() {
        for rounds in [1, 2, 1000] {
            assert_eq!(add(rounds), rounds * WIDTH);
        }
        assert_eq!(add(0), WIDTH);
    }
}
