//! Packages: whether those recorded in the new image are complete, and which are missing.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::command::{Started, is_python};
use super::image_pair::{FileDisposition, ImagePair};
use super::notes::ProofNotes;
use super::side::shown;
use crate::base::size::human;
use crate::base::text::counted;
use crate::base::text::printable;
use crate::cuda::Package;
use crate::cuda::links::folder_of;
use crate::rewrite::split::source_of;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Maximum packages listed in one sentence.
const NAMES: usize = 12;

/// The files of a package in the new image.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    kept: u64,
    /// Number of files removed by a finding of the plan.
    planned: u64,
    /// Files left out without a finding: number, bytes, and the first one.
    lost: u64,
    bytes: u64,
    first: Option<NodeId>,
    /// Files with different content.
    changed: u64,
    changes: Option<NodeId>,
}

type Key<'p> = (&'static str, &'p str, Option<&'p [u8]>);

fn key(package: &Package) -> Key<'_> {
    (package.manager, &package.name, package.root.as_deref())
}

/// Compares every package with its files.
pub(super) fn packages(pair: &ImagePair<'_>, started: &Started, notes: &mut ProofNotes) {
    let old = pair.old.inventory;
    let shares = shares(pair);
    let pythons = pythons(pair);
    let mut versions: BTreeMap<Key<'_>, Vec<&str>> = BTreeMap::new();
    for package in &pair.new.inventory.packages {
        versions.entry(key(package)).or_default().push(&package.version);
    }
    let (mut planned, mut planned_packages) = (0, 0);
    let mut system: Vec<(u64, u64, String)> = Vec::new();
    for (package, share) in old.packages.iter().zip(&shares) {
        if !matches!(package.manager, "pip" | "conda") {
            if share.lost > 0 {
                system.push((share.bytes, share.lost, printable(&package.name)));
            }
            continue;
        }
        planned += share.planned;
        planned_packages += u64::from(share.planned > 0);
        match versions.get(&key(package)) {
            Some(known) if known.contains(&package.version.as_str()) => whole(pair, package, share, notes),
            Some(known) => notes.faults.add(format!(
                "{} is left out, and {} from a lower layer reappears",
                name(package),
                printable(known.first().copied().unwrap_or_default())
            )),
            None => gone(pair, package, share, &pythons, started, notes),
        }
    }
    if planned > 0 {
        notes.unproven.add(format!(
            "{} of {} removed by the plan: unused per its findings",
            counted(planned, "file"),
            counted(planned_packages, "Python package")
        ));
    }
    of_system(&mut system, notes);
    depends(old.packages.as_slice(), &shares, notes);
}

/// By package: its regular files in the new image.
fn shares(pair: &ImagePair<'_>) -> Vec<Share> {
    let old = pair.old.inventory;
    let mut shares = vec![Share::default(); old.packages.len()];
    for node in pair.old.rootfs.nodes() {
        let Some(inode) = node.content() else { continue };
        let share = old.owners.of(node.id()).and_then(|place| shares.get_mut(place));
        let Some(share) = share else { continue };
        match pair.fate(node.id()) {
            FileDisposition::Stays => share.kept += 1,
            FileDisposition::Changes => {
                share.changed += 1;
                share.changes.get_or_insert(node.id());
            }
            FileDisposition::Goes if pair.is_planned(inode) || is_made_again(pair, node) => {
                share.planned += 1;
            }
            FileDisposition::Goes => {
                share.lost += 1;
                share.bytes = share.bytes.saturating_add(node.bytes());
                share.first.get_or_insert(node.id());
            }
        }
    }
    shares
}

/// Whether Python makes a file again from a source that the new image has.
fn is_made_again(pair: &ImagePair<'_>, node: Node<'_>) -> bool {
    let path = node.path();
    let source = source_of(&path).filter(|_| path.ends_with(b".pyc"));
    source
        .and_then(|source| pair.old.paths.lookup(&source))
        .is_some_and(|source| pair.fate(source) == FileDisposition::Stays)
}

fn name(package: &Package) -> String {
    let root = package.root.as_deref().map_or_else(String::new, |root| format!(" in {}", shown(root)));
    format!("{} {} ({}{root})", printable(&package.name), printable(&package.version), package.manager)
}

/// A Python package that is recorded in the new image.
fn whole(pair: &ImagePair<'_>, package: &Package, share: &Share, notes: &mut ProofNotes) {
    if let Some(first) = share.first {
        let path = pair.old.node(first).path();
        // Programs of many packages are in one folder.
        let key = format!("lacks files in {}", shown(folder_of(&path)));
        notes.faults.say(key, || {
            format!(
                "{} lacks {} of its files without a finding in the plan, such as {}",
                name(package),
                share.lost,
                pair.old.shown(first)
            )
        });
    }
    if let Some(first) = share.changes {
        notes.unproven.add(format!(
            "{} files of {} have different content, such as {}",
            share.changed,
            name(package),
            pair.old.shown(first)
        ));
    }
}

/// A Python package that is not recorded in the new image.
fn gone(
    pair: &ImagePair<'_>,
    package: &Package,
    share: &Share,
    all: &[NodeId],
    started: &Started,
    notes: &mut ProofNotes,
) {
    let is_planned = share.lost == 0 && share.changed == 0 && share.planned > 0;
    let Some(root) = package.root.as_deref().filter(|_| !is_planned) else { return };
    let pythons = pythons_of(pair, root, all);
    let of_system = root.starts_with(b"/usr/") && !is_in_python_path(pair, root);
    let running = if of_system { &started.searching_system } else { &started.pythons };
    let runs_any = |running: &HashSet<_>| {
        let mut inodes = pythons.iter().filter_map(|python| pair.new.node(*python).content());
        inodes.any(|inode| running.contains(&inode))
    };
    let isolated = !started.script && !runs_any(running) && runs_any(&started.pythons);
    // What the new image's packages of the distribution depend on is installed with them. Only a script could use others.
    let of_distribution = package.is_in_debians_folder();
    let by_script = started.script && !runs_any(running);
    let runs = !pythons.is_empty() && started.script && !of_distribution || runs_any(running);
    let Some(python) = pythons.first().map(|python| pair.new.shown(*python)) else { return };
    let installs = matches!(package.name.as_str(), "pip" | "uv" | "wheel");
    let name = name(package);
    if runs && installs {
        notes.unproven.add(format!("{name} is left out: {python} no longer installs packages"));
    } else if runs && of_distribution && !runs_any(&started.by_application) {
        notes.unproven.say(format!("package of {python}"), || {
            format!(
                "{name} is left out; only programs of system packages are known to run {python}, which depend on what they \
                 import"
            )
        });
    } else if runs {
        notes.faults.add(format!("{name} is left out, but {python} runs and searches that folder"));
    } else if by_script && of_distribution {
        notes.unproven.say(format!("package of {python}"), || {
            format!("{name} is left out; a shell script may run {python}, which searches that folder")
        });
    } else if isolated {
        notes.unproven.say(format!("isolated {python}"), || {
            format!(
                "{name} is left out; {python} runs in a virtual environment without the system's packages"
            )
        });
    } else {
        notes.unproven.say(format!("package {python}"), || {
            format!("{name} is left out; {python} searches that folder, but nothing is known to run it")
        });
    }
}

/// Programs of the new view named like a Python.
fn pythons(pair: &ImagePair<'_>) -> Vec<NodeId> {
    let objects = pair.new.inventory.links.objects.iter().filter(|object| object.root.is_some());
    objects.map(|object| object.node).filter(|node| is_python(pair.new.node(*node).name())).collect()
}

/// Pythons of the new view that search a site-packages folder of the old one.
fn pythons_of(pair: &ImagePair<'_>, root: &[u8], all: &[NodeId]) -> Vec<NodeId> {
    let parts: Vec<&[u8]> = root.split(|byte| *byte == b'/').collect();
    let is_version =
        |part: &&[u8]| part.strip_prefix(b"python").and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit);
    let version = parts.iter().rposition(is_version);
    let mut candidates: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut names: Vec<&[u8]> = vec![b"python3", b"python"];
    if let Some(at) = version {
        // The parent of `python3.12` is `lib` or `lib64`, its parent the prefix.
        let prefix = parts[..at.saturating_sub(1)].join(&b'/');
        names.insert(0, parts[at]);
        candidates.extend(names.iter().map(|name| [&prefix[..], b"/bin/", name].concat()));
    }
    let in_path = is_in_python_path(pair, root);
    // Debian's dist-packages belongs to every Python of the system, and that in `/usr/local` to the one with its
    // version.
    let of_system = root.starts_with(b"/usr/");
    let mut found: Vec<NodeId> = Vec::new();
    for candidate in &candidates {
        found.extend(pair.new.find_from(NodeId::ROOT, candidate));
    }
    for id in all {
        let fits = match version.and_then(|at| parts.get(at)) {
            Some(version) if !in_path => of_system && pair.new.node(*id).name() == *version,
            _ => of_system || in_path,
        };
        if fits {
            found.push(*id);
        }
    }
    found.retain(|node| pair.new.node(*node).kind() == NodeKind::File);
    found.sort_unstable();
    found.dedup();
    found
}

fn is_in_python_path(pair: &ImagePair<'_>, folder: &[u8]) -> bool {
    pair.new.environment.iter().any(|pair| {
        let list = pair.strip_prefix("PYTHONPATH=").unwrap_or_default();
        list.split(':').any(|one| one.trim_end_matches('/').as_bytes() == folder)
    })
}

/// System packages that lose files without a finding.
fn of_system(list: &mut [(u64, u64, String)], notes: &mut ProofNotes) {
    if list.is_empty() {
        return;
    }
    list.sort_by(|a, b| (std::cmp::Reverse(a.0), &a.2).cmp(&(std::cmp::Reverse(b.0), &b.2)));
    let (bytes, files) =
        list.iter().fold((0_u64, 0_u64), |sum, one| (sum.0.saturating_add(one.0), sum.1 + one.1));
    let names: Vec<&str> = list.iter().take(NAMES).map(|one| one.2.as_str()).collect();
    let more = list.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    notes.unproven.add(format!(
        "{} ({}) of {} not in the new image and in no finding of the plan; whether something runs them by name is \
             unknown: {}{more}",
        counted(files, "file"),
        human(bytes),
        counted(list.len() as u64, "system package"),
        names.join(", ")
    ));
}

/// Dependencies of system packages that stay complete.
fn depends(packages: &[Package], shares: &[Share], notes: &mut ProofNotes) {
    let system =
        || packages.iter().zip(shares).filter(|(package, _)| !matches!(package.manager, "pip" | "conda"));
    let gone: BTreeSet<&str> = system()
        .filter(|(_, share)| share.kept == 0 && share.lost > 0)
        .map(|(package, _)| package.name.as_str())
        .collect();
    for (package, _) in system().filter(|(_, share)| share.kept > 0 && share.lost == 0) {
        for needed in package.depends.iter().filter(|needed| gone.contains(needed.as_str())) {
            let (package, needed) = (printable(&package.name), printable(needed));
            notes.unproven.say(format!("depends {needed}"), || {
                format!("package {needed} is left out, but {package} depends on it")
            });
        }
    }
}
