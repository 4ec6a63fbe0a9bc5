//! What one thread can see of epochs; several threads are in `tests/reclamation.rs`.

use super::*;
