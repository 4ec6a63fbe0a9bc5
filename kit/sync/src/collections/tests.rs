//! What one thread can see of the collections; several threads are in `tests/reclamation.rs`.
