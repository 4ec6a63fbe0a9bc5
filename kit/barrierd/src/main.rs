//! The program `barrierd`.

fn main() {}
