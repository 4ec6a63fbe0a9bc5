//! What several probes need to be shown.

pub(crate) mod bars;
pub(crate) mod head;
pub(crate) mod hertz;
pub(crate) mod list;
pub(crate) mod nanoseconds;
pub(crate) mod notice;
