//! Destinations of `cutaway slim`: the same image is written to each, and read back by the ordinary reader and by other
//! people's tools.

mod cut;
mod engines;
mod folders;
mod push;
mod refusals;
mod resuming;
mod trees;
mod writer;
