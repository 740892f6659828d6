//! Images of some kilobytes with the Dockerfile that made them, written side by side: what a layer holds, what
//! the history says of it, and what the packages are.

use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::findings::Plan;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::rewrite::{Given, Proposal, Proposals};
use cutaway::source::Reference;
use serde_json::{Value, json};

use crate::fixtures::image::{Image, Layer};
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::{dpkg_list, dpkg_status};
use crate::fixtures::tarball::{Member, file, tar};
use crate::support::Place;

/// A package of dpkg.
#[derive(Clone, Debug)]
pub(super) struct Deb {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// As `Depends:` has it.
    pub(super) depends: &'static str,
    pub(super) files: Vec<Member>,
}

pub(super) fn deb(name: &'static str, depends: &'static str, files: Vec<Member>) -> Deb {
    Deb { name, version: "1.0-1", depends, files }
}

impl Deb {
    /// As `Source:` has it, where packages of one source matter.
    fn source(&self) -> &'static str {
        if self.name.starts_with("gstreamer1.0-") { "gst-plugins-base1.0" } else { "" }
    }

    fn status(&self) -> String {
        let fields = [("Depends", self.depends), ("Source", self.source())];
        let fields: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let stanza = String::from_utf8(dpkg_status(self.name, self.version, 1, &fields)).unwrap();
        let is_nvidias =
            ["cuda-", "libcu", "libnccl", "libnv"].iter().any(|start| self.name.starts_with(start));
        if is_nvidias && !self.name.starts_with("libcurl") {
            stanza.replace("Some Body <some@example.org>", "cudatools <cudatools@nvidia.com>")
        } else {
            stanza
        }
    }

    fn list(&self) -> Member {
        let paths: Vec<String> =
            self.files.iter().map(|one| format!("/{}", String::from_utf8_lossy(&one.name))).collect();
        let paths: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
        file(format!("var/lib/dpkg/info/{}.list", self.name), dpkg_list(&paths))
    }
}

/// An image in the making.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) image: Image,
    /// The Dockerfile, without its `FROM`.
    pub(super) body: String,
    pub(super) from: String,
    /// What each layer holds.
    pub(super) layers: Vec<Vec<Member>>,
    pub(super) debs: Vec<Deb>,
    /// How many layers an image below has, by its reference.
    pub(super) below: Vec<(String, usize)>,
    base_layers: usize,
    /// Instructions that made layers, and which.
    made: Vec<(String, usize)>,
    /// Arguments that are set, as the history of a `RUN` has them.
    arguments: Vec<String>,
}

impl Scene {
    /// On an image whose layers hold `layers`: files and packages.
    pub(super) fn on(
        from: &str,
        mut image: Image,
        below: &[(&str, usize)],
        layers: Vec<(Vec<Member>, Vec<Deb>)>,
    ) -> Self {
        assert_eq!(image.layers.len(), layers.len());
        let mut debs = Vec::new();
        let mut all = Vec::new();
        for (number, (members, new)) in layers.into_iter().enumerate() {
            let members = installed(members, new, &mut debs);
            image.layers[number] = Layer::new(&tar(members.clone()), image.layers[number].packing);
            all.push(members);
        }
        let below = below.iter().map(|(name, layers)| ((*name).to_owned(), *layers)).collect();
        let body = String::new();
        let (base_layers, from) = (all.len(), from.to_owned());
        Self {
            image,
            body,
            from,
            layers: all,
            debs,
            below,
            base_layers,
            made: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// How many layers the base has.
    pub(super) fn base_layers(&self) -> usize {
        self.base_layers
    }

    /// Another spelling of what it starts from; it stands for the whole base image.
    pub(super) fn from(mut self, from: &str) -> Self {
        from.clone_into(&mut self.from);
        self
    }

    /// The layer that an instruction made, by its normal text.
    pub(super) fn made(&self, text: &str) -> Option<usize> {
        self.made.iter().find(|(known, _)| known == text).map(|(_, layer)| *layer)
    }

    /// The layer of the `RUN` that has this command among others.
    pub(super) fn made_by(&self, command: &str) -> Option<usize> {
        let (_, rest) = command.split_once(' ')?;
        let runs = self.made.iter().filter(|(known, _)| known.starts_with("RUN "));
        runs.filter(|(known, _)| known.contains(rest)).map(|(_, layer)| *layer).next()
    }

    /// Layers of `COPY`.
    pub(super) fn copies(&self) -> Vec<usize> {
        let copies = self.made.iter().filter(|(known, _)| known.starts_with("COPY "));
        copies.map(|(_, layer)| *layer).collect()
    }

    /// A file of a package as the layer has it that installed the package.
    pub(super) fn as_installed(&self, package: &str, path: &[u8]) -> Option<Member> {
        let list = format!("var/lib/dpkg/info/{package}.list").into_bytes();
        let layer = self.layers.iter().find(|layer| layer.iter().any(|member| member.name == list))?;
        layer.iter().find(|member| member.name == path).cloned()
    }

    /// Whether a package is one of the base image.
    pub(super) fn is_of_base(&self, package: &str) -> bool {
        let list = format!("var/lib/dpkg/info/{package}.list").into_bytes();
        self.layers[..self.base_layers].iter().flatten().any(|member| member.name == list)
    }

    fn add(mut self, created_by: &str, members: Vec<Member>) -> Self {
        self.image = self.image.layer(created_by, &tar(members.clone()));
        self.layers.push(members);
        let text = self.body.trim_end().rsplit_once(created_by.split(' ').next().unwrap());
        let text = text.map(|(_, rest)| format!("{}{rest}", created_by.split(' ').next().unwrap()));
        self.made.extend(text.map(|text| (super::built::normal(&text), self.layers.len() - 1)));
        self
    }

    /// Lines of the file that leave nothing in the image.
    pub(super) fn line(mut self, text: &str) -> Self {
        self.body += text;
        self.body += "\n";
        self
    }

    /// A `RUN` as it is written, and what it leaves.
    pub(super) fn run(self, command: &str, members: Vec<Member>) -> Self {
        let flat = command.replace("\\\n", " ");
        let arguments = match self.arguments.len() {
            0 => String::new(),
            count => format!("|{count} {} ", self.arguments.join(" ")),
        };
        self.line(&format!("RUN {command}"))
            .add(&format!("RUN {arguments}/bin/sh -c {flat} # buildkit"), members)
    }

    /// A `RUN` that installs packages and does more.
    pub(super) fn install(mut self, command: &str, new: Vec<Deb>, more: Vec<Member>) -> Self {
        let mut debs = std::mem::take(&mut self.debs);
        let members = installed(more, new, &mut debs);
        self.debs = debs;
        self.run(command, members)
    }

    /// The usual `RUN` that installs packages by these words.
    pub(super) fn apt(self, words: &str, new: Vec<Deb>) -> Self {
        let command = format!(
            "apt-get update && apt-get install -y --no-install-recommends {words} && rm -rf /var/lib/apt/lists/*"
        );
        self.install(&command, new, Vec::new())
    }

    pub(super) fn copy(self, words: &str, members: Vec<Member>) -> Self {
        self.line(&format!("COPY {words}")).add(&format!("COPY {words} # buildkit"), members)
    }

    pub(super) fn workdir(mut self, written: &str, folder: &str) -> Self {
        self.image.config["WorkingDir"] = json!(folder);
        let members = vec![crate::fixtures::tarball::dir(folder.trim_start_matches('/'))];
        self.line(&format!("WORKDIR {written}")).add(&format!("WORKDIR {folder}"), members)
    }

    /// An instruction that makes no layer, and a value of the config.
    pub(super) fn set(mut self, text: &str, name: &str, value: Value) -> Self {
        self.image.config[name] = value;
        self.step(text)
    }

    pub(super) fn step(mut self, text: &str) -> Self {
        self.image = self.image.step(text);
        self.line(text)
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        let list = self.image.config["Env"].as_array_mut().unwrap();
        list.retain(|pair| !pair.as_str().unwrap().starts_with(&format!("{name}=")));
        list.push(json!(format!("{name}={value}")));
        self.step(&format!("ENV {name}={value}"))
    }

    pub(super) fn arg(mut self, name: &str, value: &str) -> Self {
        self.arguments.push(format!("{name}={value}"));
        self.step(&format!("ARG {name}={value}"))
    }

    pub(super) fn cmd(self, words: &[&str]) -> Self {
        self.set(&format!("CMD {}", json!(words)), "Cmd", json!(words))
    }

    pub(super) fn entrypoint(self, words: &[&str]) -> Self {
        self.set(&format!("ENTRYPOINT {}", json!(words)), "Entrypoint", json!(words))
    }

    /// The whole file.
    pub(super) fn dockerfile(&self) -> String {
        format!("FROM {}\n{}", self.from, self.body)
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::of(&self.image, "t")
    }

    /// Everything that is known of the image.
    pub(super) fn analysis(&self) -> Arc<Analysis> {
        analysis(&self.layout())
    }

    /// Proposals by the plan that takes away what is safe, held to what is true of all.
    pub(super) fn propose(&self) -> Proposals {
        self.propose_of(&self.dockerfile())
    }

    /// The same of a file that is written in another way.
    pub(super) fn propose_of(&self, text: &str) -> Proposals {
        let analysis = self.analysis();
        let plan = Plan::of_safe(analysis.findings.as_ref().unwrap());
        self.propose_by(&analysis, &plan, text)
    }

    pub(super) fn propose_by(&self, analysis: &Analysis, plan: &Plan, text: &str) -> Proposals {
        let given = Some(Given { name: "Dockerfile", text: text.as_bytes() });
        let proposals = analysis.propose(plan, given).expect("findings").expect("proposals");
        for proposal in &proposals.list {
            super::truths::check(self, text, proposal);
        }
        proposals
    }
}

/// What is known of the image in a layout.
pub(super) fn analysis(layout: &Layout) -> Arc<Analysis> {
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", layout));
    let reference = Reference::parse(&reference).unwrap();
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {}).unwrap()
}

/// Members of a layer that installs packages too.
fn installed(mut members: Vec<Member>, new: Vec<Deb>, debs: &mut Vec<Deb>) -> Vec<Member> {
    if new.is_empty() {
        return members;
    }
    // What a RUN does with a file of a package after it was installed is what the layer holds.
    let own: Vec<Vec<u8>> = members.iter().map(|member| member.name.clone()).collect();
    let files = new.iter().flat_map(|deb| deb.files.clone());
    members.extend(files.filter(|member| !own.contains(&member.name)));
    members.extend(new.iter().map(Deb::list));
    debs.extend(new);
    let status: String = debs.iter().map(Deb::status).collect();
    members.push(file("var/lib/dpkg/status", status));
    members
}

/// The proposal with this id.
pub(super) fn one<'p>(proposals: &'p Proposals, id: &str) -> &'p Proposal {
    let ids: Vec<&str> = proposals.list.iter().map(|one| one.id.as_str()).collect();
    let found = proposals.list.iter().find(|one| one.id == id);
    found.unwrap_or_else(|| panic!("no {id} in {ids:?}: {:?} {:?}", proposals.reason, proposals.notes))
}

/// The text of the final stage, its `FROM` included.
pub(super) fn last_stage(text: &str) -> &str {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1).chain([0]);
    let is_from = |at: &usize| text[*at..].get(..5).is_some_and(|word| word.eq_ignore_ascii_case("from "));
    &text[starts.filter(is_from).max().unwrap()..]
}

/// Whether the final stage has each of these lines, with white space at both ends left out.
pub(super) fn has_lines(proposal: &Proposal, lines: &[&str]) {
    let stage = last_stage(&proposal.dockerfile);
    for wanted in lines {
        assert!(stage.lines().any(|line| line.trim() == *wanted), "no line {wanted:?} in\n{stage}");
    }
}

/// Whether the final stage has none of these words.
pub(super) fn has_none(proposal: &Proposal, words: &[&str]) {
    let stage = last_stage(&proposal.dockerfile);
    for word in words {
        assert!(!stage.contains(word), "{word:?} is in\n{stage}");
    }
}

/// Paths that are not there any more.
pub(super) fn gone(proposal: &Proposal) -> Vec<&str> {
    proposal.removed.iter().map(|one| one.path.as_str()).collect()
}
