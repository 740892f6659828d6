//! See the views that use it.
