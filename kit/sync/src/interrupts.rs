//! When each CPU was last interrupted: the client of `barrierd`.
