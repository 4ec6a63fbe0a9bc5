//! The program as its users meet it, a file for each command or habit: linked once, and the long
//! tests of one file run beside those of others.

mod common;

mod bad_input;
mod byteset;
mod check;
mod ci_workflows;
mod classic;
mod compare;
mod exact;
mod help;
mod innocent;
mod load;
mod load_servers;
mod machine;
mod machine_files;
mod ordinary_user;
mod power;
mod revisions;
mod runners;
mod servers;
mod slo;
mod study;
mod suite;
mod watch;
mod wire;
