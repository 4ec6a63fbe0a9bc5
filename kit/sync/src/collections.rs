//! A stack and a queue without locks.
