//! The tests of this crate, in one binary so that they are linked once.

mod captures;
mod catalogue;
mod entry;
mod frames;
mod manifest;
mod rules;
mod strangers;
