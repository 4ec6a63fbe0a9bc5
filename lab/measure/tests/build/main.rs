//! Builds, placements and stocks with the compilers of this machine.

mod aarch64;
mod bench;
mod builds;
mod clients;
mod languages;
mod placements;
mod stocks;
