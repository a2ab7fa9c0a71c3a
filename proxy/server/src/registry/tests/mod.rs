//! The registry: its rules as transcripts, discovery against real servers, and what survives.

mod discovery;
mod endpoint;
mod limits;
mod persistence;
mod retention;
mod rules;
mod settings;
