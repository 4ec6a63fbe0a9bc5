//! The laboratory as a library: draw a round, run, journal, update, ask
