//! Random images against a model that keeps whole bodies in a map by path.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink as make_link;
use std::path::Path;
use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::compare::Change;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_oneof, proptest};

use super::{FORMS, analysed, compared, image, stored};
use crate::fixtures::tarball::{Member, dir, file, hardlink, symlink, whiteout};
use crate::support::Place;

/// What a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Thing {
    Folder,
    File(Vec<u8>),
    Link(String),
}

#[derive(Clone, Debug)]
enum Step {
    Folder,
    File(usize),
    Link(usize),
    /// A second name of one of the files so far.
    Name(usize),
}

/// A random path, what is there, and in which layers it stands.
type Made = (Vec<usize>, Step, usize);

fn made() -> impl Strategy<Value = Vec<Made>> {
    let step = prop_oneof![
        1 => any::<bool>().prop_map(|_| Step::Folder),
        6 => (0..6usize).prop_map(Step::File),
        1 => (0..2usize).prop_map(Step::Link),
        2 => (0..8usize).prop_map(Step::Name),
    ];
    vec((vec(0..3usize, 1..4), step, 0..4usize), 0..14)
}

fn body(which: usize) -> Vec<u8> {
    let mut large = vec![b'x'; 40_000];
    match which {
        0 => Vec::new(),
        1 => b"1".to_vec(),
        2 => b"2".to_vec(),
        3 => b"12".to_vec(),
        4 => large,
        _ => {
            large[15_000] = b'y';
            large
        }
    }
}

/// An image in the making: what a container sees, and two layers that give it.
#[derive(Default)]
struct Model {
    things: BTreeMap<String, Thing>,
    lower: Vec<Member>,
    upper: Vec<Member>,
    /// Second names, and what they are names of.
    names: BTreeMap<String, String>,
}

impl Model {
    fn new(made: &[Made]) -> Self {
        let mut model = Self::default();
        for (parts, step, layers) in made {
            let names: Vec<&str> = parts.iter().map(|part| ["a", "b", "a-"][*part]).collect();
            model.add(&names, step, *layers);
        }
        // Something that the upper layer takes away again.
        model.lower.push(file("gone", "1"));
        model.upper.push(whiteout("gone"));
        model
    }

    fn add(&mut self, names: &[&str], step: &Step, layers: usize) {
        let path = names.join("/");
        let above: Vec<String> = (1..names.len()).map(|end| names[..end].join("/")).collect();
        let free = |folder: &String| self.things.get(folder).is_none_or(|thing| *thing == Thing::Folder);
        if self.things.contains_key(&path) || !above.iter().all(free) {
            return;
        }
        for folder in above {
            self.things.entry(folder).or_insert(Thing::Folder);
        }
        let files: Vec<String> = self
            .things
            .iter()
            .filter(|(name, thing)| matches!(thing, Thing::File(_)) && !self.names.contains_key(*name))
            .map(|(name, _)| name.clone())
            .collect();
        let thing = match step {
            Step::Folder => {
                self.upper.push(dir(&path));
                Thing::Folder
            }
            Step::Link(to) => {
                let target = ["a", "b/a"][*to];
                self.upper.push(symlink(&path, target));
                Thing::Link(target.to_owned())
            }
            Step::Name(of) if !files.is_empty() => {
                let of = &files[of % files.len()];
                self.upper.push(hardlink(&path, of));
                self.names.insert(path.clone(), of.clone());
                self.things[of].clone()
            }
            Step::File(which) | Step::Name(which) => {
                let bytes = body(which % 6);
                match layers {
                    // Below, above, or above something else.
                    0 => self.lower.push(file(&path, bytes.clone())),
                    1 => self.upper.push(file(&path, bytes.clone())),
                    _ => {
                        self.lower.push(file(&path, body(layers)));
                        self.upper.push(file(&path, bytes.clone()));
                    }
                }
                Thing::File(bytes)
            }
        };
        self.things.insert(path, thing);
    }

    /// The image in one of the forms, or as a folder.
    fn stored(&self, place: &Place, name: &str, form: usize) -> Arc<Analysis> {
        if let Some(form) = FORMS.get(form) {
            return stored(place, name, *form, &image([self.lower.clone(), self.upper.clone()]));
        }
        let root = place.path(name);
        std::fs::create_dir(&root).unwrap();
        let at = |path: &str| Path::new(&root).join(path);
        for (path, thing) in &self.things {
            match thing {
                Thing::Folder => std::fs::create_dir(at(path)).unwrap(),
                Thing::Link(target) => make_link(target, at(path)).unwrap(),
                Thing::File(bytes) if !self.names.contains_key(path) => {
                    std::fs::write(at(path), bytes).unwrap();
                }
                Thing::File(_) => {}
            }
        }
        for (name, of) in &self.names {
            std::fs::hard_link(at(of), at(name)).unwrap();
        }
        analysed(&format!("rootfs:{root}"))
    }

    fn at(&self, path: &str) -> Option<&Thing> {
        if path.is_empty() { Some(&Thing::Folder) } else { self.things.get(path) }
    }
}

fn expected(image: &Model, baseline: &Model, path: &str) -> Change {
    let below = |name: &&String| path.is_empty() || name.starts_with(&format!("{path}/"));
    match (image.at(path), baseline.at(path)) {
        (None, None) => Change::Absent,
        (Some(_), None) => Change::Added,
        (None, Some(_)) => Change::Removed,
        (Some(Thing::Folder), Some(Thing::Folder)) => {
            let all: BTreeSet<&String> = image.things.keys().chain(baseline.things.keys()).collect();
            let same = all.into_iter().filter(below).all(|name| image.at(name) == baseline.at(name));
            if same { Change::Same } else { Change::Changed }
        }
        (now, before) if now == before => Change::Same,
        _ => Change::Changed,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_images_differ_as_a_model_has_it(images in vec((made(), 0..=FORMS.len()), 2..4), alike in any::<bool>()) {
        let mut images = images;
        if alike {
            // Random images share little: let the second be the first and a little more.
            let more = std::mem::take(&mut images[1].0);
            images[1].0 = images[0].0.iter().cloned().chain(more.into_iter().take(3)).collect();
        }
        let place = Place::new();
        let models: Vec<Model> = images.iter().map(|(made, _)| Model::new(made)).collect();
        let analyses: Vec<Arc<Analysis>> = models
            .iter()
            .zip(&images)
            .enumerate()
            .map(|(at, (model, (_, form)))| model.stored(&place, &format!("image{at}"), *form))
            .collect();
        let tree = compared(&analyses).tree;
        let mut paths: BTreeSet<&str> = models.iter().flat_map(|model| model.things.keys()).map(String::as_str).collect();
        paths.insert("");
        assert_eq!(tree.len(), paths.len());
        for (image, of) in models.iter().enumerate() {
            for (baseline, against) in models.iter().enumerate() {
                let changes = tree.changes(image, baseline);
                for path in &paths {
                    let row = tree.find(path.as_bytes()).unwrap();
                    let change = changes[row.0 as usize];
                    assert_eq!(change, expected(of, against, path), "/{path} of {image} against {baseline}");
                }
            }
        }
    }
}
