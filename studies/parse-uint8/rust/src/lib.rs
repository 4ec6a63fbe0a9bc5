//! The contestants of this study that are Rust, one a feature: crates, and ours.

#[cfg(not(feature = "kit-lines"))]
mod each;
#[cfg(feature = "kit-lines")]
mod lines;
#[cfg(not(feature = "kit-lines"))]
mod texts;
