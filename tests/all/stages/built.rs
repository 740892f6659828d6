//! Builds the final stage of a proposal from the members of a scene, as far as its instructions go: an image to
//! hold predictions to that knows nothing of the planner.

use std::collections::{BTreeMap, BTreeSet};

use cutaway::formats::dockerfile::{Dockerfile, Instruction, Keyword, ShellCommand, commands, parse};
use cutaway::rewrite::Proposal;

use super::scene::{Deb, Scene};
use crate::fixtures::tarball::Member;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    File { bytes: u64, owner: (u64, u64) },
    Link(Vec<u8>),
    Folder { owner: (u64, u64) },
}

/// What a container sees, by path without the first slash.
pub(super) type View = BTreeMap<Vec<u8>, Thing>;

impl Thing {
    pub(super) fn bytes(&self) -> u64 {
        if let Self::File { bytes, .. } = self { *bytes } else { 0 }
    }

    fn owner(&self) -> (u64, u64) {
        match self {
            Self::File { owner, .. } | Self::Folder { owner } => *owner,
            Self::Link(_) => (0, 0),
        }
    }
}

/// The merged view of layers.
pub(super) fn view(layers: &[Vec<Member>]) -> View {
    let mut view = View::new();
    for member in layers.iter().flatten() {
        let path = member.name.strip_suffix(b"/").unwrap_or(&member.name).to_vec();
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap().to_vec();
        if let Some(hidden) = name.strip_prefix(b".wh.") {
            let target = [&path[..path.len() - name.len()], hidden].concat();
            remove(&mut view, &target);
            continue;
        }
        let thing = match member.kind {
            b'5' => Thing::Folder { owner: member.owner },
            b'2' => Thing::Link(member.link.clone()),
            _ => Thing::File { bytes: member.body.len() as u64, owner: member.owner },
        };
        view.insert(path, thing);
    }
    view
}

fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn remove(view: &mut View, target: &[u8]) {
    view.retain(|path, _| !is_below(path, target));
}

/// The path with links followed, the last part's too.
fn resolved(view: &View, path: &[u8]) -> Option<Vec<u8>> {
    let mut left: Vec<Vec<u8>> = path.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec).collect();
    let mut at: Vec<u8> = Vec::new();
    for _ in 0..200 {
        let Some(part) = left.pop() else { return Some(at) };
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                let end = at.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                at.truncate(end);
                continue;
            }
            _ => {}
        }
        let next = if at.is_empty() { part } else { [&at[..], b"/", &part].concat() };
        if let Some(Thing::Link(target)) = view.get(&next) {
            if target.starts_with(b"/") {
                at.clear();
            }
            left.extend(target.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
        } else {
            at = next;
        }
    }
    None
}

fn is_folder(view: &View, path: &[u8]) -> bool {
    let below = [path, b"/"].concat();
    matches!(view.get(path), Some(Thing::Folder { .. }))
        || view.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
}

/// What was built.
#[derive(Default)]
pub(super) struct Built {
    pub(super) view: View,
    /// Bytes of the regular files of all its layers.
    pub(super) content: u64,
    /// Bytes of the merged view of the build stage, where the proposal has one.
    pub(super) source_bytes: Option<u64>,
    /// Copied paths whose owner is not that of the build stage, and who that was.
    pub(super) others: BTreeMap<Vec<u8>, (u64, u64)>,
    /// What would stop the build.
    pub(super) faults: Vec<String>,
}

/// Builds the final stage; `None` where what its base holds is not known by layers alone.
pub(super) fn build(scene: &Scene, before: &str, proposal: &Proposal) -> Option<Built> {
    let file = parse(proposal.dockerfile.as_bytes()).unwrap();
    let today = parse(before.as_bytes()).unwrap();
    let stages = file.stages();
    let last = stages.last()?;
    let same = |known: &str| last.base.rsplit('/').next() == known.rsplit('/').next();
    let lower = scene.below.iter().find(|(name, _)| same(name)).map(|(_, layers)| *layers);
    let own = today.stages().iter().any(|stage| stage.base == last.base);
    let layers = lower.or_else(|| own.then(|| scene.base_layers()))?;
    let has_build_stage = stages.len() > today.stages().len();
    let mut sources: BTreeMap<String, View> = BTreeMap::new();
    let mut source_bytes = None;
    let whole = view(&scene.layers);
    for stage in &stages[..stages.len() - 1] {
        // A build stage holds what its instructions made, and those of the stages that it starts from.
        let earlier = stages.iter().position(|other| std::ptr::eq(other, stage)).unwrap_or_default();
        let from = |name: &str| stages[..earlier].iter().find(|one| one.name.as_deref() == Some(name));
        let chain: Vec<_> = std::iter::successors(Some(stage), |one| from(&one.base)).collect();
        let places = chain.iter().rev().flat_map(|one| one.body.clone());
        let made = places.clone().filter_map(|place| scene.made(&key(&file, &file.instructions[place])));
        let top = made.map(|layer| layer + 1).max().unwrap_or(scene.base_layers());
        let mut source = view(&scene.layers[..top]);
        for place in places {
            let one = &file.instructions[place];
            if one.keyword == Keyword::Run && !before.contains(file.slice(&one.span).trim_end()) {
                removals(&file, place, &mut source);
            }
        }
        // A file of which a later layer has another content counts there.
        let last =
            source.iter().filter(|(path, thing)| whole.get(*path).map(Thing::bytes) == Some(thing.bytes()));
        let bytes = last.map(|(_, thing)| thing.bytes()).sum();
        let build_stage = proposal.predicted.stages.iter().rev().nth(1).map(|one| one.name.as_str());
        if has_build_stage && stage.name.as_deref() == build_stage {
            source_bytes = Some(bytes);
        }
        sources.extend(stage.name.clone().map(|name| (name, source)));
    }
    let content = scene.layers[..layers]
        .iter()
        .map(|layer| super::truths::bytes(&view(std::slice::from_ref(layer))))
        .sum();
    let mut built = Built { view: view(&scene.layers[..layers]), content, source_bytes, ..Built::default() };
    let mut state = State {
        scene,
        ignored: proposal
            .hints
            .iter()
            .filter(|hint| hint.file == ".dockerignore")
            .flat_map(|hint| hint.lines.clone())
            .collect(),
        has_build_stage,
        whole,
        sources,
        fresh: BTreeSet::new(),
        given: BTreeSet::new(),
        users: false,
        installs: BTreeSet::new(),
    };
    for place in last.body.clone() {
        let one = &file.instructions[place];
        match one.keyword {
            Keyword::Copy => state.copy(&file, one, &mut built),
            Keyword::Run => state.run(&file, place, &mut built),
            _ => {}
        }
    }
    state.finish(layers, &mut built);
    Some(built)
}

/// An instruction without what a proposal changes of it: where its lines break, and who owns what it copies.
pub(super) fn key(file: &Dockerfile, one: &Instruction) -> String {
    normal(file.slice(&one.span))
}

pub(super) fn normal(text: &str) -> String {
    let text = text.replace('\r', "").replace("\\\n", " ").replace("`\n", " ");
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words[0] = words[0].to_uppercase();
    if words[0] == "COPY" {
        words.retain(|word| !word.starts_with("--") || word.starts_with("--from="));
    }
    words.join(" ")
}

fn flag<'i>(one: &'i Instruction, name: &str) -> Option<&'i str> {
    one.flags.iter().find(|flag| flag.name == name).and_then(|flag| flag.value.as_deref())
}

fn removals(file: &Dockerfile, place: usize, source: &mut View) {
    let mut folder = String::new();
    for command in commands(file, place) {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        if words == ["npm", "prune", "--omit=dev"] {
            // The one package of the scenes that is for development.
            remove(source, b"srv/node_modules/typescript");
            continue;
        }
        match words.as_slice() {
            ["cd", to] => to.trim_start_matches('/').clone_into(&mut folder),
            ["mkdir", made] => {
                let path = made.trim_matches('/').as_bytes().to_vec();
                source.insert(path, Thing::Folder { owner: (0, 0) });
            }
            ["cp", "-a", patterns @ .., to] => {
                for name in patterns {
                    collect(source, &folder, name, to);
                }
            }
            _ => {}
        }
        if matches!(words[0], "cd" | "mkdir" | "cp") {
            continue;
        }
        assert!(words.starts_with(&["rm", "-rf"]), "{words:?}");
        for path in &words[2..] {
            remove(source, path.trim_start_matches('/').as_bytes());
        }
    }
}

/// Copies what a pattern names in a folder.
fn collect(source: &mut View, folder: &str, pattern: &str, to: &str) {
    let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
    let start = format!("{folder}/{before}");
    let is_named = |path: &[u8]| {
        let Some(rest) = path.strip_prefix(start.as_bytes()) else { return false };
        let name = rest.split(|byte| *byte == b'/').next().unwrap();
        if pattern.contains('*') { name.ends_with(after.as_bytes()) } else { name.is_empty() }
    };
    let found: Vec<(Vec<u8>, Thing)> = source
        .iter()
        .filter(|(path, _)| is_named(path))
        .map(|(path, thing)| {
            let name = &path[folder.len() + 1..];
            ([to.trim_start_matches('/').as_bytes(), name].concat(), thing.clone())
        })
        .collect();
    assert!(!found.is_empty(), "nothing is called {pattern} in {folder}");
    source.extend(found);
}

/// A condition on a member of a layer.
type MemberTest = Box<dyn Fn(&Member) -> bool>;

/// What of a layer commands change that only make folders, give owners and modes, and remove files; `None` where
/// others are among them.
fn changed(folder: &str, commands: &[ShellCommand]) -> Option<MemberTest> {
    let mut folder = folder.to_owned();
    let mut paths: Vec<(Vec<u8>, bool)> = Vec::new();
    for command in commands {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let is_folder = words[0] == "mkdir";
        let is_known = ["mkdir", "chmod", "chown", "rm", "cd", "setcap"].contains(&words[0]);
        let named = words.iter().filter(|word| word.starts_with('/'));
        paths.extend(named.map(|path| (path.trim_matches('/').as_bytes().to_vec(), is_folder)));
        if let ["cd", to] = words.as_slice() {
            (*to).clone_into(&mut folder);
        }
        if words[0] == "chmod" {
            let relative = words.iter().skip(2).filter(|word| !word.starts_with('/'));
            let joined =
                relative.map(|path| format!("{folder}/{path}").trim_matches('/').as_bytes().to_vec());
            paths.extend(joined.map(|path| (path, false)));
        }
        is_known.then_some(())?;
    }
    Some(Box::new(move |member| {
        let path = String::from_utf8_lossy(&member.name).replace(".wh.", "");
        let path = path.trim_end_matches('/').as_bytes();
        paths.iter().any(|(known, is_folder)| if *is_folder { path == known } else { is_below(path, known) })
    }))
}

struct State<'s> {
    scene: &'s Scene,
    /// What the proposal keeps out of the build context.
    ignored: Vec<String>,
    has_build_stage: bool,
    /// What today's image holds.
    whole: View,
    /// What the other stages hold, by name.
    sources: BTreeMap<String, View>,
    /// Paths that were written, with their bytes: each counts once.
    fresh: BTreeSet<Vec<u8>>,
    /// What instructions copied that are repeated: a copy from the build stage stores it again.
    given: BTreeSet<Vec<u8>>,
    users: bool,
    installs: BTreeSet<&'static str>,
}

impl State<'_> {
    fn copy(&mut self, file: &Dockerfile, one: &Instruction, built: &mut Built) {
        if let Some(layer) = self.scene.made(&key(file, one)) {
            let mut members = self.scene.layers[layer].clone();
            members.retain(|member| !self.is_ignored(&member.name));
            self.given.extend(members.iter().map(|member| member.name.clone()));
            return self.repeat(&members, flag(one, "chown"), built);
        }
        match flag(one, "from") {
            None => self.part(one, built),
            Some(from) => match self.sources.get(from).cloned() {
                None => built.faults.push(format!("no stage for line {}", one.line)),
                Some(source) => self.copy_from(&source, one, built),
            },
        }
    }

    fn is_ignored(&self, path: &[u8]) -> bool {
        let path = format!("/{}/", String::from_utf8_lossy(path));
        self.ignored.iter().any(|line| {
            let parts: Vec<&str> = line.trim_matches('/').split("**/").collect();
            let name = parts.last().unwrap().trim_matches('/');
            match name.strip_prefix('*') {
                Some(ending) => path.ends_with(&format!("{ending}/")),
                None => path.contains(&format!("/{name}/")),
            }
        })
    }

    /// A `COPY` of a part of what one of today brings.
    fn part(&mut self, one: &Instruction, built: &mut Built) {
        let words: Vec<&str> = one.words.iter().map(|word| word.text.as_str()).collect();
        let (to, from) = words.split_last().unwrap();
        for path in from {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap();
            let inner = format!("{}/{name}", to.trim_end_matches('/'));
            let places = [inner.as_str(), to.trim_end_matches('/')];
            let copies = self.scene.copies();
            let found = places.iter().find_map(|place| {
                let place = place.trim_start_matches('/').as_bytes();
                let below = |layer: &usize| -> Vec<Member> {
                    let members = self.scene.layers[*layer].iter();
                    members.filter(|member| is_below(&member.name, place)).cloned().collect()
                };
                copies.iter().map(below).find(|members| !members.is_empty())
            });
            match found {
                Some(members) => self.repeat(&members, flag(one, "chown"), built),
                None => built.faults.push(format!("line {}: nothing of today is {path}", one.line)),
            }
        }
    }

    /// What an instruction of today brings once more.
    fn repeat(&mut self, members: &[Member], chown: Option<&str>, built: &mut Built) {
        for member in members {
            let path = member.name.strip_suffix(b"/").unwrap_or(&member.name).to_vec();
            let own = view(std::slice::from_ref(&vec![member.clone()])).pop_first();
            let Some((_, thing)) = own else {
                remove(&mut built.view, String::from_utf8_lossy(&path).replace(".wh.", "").as_bytes());
                continue;
            };
            let owner = chown.map_or(thing.owner(), |text| self.owner(text));
            let wanted = self.whole.get(&path).map_or(owner, Thing::owner);
            if wanted != owner && !matches!(thing, Thing::Link(_)) {
                built.others.insert(path.clone(), wanted);
            } else {
                built.others.remove(&path);
            }
            self.fresh.insert(path.clone());
            built.content += thing.bytes();
            built.view.insert(path, thing);
        }
    }

    /// Numbers of a user and a group, by the tables of today's image.
    fn owner(&self, text: &str) -> (u64, u64) {
        let (user, group) = text.split_once(':').unwrap_or((text, text));
        let number = |name: &str, table: &[u8]| {
            name.parse().ok().or_else(|| {
                let mut members = self.scene.layers.iter().flatten().filter(|member| member.name == table);
                let text = String::from_utf8_lossy(&members.next_back()?.body).into_owned();
                let line = text.lines().find(|line| line.split(':').next() == Some(name))?.to_owned();
                line.split(':').nth(2)?.parse().ok()
            })
        };
        (number(user, b"etc/passwd").unwrap_or(1000), number(group, b"etc/group").unwrap_or(1000))
    }

    fn copy_from(&mut self, source: &View, one: &Instruction, built: &mut Built) {
        let chown = flag(one, "chown");
        let words: Vec<&str> = one.words.iter().map(|word| word.text.as_str()).collect();
        let (to, from) = words.split_last().unwrap();
        for path in from {
            let Some(real) = resolved(source, path.as_bytes()) else {
                built.faults.push(format!("{path} leads in circles"));
                continue;
            };
            let name = path.rsplit('/').next().unwrap();
            let target = if to.ends_with('/') && !is_folder(source, &real) {
                format!("{to}{name}")
            } else {
                (*to).to_owned()
            };
            let target = resolved(&built.view, target.as_bytes()).unwrap();
            let found: Vec<(Vec<u8>, Thing)> = (source.iter())
                .filter(|(path, _)| is_below(path, &real))
                .map(|(path, thing)| ([&target[..], &path[real.len()..]].concat(), thing.clone()))
                .collect();
            if found.is_empty() {
                built.faults.push(format!("line {}: there is no {path} to copy", one.line));
            }
            if from.len() > 1 && !to.ends_with('/') {
                built.faults.push(format!("line {}: several paths, and {to} is no folder", one.line));
            }
            for (path, thing) in found {
                self.write(path, thing, chown, built);
            }
        }
    }

    fn write(&mut self, path: Vec<u8>, thing: Thing, chown: Option<&str>, built: &mut Built) {
        let owner = chown.map_or((0, 0), |text| self.owner(text));
        let wanted = self.whole.get(&path).map_or(thing.owner(), Thing::owner);
        if wanted != owner && !matches!(thing, Thing::Link(_)) {
            built.others.insert(path.clone(), wanted);
        } else {
            built.others.remove(&path);
        }
        if self.fresh.insert(path.clone()) || self.given.contains(&path) {
            built.content += thing.bytes();
        }
        built.view.insert(path, thing);
    }

    /// What a `RUN` of today leaves beside its packages, where it stands as it was or with some of its commands.
    fn repeat_run(&mut self, file: &Dockerfile, place: usize, built: &mut Built) -> bool {
        let one = &file.instructions[place];
        let exact = self.scene.made(&key(file, one));
        let commands = commands(file, place);
        let layer = exact.or_else(|| {
            let texts = commands.iter().map(|command| normal(file.slice(&command.span)));
            let mut own = texts.filter(|text| {
                let word = text.split(' ').next().unwrap().to_lowercase();
                !["apt-get", "rm", "ln", "ldconfig", "useradd", "groupadd", "install", "update-alternatives"]
                    .contains(&word.as_str())
            });
            own.find_map(|text| self.scene.made_by(&text))
        });
        let Some(layer) = layer else { return false };
        let mut removed: Vec<Vec<u8>> = Vec::new();
        for command in &commands {
            let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
            match words.as_slice() {
                ["rm", "-rf" | "-r" | "-fr", paths @ ..] => {
                    let paths = paths.iter().map(|path| path.trim_matches('/').trim_end_matches("/*"));
                    removed.extend(paths.map(|path| path.as_bytes().to_vec()));
                }
                words if words.contains(&"--no-cache-dir") => removed.push(b"root/.cache/pip".to_vec()),
                _ => {}
            }
        }
        let of_packages = |path: &[u8]| {
            path.starts_with(b"var/lib/dpkg/")
                || self.scene.debs.iter().any(|deb| deb.files.iter().any(|member| member.name == path))
        };
        let stays = |member: &&Member| {
            !removed.iter().any(|folder| is_below(&member.name, folder)) && !of_packages(&member.name)
        };
        let before = file.instructions[..place].iter().rev();
        let mut folders =
            before.filter(|one| one.keyword == Keyword::WorkDir).filter_map(|one| one.words.first());
        let folder = folders.next().map_or("/", |word| word.text.as_str());
        let parts = exact.is_none().then(|| changed(folder, &commands)).flatten();
        let is_part = |member: &&Member| parts.as_ref().is_none_or(|is_part| is_part(member));
        let members: Vec<Member> =
            self.scene.layers[layer].iter().filter(stays).filter(is_part).cloned().collect();
        self.repeat(&members, None, built);
        true
    }

    fn run(&mut self, file: &Dockerfile, place: usize, built: &mut Built) {
        let repeated = self.repeat_run(file, place, built);
        for command in commands(file, place) {
            let words = command.words.iter().map(|word| word.text.as_str());
            // Assignments stand before the command.
            let words: Vec<&str> = words.skip_while(|word| word.contains('=')).collect();
            match words.as_slice() {
                ["ln", "-sfn", target, path] if !repeated => {
                    let (folder, name) = path.rsplit_once('/').unwrap();
                    let folder = resolved(&built.view, folder.as_bytes()).unwrap();
                    let path = [&folder[..], b"/", name.as_bytes()].concat();
                    if matches!(built.view.get(&path), Some(Thing::File { .. } | Thing::Folder { .. })) {
                        built.faults.push(format!("{words:?} takes the place of a file"));
                    }
                    built.view.insert(path, Thing::Link(target.as_bytes().to_vec()));
                }
                ["apt-get", "install", names @ ..] => {
                    for name in names.iter().filter(|name| !name.starts_with(['-', '$'])) {
                        self.install(name.split('=').next().unwrap(), built);
                    }
                    self.tables_of_packages(names, built);
                }
                ["dpkg", "-i", archive] => {
                    let name = archive.rsplit('/').next().unwrap().split(['_', '.']).next().unwrap();
                    self.install(name, built);
                    self.tables_of_packages(&[name], built);
                }
                ["update-alternatives", "--install", link, name, path, ..] if !repeated => {
                    if resolved(&built.view, path.as_bytes())
                        .is_none_or(|path| !built.view.contains_key(&path))
                    {
                        built.faults.push(format!("{words:?} offers what is not there"));
                    }
                    let link = link.trim_start_matches('/').as_bytes().to_vec();
                    built.view.insert(link, Thing::Link(format!("/etc/alternatives/{name}").into_bytes()));
                    let link = format!("etc/alternatives/{name}").into_bytes();
                    built.view.insert(link, Thing::Link(path.as_bytes().to_vec()));
                }
                ["chown", owner, path] if !repeated => {
                    let path = resolved(&built.view, path.as_bytes()).unwrap();
                    if built.others.get(&path) != Some(&self.owner(owner)) {
                        built.faults.push(format!("{words:?} is of no use"));
                    }
                    built.others.remove(&path);
                }
                ["rm", "-rf", paths @ ..] if !repeated => {
                    for path in paths.iter().filter(|path| !path.contains('*')) {
                        remove(&mut built.view, path.trim_start_matches('/').as_bytes());
                    }
                }
                ["useradd" | "groupadd" | "adduser" | "addgroup", ..] => self.users = true,
                _ => {}
            }
        }
    }

    fn install(&mut self, name: &str, built: &mut Built) {
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let provides =
                |deb: &&Deb| deb.depends.lines().skip(1).any(|line| line.contains(&format!(" {name} ")));
            let mut debs = self.scene.debs.iter();
            let found = debs.clone().find(|deb| deb.name == name).or_else(|| debs.find(provides));
            let Some(deb) = found else {
                built.faults.push(format!("there is no package {name}"));
                continue;
            };
            if !self.installs.insert(deb.name) {
                continue;
            }
            let depends = deb.depends.lines().take(1).flat_map(|line| line.split(','));
            let depends = depends.map(|one| one.split('|').next().unwrap());
            let depends = depends.filter_map(|one| one.split_whitespace().next());
            open.extend(depends.map(str::to_owned));
            for member in &deb.files {
                let thing = self.scene.as_installed(deb.name, &member.name);
                let thing =
                    thing.and_then(|member| view(&[vec![member]]).pop_first()).map(|(_, thing)| thing);
                if let Some(thing) = thing.filter(|_| !built.view.contains_key(&member.name)) {
                    built.content += thing.bytes();
                    self.fresh.insert(member.name.clone());
                    built.view.insert(member.name.clone(), thing);
                }
            }
        }
    }

    /// The tables of packages, which each `RUN` that installs some writes again. A prediction for a new stage
    /// counts them once.
    fn tables_of_packages(&mut self, names: &[&str], built: &mut Built) {
        let path = b"var/lib/dpkg/status".to_vec();
        let first = names.iter().find(|name| !name.starts_with(['-', '$']));
        let name = first.map_or("", |name| name.split('=').next().unwrap());
        let Some(member) = self.scene.as_installed(name, &path).filter(|_| !self.has_build_stage) else {
            return;
        };
        if self.scene.is_of_base(name) {
            return;
        }
        self.repeat(&[member], None, built);
    }

    /// What installing packages and adding users writes beside.
    fn finish(&mut self, layers: usize, built: &mut Built) {
        let mut written: Vec<String> = Vec::new();
        if !self.installs.is_empty() {
            written.push("var/lib/dpkg/status".to_owned());
            written.push("var/lib/apt/extended_states".to_owned());
            written.extend(self.installs.iter().map(|name| format!("var/lib/dpkg/info/{name}.list")));
        }
        if self.users || !self.installs.is_empty() {
            written.extend(["etc/passwd".to_owned(), "etc/group".to_owned()]);
        }
        let below = view(&self.scene.layers[..layers]);
        for path in written {
            let path = path.into_bytes();
            let Some(thing) = self.whole.get(&path) else { continue };
            if below.get(&path) != Some(thing) && self.fresh.insert(path.clone()) {
                built.content += thing.bytes();
                built.view.insert(path, thing.clone());
            }
        }
    }
}
