//! The generator's parts against servers in virtual time: no socket, no clock, no sleep.

mod pacer;
mod saturation;
mod stall;
