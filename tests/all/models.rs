//! What the views show, as data.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::base::Limits;
use cutaway::gui::models::browser::{Browser, MissingTree};
use cutaway::gui::models::files::{
    FileMatches, FileSort, FileTree, FileTreeRows, Files, PathChange, PathDetails, Scope, SortKey,
};
use cutaway::gui::models::filter::Filter;
use cutaway::gui::models::layers::{LayerItem, LayerState, waiting_for};
use cutaway::gui::models::overview::{Contents, Overview};
use cutaway::gui::models::treemap::{Area, CellKind, Treemap, squarify};
use cutaway::jobs::{CancelToken, Progress, Waker};
use cutaway::layer::{EntryKind, IndexBuilder, LayerIndex, NewEntry};
use cutaway::rootfs::{Merge, PathId, Timeline, merge, replaced};
use cutaway::source::Reference;
use proptest::prelude::{ProptestConfig, Strategy, prop_oneof, proptest};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, dir, file, hardlink, opaque, symlink, tar, whiteout};
use crate::support::Place;

/// Every stage of the analysis of `reference`, the last one whole.
fn stages(reference: &str) -> Vec<Arc<Analysis>> {
    let stages = std::sync::Mutex::new(Vec::new());
    let reference = Reference::parse(reference).unwrap();
    let publish = |stage| stages.lock().unwrap().push(stage);
    analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &publish).unwrap();
    stages.into_inner().unwrap()
}

pub(crate) fn analysis(reference: &str) -> Arc<Analysis> {
    stages(reference).pop().unwrap()
}

/// The analysis of an image of these layers.
pub(crate) fn layers<const N: usize>(layers: [Vec<Member>; N]) -> Arc<Analysis> {
    let place = Place::new();
    analysis(&place.put_layout("layout", &Layout::of(&Image::of(Packing::Plain, layers.map(tar)), "t")))
}

fn indexes(analysis: &Analysis) -> Vec<Arc<LayerIndex>> {
    analysis.layers.iter().map(|layer| Arc::clone(&layer.read.as_ref().unwrap().index)).collect()
}

fn timeline(analysis: &Analysis) -> Arc<Timeline> {
    Arc::new(Timeline::new(&indexes(analysis)))
}

fn tree(timeline: &Arc<Timeline>, scope: Scope) -> FileTree {
    FileTree::new(Arc::clone(timeline), scope, true, &CancelToken::new()).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything a tree shows: path, sign, whether it is hidden, bytes, files.
fn listing(tree: &FileTree) -> Vec<(String, &'static str, bool, u64, u32)> {
    let timeline = tree.timeline();
    let mut list: Vec<_> = timeline
        .paths()
        .skip(1)
        .filter(|path| tree.shows(*path))
        .map(|path| {
            let sign = tree.mark(path).sign();
            let shown = text(&timeline.full_path(path));
            (shown, sign, tree.is_hidden(path), tree.bytes(path), tree.files(path))
        })
        .collect();
    list.sort();
    list
}

pub(crate) fn sized(name: &str, bytes: usize) -> Member {
    file(name, vec![b'x'; bytes])
}

pub(crate) fn three_layers() -> Arc<Analysis> {
    layers([
        vec![
            dir("a"),
            sized("a/old", 10),
            sized("a/kept", 20),
            sized("a/gone", 30),
            dir("deep"),
            sized("deep/x", 5),
        ],
        vec![dir("a"), sized("a/old", 11), whiteout("a/gone"), sized("a/new", 40), whiteout("deep")],
        vec![sized("a/new", 1), symlink("link", "a/new")],
    ])
}

#[test]
fn a_layer_alone_shows_what_it_brings_and_removes() {
    let timeline = timeline(&three_layers());
    assert_eq!(
        listing(&tree(&timeline, Scope::Layer(1))),
        [
            ("/a".into(), "·", false, 51, 2),
            ("/a/gone".into(), "−", false, 30, 1),
            ("/a/new".into(), "+", true, 40, 1),
            ("/a/old".into(), "~", false, 11, 1),
            ("/deep".into(), "−", false, 5, 1),
            ("/deep/x".into(), "−", false, 5, 1),
        ]
    );
    let bottom = listing(&tree(&timeline, Scope::Layer(0)));
    let hidden: Vec<_> = bottom.iter().filter(|row| row.2).map(|row| row.0.as_str()).collect();
    assert_eq!(hidden, ["/a/gone", "/a/old", "/deep", "/deep/x"]);
    assert!(bottom.iter().all(|row| row.1 == "+"));
}

#[test]
fn the_merged_view_shows_all_and_what_the_layer_removes() {
    let timeline = timeline(&three_layers());
    assert_eq!(
        listing(&tree(&timeline, Scope::Merged(1))),
        [
            ("/a".into(), "·", false, 71, 3),
            ("/a/gone".into(), "−", false, 30, 1),
            ("/a/kept".into(), "", false, 20, 1),
            ("/a/new".into(), "+", true, 40, 1),
            ("/a/old".into(), "~", false, 11, 1),
            ("/deep".into(), "−", false, 5, 1),
            ("/deep/x".into(), "−", false, 5, 1),
        ]
    );
    let last = tree(&timeline, Scope::Merged(2));
    assert_eq!(last.bytes(PathId::ROOT), 32);
    assert!(listing(&last).iter().all(|row| !row.0.contains("gone") && !row.2));
}

#[test]
fn a_folder_that_is_named_again_is_changed_only_with_its_mode_or_owner() {
    let analysis = layers([
        vec![dir("a"), dir("b"), dir("c"), sized("c/x", 1)],
        vec![dir("a"), dir("b").mode(0o700), dir("c").owned_by(7, 7), sized("c/y", 1)],
    ]);
    let timeline = timeline(&analysis);
    let signs: Vec<_> =
        listing(&tree(&timeline, Scope::Merged(1))).into_iter().map(|row| (row.0, row.1)).collect();
    let expected = [("/a", ""), ("/b", "~"), ("/c", "~"), ("/c/x", ""), ("/c/y", "+")];
    assert_eq!(signs, expected.map(|(path, sign)| (path.to_owned(), sign)));
    assert!(!tree(&timeline, Scope::Layer(0)).is_hidden(timeline.find(b"/a").unwrap()));
}

#[test]
fn a_path_that_comes_back_is_added_again() {
    let analysis = layers([vec![sized("x", 3)], vec![whiteout("x")], vec![sized("x", 4)]]);
    let timeline = timeline(&analysis);
    let x = timeline.find(b"/x").unwrap();
    assert_eq!(tree(&timeline, Scope::Merged(0)).mark(x), PathChange::Added);
    assert_eq!(tree(&timeline, Scope::Merged(1)).mark(x), PathChange::Removed);
    let last = tree(&timeline, Scope::Merged(2));
    assert_eq!((last.mark(x), last.bytes(x)), (PathChange::Added, 4));
    let details = PathDetails::new(&last, x);
    let touches: Vec<_> = details.touches.iter().map(|touch| (touch.layer, touch.what.as_str())).collect();
    assert_eq!(touches, [(0, "added"), (1, "removed"), (2, "added")]);
    let first = tree(&timeline, Scope::Layer(0));
    assert_eq!(first.hidden_by(x), Some(1));
    assert_eq!(PathDetails::new(&first, x).fate.as_deref(), Some("Removed by layer 1"));
}

#[test]
fn details_say_what_each_layer_did() {
    let analysis = layers([
        vec![file("bin/tool", b"12345".as_slice()).mode(0o644).owned_by(0, 0), symlink("l", "bin/tool")],
        vec![
            file("bin/tool", b"12345".as_slice()).mode(0o4755).owned_by(10, 20),
            hardlink("again", "bin/tool"),
        ],
        vec![dir("l")],
    ]);
    let timeline = timeline(&analysis);
    let last = tree(&timeline, Scope::Merged(2));
    let details = PathDetails::new(&last, timeline.find(b"/bin/tool").unwrap());
    let fact = |details: &PathDetails, name: &str| {
        details.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.clone()).unwrap_or_default()
    };
    assert_eq!(details.shown_path, "/bin/tool");
    assert_eq!(fact(&details, "Kind"), "File");
    assert_eq!(fact(&details, "Size"), "5 B");
    assert_eq!(fact(&details, "Mode"), "-rwsr-xr-x (4755)");
    assert_eq!(fact(&details, "Owner"), "10:20");
    assert_eq!(fact(&details, "Modified"), "2026-01-02 03:04:05 UTC");
    assert_eq!(details.touches[1].what, "replaced: mode 644 → 4755, owner 0:0 → 10:20");
    assert_eq!(details.touches[1].bytes, Some(5));
    let again = PathDetails::new(&last, timeline.find(b"/again").unwrap());
    assert_eq!(fact(&again, "Kind"), "File (hard link)");
    assert_eq!(fact(&again, "Hard link to"), "/bin/tool");
    assert_eq!(fact(&again, "Owner"), "10:20");
    let link = PathDetails::new(&last, timeline.find(b"/l").unwrap());
    assert_eq!(link.touches.last().unwrap().what, "replaced by a folder");
}

#[test]
fn trees_of_the_sample_sum_up_to_its_figures() {
    let analysis = analysis("sample:devel");
    let timeline = timeline(&analysis);
    for (place, layer) in analysis.layers.iter().enumerate() {
        let alone = tree(&timeline, Scope::Layer(u16::try_from(place).unwrap()));
        assert_eq!(alone.bytes(PathId::ROOT), layer.counts().unwrap().content_bytes, "layer {place}");
    }
    let last = tree(&timeline, Scope::Merged(19));
    let totals = analysis.totals().unwrap();
    assert_eq!(last.bytes(PathId::ROOT), totals.merged_bytes);
    assert_eq!(u64::from(last.files(PathId::ROOT)), totals.merged_files);
}

/// Entries of one layer for the property test: what, where, how large.
type Script = Vec<(u8, usize, usize, u64)>;

const NAMES: [&str; 9] = ["a", "b", "a/x", "a/y", "b/x", "a/x/p", "a/x/q", "b/x/p", "c"];

fn script() -> impl Strategy<Value = Vec<Script>> {
    let entry = (0..7_u8, 0..NAMES.len(), 0..NAMES.len(), 1..50_u64);
    proptest::collection::vec(proptest::collection::vec(entry, 0..8), 1..5)
}

fn build(script: &Script) -> Arc<LayerIndex> {
    let mut builder = IndexBuilder::new(&Limits::default());
    for (what, at, to, size) in script {
        let kind = match what {
            0 | 1 => EntryKind::File,
            2 => EntryKind::Directory,
            3 => EntryKind::Symlink,
            4 => EntryKind::HardLink,
            _ => EntryKind::Other,
        };
        let path = NAMES[*at];
        let (above, name) = path.rsplit_once('/').map_or(("", path), |(above, name)| (above, name));
        let path = match what {
            5 => format!("{above}/.wh.{name}"),
            6 => format!("{path}/.wh..wh..opq"),
            _ => path.to_owned(),
        };
        let entry = NewEntry {
            kind,
            size: *size,
            mode: 0,
            uid: 0,
            gid: 0,
            mtime: 0,
            link: NAMES[*to].as_bytes(),
            body_at: None,
        };
        builder.add_path(path.as_bytes(), entry).unwrap();
    }
    Arc::new(builder.finish())
}

/// All that a merge says, without the order of tables.
fn described(merged: &Merge) -> String {
    let view = &merged.rootfs;
    let nodes: Vec<_> = view
        .nodes()
        .map(|node| {
            (text(&node.path()), node.kind(), node.entry(), node.content(), node.bytes(), node.files())
        })
        .collect();
    let shared: Vec<_> =
        view.shared_files().map(|(node, inode)| (node, inode, view.names(inode.0, inode.1))).collect();
    let copied: Vec<_> = replaced(view).collect();
    format!("{nodes:?} {shared:?} {:?} {copied:?} {:?}", view.hidden(), merged.waste)
}

/// A file whose first name was replaced by a second name of itself; a later layer takes another name away.
#[test]
fn a_name_that_is_gone_does_not_take_the_bytes_of_one_that_is_there() {
    let scripts: [Script; 3] =
        [vec![(0, 2, 0, 1)], vec![(0, 7, 0, 1), (4, 6, 7, 1), (4, 7, 6, 1)], vec![(0, 0, 0, 1)]];
    let indexes: Vec<_> = scripts.iter().map(build).collect();
    let merged = merge(&indexes, &[], 0);
    let state = tree(&Arc::new(Timeline::new(&indexes)), Scope::Merged(2));
    assert_eq!(state.bytes(PathId::ROOT), merged.merged_bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_state_of_the_timeline_is_the_merge_up_to_there(scripts in script()) {
        let indexes: Vec<_> = scripts.iter().map(build).collect();
        let timeline = Arc::new(Timeline::new(&indexes));
        for last in 0..indexes.len() {
            let merged = merge(&indexes[..=last], &[], 0);
            // A view from the cache is the same, whatever the layers did.
            if let Some(bytes) = merged.to_bytes() {
                let again = Merge::from_bytes(&bytes, &indexes[..=last]).unwrap();
                assert_eq!(described(&again), described(&merged));
            }
            let expected: BTreeMap<_, _> =
                merged.rootfs.nodes().skip(1).map(|node| (text(&node.path()), node.kind())).collect();
            let layer = u16::try_from(last).unwrap();
            let state = tree(&timeline, Scope::Merged(layer));
            let found: BTreeMap<_, _> = timeline
                .paths()
                .skip(1)
                .filter(|path| state.shows(*path) && state.mark(*path) != PathChange::Removed)
                .map(|path| (text(&timeline.full_path(path)), state.version(path).unwrap().kind))
                .collect();
            assert_eq!(found, expected);
            assert_eq!(state.bytes(PathId::ROOT), merged.merged_bytes);
            assert_eq!(u64::from(state.files(PathId::ROOT)), merged.merged_files);
            let alone = tree(&timeline, Scope::Layer(layer));
            let root_files: u64 = indexes[last]
                .entries()
                .filter(|entry| indexes[last].name(*entry).is_empty())
                .map(|entry| indexes[last].size(entry))
                .sum();
            assert_eq!(alone.bytes(PathId::ROOT), indexes[last].counts().content_bytes - root_files);
        }
    }

    #[test]
    fn rows_changed_in_place_are_those_made_anew(scripts in script(), clicks in proptest::collection::vec(0..12_usize, 0..12)) {
        let indexes: Vec<_> = scripts.iter().map(build).collect();
        let timeline = Arc::new(Timeline::new(&indexes));
        let tree = tree(&timeline, Scope::Merged(0));
        let mut rows = FileTreeRows::new(&tree, None, FileSort::default(), HashSet::new());
        for row in clicks {
            if !rows.open_at(row, &tree, None) {
                rows.close_at(row);
            }
            let anew = FileTreeRows::new(&tree, None, FileSort::default(), rows.open().clone());
            assert_eq!(rows.as_slice(), anew.as_slice());
        }
    }

    #[test]
    fn a_treemap_fills_its_area(sizes in proptest::collection::vec(prop_oneof![0..5_u64, 1..1_000_000_u64], 1..60)) {
        let mut sizes = sizes;
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let whole = Area { x: 3.0, y: 5.0, width: 300.0, height: 180.0 };
        let total: u64 = sizes.iter().sum();
        let areas = squarify(&sizes, whole);
        if total > 0 {
            assert_eq!(areas.len(), sizes.len());
        }
        for (area, size) in areas.iter().zip(&sizes) {
            let expected = *size as f32 / total as f32 * 300.0 * 180.0;
            assert!((area.width * area.height - expected).abs() < 1.0 + expected * 0.01, "{area:?} for {size} of {total}");
            assert!(area.x >= 2.9 && area.y >= 4.9 && area.x + area.width <= 303.1 && area.y + area.height <= 185.1, "{area:?}");
        }
    }
}

fn names(tree: &FileTree, rows: &FileTreeRows) -> Vec<String> {
    let line = |row: &cutaway::gui::models::files::FileTreeRow| {
        format!("{}{}", "  ".repeat(usize::from(row.depth)), text(tree.timeline().name(row.path)))
    };
    rows.as_slice().iter().map(line).collect()
}

fn some_files() -> (Arc<Timeline>, FileTree) {
    let analysis = layers([vec![
        sized("lib/libtorch.so", 3_000),
        sized("lib/libtorch.so.2", 2_000),
        sized("lib/README.md", 10),
        sized("lib/deep/Notes.txt", 700),
        sized("bin/tool", 40),
        sized("zero", 0),
    ]]);
    let timeline = timeline(&analysis);
    let tree = tree(&timeline, Scope::Merged(0));
    (timeline, tree)
}

#[test]
fn size_comes_first_and_heads_turn_the_order() {
    let (timeline, tree) = some_files();
    let open = HashSet::from([timeline.find(b"/lib").unwrap()]);
    let by = |sort| names(&tree, &FileTreeRows::new(&tree, None, sort, open.clone()));
    let sort = FileSort::default();
    let sized = ["lib", "  libtorch.so", "  libtorch.so.2", "  deep", "  README.md", "bin", "zero"];
    assert_eq!(by(sort), sized);
    let name = sort.clicked(SortKey::Name);
    assert_eq!(by(name), ["bin", "lib", "  README.md", "  deep", "  libtorch.so", "  libtorch.so.2", "zero"]);
    assert_eq!(by(name.clicked(SortKey::Name))[0], "zero");
    let files = by(name.clicked(SortKey::Files));
    assert_eq!(files[..2], ["lib", "  libtorch.so"]);
    assert_eq!(by(sort.clicked(SortKey::Size))[0], "zero");
    let rows = FileTreeRows::new(&tree, None, sort, open);
    assert_eq!(rows.parent_of(3), Some(0));
    assert_eq!(rows.parent_of(0), None);
}

fn found(tree: &FileTree, filter: &str, regex: bool) -> (Vec<String>, FileMatches) {
    let query = Filter::<Files>::parse_as(filter, regex).unwrap();
    let found = FileMatches::new(tree, &query, &CancelToken::new()).unwrap();
    let mut paths: Vec<_> = tree
        .timeline()
        .paths()
        .filter(|path| found.matches(*path))
        .map(|path| text(&tree.timeline().full_path(path)))
        .collect();
    paths.sort();
    assert_eq!(paths.len(), found.count());
    (paths, found)
}

#[test]
fn filters_find_by_glob_part_path_size_and_expression() {
    let (_, tree) = some_files();
    let cases: [(&str, bool, &[&str]); 13] = [
        ("*.so", false, &["/lib/libtorch.so"]),
        ("*.so*", false, &["/lib/libtorch.so", "/lib/libtorch.so.2"]),
        ("torch", false, &["/lib/libtorch.so", "/lib/libtorch.so.2"]),
        ("readme", false, &["/lib/README.md"]),
        ("Readme", false, &[]),
        ("notes.?[xt]t", false, &["/lib/deep/Notes.txt"]),
        ("lib/*.md", false, &["/lib/README.md"]),
        ("/lib/**.txt", false, &["/lib/deep/Notes.txt"]),
        ("size:>1k", false, &["/lib/libtorch.so", "/lib/libtorch.so.2"]),
        ("size:>1k size:<=2000 torch", false, &["/lib/libtorch.so.2"]),
        ("size:=0", false, &["/zero"]),
        (r"\.so(\.\d+)*$", true, &["/lib/libtorch.so", "/lib/libtorch.so.2"]),
        (r"^/lib/[^/]+\.(md|txt)$ size:<1M", true, &["/lib/README.md"]),
    ];
    for (filter, regex, expected) in cases {
        assert_eq!(found(&tree, filter, regex).0, expected, "{filter}");
    }
    assert!(Filter::<Files>::parse("  ").unwrap().is_empty());
    for (filter, regex) in [("size:>x", false), ("size:~3", false), ("is:blue", false), ("(", true)] {
        let message = Filter::<Files>::parse_as(filter, regex).unwrap_err().to_string();
        assert!(!message.contains('\n') && message.len() > 10, "{message}");
    }
}

#[test]
fn a_filter_keeps_the_way_to_what_it_found() {
    let (timeline, tree) = some_files();
    let (_, notes) = found(&tree, "notes", false);
    let rows = FileTreeRows::new(&tree, Some(&notes), FileSort::default(), HashSet::new());
    // A folder with nothing but the next one shares its row.
    assert_eq!(names(&tree, &rows), ["deep", "  Notes.txt"]);
    assert_eq!((notes.count(), notes.bytes()), (1, 700));
    assert!(!notes.matches(timeline.find(b"/lib").unwrap()));
    // A folder that matches keeps what is in it, closed.
    let (_, deep) = found(&tree, "deep", false);
    let mut rows = FileTreeRows::new(&tree, Some(&deep), FileSort::default(), HashSet::new());
    assert_eq!(names(&tree, &rows), ["deep"]);
    assert!(rows.open_at(0, &tree, Some(&deep)));
    assert_eq!(names(&tree, &rows), ["deep", "  Notes.txt"]);
    assert_eq!(deep.bytes(), 700);
}

#[test]
fn filters_by_state() {
    let timeline = timeline(&three_layers());
    let tree = tree(&timeline, Scope::Merged(1));
    assert_eq!(found(&tree, "is:removed", false).0, ["/a/gone", "/deep/x"]);
    assert_eq!(found(&tree, "is:added", false).0, ["/a/new"]);
    assert_eq!(found(&tree, "is:changed", false).0, ["/a/old"]);
    assert_eq!(found(&tree, "is:shadowed", false).0, ["/a/new"]);
}

#[test]
fn the_treemap_nests_and_joins_chains() {
    let analysis =
        layers([vec![sized("one/two/three/big", 9_000), sized("one/two/three/small", 500), sized("x", 600)]]);
    let timeline = timeline(&analysis);
    let tree = tree(&timeline, Scope::Merged(0));
    let map = Treemap::new(&tree, PathId::ROOT, 400.0, 300.0);
    let inner = timeline.find(b"/one/two/three").unwrap();
    let folder = map.cells.iter().find(|cell| cell.kind == CellKind::Folder(inner)).unwrap();
    assert_eq!(folder.top, timeline.find(b"/one").unwrap());
    let big = timeline.find(b"/one/two/three/big").unwrap();
    let cell = map.cells.iter().find(|cell| cell.kind == CellKind::Whole(big)).unwrap();
    let middle = (cell.area.x + cell.area.width / 2.0, cell.area.y + cell.area.height / 2.0);
    assert_eq!(map.at(middle.0, middle.1).unwrap().path(), big);
    assert!(folder.area.contains(middle.0, middle.1));
    assert!(Treemap::new(&tree, PathId::ROOT, 0.0, 300.0).cells.is_empty());
}

#[test]
fn the_treemap_fills_every_folder() {
    let small = |folder: u32, file: u32| sized(&format!("d{folder}/f{file}"), 100);
    // Folders beyond the number of cells, folders of files that are too small to be seen, and one flat folder.
    for (folders, files) in [(16, 200), (40, 300), (4, 1_500), (1, 1_500)] {
        let members =
            (0..folders).flat_map(|folder| (0..files).map(move |file| small(folder, file))).collect();
        let timeline = timeline(&layers([members]));
        let tree = tree(&timeline, Scope::Merged(0));
        let map = Treemap::new(&tree, PathId::ROOT, 800.0, 500.0);
        let size = |area: &Area| area.width * area.height;
        let sum = |kind: fn(&CellKind) -> bool| -> f32 {
            map.cells.iter().filter(|cell| kind(&cell.kind)).map(|cell| size(&cell.area)).sum()
        };
        let whole = sum(|kind| matches!(kind, CellKind::Whole(_)));
        let rest = sum(|kind| matches!(kind, CellKind::Rest(..)));
        assert!(whole > 0.5 * 800.0 * 500.0, "{folders} folders of {files}: {whole}");
        assert!(rest < 0.25 * 800.0 * 500.0, "{folders} folders of {files}: {rest}");
        assert!(map.cells.len() < 6_000, "{}", map.cells.len());
    }
}

#[test]
fn layers_are_listed_with_their_state() {
    let stages = stages("sample:devel");
    let first = LayerItem::all(&stages[0], false);
    assert!(first.iter().all(|item| item.state == LayerState::Waiting && item.compressed.is_some()));
    assert_eq!(waiting_for(&first).as_deref(), Some("all 20 layers"));
    assert!(LayerItem::all(&stages[0], true).iter().all(|item| item.state == LayerState::Stopped));
    let last = LayerItem::all(stages.last().unwrap(), true);
    assert!(last.iter().all(|item| item.state == LayerState::Ready && item.wasted.is_some()));
    assert!(last.iter().all(|item| !item.title.contains("/bin/sh -c")), "{last:#?}");
    assert!(last.iter().all(|item| !item.instruction.contains('\n')));
}

#[test]
fn a_layer_that_cannot_be_read_says_so() {
    let place = Place::new();
    let mut image =
        Image::of(Packing::Plain, [tar([sized("a", 3)]), tar([sized("b", 3)]), tar([sized("c", 3)])]);
    image.layers[1].stored = false;
    let blob = &mut image.layers[2].blob;
    blob.truncate(700);
    let analysis = analysis(&place.put_layout("layout", &Layout::of(&image, "t")));
    let items = LayerItem::all(&analysis, true);
    assert_eq!(items[0].state, LayerState::Ready);
    assert!(matches!(&items[1].state, LayerState::Failed(why) if !why.is_empty()), "{:?}", items[1]);
    assert!(items[2].state.fault().is_some(), "{:?}", items[2]);
    assert_eq!((items[1].content, items[1].wasted), (None, None), "unknown is not zero");
    assert!(items[1].spoken().contains("failed"));
    let overview = Overview::new(&analysis, true);
    assert!(overview.incomplete);
    assert!(overview.sentence.starts_with("The "), "{}", overview.sentence);
    let mut browser = Browser::default();
    update(&mut browser, &analysis, 1, true);
    assert_eq!(browser.gap(), None, "what is there is shown");
    browser.select_layer(1);
    browser.set_merged(false);
    update(&mut browser, &analysis, 1, true);
    assert!(matches!(browser.gap(), Some(MissingTree::LayerFailed(_))));
}

#[test]
fn the_overview_says_what_it_waits_for() {
    let stages = stages("sample:devel");
    let early = Overview::new(&stages[0], false);
    assert_eq!(early.waits_for.as_deref(), Some("all 20 layers"));
    assert!(early.totals.is_none() && early.compressed.is_some() && !early.settings.is_empty());
    assert!(early.sentence.ends_with("compressed."), "{}", early.sentence);
    let late = Overview::new(stages.last().unwrap(), true);
    assert_eq!(late.waits_for, None);
    assert!(!late.incomplete);
    for word in ["compressed", "merged view", "wasted"] {
        assert!(late.sentence.contains(word), "{}", late.sentence);
    }
    assert_eq!(late.name, "example.org/vision-service:devel");
    let env = late.settings.iter().find(|setting| setting.name == "Environment").unwrap();
    assert!(env.lines.iter().any(|line| line == "HF_TOKEN=<redacted>"), "{env:#?}");
}

#[test]
fn the_overview_lists_what_is_largest_and_what_is_wasted() {
    let analysis = layers([
        vec![
            sized("opt/app/models/a.bin", 5_000),
            sized("opt/app/models/b.bin", 4_000),
            sized("usr/lib/x.so", 800),
            sized("usr/share/doc", 300),
        ],
        vec![sized("opt/app/models/a.bin", 5_001), whiteout("usr/share/doc")],
    ]);
    let contents = Contents::new(analysis.merge.as_ref().unwrap());
    let files: Vec<_> =
        contents.files.iter().map(|item| (item.shown.as_str(), item.bytes, item.layer)).collect();
    assert_eq!(
        files,
        [("/opt/app/models/a.bin", 5_001, 1), ("/opt/app/models/b.bin", 4_000, 0), ("/usr/lib/x.so", 800, 0)]
    );
    let folders: Vec<_> = contents.folders.iter().map(|item| (item.shown.as_str(), item.bytes)).collect();
    assert_eq!(folders, [("/opt/app/models", 9_001), ("/usr/lib", 800)]);
    let waste: Vec<_> = contents
        .waste
        .iter()
        .map(|item| (item.shown.as_str(), item.bytes, item.held_by, item.hidden_by))
        .collect();
    assert_eq!(waste, [("/opt/app/models/a.bin", 5_000, 0, 1), ("/usr/share/doc", 300, 0, 1)]);
    assert_eq!((contents.pairs.len(), contents.pairs[0].bytes, contents.pairs[0].files), (1, 5_300, 2));
    let empty = layers([vec![]]);
    assert!(Contents::new(empty.merge.as_ref().unwrap()).files.is_empty());
    assert!(Overview::new(&empty, true).sentence.contains("no wasted bytes"));
}

fn update(browser: &mut Browser, analysis: &Analysis, generation: u64, done: bool) {
    let waker: Waker = Arc::new(|| {});
    // Each update takes in what the one before set off.
    for _ in 0..200 {
        browser.update(analysis, generation, done, &waker);
        if !browser.is_busy() && browser.gap() != Some(MissingTree::Working) {
            browser.update(analysis, generation, done, &waker);
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the browser does not come to rest: {:?}", browser.gap());
}

#[test]
fn the_browser_follows_the_stages() {
    let stages = stages("sample:devel");
    let mut browser = Browser::default();
    let waker: Waker = Arc::new(|| {});
    browser.update(&stages[0], 1, false, &waker);
    assert_eq!(browser.layer(), Some(19), "the whole image to begin with");
    assert_eq!(browser.gap(), Some(MissingTree::LayersWait("all 20 layers".into())));
    browser.select_layer(0);
    browser.set_merged(false);
    browser.update(&stages[0], 1, false, &waker);
    assert_eq!(browser.gap(), Some(MissingTree::LayerWaits));
    // One layer that is ready can be seen alone, without marks unless it is the lowest.
    let stage = stages.iter().find(|stage| (1..19).contains(&stage.layers_done())).unwrap();
    let ready = stage.layers.iter().position(cutaway::analysis::Layer::is_done).unwrap();
    browser.select_layer(ready);
    update(&mut browser, stage, 2, false);
    assert_eq!(browser.gap(), None);
    let tree = &browser.shown().unwrap().tree;
    assert_eq!(tree.bytes(PathId::ROOT), stage.layers[ready].counts().unwrap().content_bytes);
    assert_eq!(ready == 0, listing(tree).iter().any(|row| !row.1.is_empty()));
    let open: Vec<_> = tree.timeline().paths().take(1).collect();
    assert_eq!(open, [PathId::ROOT]);
    browser.open_row(0);
    browser.select_row(0);
    let chosen = browser.details().unwrap().raw_path.clone();
    let last = stages.last().unwrap();
    update(&mut browser, last, 3, true);
    assert_eq!(browser.details().unwrap().raw_path, chosen, "what was chosen stays chosen");
    let first = browser.rows().unwrap().as_slice()[0].path;
    assert!(browser.rows().unwrap().is_open(first), "what was open stays open");
}

#[test]
fn the_browser_goes_to_a_path_wherever_it_is_shown() {
    let analysis = three_layers();
    let mut browser = Browser::default();
    update(&mut browser, &analysis, 1, true);
    browser.set_filter("nothing like it", false);
    browser.select_path(b"/a/kept".to_vec());
    update(&mut browser, &analysis, 1, true);
    update(&mut browser, &analysis, 1, true);
    assert_eq!(browser.details().unwrap().shown_path, "/a/kept");
    assert_eq!(browser.filter(), ("", false), "a filter that hides it is cleared");
    assert!(browser.selected_row().is_some() && browser.take_reveal());
    // A wasted file is shown in its layer.
    browser.select_layer(0);
    browser.set_merged(false);
    browser.select_path(b"/deep/x".to_vec());
    update(&mut browser, &analysis, 1, true);
    update(&mut browser, &analysis, 1, true);
    assert_eq!(browser.details().unwrap().fate.as_deref(), Some("Removed by layer 1"));
    // From a layer that does not show it, the whole image comes to the front.
    browser.select_layer(2);
    browser.select_path(b"/a/kept".to_vec());
    update(&mut browser, &analysis, 1, true);
    update(&mut browser, &analysis, 1, true);
    assert!(browser.is_merged());
    assert_eq!(browser.details().unwrap().shown_path, "/a/kept");
    browser.select_path(b"/no/such/path".to_vec());
    update(&mut browser, &analysis, 1, true);
    assert_eq!(browser.details().unwrap().shown_path, "/a/kept");
}

/// An analysis of one layer of so many files, 100 in a folder.
pub(crate) fn wide(files: u32) -> Arc<Analysis> {
    let mut analysis = Analysis::clone(&layers([vec![sized("x", 1)]]));
    let mut builder = IndexBuilder::new(&Limits::default());
    for number in 0..files {
        let path = format!("folder-{:05}/file-{number:07}", number / 100);
        let entry = NewEntry {
            body_at: None,
            kind: EntryKind::File,
            size: u64::from(number),
            mode: 0o644,
            uid: 0,
            gid: 0,
            mtime: 0,
            link: b"",
        };
        builder.add_path(path.as_bytes(), entry).unwrap();
    }
    let mut read = analysis.layers[0].read.as_deref().unwrap().clone();
    read.index = Arc::new(builder.finish());
    let merged = merge(&[Arc::clone(&read.index)], &[], 0);
    analysis.layers[0].read = Some(Arc::new(read));
    analysis.merge = Some(Arc::new(merged));
    Arc::new(analysis)
}

#[test]
fn a_large_image_is_worked_on_in_the_background() {
    let analysis = wide(40_000);
    let mut browser = Browser::default();
    let waker: Waker = Arc::new(|| {});
    browser.update(&analysis, 1, true, &waker);
    assert_eq!(browser.gap(), Some(MissingTree::Working));
    assert!(browser.is_busy());
    update(&mut browser, &analysis, 1, true);
    assert_eq!(browser.rows().unwrap().len(), 400);
    browser.set_filter("file-00012*", false);
    browser.update(&analysis, 1, true, &waker);
    assert_eq!(browser.rows().unwrap().len(), 400, "the last result stays until the next is there");
    update(&mut browser, &analysis, 1, true);
    assert_eq!(browser.shown().unwrap().found.as_ref().unwrap().count(), 100);
    assert_eq!(browser.rows().unwrap().len(), 101);
}

#[test]
fn opaque_folders_show_what_they_hide() {
    let analysis = layers([vec![sized("d/a", 3), sized("d/b", 4)], vec![opaque("d"), sized("d/c", 5)]]);
    let timeline = timeline(&analysis);
    let rows = listing(&tree(&timeline, Scope::Layer(1)));
    let signs: Vec<_> = rows.iter().map(|row| (row.0.as_str(), row.1)).collect();
    assert_eq!(signs, [("/d", "·"), ("/d/a", "−"), ("/d/b", "−"), ("/d/c", "+")]);
    assert_eq!(rows[0].3, 5);
}
