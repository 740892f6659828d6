//! Labels: the display texts of enum values, in one table.
//!
//! A [`Family`] has one [`Label`] for each value of an enum: the JSON value (fixed by the schemas), the shown text, the
//! word that filters accept, and a description. Window, text, pages, SARIF messages, filters and the manual chapter
//! `labels` all read this table. JSON and CSV write the values.
//!
//! An enum joins its family with [`labelled`], which fails to compile when a value has no label. Views of a saved
//! report, whose values are strings, use [`Family::get`] or [`Family::shown`].

mod family;

use std::fmt::Write as _;

pub(crate) use family::labelled;
pub use family::{Family, Label, capital, expected, inline, slug};

/// Verdicts of findings.
pub const VERDICTS: Family = Family {
    title: "Verdicts of findings",
    key: "verdict",
    list: &[
        Label::new("safe", "Removable", "Nothing in the image uses it; see the proof"),
        Label::new("unsure", "Needs review", "Requires an answer; selecting it answers: not used"),
        Label::short(
            "needed",
            "required",
            "Required at run time",
            "Looks build-only, but is used at run time",
        ),
    ],
};

/// Severities of findings.
pub const SEVERITIES: Family = Family {
    title: "Severities of findings",
    key: "severity",
    list: &[
        Label::new("high", "High", "Breaks the service, leaks a secret, or costs the most"),
        Label::new("medium", "Medium", "Costs much, or breaks the service on some machines"),
        Label::new("low", "Low", "Costs little"),
        Label::new("info", "Info", "Information"),
    ],
};

/// Categories of findings.
pub const CATEGORIES: Family = Family {
    title: "Categories of findings",
    key: "category",
    list: &[
        Label::new("package-caches", "Package caches", "Download caches of package managers"),
        Label::new("build-artifacts", "Build artifacts", "Files left by a build"),
        Label::new("stubs", "Stubs", "Stub libraries: for linking only, without code"),
        Label::new("static-libraries", "Static libraries", "Static archives of object files"),
        Label::new("headers", "Headers", "C, C++ and CUDA headers"),
        Label::new("profilers", "Profilers", "Profilers and their libraries"),
        Label::new("debuggers", "Debuggers", "Debuggers and memory checkers"),
        Label::new("compilers", "Compilers", "Compilers, assemblers and linkers: CUDA, C and C++"),
        Label::new("build-metadata", "Build metadata", "Files of pkg-config, CMake packages"),
        Label::new("docs-samples", "Documentation and samples", "Manuals, examples and samples"),
        Label::new("build-tools", "Build tools", "Build systems, code generators, version control"),
        Label::new("driver-libraries", "Driver libraries", "Driver files, which the host supplies"),
        Label::new("duplicates", "Duplicates", "Files with equal content"),
        Label::new("unused-libraries", "Unreferenced libraries", "No reachable file is known to load them"),
        Label::new("overwritten", "Overwritten", "Files shadowed by an upper layer"),
        Label::new("unused-gpu-code", "Unused GPU code", "GPU code that no target uses"),
        Label::new("weights", "Model weights", "Model weight files"),
        Label::new("secrets", "Secrets", "Names that indicate secrets"),
        Label::new("configuration", "Configuration", "Environment, labels and the base image"),
    ],
};

/// Suppliers of libraries.
pub const SUPPLIERS: Family = Family {
    title: "Suppliers of libraries",
    key: "supplier",
    list: &[
        Label::new("wheel", "wheel", "Python wheel, in site-packages or dist-packages"),
        Label::new("conda", "conda", "conda package"),
        Label::new("toolkit", "toolkit", "CUDA toolkit or package of NVIDIA's CUDA repository"),
        Label::new("distro", "distro", "Package of the distribution, or in a system library folder"),
        Label::new("application", "application", "No package owns it"),
    ],
};

/// Uses of libraries.
pub const USES: Family = Family {
    title: "Uses of libraries",
    key: "use",
    list: &[
        Label::new("needed", "Needed", "A reachable file needs it (NEEDED)"),
        Label::new("dlopen", "dlopen", "A reachable file opens it at run time (dlopen)"),
        Label::new("unreferenced", "Unreferenced", "No reachable file is known to load it"),
    ],
};

/// The use of a library that is loaded on its own, without a file that needs it: a program, a preloaded library or a
/// plug-in. In filters and reports it is needed.
pub const ENTRY_POINT: &str = "Entry point";

/// Roles of libraries.
pub const ROLES: Family = Family {
    title: "Roles of libraries",
    key: "is",
    list: &[
        Label::new("runtime", "Runtime", "Run-time library, loaded or not"),
        Label::new("stub", "Stub", "For linking only, never loaded"),
        Label::new("compat", "Compat", "Forward-compatibility driver"),
    ],
};

/// Flavors of CUDA images and toolkits.
pub const FLAVORS: Family = Family {
    title: "Flavors of CUDA images",
    key: "",
    list: &[
        Label::new("base", "base", "libcudart and the forward-compatibility driver"),
        Label::new("runtime", "runtime", "base and the libraries of the toolkit"),
        Label::new("devel", "devel", "runtime, compilers, headers and static libraries"),
        Label::new("none", "none", "No CUDA"),
    ],
};

/// Where frameworks get their CUDA libraries.
pub const STRATEGIES: Family = Family {
    title: "CUDA libraries of frameworks",
    key: "",
    list: &[
        Label::new("wheel-bundled", "CUDA from wheels or conda packages", "Installed beside the framework"),
        Label::new("base-image", "CUDA from the base image", "The toolkit of the base image"),
        Label::new(
            "by-hand",
            "CUDA from the application",
            "Copied in or linked statically by the image author",
        ),
        Label::new("mixed", "CUDA from several suppliers", "More than one of these"),
        Label::new("none", "no CUDA", "Uses no CUDA library"),
        Label::new("unknown", "CUDA supplier unknown", "Not enough information"),
    ],
};

/// Purposes of bytes.
pub const CLASSES: Family = Family {
    title: "Classes of content",
    key: "",
    list: &[
        Label::new("system", "System", "distribution and its packages"),
        Label::new("cuda-runtime", "CUDA runtime", "CUDA libraries loaded at run time"),
        Label::new("cuda-devel", "CUDA devel-only", "compilers, headers, static libraries, profilers"),
        Label::new("framework", "Frameworks", "torch, tensorflow and their packages"),
        Label::new("weights", "Model weights", "model weight files"),
        Label::new("application", "Application", "application files and everything else"),
    ],
};

/// Levels of the CUDA stack.
pub const LEVELS: Family = Family {
    title: "Levels of the CUDA stack",
    key: "",
    list: &[
        Label::new("server", "Server", "Answers requests"),
        Label::new("model", "Model", "Model code and weights"),
        Label::new("framework", "Framework", "torch, tensorflow and the like"),
        Label::new("kernels", "Kernel libraries", "triton, flash-attn and the like"),
        Label::new("libraries", "CUDA libraries", "cuBLAS, cuDNN and the like"),
        Label::new("runtime", "CUDA runtime", "libcudart"),
        Label::new("driver", "User-mode driver", "libcuda"),
        Label::new("kernel-driver", "Kernel-mode driver", "NVIDIA kernel module"),
        Label::new("system", "Operating system", "Linux distribution"),
        Label::new("gpu", "GPU", "The device"),
    ],
};

/// Suppliers of the levels of the CUDA stack.
pub const STACK_SUPPLIERS: Family = Family {
    title: "Suppliers of the CUDA stack",
    key: "",
    list: &[
        Label::new("wheel", "wheel", "Python wheel"),
        Label::new("conda", "conda", "conda package"),
        Label::new("base-image", "base image", "Base image or its toolkit"),
        Label::new("by-hand", "application", "No package owns it"),
        Label::new("static", "statically linked", "Linked into the level above"),
        Label::new("host", "host", "Machine that runs the container"),
        Label::new("missing", "missing", "Required and not found"),
        Label::new("not-used", "not used", "The image does not use this level"),
        Label::new("unknown", "unknown", "Not enough information"),
    ],
};

/// Verdicts on targets.
pub const TARGET_VERDICTS: Family = Family {
    title: "Verdicts on targets",
    key: "verdict",
    list: &[
        Label::new("runs", "Runs", "No known incompatibility"),
        Label::short(
            "runs-with-jit",
            "runs-after-jit",
            "Runs after JIT compilation",
            "The driver compiles PTX at first start, which takes time",
        ),
        Label::new(
            "runs-with-compat",
            "Runs with cuda-compat",
            "Runs with the forward-compatibility driver in the image",
        ),
        Label::new("unknown", "Unknown", "Not enough information"),
        Label::new("fails", "Fails", "Does not run on this target"),
    ],
};

/// Sources of driver versions.
pub const DRIVER_SOURCES: Family = Family {
    title: "Sources of driver versions",
    key: "",
    list: &[
        Label::new("stated", "as entered", "Given with the target"),
        Label::new("measured", "measured", "Read from the driver"),
        Label::new("usual", "typical", "Listed by the catalog for such machines, not measured"),
    ],
};

/// Ways by which a platform's driver reaches a container.
pub const DRIVER_DELIVERIES: Family = Family {
    title: "Driver delivery",
    key: "",
    list: &[
        Label::new(
            "toolkit",
            "container toolkit",
            "nvidia-container-toolkit mounts the driver and updates ld.so.cache",
        ),
        Label::new("folder", "mounted folder", "A host folder is mounted; the image sets LD_LIBRARY_PATH"),
        Label::new("platform", "platform", "The platform mounts the driver; the image sets nothing"),
    ],
};

/// Applicability of proposed changes.
pub const APPLICABILITIES: Family = Family {
    title: "Applicability of proposals",
    key: "",
    list: &[
        Label::new("safe", "Safe", "The image behaves the same; see the proof"),
        Label::new("review", "Needs review", "The image should behave the same; review the assumptions"),
        Label::new("manual", "Manual", "Requires edits before it builds"),
    ],
};

/// Kinds of GPU code.
pub const GPU_CODE: Family = Family {
    title: "Kinds of GPU code",
    key: "",
    list: &[
        Label::new("sass", "SASS", "machine code"),
        Label::new("ptx", "PTX", "JIT compiled by the driver"),
        Label::new("lto", "LTO", "compiled at link time"),
        Label::new("other", "Other", "unknown kind"),
    ],
};

/// Changes between an image and the baseline.
pub const CHANGES: Family = Family {
    title: "Changes in comparisons",
    key: "is",
    list: &[
        Label::new("added", "added", "not in the baseline"),
        Label::new("removed", "removed", "only in the baseline"),
        Label::new("changed", "changed", "differs from the baseline"),
        Label::new("unknown", "not compared", "not compared with the baseline"),
        Label::new("same", "unchanged", "same as the baseline"),
        Label::new("absent", "absent", "in neither this image nor the baseline"),
    ],
};

/// How layers of two images match.
pub const LAYER_MATCHES: Family = Family {
    title: "Matches of layers",
    key: "",
    list: &[
        Label::new("digest", "same blob", "pulled once"),
        Label::new("diff-id", "repacked", "same tar stream, compressed differently"),
        Label::new("content", "same files", "different timestamps or order"),
    ],
};

/// The state of bytes that an upper layer shadows, and the filter `is:shadowed`.
pub const SHADOWED: &str = "shadowed";

/// All families, in the order of the manual.
pub const FAMILIES: [Family; 18] = [
    VERDICTS,
    SEVERITIES,
    CATEGORIES,
    SUPPLIERS,
    USES,
    ROLES,
    FLAVORS,
    STRATEGIES,
    CLASSES,
    LEVELS,
    STACK_SUPPLIERS,
    TARGET_VERDICTS,
    DRIVER_SOURCES,
    DRIVER_DELIVERIES,
    APPLICABILITIES,
    GPU_CODE,
    CHANGES,
    LAYER_MATCHES,
];

/// Whether a text is a label.
pub fn is_label(text: &str) -> bool {
    FAMILIES.iter().any(|family| family.list.iter().any(|label| label.text == text))
}

/// First words of meanings that are names in lower case.
const NAMES: [&str; 6] = ["conda", "libcudart", "libcuda", "torch", "triton", "cuBLAS"];

/// The manual chapter on labels, in Markdown: the text of `assets/manual/labels.md`.
pub fn page() -> String {
    let mut page = String::from(
        "# Labels\n\nThe window, reports and filters show labels; JSON and CSV have the values. A filter accepts both, \
         in any case.\n",
    );
    for family in FAMILIES {
        // Writing to a String cannot fail.
        writeln!(page, "\n## {}\n", family.title).ok();
        let (head, line) = if family.key.is_empty() { ("", "") } else { (" filter |", "---|") };
        writeln!(page, "| label | JSON value |{head} meaning |\n|---|---|{line}---|").ok();
        for label in family.list {
            let term = if family.key.is_empty() {
                String::new()
            } else {
                format!(" `{}:{}` |", family.key, label.word())
            };
            let first = label.about.split([' ', ',']).next().unwrap_or_default();
            let about = if NAMES.contains(&first) { label.about.to_owned() } else { capital(label.about) };
            writeln!(page, "| {} | `{}` |{term} {about} |", label.text, label.value).ok();
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FAMILIES, VERDICTS, capital, inline};

    #[test]
    fn labels_are_unique_in_their_family() {
        for family in FAMILIES {
            let texts: BTreeSet<String> = family.list.iter().map(|label| label.text.to_lowercase()).collect();
            assert_eq!(texts.len(), family.list.len(), "{}", family.title);
            for label in family.list {
                assert!(!label.text.ends_with('.') && !label.about.ends_with('.'), "{}", label.value);
                assert!(!label.about.is_empty(), "{} of {}", label.value, family.title);
                // Each form leads to this value and to no other.
                for form in [label.value.to_owned(), label.word(), super::slug(label.text)] {
                    let meant: Vec<&str> =
                        family.list.iter().filter(|one| one.accepts(&form)).map(|one| one.value).collect();
                    assert_eq!(meant, [label.value], "{form} of {}", family.title);
                }
            }
        }
    }

    #[test]
    fn filters_name_what_they_accept() {
        assert_eq!(VERDICTS.expected(), "verdict:removable, verdict:needs-review or verdict:required");
        for typed in ["required", "required-at-run-time", "needed", "Required"] {
            assert_eq!(VERDICTS.named(typed).map(|label| label.value), Some("needed"));
        }
        assert_eq!(VERDICTS.named("maybe"), None);
        assert_eq!(VERDICTS.shown("quite-new"), "quite new");
    }

    #[test]
    fn labels_fit_into_sentences() {
        assert_eq!((inline("Runs"), inline("GPU"), inline("")), ("runs".into(), "GPU".into(), String::new()));
        assert_eq!(capital("not compared"), "Not compared");
    }
}
