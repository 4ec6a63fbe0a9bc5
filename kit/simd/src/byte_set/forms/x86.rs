//! 16, 32 and 64 bytes at a time on x86-64.

mod avx2;
mod avx512;
mod part;
mod ssse3;

use super::{Functions, functions};

pub(crate) static SSSE3_NIBBLES: Functions = functions!(
    #[target_feature(enable = "ssse3,popcnt")]
    ssse3::Nibbles
);
pub(crate) static SSSE3_COLUMNS: Functions = functions!(
    #[target_feature(enable = "ssse3,popcnt")]
    ssse3::Columns
);
pub(crate) static AVX2_NIBBLES: Functions = functions!(
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    avx2::Nibbles
);
pub(crate) static AVX2_COLUMNS: Functions = functions!(
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    avx2::Columns
);
pub(crate) static AVX512: Functions = functions!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,popcnt")]
    avx512::Bitmap
);
