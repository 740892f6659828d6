//! The base of a stage, its spelling, and related notes.

use std::collections::BTreeSet;

use super::bases::Base;
use super::context::SplitContext;
use super::keep::{FileDisposition, Keep};
use super::stage::Final;
use crate::cuda::Flavor;
use crate::formats::dockerfile::{Dockerfile, Keyword};

/// Flavors in tags of the CUDA image: replaced ones, and replacements.
const OLD: [&str; 7] =
    ["cudnn-devel", "cudnn8-devel", "cudnn9-devel", "devel", "cudnn-runtime", "cudnn8-runtime", "runtime"];
const NEW: [&str; 5] = ["base", "runtime", "cudnn-runtime", "cudnn8-runtime", "cudnn9-runtime"];

/// The reference of a base in the user's spelling: with the arguments that the current `FROM` uses.
pub(super) fn reference(stage: &Final<'_>, base: &Base) -> String {
    let file = stage.file;
    let Some(word) = file.instructions.get(stage.base_from).and_then(|from| from.words.first()) else {
        return base.reference.clone();
    };
    let raw = word.text.as_str();
    if !raw.contains('$') {
        return base.reference.clone();
    }
    if base.own {
        return raw.to_owned();
    }
    let defaults = |name: &str| {
        let before = file.instructions.iter().take_while(|one| one.keyword != Keyword::From);
        let words = before.filter(|one| one.keyword == Keyword::Arg).flat_map(|one| &one.words);
        words
            .filter_map(|word| word.text.split_once('='))
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.to_owned())
    };
    for old in OLD {
        for new in NEW {
            let tried = raw.replacen(&format!("-{old}-"), &format!("-{new}-"), 1);
            if tried != raw && file.expand(&tried, &defaults) == base.reference {
                return tried;
            }
        }
    }
    base.reference.clone()
}

/// Variables that the current base sets and the distribution's image does not, as `NAME=VALUE`: those of NVIDIA's images,
/// or of others what finds programs and tells the encoding of texts. None when the base sets them.
pub(super) fn settings(keep: &Keep<'_, '_>, file: &Dockerfile, stage: &Final<'_>) -> Vec<String> {
    const SET: [(&str, &str); 4] = [
        ("NVIDIA_VISIBLE_DEVICES", "all"),
        ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
        (
            "PATH",
            "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
        ("LD_LIBRARY_PATH", "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"),
    ];
    let (context, base) = (keep.context, keep.base);
    if !is_distribution(base) {
        return Vec::new();
    }
    if !context.is_cuda_image() {
        return inherited(keep, file, stage);
    }
    let plain =
        |value: &&str| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._,:-".contains(&byte));
    let value = |(name, usual): &(&str, &str)| {
        let today = context.variable(name)?;
        let is_users = is_set_by_user(file, stage, name);
        // The toolkit folders do not exist; those of the host driver are mounted.
        let today = Some(today).filter(|_| *name != "LD_LIBRARY_PATH" && !is_users).filter(plain);
        Some(format!("{name}={}", today.unwrap_or(usual)))
    };
    SET.iter().filter_map(value).collect()
}

/// Why an instruction sets these variables.
pub(super) fn reason_of_settings(context: &SplitContext<'_>) -> &'static str {
    if context.is_cuda_image() {
        "NVIDIA's image sets these variables: they request the GPU from the container runtime."
    } else {
        "The current base image sets these variables."
    }
}

/// Whether a base is the image of the distribution.
fn is_distribution(base: &Base) -> bool {
    base.flavor == Flavor::None && base.local.is_empty() && !base.own
}

/// The folders of programs where an image names none.
const FOLDERS: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables of the current base that instructions, programs of the service and the encoding of texts need.
fn inherited(keep: &Keep<'_, '_>, file: &Dockerfile, stage: &Final<'_>) -> Vec<String> {
    let context = keep.context;
    let node = |path: &str| context.paths.lookup(path.as_bytes()).map(|node| context.rootfs.node(node));
    let has_programs = |folder: &str| {
        node(folder).is_some_and(|folder| {
            folder.children().any(|node| keep.fate(node.id()) == FileDisposition::Copied)
        })
    };
    let is_usual = |folder: &str| FOLDERS.split(':').any(|known| known == folder);
    // What instructions add to it, they add again.
    let added = added_to_path(context.input.image.environment(), file, stage);
    let instructions = stage.steps.iter().filter_map(|step| file.instructions.get(*step));
    let texts: Vec<&str> = instructions.map(|one| file.slice(&one.span)).collect();
    let is_read = |name: &str| {
        let (plain, braced) = (format!("${name}"), format!("${{{name}"));
        texts.iter().any(|text| {
            let ends = |rest: &str| !rest.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '_');
            let is_in = |form: &str| text.match_indices(form).any(|(at, _)| ends(&text[at + form.len()..]));
            is_in(&plain) || is_in(&braced)
        })
    };
    let value = |name: &str, value: &str| match name {
        "PATH" => {
            let is_added = |folder: &&str| added.iter().any(|one| one == folder);
            let folders: Vec<&str> = value.split(':').filter(|folder| !is_added(folder)).collect();
            let is_needed = folders.iter().any(|folder| !is_usual(folder) && has_programs(folder));
            let is_lost = !is_set_by_user(file, stage, name) || is_read(name);
            (is_needed && is_lost).then(|| folders.join(":"))
        }
        _ if is_set_by_user(file, stage, name) => None,
        _ => (matches!(name, "LANG" | "LC_ALL") || is_read(name)).then(|| value.to_owned()),
    };
    let is_plain =
        |value: &String| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._,:-".contains(&byte));
    let pairs = context.input.image.environment().iter().filter_map(|pair| pair.split_once('='));
    pairs
        .filter_map(|(name, text)| Some((name, value(name, text).filter(is_plain)?)))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// The folders that instructions of the final stage add to `PATH`.
fn added_to_path(environment: &[String], file: &Dockerfile, stage: &Final<'_>) -> Vec<String> {
    let value = |name: &str| {
        let known = environment.iter().filter_map(|pair| pair.split_once('=')).find(|(one, _)| *one == name);
        known.filter(|_| name != "PATH").map(|(_, value)| value.to_owned())
    };
    let envs = stage.steps.iter().filter_map(|step| file.instructions.get(*step));
    let words = envs.filter(|one| one.keyword == Keyword::Env).flat_map(|one| &one.words);
    let texts = words.map(|word| file.expand_word(word, &value));
    texts
        .filter_map(|text| text.strip_prefix("PATH=").map(str::to_owned))
        .flat_map(|text| text.split(':').map(str::to_owned).collect::<Vec<_>>())
        .filter(|folder| folder.starts_with('/'))
        .collect()
}

/// Whether an instruction of the final stage sets a variable.
pub(super) fn is_set_by_user(file: &Dockerfile, stage: &Final<'_>, name: &str) -> bool {
    let envs = stage.steps.iter().filter_map(|step| file.instructions.get(*step));
    envs.filter(|one| one.keyword == Keyword::Env)
        .any(|one| one.words.iter().any(|word| word.text.split('=').next() == Some(name)))
}

/// The image config on a new base.
pub(super) struct Config {
    /// The environment, `NAME=VALUE`.
    pub(super) environment: Vec<String>,
    pub(super) entrypoint: Option<Vec<String>>,
    /// Notes about kept content.
    pub(super) kept: Vec<String>,
}

/// The config on a new base; `set` are variables that an instruction adds for it.
pub(super) fn config(keep: &Keep<'_, '_>, stage: &Final<'_>, set: &[String]) -> Config {
    let base = keep.base;
    let config = keep.context.input.image.run_config();
    let mut environment = config.and_then(|config| config.env().clone()).unwrap_or_default();
    if !set.is_empty() || is_distribution(base) {
        let is_users =
            |pair: &str| is_set_by_user(stage.file, stage, pair.split('=').next().unwrap_or_default());
        environment.retain(|pair| is_users(pair));
        environment.extend(set.iter().filter(|pair| !is_users(pair)).cloned());
        if !environment.iter().any(|pair| pair.starts_with("PATH=")) {
            environment.push(format!("PATH={FOLDERS}"));
        }
        if is_distribution(base) {
            let of_base = set.iter().find_map(|pair| pair.strip_prefix("PATH=")).unwrap_or(FOLDERS);
            let added = added_to_path(keep.context.input.image.environment(), stage.file, stage);
            // What instructions add stays; folders of the old base go.
            let stays = |folder: &&str| {
                of_base.split(':').any(|known| known == *folder) || added.iter().any(|one| one == folder)
            };
            for pair in &mut environment {
                if let Some(folders) = pair.strip_prefix("PATH=") {
                    *pair =
                        format!("PATH={}", folders.split(':').filter(stays).collect::<Vec<_>>().join(":"));
                }
            }
        }
    }
    let mut entrypoint = config.and_then(|config| config.entrypoint().clone());
    let mut kept = Vec::new();
    let first = entrypoint.as_ref().and_then(|words| words.first());
    let has_banner = first.is_some_and(|word| word.contains("nvidia_entrypoint"));
    if has_banner && !base.own && !matches!(base.flavor, Flavor::Runtime | Flavor::Devel) {
        entrypoint = None;
        kept.push(BANNER.to_owned());
    }
    Config { environment, entrypoint, kept }
}

/// The note for a removed NVIDIA entrypoint.
const BANNER: &str =
    "The new base image has no NVIDIA entrypoint, which prints a banner and warns if there is no driver.";

/// Assumptions about a base.
pub(super) fn assumed(stage: &Final<'_>, base: &Base) -> Vec<String> {
    if base.own {
        return Vec::new();
    }
    let lowest = match base.layers {
        1 => "lowest layer".to_owned(),
        layers => format!("lowest {layers} layers"),
    };
    let mut assumed = vec![format!("{} has the same content as the {lowest} of this image.", base.reference)];
    if base.is_slim_python() {
        assumed.push(format!("Nothing imports tkinter: {} does not have Tk's libraries.", base.reference));
    }
    if stage.base.contains('@') {
        assumed
            .push("The current base image is pinned by digest; the new one is named by its tag.".to_owned());
    }
    assumed
}

/// The description of a base, as the end of a sentence.
pub(super) fn described(base: &Base) -> &'static str {
    match base.flavor {
        _ if base.own => "the same base image without the build's packages and files",
        Flavor::None if !base.local.is_empty() => {
            "the slim variant, without the development packages of Debian"
        }
        Flavor::None => "the distribution's image: nothing loads a library of the current base image",
        Flavor::Base => "the base flavor: libcudart and the settings for the NVIDIA container runtime",
        Flavor::Runtime | Flavor::Devel => {
            "the runtime flavor: the toolkit's libraries without compilers and headers"
        }
    }
}

/// Package installers with their paths, the more capable first.
const INSTALLERS: [(&str, &[&str]); 6] = [
    ("apt-get", &["/usr/bin/apt-get"]),
    ("apk", &["/sbin/apk", "/usr/sbin/apk"]),
    ("dnf", &["/usr/bin/dnf", "/usr/bin/dnf5"]),
    ("microdnf", &["/usr/bin/microdnf"]),
    ("tdnf", &["/usr/bin/tdnf"]),
    ("yum", &["/usr/bin/yum"]),
];

/// The package installer of the new base: the one that current instructions call, else the one in the base.
/// `None` if unknown.
pub(super) fn installer(
    context: &SplitContext<'_>,
    base: &Base,
    called: &BTreeSet<&str>,
) -> Option<&'static str> {
    let manager =
        context.by_name.values().next().map(|place| context.input.inventory.packages[*place].manager);
    let is_of = |name: &str| match manager {
        Some("dpkg") => name == "apt-get",
        Some("apk") => name == "apk",
        Some("rpm") => !matches!(name, "apt-get" | "apk"),
        _ => false,
    };
    let has = |paths: &[&str]| {
        let mut nodes = paths.iter().filter_map(|path| context.paths.lookup(path.as_bytes()));
        nodes.any(|node| context.rootfs.node(node).layer() < base.layers)
    };
    let mut fits = INSTALLERS.iter().filter(|(name, _)| is_of(name));
    let used = fits.clone().find(|(name, _)| called.contains(name));
    // Debian-based images have no other installer.
    let there = || fits.find(|(name, paths)| *name == "apt-get" || has(paths));
    used.or_else(there).map(|(name, _)| *name)
}

/// A `RUN` that installs packages and removes the lists.
pub(super) fn install(file: &Dockerfile, keyword: &str, installer: &str, names: &[String]) -> String {
    let (end, escape) = (file.line_end(), file.escape);
    let list = if names.len() > 3 {
        let gap = format!(" {escape}{end}        ");
        format!("{gap}{}", names.join(&gap))
    } else {
        format!(" {}", names.join(" "))
    };
    let next = format!(" {escape}{end}    && ");
    let command = match installer {
        "apk" => format!("apk add --no-cache{list}"),
        "dnf" => format!("dnf install -y --setopt=install_weak_deps=False{list}{next}dnf clean all"),
        "microdnf" => {
            format!("microdnf install -y --setopt=install_weak_deps=0{list}{next}microdnf clean all")
        }
        "tdnf" | "yum" => format!("{installer} install -y{list}{next}{installer} clean all"),
        _ => format!(
            "apt-get update && apt-get install -y --no-install-recommends{list}{next}rm -rf /var/lib/apt/lists/*"
        ),
    };
    format!("{keyword} {command}")
}

#[cfg(test)]
mod tests {
    use super::install;
    use crate::formats::dockerfile::parse;

    #[test]
    fn each_distribution_installs_with_its_own_program() {
        let file = parse(b"FROM scratch\n").expect("a Dockerfile");
        let text = |installer: &str| install(&file, "RUN", installer, &["a".to_owned(), "b".to_owned()]);
        assert_eq!(text("apk"), "RUN apk add --no-cache a b");
        assert_eq!(
            text("dnf"),
            "RUN dnf install -y --setopt=install_weak_deps=False a b \\\n    && dnf clean all"
        );
        assert!(text("microdnf").starts_with("RUN microdnf install -y "));
        assert_eq!(text("yum"), "RUN yum install -y a b \\\n    && yum clean all");
        assert!(text("apt-get").ends_with("a b \\\n    && rm -rf /var/lib/apt/lists/*"));
    }
}
