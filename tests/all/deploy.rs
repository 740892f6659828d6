//! Deployment: platform files, lines to paste, CUDA Graphs, and the command.

mod command;
mod files;
mod graphs;
mod snippets;
mod workloads;
mod yaml;
