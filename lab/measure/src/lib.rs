//! Turns a round's coins into samples: whole programs
