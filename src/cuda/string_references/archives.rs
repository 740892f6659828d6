//! Executable files that are not searched: program archives, and compiled modules without sources.

use crate::cuda::context::InventoryContext;
use crate::rootfs::NodeId;

/// Runtimes for such files in the image.
#[expect(clippy::struct_excessive_bools, reason = "one fact for each runtime, independent of the others")]
pub(super) struct Runtimes {
    java: bool,
    php: bool,
    erlang: bool,
    dotnet: bool,
}

impl Runtimes {
    pub(super) fn of(context: &InventoryContext<'_>) -> Self {
        const PHP: [&[u8]; 18] = [
            b"libphp.so",
            b"php",
            b"php-fpm",
            b"php7",
            b"php7.4",
            b"php8.0",
            b"php8.1",
            b"php8.2",
            b"php8.3",
            b"php8.4",
            b"php8.5",
            b"php8",
            b"php80",
            b"php81",
            b"php82",
            b"php83",
            b"php84",
            b"php85",
        ];
        let mut found = Self { java: false, php: false, erlang: false, dotnet: false };
        // One pass for all: an image has hundreds of thousands of names.
        for (layer, entry, name) in context.entry_names() {
            let runtime = match name {
                b"libjvm.so" => &mut found.java,
                b"beam.smp" => &mut found.erlang,
                b"libcoreclr.so" => &mut found.dotnet,
                [b'p' | b'l', ..] if PHP.contains(&name) => &mut found.php,
                _ => continue,
            };
            *runtime = *runtime || context.rootfs.node_showing(layer, entry).is_some();
        }
        found
    }

    /// Whether a file in a folder runs in one of these runtimes and is not part of it.
    pub(super) fn run(&self, context: &InventoryContext<'_>, folder: NodeId, name: &[u8]) -> bool {
        let has = |name: &[u8]| context.paths.child(folder, name).is_some();
        let lies_in = |parts: &[&[u8]]| {
            let path = [&context.path(folder)[..], b"/"].concat();
            parts.iter().any(|part| memchr::memmem::find(&path, part).is_some())
        };
        let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else { return false };
        match &name[dot + 1..] {
            b"jar" | b"war" | b"ear" => self.java && !has(b"jrt-fs.jar") && !has(b"rt.jar"),
            b"phar" => self.php,
            b"beam" => self.erlang && !lies_in(&[b"/erlang/lib/"]),
            b"dll" => {
                self.dotnet
                    && !lies_in(&[b"/dotnet/shared/", b"/dotnet/sdk/", b"/dotnet/packs/", b"/dotnet/host/"])
            }
            b"pyc" => context.node(folder).name() != b"__pycache__" && !has(&[&name[..dot], b".py"].concat()),
            b"egg" | b"pex" | b"pyz" => true,
            _ => false,
        }
    }
}

/// Whether the command starts an archive, or Python imports from one: Java programs, Python archives. Their content is not
/// searched.
pub(super) fn runs_archives(context: &InventoryContext<'_>) -> bool {
    const ENDS: [&str; 5] = [".jar", ".war", ".pex", ".pyz", ".pyc"];
    /// Only where Python runs or imports them: other programs read such files as data.
    const OF_PYTHON: [&str; 3] = [".egg", ".whl", ".zip"];
    let ends = |name: &str, known: &[&str]| known.iter().any(|end| name.ends_with(end));
    let config = context.input.image.run_config();
    let variables = config.and_then(|config| config.env().as_ref()).into_iter().flatten();
    let mut paths =
        variables.filter_map(|text| text.strip_prefix("PYTHONPATH=")).flat_map(|text| text.split(':'));
    if paths.any(|path| ends(path, &OF_PYTHON)) {
        return true;
    }
    let lists = config.map(|config| [config.entrypoint().as_ref(), config.cmd().as_ref()]);
    let texts = lists.into_iter().flatten().flatten().flatten();
    let words = texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || "'\"();&|=".contains(c)));
    let mut words = words.filter(|word| !word.is_empty() && !word.starts_with('-'));
    let mut before = "python";
    words.any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let of_python = std::mem::replace(&mut before, name).starts_with("py");
        name == "java" || ends(name, &ENDS) || of_python && ends(name, &OF_PYTHON)
    })
}
