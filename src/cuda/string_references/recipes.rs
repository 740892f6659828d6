//! Build system files: their references show what the build used, not what runs.

use crate::base::text::escape;
use crate::cuda::context::InventoryContext;
use crate::cuda::value::StringReference;

/// Names of build systems; a reference means that one may be used.
const BUILDERS: [&str; 3] = ["cmake", "make", "ninja"];

/// Removes the references in such files, unless another file or the command refers to a build system.
pub(super) fn leave_out(context: &InventoryContext<'_>, mentions: &mut Vec<StringReference>) {
    let by_build: Vec<bool> = mentions.iter().map(|mention| is_recipe(&context.path(mention.node))).collect();
    let builds = |mention: &StringReference| mention.words.iter().any(|word| BUILDERS.contains(word));
    let outside = mentions.iter().zip(&by_build).any(|(mention, by_build)| !by_build && builds(mention));
    if outside || command_builds(context) {
        return;
    }
    let mut by_build = by_build.into_iter();
    mentions.retain(|_| !by_build.next().unwrap_or(false));
}

/// Whether entrypoint or command contain the name of a build system.
fn command_builds(context: &InventoryContext<'_>) -> bool {
    let config = context.input.image.run_config();
    let lists = config.map(|config| [config.entrypoint().as_ref(), config.cmd().as_ref()]);
    lists.into_iter().flatten().flatten().flatten().any(|text| {
        let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$".contains(c));
        words.map(|word| word.rsplit('/').next().unwrap_or(word)).any(|word| BUILDERS.contains(&word))
    })
}

/// Whether a file describes or records a build of make, `CMake`, ninja, autotools or meson.
fn is_recipe(path: &[u8]) -> bool {
    const NAMES: [&str; 15] = [
        "BUILD.bazel",
        "CMakeCache.txt",
        "CMakeLists.txt",
        "GNUmakefile",
        "Makefile",
        "Makefile.am",
        "Makefile.in",
        "build.ninja",
        "compile_commands.json",
        "config.log",
        "config.status",
        "configure.ac",
        "libtool",
        "makefile",
        "meson.build",
    ];
    const ENDINGS: [&str; 4] = [".cmake", ".m4", ".mk", ".ninja"];
    let path = escape(path);
    let name = path.rsplit('/').next().unwrap_or_default();
    NAMES.contains(&name)
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || path.contains("/CMakeFiles/")
}
