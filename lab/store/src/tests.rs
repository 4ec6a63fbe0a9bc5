//! What the tests of all modules share, and the test of killed writers.

pub(crate) mod journals;
mod killed;
