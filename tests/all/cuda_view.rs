//! The CUDA view: what it makes of an inventory, and how people meet it.

pub(crate) mod scene;

use std::collections::BTreeSet;
use std::sync::Arc;

use cutaway::analysis::Analysis;
use cutaway::cuda::catalog::Catalog;
use cutaway::cuda::{Inventory, Supplier};
use cutaway::gui::models::cuda::{
    CodeTarget, CudaModel, DuplicateGroup, DuplicateRows, LibraryColumn, LibraryDetails, LibraryRows,
    LibrarySort, LinkState, LinkTarget,
};
use cutaway::gui::models::grouped::GroupedRow;
use cutaway::gui::models::layers::LayerItem;
use cutaway::gui::models::stack::{ClassItem, Side, Stack};
use cutaway::gui::views::{Action, ImageView as _, View};
use cutaway::rootfs::Rootfs;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::models::{layers, sized};
use crate::view_stage::{Stage, actions, click, press, selected, tab};

const SITE: &str = "/usr/lib/python3/dist-packages";

/// The analysis of the scene with an inventory of its own.
pub(crate) fn with(change: impl FnOnce(&mut Inventory)) -> Arc<Analysis> {
    let files = scene::files().map(|paths| paths.iter().map(|path| sized(path, 8)).collect());
    let mut analysis = Analysis::clone(&layers(files));
    let mut inventory = scene::inventory(rootfs(&analysis));
    change(&mut inventory);
    analysis.inventory = Some(Arc::new(inventory));
    Arc::new(analysis)
}

fn rootfs(analysis: &Analysis) -> &Rootfs {
    &analysis.merge.as_ref().unwrap().rootfs
}

fn model(analysis: &Analysis) -> CudaModel {
    let inventory = analysis.inventory.as_ref().unwrap();
    CudaModel::new(inventory, rootfs(analysis), CodeTarget::all(Catalog::builtin()))
}

fn details(analysis: &Analysis, path: &str) -> LibraryDetails {
    let model = model(analysis);
    let library = model.find(path.as_bytes()).unwrap_or_else(|| panic!("no {path}"));
    let items = LayerItem::all(analysis, true);
    let inventory = analysis.inventory.as_ref().unwrap();
    LibraryDetails::new(&model, inventory, rootfs(analysis), &items, library).unwrap()
}

/// File names of the rows, groups in brackets.
fn names(model: &CudaModel, rows: &LibraryRows) -> Vec<String> {
    let name = |row: &GroupedRow| match row {
        GroupedRow::Group(group) => format!("[{}]", rows.groups[*group].name),
        GroupedRow::Item(library) => model.libraries[*library].name.clone(),
    };
    rows.rows.iter().map(name).collect()
}

fn filtered(model: &CudaModel, filter: &str) -> Vec<String> {
    let rows = LibraryRows::new(&model.libraries, filter, LibrarySort::default(), false, &BTreeSet::new());
    assert_eq!(rows.error, None, "{filter}");
    names(model, &rows)
}

#[test]
fn libraries_stand_by_component_and_largest_first() {
    let model = model(&with(|_| ()));
    let rows = LibraryRows::new(&model.libraries, "", LibrarySort::default(), true, &BTreeSet::new());
    let shown = names(&model, &rows);
    assert_eq!(
        shown[..8],
        [
            "[cublas]",
            "libcublasLt.so.13",
            "libcublasLt.so.13.1.0.3",
            "libcublas.so.13",
            "libcublas.so.13.1.0.3",
            "libcublas.so",
            "[torch]",
            "libtorch_cuda.so"
        ]
    );
    assert_eq!(rows.groups[0].suppliers, [Supplier::Wheel, Supplier::Toolkit]);
    let folded = BTreeSet::from([Arc::clone(&rows.groups[0].name)]);
    let rows = LibraryRows::new(&model.libraries, "", LibrarySort::default(), true, &folded);
    assert_eq!(names(&model, &rows)[..2], ["[cublas]", "[torch]"]);
    let found = LibraryRows::new(&model.libraries, "libcublasLt*", LibrarySort::default(), true, &folded);
    assert_eq!(names(&model, &found).len(), 3, "what a filter finds is shown, folded or not");
    let by_version = LibrarySort::default().clicked(LibraryColumn::VERSION, false);
    let rows = LibraryRows::new(&model.libraries, "", by_version, false, &BTreeSet::new());
    let versions: Vec<&str> = rows
        .rows
        .iter()
        .map(|row| match row {
            GroupedRow::Item(library) => model.libraries[*library].version.as_str(),
            GroupedRow::Group(_) => panic!("no groups were asked for"),
        })
        .collect();
    assert!(
        versions.iter().position(|one| *one == "9.14.0") < versions.iter().position(|one| *one == "13.0.96")
    );
}

#[test]
fn filters_are_about_all_that_the_table_shows() {
    let model = model(&with(|_| ()));
    for (filter, found) in [
        ("nccl supplier:wheel", vec!["libnccl_arm.so.2", "libnccl.so.2"]),
        ("use:dlopen", vec!["libcudnn_ops.so.9"]),
        ("component:cublas size:<1M", vec!["libcublas.so"]),
        ("is:stub", vec!["libcublas.so"]),
        ("is:aarch64", vec!["libnccl_arm.so.2"]),
        ("layer:1", vec!["libcuda.so.580.95.05", "libcudart.so.13.0.96"]),
        ("arch:lto_90", vec!["libcufft.so.12.0.0.61"]),
        ("arch:86 supplier:toolkit", vec!["libcublasLt.so.13.1.0.3"]),
        ("*.so.9", vec!["libcudnn_ops.so.9", "libcudnn.so.9"]),
        ("stubs/*", vec!["libcublas.so"]),
        ("libcublas-13-0", vec!["libcublas.so.13.1.0.3", "libcublas.so"]),
        ("nothing", vec![]),
    ] {
        assert_eq!(filtered(&model, filter), found, "{filter}");
    }
    for (filter, message) in [
        ("size:lots", "invalid filter size:lots"),
        ("supplier:shop", "invalid filter supplier:shop"),
        ("use:never", "invalid filter use:never"),
        ("layer:top", "invalid filter layer:top"),
    ] {
        let rows =
            LibraryRows::new(&model.libraries, filter, LibrarySort::default(), false, &BTreeSet::new());
        assert!(rows.error.unwrap().to_string().starts_with(message), "{filter}");
        assert_eq!(rows.rows.len(), model.libraries.len(), "a filter that is not understood hides nothing");
    }
}

#[test]
fn the_arch_matrix_adds_up_and_is_judged() {
    let analysis = with(|_| ());
    let model = model(&analysis);
    let arch_matrix = &model.arch_matrix;
    let labels: Vec<&str> = arch_matrix.architectures.iter().map(|column| column.label.as_str()).collect();
    assert_eq!(labels, ["75", "80", "86", "90", "90a", "100", "120"]);
    for (place, column) in arch_matrix.architectures.iter().enumerate() {
        let sum: u64 = arch_matrix.rows.iter().map(|row| row.cells[place].bytes()).sum();
        assert_eq!(sum, column.parts.bytes(), "{}", column.label);
    }
    assert_eq!(arch_matrix.rows.iter().map(|row| row.bytes).sum::<u64>(), arch_matrix.bytes);
    assert_eq!(arch_matrix.rows.iter().filter(|row| row.library.is_none()).count(), 2);
    for target in &model.targets {
        let verdict = arch_matrix.judge(target);
        assert_eq!(verdict.native + verdict.jit + verdict.never, arch_matrix.bytes, "{}", target.id);
    }
    let judged = |id: &str| arch_matrix.judge(model.targets.iter().find(|target| target.id == id).unwrap());
    assert_eq!(
        judged("gpu:a10").sentence,
        "A10 (8.6): 860 MiB runs natively, 1.78 GiB never runs. 3 of 12 files contain no usable code for it."
    );
    assert_eq!(judged("gpu:k80").sentence, "No GPU code runs on Tesla K80 (3.7).");
    let blackwell = judged("gpu:rtx-5090");
    assert_eq!((blackwell.native, blackwell.jit >> 20), (0, 74));
}

#[test]
fn a_library_says_why_it_is_there() {
    let analysis = with(|_| ());
    let chosen = details(&analysis, &format!("{SITE}/nvidia/cublas/lib/libcublasLt.so.13"));
    let chain: Vec<&str> = chosen.chain.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(
        chain,
        [
            "libcublasLt.so.13",
            "libcublas.so.13",
            "libtorch_cuda.so",
            "_C.cpython-312-x86_64-linux-gnu.so",
            "Layer 4"
        ]
    );
    assert_eq!(
        chosen.chain[1].about,
        format!("needs libcublasLt.so.13, resolved by RUNPATH: {SITE}/nvidia/cublas/lib")
    );
    assert!(chosen.chain[3].about.ends_with("loaded as an extension module of Python"));
    assert_eq!(chosen.chain[4].place, Some(LinkTarget::Layer(4)));
    assert!(matches!(chosen.chain[2].place, Some(LinkTarget::Library(_))));
    assert!(matches!(chosen.chain[3].place, Some(LinkTarget::Path(_))), "no library of the view");
    let torch = details(&analysis, &format!("{SITE}/torch/lib/libtorch_cuda.so"));
    let needs: Vec<_> = torch.needs.iter().map(|need| (need.name.as_str(), need.state)).collect();
    assert_eq!(
        needs,
        [
            ("libcublas.so.13", LinkState::Found),
            ("libcudnn.so.9", LinkState::Found),
            ("libnccl.so.2", LinkState::Found),
            ("libcuda.so.1", LinkState::Host),
            ("libcupti.so.13", LinkState::Missing)
        ]
    );
    let opened = details(&analysis, &format!("{SITE}/nvidia/cudnn/lib/libcudnn_ops.so.9"));
    assert_eq!(opened.opened_by[0].name, "libcudnn.so.9");
    let unused = details(&analysis, "/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3");
    assert!(!unused.reached);
    assert_eq!(unused.chain[1].title, "Unreferenced");
    let driver = details(&analysis, "/usr/local/cuda-13.0/compat/libcuda.so.580.95.05");
    let compat = driver.facts.iter().find(|fact| fact.name == "Compatibility").unwrap();
    assert_eq!(compat.value, "adds CUDA 13.0 on host driver 535, 550");
}

#[test]
fn copies_say_who_loads_them() {
    let model = model(&with(|_| ()));
    let folded = BTreeSet::from([DuplicateGroup::Copies(0)]);
    let rows = DuplicateRows::new(&model.duplicates, &folded, |_| true);
    let heads = rows.groups.iter().filter(|group| matches!(group, DuplicateGroup::Head(_))).count();
    assert_eq!((rows.rows.len(), heads), (2 + 3 + 4, 2), "two heads, three groups, copies of two");
    let nccl = &model.duplicates[0];
    assert_eq!(
        (nccl.title.as_str(), nccl.match_label(), nccl.gain >> 20),
        ("libnccl.so.2", "different", 177)
    );
    let loaded: Vec<_> = nccl.copies.iter().map(|copy| copy.loaded_by.as_deref().unwrap()).collect();
    assert_eq!(loaded, ["not loaded", "libtorch_cuda.so"]);
    let other = &model.duplicates[2];
    assert_eq!((other.soname, other.gain >> 20, other.copies[0].library), (false, 6, None));
}

#[test]
fn the_stack_ends_where_the_host_begins() {
    use Side::{Host, Image, Missing, None};
    let analysis = with(|_| ());
    let stack = Stack::new(analysis.inventory.as_ref().unwrap(), rootfs(&analysis));
    let sides: Vec<Side> = stack.boxes.iter().map(|level| level.side).collect();
    assert_eq!(sides, [Image, Image, Image, None, Image, Missing, Host, Host, Host, Host]);
    assert_eq!(stack.boundary, Some(6));
    assert!(stack.used);
    let runtime = stack.boxes[5].spoken();
    assert_eq!(
        runtime,
        "CUDA runtime: cudart 13.0.96, missing. torch needs libcupti.so.13, which is missing."
    );
    let classes = ClassItem::all(&analysis.inventory.as_ref().unwrap().classes.merged);
    assert_eq!(classes[2].spoken(), "CUDA devel-only: 4.39 GiB, 45.9 %");
    assert_eq!(ClassItem::all(&std::collections::BTreeMap::new()), []);
}

fn show(analysis: Arc<Analysis>, view: View, done: bool) -> Harness<'static, Stage> {
    Stage { done, ..Stage::new(analysis, view) }.show([1300.0, 900.0])
}

fn chosen(harness: &Harness<'_, Stage>) -> String {
    selected(harness).split([',', ':']).next().unwrap_or_default().to_owned()
}

fn rows(harness: &Harness<'_, Stage>) -> Vec<String> {
    let rows = harness.get_all_by_role(Role::Row).filter_map(|row| row.accesskit_node().label());
    rows.map(|label| label.split(", ").next().unwrap_or_default().to_owned()).collect()
}

const GROUP: &str = "cublas, 1.28 GiB, 5 libraries, wheel and toolkit";

#[test]
fn libraries_are_walked_by_keys_and_lead_to_layers() {
    let mut harness = show(with(|_| ()), View::Cuda, true);
    harness.get_by_label(
        "CUDA 13.0.2 devel; 15 libraries of 3.32 GiB; 2.62 GiB of GPU code for 6 architectures.",
    );
    click(&mut harness, Role::Row, GROUP);
    assert_eq!(rows(&harness)[..2], ["cublas", "torch"], "a click folds a group");
    press(&mut harness, &[Key::ArrowRight, Key::J]);
    assert_eq!(chosen(&harness), "libcublasLt.so.13");
    press(&mut harness, &[Key::ArrowDown, Key::K, Key::Enter]);
    let path = format!("{SITE}/nvidia/cublas/lib/libcublasLt.so.13").into_bytes();
    assert_eq!(actions(&mut harness), [Action::SelectPath(path)]);
    press(&mut harness, &[Key::ArrowLeft, Key::ArrowLeft]);
    assert_eq!(rows(&harness)[..2], ["cublas", "torch"], "to the group, and shut");
    press(&mut harness, &[Key::ArrowRight, Key::End]);
    assert_eq!(chosen(&harness), "libcudart.so.13.0.96");
    press(&mut harness, &[Key::Escape]);
    assert_eq!(chosen(&harness), "");
    click(&mut harness, Role::ColumnHeader, "Sort by library");
    harness.get_by_role_and_label(Role::ColumnHeader, "Sort by library, smallest first");
    assert_eq!(rows(&harness)[0], "cublas");
    harness.get_by_label("By component").click();
    harness.run();
    assert_eq!(rows(&harness)[0], "libcublas.so");
}

#[test]
fn the_search_field_filters() {
    let mut harness = show(with(|_| ()), View::Cuda, true);
    harness.state_mut().views.cuda.focus_search();
    harness.run();
    let field = harness.get_by_role_and_label(Role::SearchInput, "Filter libraries");
    assert!(field.is_focused());
    field.type_text("use:dlopen");
    harness.run();
    assert_eq!(rows(&harness), ["cudnn", "libcudnn_ops.so.9"]);
    harness.get_by_label("1 of 15 libraries matches, 110 MiB");
    press(&mut harness, &[Key::Escape]);
    assert!(rows(&harness).len() > 15);
    harness.get_by_role_and_label(Role::SearchInput, "Filter libraries").focus();
    harness.run();
    harness.get_by_role_and_label(Role::SearchInput, "Filter libraries").type_text("use:often");
    harness.run();
    harness.get_by_label_contains("invalid filter use:often");
}

#[test]
fn steps_of_a_chain_lead_on() {
    let mut harness = show(with(|_| ()), View::Cuda, true);
    harness
        .state_mut()
        .views
        .cuda
        .select_path(format!("{SITE}/nvidia/cublas/lib/libcublas.so.13").into_bytes());
    harness.run();
    assert_eq!(chosen(&harness), "libcublas.so.13");
    harness.get_all_by_role_and_label(Role::Link, "libtorch_cuda.so").next().unwrap().click();
    harness.run();
    assert_eq!(chosen(&harness), "libtorch_cuda.so");
    click(&mut harness, Role::Link, "Layer 4");
    harness.get_by_label("Copy path").click();
    harness.run();
    let path = format!("{SITE}/torch/lib/libtorch_cuda.so");
    assert_eq!(harness.state().actions, [Action::SelectLayer(4), Action::CopyText(path)]);
    harness.get_by_label("missing");
    harness.get_by_label("host");
}

#[test]
fn columns_that_run_on_the_target_are_named() {
    let mut harness = show(with(|_| ()), View::Cuda, true);
    click(&mut harness, Role::Tab, "GPU code  2.62 GiB");
    harness.get_by_role_and_label(Role::ColumnHeader, "80: 620 MiB (SASS 620 MiB), 1.82 GiB decompressed");
    assert_eq!(rows(&harness).len(), 12);
    harness.get_by_role_and_label(Role::ComboBox, "Target GPU").click();
    harness.run();
    // It is below what is in sight of the list.
    harness.get_by_role_and_label(Role::Button, "H200 (9.0)").click_accesskit();
    harness.run();
    harness.get_by_label_contains("H200 (9.0): 1.01 GiB runs natively, 1.61 GiB never runs.");
    for (column, word) in [("90a: ", "; runs on H200 (9.0)"), ("120: ", "; never runs on H200 (9.0)")] {
        let head = harness
            .get_all_by_role(Role::ColumnHeader)
            .filter_map(|node| node.accesskit_node().label())
            .find(|label| label.starts_with(column))
            .unwrap();
        assert!(head.ends_with(word), "{head}");
    }
    let row = harness.get_all_by_role(Role::Row).next().unwrap();
    row.click();
    harness.run();
    assert_eq!(chosen(&harness), "libtorch_cuda.so");
    press(&mut harness, &[Key::End]);
    assert_eq!(chosen(&harness), "kernels.cubin");
    harness.get_by_label("A loose file with 1.00 MiB of GPU code.");
    press(&mut harness, &[Key::Enter]);
    assert_eq!(harness.state().actions, [Action::SelectPath(b"/srv/kernels.cubin".to_vec())]);
}

#[test]
fn ticked_gpus_show_what_slim_keeps_and_removes() {
    let mut harness = show(with(|_| ()), View::Cuda, true);
    click(&mut harness, Role::Tab, "GPU code  2.62 GiB");
    assert!(harness.state().views.cuda.pruned().is_none());
    click(&mut harness, Role::CheckBox, "H100 80GB (9.0)");
    let pruned = harness.state().views.cuda.pruned().unwrap().clone();
    let model = harness.state().views.cuda.model().unwrap().clone();
    let total = pruned.total;
    assert_eq!(total.kept_bytes + total.removed_bytes, model.arch_matrix.bytes);
    assert_eq!(total.removed_compressed_bytes, Some(total.removed_bytes / 2));
    let row = |name: &str| model.arch_matrix.rows.iter().position(|row| row.name == name).unwrap();
    let archive = pruned.rows[row("libcublas_static.a")];
    assert_eq!((archive.kept_bytes, archive.removed_bytes), (130 << 20, 0), "archives stay");
    harness.get_by_label(&pruned.sentence);
    harness.get_by_label_contains("NVIDIA's licenses");
    let head = |harness: &Harness<'static, Stage>, start: &str| {
        let all = harness.get_all_by_role(Role::ColumnHeader);
        all.filter_map(|node| node.accesskit_node().label()).find(|label| label.starts_with(start)).unwrap()
    };
    assert!(head(&harness, "Kept: ").ends_with("stay in the file"));
    assert!(head(&harness, "80: ").contains("; slim removes "));
    assert!(rows(&harness)[0].starts_with("libtorch_cuda.so"));
    // The keyboard ticks and unticks.
    click(&mut harness, Role::CheckBox, "A100 80GB (8.0)");
    let both = harness.state().views.cuda.pruned().unwrap().total;
    assert!(both.removed_bytes < total.removed_bytes);
    harness.get_by_role_and_label(Role::CheckBox, "A100 80GB (8.0)").focus();
    harness.run();
    press(&mut harness, &[Key::Space]);
    assert_eq!(harness.state().views.cuda.pruned().unwrap().total, total);
    click(&mut harness, Role::CheckBox, "H100 80GB (9.0)");
    assert!(harness.state().views.cuda.pruned().is_none(), "without a GPU nothing is removed");
}

#[test]
fn copies_are_listed_and_chosen() {
    let mut harness = show(with(|_| ()), View::Cuda, true);
    tab(&mut harness, "Duplicates");
    let own = "/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3, 177 MiB, toolkit, layer 2, not loaded";
    click(&mut harness, Role::Row, own);
    assert_eq!(chosen(&harness), "/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.3");
    press(&mut harness, &[Key::J]);
    assert!(chosen(&harness).ends_with("/libnccl.so.2"));
    press(&mut harness, &[Key::H, Key::H]);
    assert_eq!(rows(&harness).len(), 2 + 3 + 4, "the group is shut");
}

#[test]
fn what_is_not_known_yet_is_said() {
    let whole = with(|_| ());
    let mut before = Analysis::clone(&whole);
    before.inventory = None;
    let before = Arc::new(before);
    let harness = show(Arc::clone(&before), View::Cuda, false);
    harness.get_by_label("Analyzing CUDA content");
    let harness = show(before, View::Cuda, true);
    harness.get_by_label("CUDA content unknown");
    let part = with(|inventory| inventory.waits_for = Some("files of equal size to be compared".into()));
    let mut harness = show(part, View::Cuda, false);
    harness.get_by_label_contains("Still analyzing: files of equal size to be compared");
    let row = "libcufft.so.12.0.0.61, 266 MiB, 230 MiB of GPU code, version 12.0.0.61, toolkit, layer 2, \
               Unreferenced, needed by 0 files";
    click(&mut harness, Role::Row, row);
    harness.state_mut().analysis = whole;
    harness.state_mut().generation = 2;
    harness.run();
    assert_eq!(chosen(&harness), "libcufft.so.12.0.0.61", "the choice outlives a newer inventory");
    assert!(harness.query_by_label_contains("Still analyzing").is_none());
    let nothing = with(|inventory| *inventory = Inventory::default());
    let harness = show(Arc::clone(&nothing), View::Cuda, true);
    harness.get_by_label("No CUDA in this image");
    let harness = show(nothing, View::Overview, true);
    harness.get_by_label("No CUDA in this image.");
}

#[test]
fn the_overview_leads_to_the_cuda_view() {
    let mut harness = show(with(|_| ()), View::Overview, true);
    click(&mut harness, Role::Button, "CUDA runtime: 2.25 GiB, 23.5 %");
    assert_eq!(actions(&mut harness), [Action::ShowView(View::Cuda)]);
    harness.get_by_label("User-mode driver: libcuda.so.1, host. At least driver 580 for CUDA 13.0.");
    harness.get_by_label("image above, host below");
    let framework = "Framework: torch 2.9.1+cu130, wheel";
    harness.get_by_role_and_label(Role::Link, framework).scroll_to_me();
    harness.run();
    click(&mut harness, Role::Link, framework);
    let path = format!("{SITE}/torch/lib/libtorch_cuda.so").into_bytes();
    assert_eq!(harness.state().actions, [Action::SelectPath(path)]);
}

#[test]
fn two_thousand_libraries_cost_what_a_screenful_does() {
    let many = with(|inventory| {
        let own = inventory.libraries.clone();
        inventory.libraries.extend(own.iter().cycle().take(2_000).cloned());
    });
    let mut harness = show(many, View::Cuda, true);
    harness.get_by_label("By component").click();
    harness.run();
    for page in ["Libraries", "GPU code"] {
        tab(&mut harness, page);
        let painted = harness.state().views.cuda.painted_rows();
        assert!((15..60).contains(&painted), "{page}: {painted}");
    }
}
