//! 16, 32 and 64 bytes at a time on x86-64.

mod avx2;
mod avx512;
mod ssse3;

use super::compiled;

compiled!(ssse3_nibbles, ssse3::Nibbles, #[target_feature(enable = "ssse3,popcnt")]);
compiled!(ssse3_columns, ssse3::Columns, #[target_feature(enable = "ssse3,popcnt")]);
compiled!(avx2_nibbles, avx2::Nibbles, #[target_feature(enable = "avx2,bmi1,popcnt")]);
compiled!(avx2_columns, avx2::Columns, #[target_feature(enable = "avx2,bmi1,popcnt")]);
compiled!(
    avx512_bitmap,
    avx512::Bitmap,
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
);
