//! Every target is this file: its name chooses what is called. `all` asks the variable `TARGET` for the name.

#![no_main]

use std::sync::LazyLock;

use cutaway::fuzzing::{Target, target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = match env!("CARGO_BIN_NAME") {
        "all" => std::env::var("TARGET").unwrap_or_default(),
        name => name.to_owned(),
    };
    target(&name).unwrap_or_else(|| panic!("'{name}' is no target; src/fuzzing/mod.rs lists them"))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
