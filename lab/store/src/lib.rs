//! The journal and its history, in one SQLite file
