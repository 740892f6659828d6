//! In: an analysis.
//! Out: view models: plain data in the order and the words in which it is shown.
//! Must not know: egui.

pub mod background;
pub mod browser;
pub mod cold_start;
pub mod compare;
pub mod contents;
pub mod cuda;
pub mod deployment;
pub mod dockerfile;
pub mod external;
pub mod faults;
pub mod files;
pub mod filter;
pub mod findings;
pub mod format;
pub mod found;
pub mod gpu;
pub mod grouped;
pub mod image_names;
pub mod inspector;
pub mod layers;
pub mod open_rows;
pub mod overview;
pub mod path_why;
pub mod remote;
pub mod report;
pub mod saver;
pub mod settings;
pub mod slim;
pub mod stack;
pub mod treemap;
pub mod treemap_colors;
pub mod typed;
