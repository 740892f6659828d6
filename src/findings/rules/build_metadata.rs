//! Files that tell build systems where libraries are.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "build-metadata",
    title: "Build metadata",
    category: Category::BuildMetadata,
    severity: Severity::Low,
    fix: "Leave it in a build stage.",
    finds: "Files that tell build systems where libraries are: `pkgconfig` folders, CMake packages, aclocal macros.",
    matters: "Only build systems read them. They are small, and a sign that a build stage was shipped.",
    example: r"```dockerfile
RUN apt-get install -y libssl-dev
```",
    remedy: r"Install the library that runs (`libssl3`), and the `-dev` package in the build stage only.",
    source: "pkg-config and CMake documentation; files of CUDA 13.0.2.",
};
