//! The program, as users run it. Where the kernel allows no BPF, the tests say so and return.

#[path = "daemon/clients.rs"]
mod clients;
#[path = "daemon/confined.rs"]
mod confined;
#[path = "daemon/ends.rs"]
mod ends;
#[path = "daemon/links.rs"]
mod links;
#[path = "daemon/running.rs"]
mod running;
#[path = "daemon/steady.rs"]
mod steady;
