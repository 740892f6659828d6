//! In: plain data and tokens.
//! Out: small parts that several views and panels share.
//! Must not know: images, tabs, or what the data means.

pub mod alert;
pub mod arch_matrix;
pub mod cell;
pub mod chip;
pub mod controls;
pub mod fold;
pub mod layer_chip;
pub mod layer_list;
pub mod list;
pub mod matrix;
pub mod outline;
pub mod page;
pub mod pane;
pub mod picture;
pub mod radio;
pub mod sides;
pub mod split;
pub mod stacked_bar;
pub mod stops;
pub mod table;
pub mod tree;
pub mod treemap;
