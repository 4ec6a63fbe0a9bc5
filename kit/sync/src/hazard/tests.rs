//! What one thread can see of hazard pointers; several threads are in `tests/reclamation.rs`.
