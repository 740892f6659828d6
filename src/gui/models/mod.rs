//! In: an analysis.
//! Out: view models: plain data in the order and the words in which it is shown.
//! Must not know: egui.
