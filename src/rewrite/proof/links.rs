//! What programs and libraries need and open: found before, found afterwards.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::said::Said;
use super::side::{Side, shown};
use super::sides::{Both, Fate};
use crate::cuda::Inode;
use crate::cuda::links::{Links, Need, Object, ObjectId, Open, Resolution, fits};

/// Holds every program and library of the new view to what it found before. How many of their needs were followed
/// comes back.
pub(super) fn follow(both: &Both<'_>, said: &mut Said) -> usize {
    let old = &both.old.inventory.links;
    let needs = old.objects.iter().flat_map(|object| &object.needs);
    let opens = old.objects.iter().flat_map(|object| &object.opens);
    let mut follower = Follower {
        both,
        said,
        missing: needs.filter(|need| need.is_missing()).map(|need| need.name.as_str()).collect(),
        opened: opens.filter(|open| is_found(&open.found)).map(|open| open.name.as_str()).collect(),
        loaders: HashMap::new(),
    };
    let links = &both.new.inventory.links;
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
    both: &'b Both<'a>,
    said: &'b mut Said,
    /// Names that something needs in the image as it is, and does not find.
    missing: HashSet<&'b str>,
    /// Names that something opens there and finds.
    opened: HashSet<&'b str>,
    /// Interpreters of programs: whether each is in the image as it is, and in the new one.
    loaders: HashMap<&'a [u8], (bool, bool)>,
}

impl Follower<'_, '_> {
    fn object(&mut self, id: ObjectId, object: &Object) {
        let new = &self.both.new;
        let Some(inode) = new.inode(id) else { return };
        let before = self.both.old.object(inode).map(|id| self.both.old.inventory.links.object(id));
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
            self.said.unproven.say("not followed", || {
                format!("{who} needs {name}: where it is found was not looked for, the search was cut short")
            });
        } else if need.is_missing() {
            let target = was.and_then(|was| was.found.iter().find(|found| is_found(found)));
            if was_missing {
                self.said.unproven.say(format!("before {name}"), || {
                    format!("{name}, which {who} needs, was missing before")
                });
            } else if was_found || was.is_none() {
                let why = self.why(target);
                self.said.faults.say(format!("need {name}"), || {
                    format!("{who} needs {name}, which is not found any more: {why}")
                });
            } else {
                self.said.unproven.say(format!("need {name}"), || {
                    format!("{who} needs {name}, which is not found; it was not looked for before")
                });
            }
        } else if let Some(was) = was.filter(|_| was_found) {
            self.partly(who, &name, need, was);
            self.compare(who, &name, &need.found, &was.found);
        }
    }

    /// Processes of their own may look elsewhere: one that finds a library does not help another.
    fn partly(&mut self, who: &str, name: &str, need: &Need, was: &Need) {
        if !need.found.contains(&Resolution::Missing) || was.found.contains(&Resolution::Missing) {
            return;
        }
        let text = || format!("{who} needs {name}, which not all processes that load it find any more");
        // The first is that of the strongest root: the entrypoint, when that loads it.
        if need.found.first() == Some(&Resolution::Missing) {
            self.said.faults.say(format!("need {name}"), text);
        } else {
            self.said.unproven.say(format!("partly {name}"), text);
        }
    }

    /// Whether a name leads to what it led to before.
    fn compare(&mut self, who: &str, name: &str, now: &[Resolution], was: &[Resolution]) {
        let before: Vec<Inode> = inodes(&self.both.old, was);
        for (id, inode) in targets(&self.both.new, now) {
            if before.iter().any(|old| self.both.is_same(*old, inode) == Some(true)) {
                continue;
            }
            let file = self.both.new.shown_object(id);
            let first = was.iter().find_map(|found| match found {
                Resolution::Found { object, .. } => Some(self.both.old.shown_object(*object)),
                _ => None,
            });
            let was = first.unwrap_or_else(|| "what the host supplies".to_owned());
            self.said.unproven.say(format!("other {name} {file}"), || {
                if was == file {
                    format!("{who} finds {name} at {file} as before, but with other content")
                } else {
                    format!("{who} finds {name} at {file} instead of {was}: another file")
                }
            });
        }
        if now.contains(&Resolution::Host)
            && !was.contains(&Resolution::Host)
            && let Some((id, _)) = targets(&self.both.old, was).next()
        {
            let file = self.both.old.shown_object(id);
            self.said.unproven.say(format!("host {name}"), || {
                format!("{who} found {name} at {file}, and now only where the host supplies it")
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
                // Nothing starts the opener any more, or a pattern does not stand for this name any more.
                None if self.stays(&open.found) => {}
                None => self.lost(who, &name, open),
            }
        }
        for open in object.opens.iter().filter(|open| !open.optional && !is_found(&open.found)) {
            let was = was.iter().find(|was| fits(open.name.as_bytes(), was.name.as_bytes()));
            let name = shown_name(&open.name);
            match (was.map(|was| is_found(&was.found)), before) {
                // Told above.
                (Some(true), _) => {}
                (Some(false), _) => self.said.unproven.say(format!("before {name}"), || {
                    format!("{name}, which {who} opens at run time, was missing before")
                }),
                (None, Some(_)) if !self.opened.contains(open.name.as_str()) => {
                    self.said.unproven.say(format!("open {name}"), || {
                        format!("{who} opens {name} at run time, which is not found; it did not before")
                    });
                }
                (None, _) => self.lost(who, &name, open),
            }
        }
    }

    fn lost(&mut self, who: &str, name: &str, open: &Open) {
        let why = self.why(Some(&open.found).filter(|found| is_found(found)));
        let list = if open.optional { &mut self.said.unproven } else { &mut self.said.faults };
        list.say(format!("open {name}"), || {
            let without = if open.optional { "; it does without" } else { "" };
            format!("{who} opens {name} at run time, which is not found any more: {why}{without}")
        });
    }

    /// Whether a file that was found shows at the same path.
    fn stays(&self, found: &Resolution) -> bool {
        match found {
            Resolution::Found { object, .. } => {
                self.both.fate(self.both.old.inventory.links.object(*object).node) == Fate::Stays
            }
            Resolution::Host => true,
            Resolution::Missing => false,
        }
    }

    /// Why a file that was found is not found any more.
    fn why(&self, target: Option<&Resolution>) -> String {
        let Some(Resolution::Found { object, .. }) = target else {
            return "no folder that is searched has it".to_owned();
        };
        let (old, links): (&Side<'_>, &Links) = (&self.both.old, &self.both.old.inventory.links);
        let file = old.shown_object(*object);
        let inode = old.inode(*object);
        if self.both.fate(links.object(*object).node) == Fate::Stays {
            format!("{file} is there, but no link or folder that is searched leads to it")
        } else if inode.is_some_and(|inode| self.both.is_planned(inode)) {
            format!("{file} is taken away by the plan")
        } else {
            format!("{file} is left out")
        }
    }

    fn loader(&mut self, who: &str, inode: Inode) {
        let Some(path) = self.both.elf(inode).and_then(|elf| elf.interpreter.as_deref()) else { return };
        let both = self.both;
        let known = self.loaders.entry(path);
        let (was, is) =
            *known.or_insert_with(|| (both.old.find(path).is_some(), both.new.find(path).is_some()));
        let loader = shown(path);
        match (was, is) {
            (_, true) => {}
            (true, false) => self.said.faults.say(format!("loader {loader}"), || {
                format!("{who} cannot start: its interpreter {loader} is left out")
            }),
            (false, false) => self.said.unproven.say(format!("loader {loader}"), || {
                format!("{loader}, the interpreter of {who}, was missing before")
            }),
        }
    }
}

/// The files of the image that a name leads to.
fn targets<'f>(side: &'f Side<'_>, found: &'f [Resolution]) -> impl Iterator<Item = (ObjectId, Inode)> + 'f {
    found.iter().filter_map(|found| match found {
        Resolution::Found { object, .. } => Some((*object, side.inode(*object)?)),
        _ => None,
    })
}

fn inodes(side: &Side<'_>, found: &[Resolution]) -> Vec<Inode> {
    targets(side, found).map(|(_, inode)| inode).collect()
}

/// Names are escaped already.
fn shown_name(name: &str) -> String {
    crate::base::text::elide_middle(name, 120)
}
