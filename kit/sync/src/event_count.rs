//! Counters that can be waited for.
