//! Words that do not share cache lines with others.

/// Two cache lines of its own, because the processor fetches them in pairs. For what many read
/// while its neighbours change.
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);
