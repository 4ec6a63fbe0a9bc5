//! What both ends of a socket share: the messages between the laboratory and its own processes, and
//! the memory that it shares with a worker.

pub(crate) mod area;
pub(crate) mod channel;
pub(crate) mod mapping;
pub(crate) mod message;
