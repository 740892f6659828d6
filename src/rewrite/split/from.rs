//! What a stage starts from, as it is written, and what has to be told with it.

use super::bases::Base;
use super::stage::Final;
use super::world::World;
use crate::cuda::Flavor;
use crate::formats::dockerfile::{Dockerfile, Keyword};

/// The reference of a base in the user's own way: with the arguments that the `FROM` of today uses.
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
    const OLD: [&str; 7] = [
        "cudnn-devel",
        "cudnn8-devel",
        "cudnn9-devel",
        "devel",
        "cudnn-runtime",
        "cudnn8-runtime",
        "runtime",
    ];
    const NEW: [&str; 5] = ["base", "runtime", "cudnn-runtime", "cudnn8-runtime", "cudnn9-runtime"];
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

/// Variables that NVIDIA's images set and the distribution's do not, as `NAME=VALUE`; none when the base sets them
/// or today's does not.
pub(super) fn settings(world: &World<'_>, base: &Base, file: &Dockerfile, stage: &Final<'_>) -> Vec<String> {
    const SET: [(&str, &str); 4] = [
        ("NVIDIA_VISIBLE_DEVICES", "all"),
        ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
        (
            "PATH",
            "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
        ("LD_LIBRARY_PATH", "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"),
    ];
    if base.flavor != Flavor::None || base.own || !world.is_cuda_image() {
        return Vec::new();
    }
    let plain =
        |value: &&str| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._,:-".contains(&byte));
    let value = |(name, usual): &(&str, &str)| {
        let today = world.variable(name)?;
        let is_users = is_set_by_user(file, stage, name);
        // Folders of the toolkit are not there; those of the host's driver are mounted.
        let today = Some(today).filter(|_| *name != "LD_LIBRARY_PATH" && !is_users).filter(plain);
        Some(format!("{name}={}", today.unwrap_or(usual)))
    };
    SET.iter().filter_map(value).collect()
}

/// Whether an instruction of the final stage sets a variable.
pub(super) fn is_set_by_user(file: &Dockerfile, stage: &Final<'_>, name: &str) -> bool {
    let envs = stage.steps.iter().filter_map(|step| file.instructions.get(*step));
    envs.filter(|one| one.keyword == Keyword::Env)
        .any(|one| one.words.iter().any(|word| word.text.split('=').next() == Some(name)))
}
