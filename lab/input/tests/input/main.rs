//! What users write, a file for each form of it: right, wrong, and drawn at random.

mod common;

mod broken_files;
mod broken_studies;
mod errors;
mod file;
mod file_properties;
mod keys;
mod our_studies;
mod properties;
mod property_sentences;
mod schema;
mod sentences;
mod skeleton;
mod studies;
mod study_properties;
