//! What the stages start from, and what the new one has to be told.

use super::Writer;
use crate::base::size::human;
use crate::cuda::Flavor;
use crate::formats::dockerfile::Keyword;
use crate::rewrite::split::keep::Fate;
use crate::rewrite::value::{Applicability, Edit};
use crate::rootfs::{Node, NodeKind};

impl Writer<'_, '_, '_, '_, '_> {
    pub(super) fn name_build_stage(&mut self) {
        self.edits.extend(self.version.iter().flat_map(|version| version.edits.clone()));
        let from = &self.stage.file.instructions[self.stage.from];
        let (at, with) = match from.words.get(2) {
            Some(name) => (name.span.clone(), self.name.clone()),
            None => (from.arguments.end..from.arguments.end, format!(" {} {}", self.word("AS"), self.name)),
        };
        self.edits.push(Edit {
            at,
            with,
            reason: "The instructions of today become a stage that builds; nothing of it is shipped unless it is copied."
                .to_owned(),
            applicability: Applicability::Review,
            bytes: None,
        });
    }

    pub(super) fn remove_first(&mut self) {
        if self.trees.removed.is_empty() {
            return;
        }
        let before = &self.stage.steps[..self.stage.tail];
        let users =
            before.iter().filter(|step| self.stage.file.instructions[**step].keyword == Keyword::User);
        if users.count() > 0 {
            let line = format!("{} root", self.word("USER"));
            self.add(&line, "What follows removes files of any owner, in the build stage only.", None);
        }
        let bytes = self.trees.removed.iter().map(|(_, bytes)| bytes).sum();
        let paths: Vec<&str> = self.trees.removed.iter().map(|(path, _)| path.as_str()).collect();
        let line = self.run(&[format!("rm -rf{}", self.lines(&paths))]);
        self.add(
            &line,
            "These files are in folders that are copied, and nothing needs them when the image runs.",
            Some(bytes),
        );
    }

    pub(super) fn from(&mut self) {
        let base = self.keep.base;
        let gone = |users: bool| -> u64 {
            let nodes = self.keep.world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
            let gone = nodes.filter(|node| self.keep.fate(node.id()) == Fate::Gone);
            gone.filter(|node| self.keep.world.is_users(*node) == users).map(Node::bytes).sum()
        };
        let (of_base, of_users) = (gone(false), gone(true));
        let reason = if base.own {
            format!(
                "The final stage starts from the same image and leaves {} behind that only the build needs.",
                human(of_users)
            )
        } else {
            let what = match base.flavor {
                Flavor::None if base.local => {
                    "the slim variant of the same image: the same Python without compilers and headers"
                }
                Flavor::None => {
                    "the distribution's own image, of the same release: nothing that runs needs a file of the CUDA image"
                }
                Flavor::Base => {
                    "the base flavour of the same release: libcudart and the settings for NVIDIA's container runtime"
                }
                Flavor::Runtime | Flavor::Devel => {
                    "the runtime flavour of the same release: it brings the libraries of the toolkit"
                }
            };
            format!(
                "The final stage starts from {what}. {} of the base image of today and {} of what was put on it are left behind.",
                human(of_base),
                human(of_users)
            )
        };
        let before = self.stage.file.text().get(..self.at).unwrap_or_default();
        let gap = before.ends_with("\n\n") || before.ends_with("\n\r\n");
        let gap = if gap && self.trees.removed.is_empty() { "" } else { "\n" };
        let name = self.stage.file.instructions[self.stage.from].words.get(2);
        let name = name.map(|name| format!(" {} {}", self.word("AS"), self.stage.file.slice(&name.span)));
        let flags = &self.stage.file.instructions[self.stage.base_from].flags;
        let flags: Vec<&str> = flags.iter().map(|flag| self.stage.file.slice(&flag.span)).collect();
        let flags = if flags.is_empty() { String::new() } else { format!("{} ", flags.join(" ")) };
        let text =
            format!("{gap}{} {flags}{}{}", self.word("FROM"), self.reference(), name.unwrap_or_default());
        self.add(&text, reason, Some(of_base + of_users));
        if self.stage.base.contains('@') && !base.own {
            self.assumed
                .push("The base of today is pinned by digest; the new one is named by its tag.".to_owned());
        }
        if !base.own {
            self.assumed.push(format!(
                "{} is taken to be what this image was built on: its lowest {} layers.",
                base.reference, base.layers
            ));
        }
    }

    /// The reference in the user's own way: with the arguments that the `FROM` of today uses.
    pub(super) fn reference(&self) -> String {
        let file = self.stage.file;
        let from = &file.instructions[self.stage.base_from];
        let (Some(word), base) = (from.words.first(), &self.keep.base.reference) else {
            return self.keep.base.reference.clone();
        };
        let raw = word.text.as_str();
        if !raw.contains('$') {
            return match &self.version {
                Some(version) => version.in_reference(base),
                None => base.clone(),
            };
        }
        if self.keep.base.own {
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
        let flavors = [
            "cudnn-devel",
            "cudnn8-devel",
            "cudnn9-devel",
            "devel",
            "cudnn-runtime",
            "cudnn8-runtime",
            "runtime",
        ];
        for old in flavors {
            for new in ["base", "runtime", "cudnn-runtime", "cudnn8-runtime", "cudnn9-runtime"] {
                let tried = raw.replacen(&format!("-{old}-"), &format!("-{new}-"), 1);
                if tried != raw && file.expand(&tried, &defaults) == *base {
                    return tried;
                }
            }
        }
        base.clone()
    }

    /// What NVIDIA's images set and the distribution's do not, before the user's own `ENV`s, which may go on from
    /// it. Values are those of NVIDIA's Dockerfiles where the user's have taken their place.
    pub(super) fn settings(&mut self) {
        const SET: [(&str, &str); 4] = [
            ("NVIDIA_VISIBLE_DEVICES", "all"),
            ("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
            (
                "PATH",
                "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            ),
            ("LD_LIBRARY_PATH", "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"),
        ];
        if self.keep.base.flavor != Flavor::None || self.keep.base.own || !self.keep.world.is_cuda_image() {
            return;
        }
        let world = self.keep.world;
        let mut set = Vec::new();
        for (name, usual) in SET {
            let today = world.variable(name).filter(|_| !self.is_set_by_user(name));
            let plain = |value: &&str| {
                value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._,:-".contains(&byte))
            };
            let value = match name {
                // Folders of the toolkit are not there; those of the host's driver are mounted.
                "LD_LIBRARY_PATH" => usual,
                _ => today.filter(plain).unwrap_or(usual),
            };
            if world.variable(name).is_some() {
                set.push(format!("{name}={value}"));
            }
        }
        if !set.is_empty() {
            let words: Vec<&str> = set.iter().map(String::as_str).collect();
            let line =
                format!("{} {}", self.word("ENV"), words.join(&format!(" {}\n    ", self.stage.file.escape)));
            self.add(
                &line,
                "NVIDIA's image sets them: they ask the container runtime for the GPU, and on GKE the driver is found by that path.",
                None,
            );
        }
        let mut environment = std::mem::take(&mut self.environment);
        environment.retain(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            self.is_set_by_user(name)
        });
        set.retain(|pair| !self.is_set_by_user(pair.split('=').next().unwrap_or_default()));
        environment.extend(set);
        self.environment = environment;
        self.kept.push(
            "Variables of NVIDIA's image other than these are not there any more, such as CUDA_VERSION and NVIDIA_REQUIRE_CUDA; the latter refuses drivers that are too old."
                .to_owned(),
        );
    }

    pub(super) fn is_set_by_user(&self, name: &str) -> bool {
        let file = self.stage.file;
        self.stage.steps.iter().any(|step| {
            let instruction = &file.instructions[*step];
            instruction.keyword == Keyword::Env
                && instruction.words.iter().any(|word| word.text.split('=').next() == Some(name))
        })
    }
}
