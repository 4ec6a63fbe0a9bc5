//! How long tests are.

/// Whether the long forms are asked for: `TIEBREAK_FULL=1`, and no other value.
pub fn is_full() -> bool {
    std::env::var_os("TIEBREAK_FULL").is_some_and(|full| full == "1")
}
