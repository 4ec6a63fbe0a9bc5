//! Reclamation by epochs.
