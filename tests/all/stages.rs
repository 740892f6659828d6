//! Proposals with a final stage of their own, on small images: what they start from, what they copy, install and
//! repeat, and that what they give has the bytes that were predicted.

mod bases;
mod built;
mod files;
mod languages;
mod lost;
mod meaning;
mod one_layer;
mod order;
mod outputs;
mod packages;
mod parts;
mod public;
mod python;
mod refusals;
mod reviewed;
mod scene;
mod settings;
mod text;
mod truths;
