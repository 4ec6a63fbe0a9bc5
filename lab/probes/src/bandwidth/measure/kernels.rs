//! The kernels: one function for each, with the widest vectors that this CPU has.

use crate::Traffic;
#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{uint64x2_t, vaddq_u64, vdupq_n_u64, vld1q_u64};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Every start and every length is a multiple of this.
pub(super) const BLOCK_BYTES: usize = 4096;
/// The bytes of a cache line, of which `touch` reads one.
const LINE_BYTES: usize = 64;
/// The written value.
const PATTERN: u64 = 0x0102_0304_0506_0708;

/// The kernels with vectors of one kind.
///
/// All pointers are aligned to 64 bytes and all lengths are multiples of [`BLOCK_BYTES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Vectors {
    /// `AVX-512`.
    pub name: &'static str,
    /// One for each [`Traffic`]: from where, to where, and so many bytes. A store gives 0.
    kernels: [unsafe fn(*const u8, *mut u8, usize) -> u64; 6],
}

impl Vectors {
    /// Returns the widest that this CPU has.
    pub(super) fn widest() -> Vectors {
        Vectors::all()[0]
    }

    /// Returns all that this CPU has, the widest first.
    fn all() -> Vec<Vectors> {
        let all = [
            #[cfg(target_arch = "x86_64")]
            is_x86_feature_detected!("avx512f").then_some(avx512::VECTORS),
            #[cfg(target_arch = "x86_64")]
            is_x86_feature_detected!("avx2").then_some(avx2::VECTORS),
            #[cfg(target_arch = "x86_64")]
            Some(sse2::VECTORS),
            #[cfg(target_arch = "aarch64")]
            Some(neon::VECTORS),
            Some(words::VECTORS),
        ];
        all.into_iter().flatten().collect()
    }

    /// Runs a kernel over `bytes` of a buffer whose halves lie `half` bytes apart; a copy reads
    /// half of them from the first half and writes as many into the second.
    ///
    /// # Safety
    /// `at` is aligned to 64 bytes and valid for reads and writes of `bytes`, a multiple of twice
    /// [`BLOCK_BYTES`]; for a copy `at` and `at + half` are, of half as many. The caller alone uses
    /// them.
    pub(super) unsafe fn run(&self, by: Traffic, at: *mut u8, half: usize, bytes: usize) -> u64 {
        // SAFETY: the caller keeps to the same conditions, and this CPU has the instructions.
        unsafe {
            let (to, bytes) = if by.is_copy() { (at.add(half), bytes / 2) } else { (at, bytes) };
            self.kernels[by as usize](at, to, bytes)
        }
    }
}

/// Runs the published kernel (Lemire 2024): sums one value of each line, in plain code.
///
/// # Safety
/// `from` is valid for reads of `bytes`.
unsafe fn touch(from: *const u8, _to: *mut u8, bytes: usize) -> u64 {
    // SAFETY: the caller guarantees it.
    let data = unsafe { std::slice::from_raw_parts(from, bytes) };
    data.iter().step_by(LINE_BYTES).map(|byte| u64::from(*byte)).sum()
}

/// Makes the kernels with one kind of vectors: the type, the CPU feature, the fence after stores
/// that bypass the caches, and the functions that load, add, splat and store past the caches.
///
/// Four accumulators hide the latency of an addition. Plain stores are volatile, or the compiler
/// would call the C library, which chooses its own way to store.
macro_rules! vectors {
    (
        $(#[$condition:meta])?
        $module:ident, $name:literal, $vector:ty, [$($feature:literal)?], [$($fence:ident)?],
        $load:path, $add:path, $splat:path, $stream:path
    ) => {
        $(#[$condition])?
        mod $module {
            use super::*;

            pub(super) const VECTORS: Vectors = Vectors {
                name: $name,
                kernels: [touch, read, store::<false, false>, store::<false, true>,
                    store::<true, false>, store::<true, true>],
            };

            const BYTES: usize = size_of::<$vector>();

            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            $(#[target_feature(enable = $feature)])?
            unsafe fn read(from: *const u8, _to: *mut u8, bytes: usize) -> u64 {
                let mut sums = [$splat(0); 4];
                for at in (0..bytes).step_by(4 * BYTES) {
                    for (lane, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: within `bytes`, a multiple of four vectors, and aligned.
                        let value: $vector = unsafe { $load(from.add(at + lane * BYTES).cast()) };
                        *sum = $add(*sum, value);
                    }
                }
                let sum = $add($add(sums[0], sums[1]), $add(sums[2], sums[3]));
                // SAFETY: a vector consists of words of 64 bits.
                let words: [u64; BYTES / 8] = unsafe { std::mem::transmute(sum) };
                words.into_iter().fold(0, u64::wrapping_add)
            }

            /// Stores what it copies, or the pattern, past the caches or not.
            ///
            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            $(#[target_feature(enable = $feature)])?
            unsafe fn store<const COPIES: bool, const PAST: bool>(
                from: *const u8,
                to: *mut u8,
                bytes: usize,
            ) -> u64 {
                let pattern: $vector = $splat(PATTERN as _);
                for at in (0..bytes).step_by(BYTES) {
                    // SAFETY: within `bytes` of both, a multiple of a vector, and aligned.
                    unsafe {
                        let value = if COPIES { $load(from.add(at).cast()) } else { pattern };
                        let to = to.add(at).cast();
                        if PAST { $stream(to, value) } else { to.write_volatile(value) }
                    }
                }
                // Only this orders stores past the caches.
                if PAST {
                    $($fence();)?
                }
                0
            }
        }
    };
}

vectors! {
    #[cfg(target_arch = "x86_64")]
    avx512, "AVX-512", __m512i, ["avx512f"], [_mm_sfence],
    _mm512_load_si512, _mm512_add_epi64, _mm512_set1_epi64, _mm512_stream_si512
}
vectors! {
    #[cfg(target_arch = "x86_64")]
    avx2, "AVX2", __m256i, ["avx2"], [_mm_sfence],
    _mm256_load_si256, _mm256_add_epi64, _mm256_set1_epi64x, _mm256_stream_si256
}
vectors! {
    #[cfg(target_arch = "x86_64")]
    sse2, "SSE2", __m128i, ["sse2"], [_mm_sfence],
    _mm_load_si128, _mm_add_epi64, _mm_set1_epi64x, _mm_stream_si128
}
vectors! {
    #[cfg(target_arch = "aarch64")]
    neon, "NEON", uint64x2_t, ["neon"], [],
    vld1q_u64, vaddq_u64, vdupq_n_u64, store_pair
}
// For CPUs whose vectors are not known here. Its stores do not bypass the caches.
vectors! {
    words, "64-bit words", u64, [], [],
    std::ptr::read, u64::wrapping_add, std::convert::identity, std::ptr::write_volatile
}

/// Stores two words by `stnp`, whose hint asks to bypass the caches.
///
/// # Safety
/// `to` is valid for the write.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn store_pair(to: *mut uint64x2_t, value: uint64x2_t) {
    // SAFETY: a vector is two words; the caller guarantees the place.
    unsafe {
        let [first, second]: [u64; 2] = std::mem::transmute(value);
        std::arch::asm!(
            "stnp {first}, {second}, [{to}]",
            first = in(reg) first,
            second = in(reg) second,
            to = in(reg) to,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    /// Runs every kernel of some vectors over a buffer of two halves and looks at every byte.
    fn check(vectors: &Vectors) {
        const BYTES: usize = 4 * BLOCK_BYTES;
        let layout = Layout::from_size_align(BYTES, 64).unwrap();
        // SAFETY: the layout has a size; the buffer is used within it and freed once.
        unsafe {
            let buffer = alloc_zeroed(layout);
            assert!(!buffer.is_null());
            let bytes = || std::slice::from_raw_parts(buffer, BYTES).to_vec();
            for (index, value) in (0..BYTES).zip((0..251_u8).cycle()) {
                *buffer.add(index) = value;
            }
            let before = bytes();
            let words = before.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
            let sum = words.fold(0, u64::wrapping_add);
            assert_eq!(vectors.run(Traffic::Read, buffer, 0, BYTES), sum, "{}", vectors.name);
            let touched = before.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>();
            assert_eq!(vectors.run(Traffic::Touch, buffer, 0, BYTES), touched);
            let half = BYTES / 2;
            for kernel in [Traffic::Copy, Traffic::CopyPast] {
                buffer.add(half).write_bytes(0, half);
                vectors.run(kernel, buffer, half, BYTES);
                assert_eq!(bytes(), [&before[..half], &before[..half]].concat(), "{vectors:?}");
            }
            for kernel in [Traffic::Write, Traffic::Fill] {
                buffer.write_bytes(0, BYTES);
                vectors.run(kernel, buffer, 0, BYTES / 2);
                let after = bytes();
                assert_eq!(after[..half], PATTERN.to_le_bytes().repeat(half / 8), "{kernel:?}");
                assert!(after[half..].iter().all(|byte| *byte == 0), "{kernel:?} wrote beyond");
            }
            dealloc(buffer, layout);
        }
    }

    #[test]
    fn every_kernel_reads_and_writes_all_of_its_part() {
        for vectors in Vectors::all() {
            check(&vectors);
        }
        assert_eq!(Vectors::all().last().unwrap().name, "64-bit words");
    }
}
