//! Reclamation by hazard pointers.
