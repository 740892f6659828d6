//! Metadata with which build systems find libraries.

use crate::findings::rule::Rule;
use crate::findings::value::{Category, Severity};

pub(super) static RULE: Rule = Rule {
    id: "build-metadata",
    title: "Build metadata",
    category: Category::BuildMetadata,
    severity: Severity::Low,
    fix: "Keep it in the build stage.",
    finds: "Metadata with which build systems find libraries: `pkgconfig` folders, CMake packages, aclocal macros.",
    matters: "Only build systems read it. It is small, and a sign that a build stage was shipped.",
    example: r"```dockerfile
RUN apt-get install -y libssl-dev
```",
    proven: "By path and by the package that owns the files. `needed` or `unsure` when something builds at run time.",
    remedy: "Install the runtime library (`libssl3`), and the `-dev` package in the build stage only.",
    source: "pkg-config and CMake documentation; files of CUDA 13.0.2.",
};
