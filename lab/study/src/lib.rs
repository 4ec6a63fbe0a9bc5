//! Claim sentences and what they mean, with errors that point at the word
