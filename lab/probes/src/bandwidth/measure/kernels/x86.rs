//! Vectors of x86-64. Four accumulators hide the latency of an addition; plain stores are volatile,
//! or the compiler would call the C library, which chooses its own way to store.

use super::{PATTERN, Vectors};
use std::arch::x86_64::*;

/// All that this CPU has, the widest first.
pub(super) fn all() -> Vec<Vectors> {
    let all = [
        (is_x86_feature_detected!("avx512f"), avx512::VECTORS),
        (is_x86_feature_detected!("avx2"), avx2::VECTORS),
        (true, sse2::VECTORS),
    ];
    all.into_iter().filter(|one| one.0).map(|one| one.1).collect()
}

/// For each of the vectors in so many bytes, four in a row at a time.
macro_rules! each {
    ($bytes:ident, $at:ident => $work:expr) => {
        for four in (0..$bytes).step_by(4 * BYTES) {
            for lane in 0..4 {
                let $at = four + lane * BYTES;
                $work;
            }
        }
    };
}

macro_rules! vectors {
    (
        $module:ident, $name:literal, $feature:literal, $vector:ty,
        $load:ident, $add:ident, $splat:ident, $zero:ident, $stream:ident
    ) => {
        mod $module {
            use super::*;

            pub(super) const VECTORS: Vectors =
                Vectors { name: $name, read, write, fill, copy, copy_past };

            const BYTES: usize = size_of::<$vector>();

            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            #[target_feature(enable = $feature)]
            unsafe fn read(from: *const u8, bytes: usize) -> u64 {
                let mut sums = [$zero(); 4];
                for at in (0..bytes).step_by(4 * BYTES) {
                    for (lane, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: within `bytes`, a multiple of four vectors, and aligned.
                        let value = unsafe { $load(from.add(at + lane * BYTES).cast()) };
                        *sum = $add(*sum, value);
                    }
                }
                let sum = $add($add(sums[0], sums[1]), $add(sums[2], sums[3]));
                // SAFETY: a vector is so many words of 64 bits.
                let words: [u64; BYTES / 8] = unsafe { std::mem::transmute(sum) };
                words.into_iter().fold(0, u64::wrapping_add)
            }

            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            #[target_feature(enable = $feature)]
            unsafe fn write(to: *mut u8, bytes: usize) {
                let value = $splat(PATTERN as i64);
                // SAFETY: within `bytes`, a multiple of four vectors, and aligned.
                each!(bytes, at => unsafe { to.add(at).cast::<$vector>().write_volatile(value) });
            }

            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            #[target_feature(enable = $feature)]
            unsafe fn fill(to: *mut u8, bytes: usize) {
                let value = $splat(PATTERN as i64);
                // SAFETY: within `bytes`, a multiple of four vectors, and aligned.
                each!(bytes, at => unsafe { $stream(to.add(at).cast(), value) });
                // Stores past the caches are ordered by this alone.
                _mm_sfence();
            }

            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            #[target_feature(enable = $feature)]
            unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
                // SAFETY: within `bytes` of both, a multiple of four vectors, and aligned.
                each!(bytes, at => unsafe {
                    let value = $load(from.add(at).cast());
                    to.add(at).cast::<$vector>().write_volatile(value)
                });
            }

            /// # Safety
            /// As [`Vectors::run`], and the CPU has the feature.
            #[target_feature(enable = $feature)]
            unsafe fn copy_past(from: *const u8, to: *mut u8, bytes: usize) {
                // SAFETY: within `bytes` of both, a multiple of four vectors, and aligned.
                each!(bytes, at => unsafe {
                    let value = $load(from.add(at).cast());
                    $stream(to.add(at).cast(), value)
                });
                // As of a fill.
                _mm_sfence();
            }
        }
    };
}

vectors! {
    avx512, "AVX-512", "avx512f", __m512i,
    _mm512_load_si512, _mm512_add_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_stream_si512
}
vectors! {
    avx2, "AVX2", "avx2", __m256i,
    _mm256_load_si256, _mm256_add_epi64, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_stream_si256
}
vectors! {
    sse2, "SSE2", "sse2", __m128i,
    _mm_load_si128, _mm_add_epi64, _mm_set1_epi64x, _mm_setzero_si128, _mm_stream_si128
}
