//! Tests of a single producer on the machine itself.

mod flag_loss;
