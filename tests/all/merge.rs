//! The rules of the merged view, one by one, and all together against a naive model.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::sparse::Sparse;
use crate::fixtures::tarball::{
    Long, Member, block_device, character_device, dir, fifo, file, hardlink, member, opaque, symlink, tar,
    whiteout,
};
use crate::support::{Place, Report};

/// The report of an image of these layers.
fn merged<const N: usize>(layers: [Vec<Member>; N]) -> Report {
    let place = Place::new();
    place.report(&place.put_layout("layout", &Layout::of(&Image::of(Packing::Plain, layers.map(tar)), "t")))
}

/// A file of so many bytes.
fn sized(name: &str, bytes: usize) -> Member {
    file(name, vec![b'x'; bytes])
}

/// What the merged view holds: paths with sizes and layers.
fn view(report: &Report) -> Vec<(String, u64, u64)> {
    report.largest().into_iter().map(|(path, (bytes, layer))| (path, bytes, layer)).collect()
}

fn expect(report: &Report, files: &[(&str, u64, u64)]) {
    let expected: Vec<_> =
        files.iter().map(|(path, bytes, layer)| ((*path).to_owned(), *bytes, *layer)).collect();
    assert_eq!(view(report), expected);
    assert_eq!(report.total("merged_bytes"), files.iter().map(|(_, bytes, _)| bytes).sum::<u64>());
}

#[test]
fn a_whiteout_hides_a_file_of_a_lower_layer() {
    let report = merged([vec![dir("a"), sized("a/x", 10), sized("a/y", 20)], vec![whiteout("a/x")]]);
    expect(&report, &[("/a/y", 20, 0)]);
    assert_eq!(report.each("wasted_bytes"), [10, 0]);
    assert_eq!(report.each("hides_bytes"), [0, 10]);
    assert_eq!(report.each("whiteouts"), [0, 1]);
    assert_eq!(report.each("files"), [2, 0]);
}

#[test]
fn a_whiteout_hides_a_folder_with_all_below_it() {
    let report =
        merged([vec![sized("a/b/x", 10), sized("a/b/c/y", 20), sized("ab", 5)], vec![whiteout("a")]]);
    expect(&report, &[("/ab", 5, 0)]);
    assert_eq!(report.each("hides_bytes"), [0, 30]);
}

#[test]
fn a_whiteout_at_the_root_and_of_nothing() {
    let report =
        merged([vec![sized("x", 10)], vec![whiteout("x"), whiteout("nothing"), whiteout("no/where")]]);
    expect(&report, &[]);
    assert_eq!(report.each("entries"), [1, 3]);
}

#[test]
fn whiteouts_act_first_and_only_on_lower_layers() {
    // The file comes before its own whiteout: it stays.
    let report = merged([vec![sized("a/x", 10)], vec![sized("a/x", 3), whiteout("a/x")]]);
    expect(&report, &[("/a/x", 3, 1)]);
    assert_eq!(report.each("wasted_bytes"), [10, 0]);
    let report = merged([vec![sized("a/x", 10), whiteout("a/x")]]);
    expect(&report, &[("/a/x", 10, 0)]);
}

#[test]
fn a_file_may_come_back_after_a_whiteout() {
    let report = merged([vec![sized("x", 10)], vec![whiteout("x")], vec![sized("x", 4)]]);
    expect(&report, &[("/x", 4, 2)]);
    assert_eq!(report.each("hides_bytes"), [0, 10, 0]);
}

#[test]
fn whiteouts_of_any_member_type_count() {
    let report = merged([
        vec![sized("a", 1), sized("b", 2), sized("c", 4), sized("d/e", 8)],
        vec![symlink(".wh.a", "x"), dir(".wh.b"), character_device(".wh.c"), dir("d/.wh..wh..opq")],
    ]);
    expect(&report, &[]);
    assert_eq!(report.each("whiteouts"), [0, 4]);
    assert_eq!(report.each("directories"), [0, 0]);
}

#[test]
fn an_opaque_folder_hides_what_is_below_it() {
    let report = merged([
        vec![dir("a"), sized("a/x", 10), sized("a/b/y", 20), sized("ab", 5)],
        // The marker may come after the folder's new content.
        vec![dir("a"), sized("a/z", 7), opaque("a")],
    ]);
    expect(&report, &[("/a/z", 7, 1), ("/ab", 5, 0)]);
    assert_eq!(report.each("hides_bytes"), [0, 30]);
    assert_eq!(report.each("whiteouts"), [0, 1]);
}

#[test]
fn an_opaque_root_hides_everything_below() {
    let report = merged([vec![sized("a/x", 10)], vec![file(".wh..wh..opq", ""), sized("b", 1)]]);
    expect(&report, &[("/b", 1, 1)]);
}

#[test]
fn a_later_member_at_the_same_path_replaces_the_earlier() {
    let report = merged([vec![sized("x", 10), sized("y", 1), sized("x", 4)]]);
    expect(&report, &[("/x", 4, 0), ("/y", 1, 0)]);
    assert_eq!(report.each("wasted_bytes"), [10]);
    assert_eq!(report.each("hides_bytes"), [10]);
    assert_eq!(report.each("files"), [3]);
}

#[test]
fn a_file_replaces_a_folder_with_all_below_it() {
    let report = merged([vec![sized("a/x", 10), sized("a/b/y", 20)], vec![sized("a", 3)]]);
    expect(&report, &[("/a", 3, 1)]);
    assert_eq!(report.each("hides_bytes"), [0, 30]);
    let report = merged([vec![sized("a/x", 10)], vec![symlink("a", "elsewhere")]]);
    expect(&report, &[]);
}

#[test]
fn a_folder_replaces_a_file() {
    let report = merged([vec![sized("a", 10)], vec![dir("a"), sized("a/x", 3)]]);
    expect(&report, &[("/a/x", 3, 1)]);
    assert_eq!(report.each("hides_bytes"), [0, 10]);
}

#[test]
fn a_member_below_a_file_makes_it_a_folder() {
    let report = merged([vec![sized("a", 10)], vec![sized("a/x", 3)]]);
    expect(&report, &[("/a/x", 3, 1)]);
    let report = merged([vec![sized("a", 10), sized("a/x", 3)]]);
    expect(&report, &[("/a/x", 3, 0)]);
    assert_eq!(report.each("hides_bytes"), [10]);
}

#[test]
fn folders_merge() {
    let report =
        merged([vec![dir("a"), sized("a/x", 10)], vec![dir("a").mode(0o700)], vec![sized("a/y", 1)]]);
    expect(&report, &[("/a/x", 10, 0), ("/a/y", 1, 2)]);
    assert_eq!(report.total("wasted_bytes"), 0);
}

#[test]
fn paths_are_lexical_and_a_symbolic_link_on_the_way_is_told() {
    let report = merged([
        vec![dir("real"), symlink("link", "real")],
        vec![sized("link/x", 5)],
        vec![sized("real/y", 6)],
    ]);
    expect(&report, &[("/link/x", 5, 1), ("/real/y", 6, 2)]);
    let warning = report.warnings("parent-is-symlink")[0];
    assert!(warning["message"].as_str().unwrap().contains("/link"), "{warning}");
}

#[test]
fn a_hard_link_adds_no_bytes_and_one_path() {
    let report = merged([vec![sized("x", 10), hardlink("y", "x"), hardlink("a/z", "./x")]]);
    assert_eq!(report.total("content_bytes"), 10);
    assert_eq!(report.total("merged_bytes"), 10);
    assert_eq!(report.total("merged_files"), 3);
    assert_eq!(report.each("hardlinks"), [2]);
}

#[test]
fn a_shared_file_goes_by_the_name_it_was_written_under() {
    let report = merged([vec![sized("m", 10), hardlink("a", "m"), hardlink("z", "m")]]);
    expect(&report, &[("/m", 10, 0)]);
}

#[test]
fn a_hard_link_keeps_its_file_alive() {
    let layers = [vec![sized("x", 10), hardlink("y", "x")], vec![whiteout("x")]];
    let report = merged(layers.clone());
    expect(&report, &[("/y", 10, 0)]);
    assert_eq!(report.total("wasted_bytes"), 0);
    let [first, second] = layers;
    let report = merged([first, second, vec![whiteout("y")]]);
    expect(&report, &[]);
    assert_eq!(report.each("wasted_bytes"), [10, 0, 0]);
    assert_eq!(report.each("hides_bytes"), [0, 0, 10], "the layer that removed the last path hides it");
}

#[test]
fn a_hard_link_reaches_into_lower_layers() {
    let report = merged([vec![sized("x", 10)], vec![hardlink("y", "/x")], vec![sized("x", 3)]]);
    assert_eq!(report.total("content_bytes"), 13);
    expect(&report, &[("/x", 3, 2), ("/y", 10, 0)]);
    assert_eq!(report.total("wasted_bytes"), 0);
}

#[test]
fn a_hard_link_sees_the_layer_so_far() {
    let report = merged([vec![sized("x", 10)], vec![sized("x", 3), hardlink("y", "x")]]);
    assert_eq!(report.total("merged_bytes"), 3);
    assert_eq!(report.total("merged_files"), 2);
    // After the whiteout the target is gone.
    let report = merged([vec![sized("x", 10)], vec![whiteout("x"), hardlink("y", "x")]]);
    assert_eq!(report.total("merged_files"), 0);
    report.warnings("hard-link-dangling");
}

#[test]
fn a_hard_link_to_nothing_is_a_warning_and_no_path() {
    let report = merged([vec![sized("z", 1), hardlink("y", "x"), sized("x", 10)]]);
    expect(&report, &[("/x", 10, 0), ("/z", 1, 0)]);
    assert_eq!(report.total("merged_files"), 2);
    let warning = report.warnings("hard-link-dangling")[0];
    assert!(warning["message"].as_str().unwrap().contains("/y"), "{warning}");
}

#[test]
fn chains_of_hard_links_share_one_file() {
    let report = merged([
        vec![sized("a", 10), hardlink("b", "a"), hardlink("c", "b")],
        vec![whiteout("a"), whiteout("b")],
    ]);
    expect(&report, &[("/c", 10, 0)]);
}

#[test]
fn a_hard_link_with_a_size_has_no_body() {
    let mut link = hardlink("y", "x");
    link.claim = Some(10);
    let report = merged([vec![sized("x", 10), link, sized("z", 1)]]);
    assert_eq!(report.total("merged_bytes"), 11);
    assert_eq!(report.total("merged_files"), 3);
}

#[test]
fn names_that_differ_in_case_are_different() {
    let report = merged([vec![sized("a/Readme", 10), sized("a/README", 20)], vec![whiteout("a/readme")]]);
    expect(&report, &[("/a/README", 20, 0), ("/a/Readme", 10, 0)]);
}

#[test]
fn names_are_cleaned() {
    let report = merged([
        vec![dir("./"), sized("./a/x", 1), sized("/b//y", 2), sized("c/./z", 4)],
        vec![sized("a/x", 8), whiteout("./b/y"), whiteout("/c/z")],
    ]);
    expect(&report, &[("/a/x", 8, 1)]);
    assert_eq!(report.each("hides_bytes"), [0, 7]);
    assert_eq!(report.each("directories"), [1, 0]);
    assert_eq!(report.codes(), Vec::<&str>::new());
}

#[test]
fn names_that_leave_the_root_are_kept_inside() {
    let report = merged([vec![sized("../../etc/x", 1), sized("a/../../b", 2), sized("c/../d", 4)]]);
    expect(&report, &[("/b", 2, 0), ("/d", 4, 0), ("/etc/x", 1, 0)]);
    report.warnings("path-escapes");
}

#[test]
fn whiteouts_of_folders_from_inside_remove_nothing() {
    for name in [".wh.", ".wh..", ".wh..."] {
        let report = merged([vec![sized("a/b/x", 1)], vec![file(format!("a/b/{name}"), "")]]);
        expect(&report, &[("/a/b/x", 1, 0)]);
        assert_eq!((report.each("whiteouts")[1], report.each("files")[1]), (0, 1), "{name}");
        let told = report.json["warnings"].to_string();
        assert!(told.contains(&format!("a/b/{name} is a whiteout without the name of a file")), "{told}");
    }
}

#[test]
fn kinds_are_counted() {
    let report = merged([vec![
        dir("d"),
        file("f", "1"),
        member(0, "old").edit(0, "oldfile"),
        member(b'7', "contiguous"),
        symlink("s", "f"),
        hardlink("h", "f"),
        fifo("p"),
        character_device("c"),
        block_device("b"),
        member(b'V', "volume"),
        member(0, "olddir/").v7(),
        whiteout("gone"),
    ]]);
    let counts = |name: &str| report.each(name)[0];
    assert_eq!(counts("files"), 3);
    assert_eq!(counts("directories"), 2, "a name that ends in a slash is a folder in old headers");
    assert_eq!(counts("symlinks"), 1);
    assert_eq!(counts("hardlinks"), 1);
    assert_eq!(counts("others"), 4);
    assert_eq!(counts("whiteouts"), 1);
    assert_eq!(counts("entries"), 12);
}

#[test]
fn bodies_of_unknown_types_are_stepped_over() {
    let mut unknown = member(b'Z', "odd");
    unknown.body = vec![b'f'; 1500];
    let report = merged([vec![unknown, sized("after", 5)]]);
    expect(&report, &[("/after", 5, 0)]);
}

#[test]
fn long_names_are_joined() {
    let deep = format!("{}/{}", "d".repeat(120), "f".repeat(140));
    let prefix = format!("{}/{}", "p".repeat(90), "q".repeat(80));
    let report = merged([vec![
        sized(&deep, 1).long(Long::Pax),
        sized(&format!("g{deep}"), 2).long(Long::Gnu),
        sized(&prefix, 4).long(Long::Prefix),
        symlink("link", &deep).long(Long::Gnu),
        hardlink("hard", &deep).long(Long::Pax),
        whiteout("nothing"),
    ]]);
    assert_eq!(report.codes(), Vec::<&str>::new());
    let names: Vec<String> = view(&report).into_iter().map(|(path, ..)| path).collect();
    assert!(names.contains(&format!("/g{deep}")) && names.contains(&format!("/{prefix}")), "{names:?}");
    assert_eq!(report.total("merged_files"), 4);
}

#[test]
fn extended_headers_win_over_the_header() {
    let report = merged([vec![
        sized("wrong", 10).pax("path", "right"),
        file("big", vec![b'x'; 600]).claiming(0).pax("size", "600"),
        member(b'g', "global").pax("comment", "for all"),
        sized("last", 3),
    ]]);
    let names: Vec<String> = view(&report).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(names, ["/big", "/last", "/right"]);
    assert_eq!(report.total("merged_bytes"), 613);
}

#[test]
fn global_headers_are_no_entries_and_change_nothing() {
    let mut global = member(b'g', "pax_global_header");
    global.body = b"30 path=everything-is-this-\xc3\xa9\n19 size=123456789\n".to_vec();
    let report = merged([vec![global, sized("a", 5), sized("b", 6)]]);
    expect(&report, &[("/a", 5, 0), ("/b", 6, 0)]);
    assert_eq!(report.each("entries"), [2]);
}

#[test]
fn sparse_files_count_their_logical_size() {
    for parts in [1, 4, 5, 30] {
        let sparse = Sparse::regular(parts, 4096);
        let forms = [sparse.old_gnu("s"), sparse.pax_0_0("s"), sparse.pax_0_1("s"), sparse.pax_1_0("s")];
        for (form, member) in forms.into_iter().enumerate() {
            let report = merged([vec![member, sized("after", 5)]]);
            assert_eq!(
                view(&report),
                [("/after".to_owned(), 5, 0), ("/s".to_owned(), sparse.size, 0)],
                "form {form}, {parts} parts"
            );
            assert_eq!(report.total("content_bytes"), sparse.size + 5);
        }
    }
}

#[test]
fn base_256_numbers_are_read() {
    let mut member = sized("x", 700);
    member.base256 = true;
    expect(&merged([vec![member, sized("y", 1)]]), &[("/x", 700, 0), ("/y", 1, 0)]);
}

#[test]
fn names_that_are_not_text_are_shown_escaped() {
    let report =
        merged([vec![file(b"a/caf\xe9", "1"), file("a/back\\slash", "12"), file("a/new\nline", "123")]]);
    let names: Vec<String> = view(&report).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(names, ["/a/back\\\\slash", "/a/caf\\xe9", "/a/new\\x0aline"]);
}

#[test]
fn an_image_without_layers_or_with_empty_ones() {
    let report = merged([]);
    assert_eq!(report.total("merged_files"), 0);
    let report = merged([vec![], vec![sized("x", 1)], vec![]]);
    expect(&report, &[("/x", 1, 1)]);
}

/// One step of a generated layer; names are indexes into a small set so that they collide.
#[derive(Clone, Debug)]
pub enum Step {
    File(Vec<u8>, u16),
    Dir(Vec<u8>),
    Symlink(Vec<u8>),
    HardLink(Vec<u8>, Vec<u8>),
    Whiteout(Vec<u8>),
    Opaque(Vec<u8>),
}

pub type Path = Vec<u8>;

fn text(path: &[u8]) -> String {
    path.iter().map(|name| char::from(b'a' + name).to_string()).collect::<Vec<_>>().join("/")
}

impl Step {
    pub fn member(&self) -> Member {
        match self {
            Self::File(path, size) => sized(&text(path), usize::from(*size)),
            Self::Dir(path) => dir(text(path)),
            Self::Symlink(path) => symlink(text(path), "anywhere"),
            Self::HardLink(path, target) => hardlink(text(path), text(target)),
            Self::Whiteout(path) => whiteout(&text(path)),
            Self::Opaque(path) if path.is_empty() => file(".wh..wh..opq", ""),
            Self::Opaque(path) => opaque(&text(path)),
        }
    }
}

/// What the model has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Folder,
    File(usize),
    Other,
}

/// The naive model: a map from path to what is there, changed member by member.
#[derive(Default)]
struct Model {
    view: BTreeMap<Path, At>,
    /// Size and layer of every regular-file member.
    inodes: Vec<(u64, usize)>,
    wasted: Vec<u64>,
    hides: Vec<u64>,
    dangling: bool,
}

impl Model {
    fn apply(&mut self, layer: usize, steps: &[Step]) {
        self.wasted.push(0);
        self.hides.push(0);
        for step in steps {
            match step {
                Step::Whiteout(path) => self.remove(path, true, layer),
                Step::Opaque(path) => self.remove(path, false, layer),
                _ => {}
            }
        }
        for step in steps {
            match step {
                Step::File(path, size) => {
                    self.inodes.push((u64::from(*size), layer));
                    self.put(path, At::File(self.inodes.len() - 1), layer);
                }
                Step::Dir(path) => self.put(path, At::Folder, layer),
                Step::Symlink(path) => self.put(path, At::Other, layer),
                Step::HardLink(path, target) => match self.view.get(target).copied() {
                    Some(At::Folder) | None => self.dangling = true,
                    Some(found) => self.put(path, found, layer),
                },
                Step::Whiteout(_) | Step::Opaque(_) => {}
            }
        }
    }

    fn put(&mut self, path: &[u8], what: At, layer: usize) {
        for end in 1..path.len() {
            if self.view.get(&path[..end]) != Some(&At::Folder) {
                self.remove(&path[..end], true, layer);
                self.view.insert(path[..end].to_vec(), At::Folder);
            }
        }
        if what == At::Folder && self.view.get(path) == Some(&At::Folder) {
            return;
        }
        let old = self.view.insert(path.to_vec(), what);
        self.count(old, layer);
        self.remove(path, false, layer);
    }

    /// Removes what is below a path, and the path itself where `whole` says so.
    fn remove(&mut self, path: &[u8], whole: bool, layer: usize) {
        let gone: Vec<Path> = self
            .view
            .keys()
            .filter(|known| known.starts_with(path) && (whole || known.len() > path.len()))
            .cloned()
            .collect();
        for path in gone {
            let old = self.view.remove(&path);
            self.count(old, layer);
        }
    }

    /// Counts an inode whose last path has gone.
    fn count(&mut self, old: Option<At>, layer: usize) {
        if let Some(At::File(inode)) = old
            && !self.view.values().any(|at| *at == At::File(inode))
        {
            let (size, owner) = self.inodes[inode];
            self.wasted[owner] += size;
            self.hides[layer] += size;
        }
    }

    fn merged(&self) -> (u64, u64) {
        let files: Vec<usize> = self
            .view
            .values()
            .filter_map(|at| if let At::File(inode) = at { Some(*inode) } else { None })
            .collect();
        let mut once = files.clone();
        once.sort_unstable();
        once.dedup();
        (files.len() as u64, once.iter().map(|inode| self.inodes[*inode].0).sum())
    }
}

fn path() -> impl Strategy<Value = Path> {
    vec(0_u8..3, 1..4)
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (path(), 0_u16..2000).prop_map(|(path, size)| Step::File(path, size)),
        2 => path().prop_map(Step::Dir),
        1 => path().prop_map(Step::Symlink),
        3 => (path(), path()).prop_map(|(path, target)| {
            // A link above or below its own target is an image that no engine unpacks.
            if path.starts_with(&target) || target.starts_with(&path) { Step::Dir(path) } else { Step::HardLink(path, target) }
        }),
        2 => path().prop_map(Step::Whiteout),
        1 => prop_oneof![path(), Just(Vec::new())].prop_map(Step::Opaque),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_merged_view_is_the_model(layers in vec(vec(step(), 0..12), 1..5)) {
        let mut model = Model::default();
        for (index, steps) in layers.iter().enumerate() {
            model.apply(index, steps);
        }
        let tars = layers.iter().map(|steps| tar(steps.iter().map(Step::member)));
        let place = Place::new();
        let report = place.report(&place.put_layout("layout", &Layout::of(&Image::of(Packing::Plain, tars), "t")));
        let (files, bytes) = model.merged();
        assert_eq!(report.total("merged_files"), files);
        assert_eq!(report.total("merged_bytes"), bytes);
        assert_eq!(report.each("wasted_bytes"), model.wasted);
        assert_eq!(report.each("hides_bytes"), model.hides);
        assert_eq!(report.codes().contains(&"hard-link-dangling"), model.dangling);
    }
}
