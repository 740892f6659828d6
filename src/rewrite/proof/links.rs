//! NEEDED entries and dlopens: resolved before, resolved afterwards.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::image_pair::{FileDisposition, ImagePair};
use super::notes::ProofNotes;
use super::side::{Side, shown};
use crate::cuda::Inode;
use crate::cuda::links::{Links, Need, Object, ObjectId, Open, Resolution};
use crate::formats::glob::glob_match;

/// Compares the resolution of every program and library of the new view with the current image. Returns the
/// number of NEEDED entries and dlopens.
pub(super) fn follow(pair: &ImagePair<'_>, notes: &mut ProofNotes) -> usize {
    let old = &pair.old.inventory.links;
    let needs = old.objects.iter().flat_map(|object| &object.needs);
    let opens = old.objects.iter().flat_map(|object| &object.opens);
    let mut follower = Follower {
        pair,
        notes,
        missing: needs.filter(|need| need.is_missing()).map(|need| need.name.as_str()).collect(),
        opened: opens.filter(|open| is_found(&open.found)).map(|open| open.name.as_str()).collect(),
        loaders: HashMap::new(),
    };
    let links = &pair.new.inventory.links;
    let mut count = 0_usize;
    for id in links.ids() {
        let object = links.object(id);
        count = count.saturating_add(object.needs.len()).saturating_add(object.opens.len());
        follower.object(id, object);
    }
    count
}

fn is_found(found: &Resolution) -> bool {
    *found != Resolution::Missing
}

struct Follower<'b, 'a> {
    pair: &'b ImagePair<'a>,
    notes: &'b mut ProofNotes,
    /// Names that something needs in the current image, and that do not resolve there.
    missing: HashSet<&'b str>,
    /// Names that something opens in the current image, and that resolve there.
    opened: HashSet<&'b str>,
    /// Program interpreters: whether each is in the current image, and in the new one.
    loaders: HashMap<&'a [u8], (bool, bool)>,
}

impl Follower<'_, '_> {
    fn object(&mut self, id: ObjectId, object: &Object) {
        let new = &self.pair.new;
        let Some(inode) = new.inode(id) else { return };
        let before = self.pair.old.object(inode).map(|id| self.pair.old.inventory.links.object(id));
        let who = new.shown(object.node);
        for (place, need) in object.needs.iter().enumerate() {
            let was = before.and_then(|before| before.needs.get(place)).filter(|was| was.name == need.name);
            self.need(&who, need, was);
        }
        self.opens(&who, object, before);
        self.loader(&who, inode);
    }

    fn need(&mut self, who: &str, need: &Need, was: Option<&Need>) {
        let name = shown_name(&need.name);
        let was_found = was.is_some_and(|was| was.found.iter().any(is_found));
        let was_missing = match was {
            Some(was) => !was.found.is_empty() && !was_found,
            None => self.missing.contains(need.name.as_str()),
        };
        if need.found.is_empty() {
            self.notes.unproven.say("not followed", || {
                format!("{who} needs {name}: not checked, the search limit was reached")
            });
        } else if need.is_missing() {
            let target = was.and_then(|was| was.found.iter().find(|found| is_found(found)));
            if was_missing {
                let new = &self.pair.new;
                let objects = &new.inventory.links.objects;
                let same = objects.iter().find(|one| new.node(one.node).name() == need.name.as_bytes());
                let key = same.map_or("missing before", |_| "loaded first");
                self.notes.unproven.say(key, || match same {
                    // The launcher of Java loads libjvm.so before any library that needs it.
                    Some(same) => format!(
                        "{name}, needed by {who}, is on no search path, as in the current image; {} resolves it if it is \
                         loaded first",
                        new.shown(same.node)
                    ),
                    None => format!("{name}, needed by {who}, is already missing in the current image"),
                });
            } else if was_found || was.is_none() {
                let why = self.why(target);
                self.notes.faults.say(format!("need {name}"), || {
                    format!("{who} needs {name}, which is no longer found: {why}")
                });
            } else {
                self.notes.unproven.say(format!("need {name}"), || {
                    format!("{who} needs {name}, which is not found; not checked in the current image")
                });
            }
        } else if let Some(was) = was.filter(|_| was_found) {
            self.partly(who, &name, need, was);
            self.compare(who, &name, &need.found, &was.found);
        }
    }

    /// Reports a need that only some processes resolve: search paths differ between processes.
    fn partly(&mut self, who: &str, name: &str, need: &Need, was: &Need) {
        if !need.found.contains(&Resolution::Missing) || was.found.contains(&Resolution::Missing) {
            return;
        }
        let text = || format!("{who} needs {name}, which some processes that load it no longer find");
        // The first one belongs to the strongest root: the entrypoint, if that loads it.
        if need.found.first() == Some(&Resolution::Missing) {
            self.notes.faults.say(format!("need {name}"), text);
        } else {
            self.notes.unproven.say(format!("partly {name}"), text);
        }
    }

    /// Checks that a name resolves to the same file as before.
    fn compare(&mut self, who: &str, name: &str, now: &[Resolution], was: &[Resolution]) {
        let before: Vec<Inode> = inodes(&self.pair.old, was);
        for (id, inode) in targets(&self.pair.new, now) {
            if before.iter().any(|old| self.pair.is_same(*old, inode) == Some(true)) {
                continue;
            }
            let file = self.pair.new.shown_object(id);
            let first = was.iter().find_map(|found| match found {
                Resolution::Found { object, .. } => Some(self.pair.old.shown_object(*object)),
                _ => None,
            });
            let was = first.unwrap_or_else(|| "the host's library".to_owned());
            self.notes.unproven.say(format!("other {name} {file}"), || {
                if was == file {
                    format!("{who} resolves {name} to {file} as before, but with different content")
                } else {
                    format!("{who} resolves {name} to {file} instead of {was}")
                }
            });
        }
        if now.contains(&Resolution::Host)
            && !was.contains(&Resolution::Host)
            && let Some((id, _)) = targets(&self.pair.old, was).next()
        {
            let file = self.pair.old.shown_object(id);
            self.notes.unproven.say(format!("host {name}"), || {
                format!("{who} resolved {name} to {file}, and now only to the host's library")
            });
        }
    }

    fn opens(&mut self, who: &str, object: &Object, before: Option<&Object>) {
        let now: BTreeMap<(&str, &str), &Open> =
            object.opens.iter().map(|open| ((open.name.as_str(), open.source.as_str()), open)).collect();
        let was = before.map(|before| before.opens.as_slice()).unwrap_or_default();
        for open in was.iter().filter(|open| is_found(&open.found)) {
            let name = shown_name(&open.name);
            match now.get(&(open.name.as_str(), open.source.as_str())).map(|open| &open.found) {
                Some(Resolution::Missing) => self.lost(who, &name, open),
                Some(found) => {
                    self.compare(who, &name, std::slice::from_ref(found), std::slice::from_ref(&open.found));
                }
                // The opener is no longer started, or a pattern no longer matches this name.
                None if self.stays(&open.found) => {}
                None => self.lost(who, &name, open),
            }
        }
        for open in object.opens.iter().filter(|open| !open.optional && !is_found(&open.found)) {
            let was = was.iter().find(|was| glob_match(open.name.as_bytes(), was.name.as_bytes()));
            let name = shown_name(&open.name);
            match (was.map(|was| is_found(&was.found)), before) {
                // Reported above.
                (Some(true), _) => {}
                (Some(false), _) => self.notes.unproven.say(format!("before {name}"), || {
                    format!("{name}, opened by {who} at run time, is already missing in the current image")
                }),
                (None, Some(_)) if !self.opened.contains(open.name.as_str()) => {
                    self.notes.unproven.say(format!("open {name}"), || {
                        format!("{who} opens {name} at run time, which is not found; not opened in the current image")
                    });
                }
                (None, _) => self.lost(who, &name, open),
            }
        }
    }

    fn lost(&mut self, who: &str, name: &str, open: &Open) {
        let why = self.why(Some(&open.found).filter(|found| is_found(found)));
        let list = if open.optional { &mut self.notes.unproven } else { &mut self.notes.faults };
        list.say(format!("open {name}"), || {
            let without = if open.optional { "; optional" } else { "" };
            format!("{who} opens {name} at run time, which is no longer found: {why}{without}")
        });
    }

    /// Whether a resolved file exists at the same path.
    fn stays(&self, found: &Resolution) -> bool {
        match found {
            Resolution::Found { object, .. } => {
                self.pair.fate(self.pair.old.inventory.links.object(*object).node) == FileDisposition::Stays
            }
            Resolution::Host => true,
            Resolution::Missing => false,
        }
    }

    /// Why a name no longer resolves.
    fn why(&self, target: Option<&Resolution>) -> String {
        let Some(Resolution::Found { object, .. }) = target else {
            return "not in any search folder".to_owned();
        };
        let (old, links): (&Side<'_>, &Links) = (&self.pair.old, &self.pair.old.inventory.links);
        let file = old.shown_object(*object);
        let inode = old.inode(*object);
        if self.pair.fate(links.object(*object).node) == FileDisposition::Stays {
            format!("{file} exists, but no link or search folder leads to it")
        } else if inode.is_some_and(|inode| self.pair.is_planned(inode)) {
            format!("{file} is removed by the plan")
        } else {
            format!("{file} is left out")
        }
    }

    fn loader(&mut self, who: &str, inode: Inode) {
        let Some(path) = self.pair.elf(inode).and_then(|elf| elf.interpreter.as_deref()) else { return };
        let pair = self.pair;
        let known = self.loaders.entry(path);
        let (was, is) =
            *known.or_insert_with(|| (pair.old.find(path).is_some(), pair.new.find(path).is_some()));
        let loader = shown(path);
        match (was, is) {
            (_, true) => {}
            (true, false) => self.notes.faults.say(format!("loader {loader}"), || {
                format!("{who} cannot start: its interpreter {loader} is left out")
            }),
            (false, false) => self.notes.unproven.say(format!("loader {loader}"), || {
                format!("{loader}, the interpreter of {who}, is already missing in the current image")
            }),
        }
    }
}

/// The files that a name resolves to.
fn targets<'f>(side: &'f Side<'_>, found: &'f [Resolution]) -> impl Iterator<Item = (ObjectId, Inode)> + 'f {
    found.iter().filter_map(|found| match found {
        Resolution::Found { object, .. } => Some((*object, side.inode(*object)?)),
        _ => None,
    })
}

fn inodes(side: &Side<'_>, found: &[Resolution]) -> Vec<Inode> {
    targets(side, found).map(|(_, inode)| inode).collect()
}

/// A name, shortened; it is already escaped.
fn shown_name(name: &str) -> String {
    crate::base::text::elide_middle(name, 120)
}
