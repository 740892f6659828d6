//! What a frame of the window costs with an image of many files in 100 layers: scrolling, expanding, filtering, sorting,
//! switching layers, the treemap in all colours, while layers arrive, and the views of findings; then memory.
//! Prints a table. A frame includes layout and tessellation, not the GPU; its time is that of the painting thread on the
//! processor, so other work on the machine adds little. Answers are wall time.
//!
//! `cargo bench --bench frames`, or `cargo bench --bench frames -- 300000` for one size. The image is written once to
//! `$CUTAWAY_FRAMES`, else to a folder in the system's temporary folder: 1.1 GB for a million files.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench may stop at the first surprise"
)]
#![allow(unsafe_code, reason = "allocations are counted by a global allocator, which is unsafe by its trait")]

#[allow(unreachable_pub, reason = "shared with the tests")]
#[path = "../../fixtures/mod.rs"]
mod fixtures;
mod image;
mod window;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::gui::models::files::{FileMatches, FileSort, FileTree, FileTreeRows, Files, Scope};
use cutaway::gui::models::filter::Filter;
use cutaway::gui::models::overview::Contents;
use cutaway::gui::models::treemap::Treemap;
use cutaway::gui::models::treemap_colors::ColorBy;
use cutaway::gui::views::View;
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::LayerIndex;
use cutaway::rootfs::{PathId, Timeline};
use cutaway::source::Reference;
use egui::Key;

use window::{Times, Window};

/// Layers of the image.
const LAYERS: u32 = 100;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes that are allocated now.
static LIVE: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        LIVE.fetch_add(size as u64, Ordering::Relaxed);
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn indexes(analysis: &Analysis) -> Vec<Arc<LayerIndex>> {
    analysis.layers.iter().map(|layer| Arc::clone(&layer.read.as_ref().unwrap().index)).collect()
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = work();
    println!("  {what:<44} {:>9.2} ms", start.elapsed().as_secs_f64() * 1e3);
    value
}

fn models(analysis: &Analysis) {
    let cancel = CancelToken::new();
    let last = u16::try_from(analysis.layers.len() - 1).unwrap();
    let timeline = timed("timeline, once an image", || Arc::new(Timeline::new(&indexes(analysis))));
    let make = |scope| FileTree::new(Arc::clone(&timeline), scope, true, &cancel).unwrap();
    let tree = timed("switch to another layer, merged up to it", || make(Scope::Merged(last)));
    timed("switch to another layer, alone", || make(Scope::Layer(1)));
    let rows = |found: Option<&FileMatches>, open| FileTreeRows::new(&tree, found, FileSort::default(), open);
    timed("first rows", || rows(None, std::collections::HashSet::new()));
    for (filter, regex) in
        [("*.so", false), ("size:>10M", false), ("pack_1/**/file_12*.py", false), (r"\.so$", true)]
    {
        let found = timed(&format!("filter {filter}"), || {
            let query = Filter::<Files>::parse_as(filter, regex).unwrap();
            FileMatches::new(&tree, &query, &cancel).unwrap()
        });
        timed("  its rows", || rows(Some(&found), std::collections::HashSet::new()));
    }
    let all = timed("rows with every folder open", || rows(None, timeline.paths().collect()));
    println!("  {:<44} {:>9}", "that many rows", all.len());
    timed("treemap of everything", || Treemap::new(&tree, PathId::ROOT, 380.0, 400.0));
    timed("overview: largest, waste", || Contents::new(analysis.merge.as_ref().unwrap()));
}

/// The image, and the stages of its analysis that a window would see.
fn analysis(files: u32) -> (Arc<Analysis>, Vec<Arc<Analysis>>) {
    let folder = std::env::var_os("CUTAWAY_FRAMES").map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = image::write(&folder.join(format!("cutaway-frames-{files}")), files, LAYERS);
    let reference = Reference::parse(&format!("oci:{}", folder.display())).unwrap();
    let options = Options::default();
    let done = timed("analysis, once an image", || {
        analyze(&reference, &options, &CancelToken::new(), &Progress::default(), &|_| {}).unwrap()
    });
    // Every fifth stage: the layers from the bottom up, nothing merged yet.
    let stages = (0..done.layers.len()).step_by(5).map(|read| {
        let mut partial = Analysis::clone(&done);
        (partial.merge, partial.inventory, partial.findings) = (None, None, None);
        for layer in partial.layers.iter_mut().skip(read) {
            layer.read = None;
        }
        Arc::new(partial)
    });
    let stages = stages.collect();
    (done, stages)
}

/// Frames while layers arrive, scrolled in between.
fn loading(stages: &[Arc<Analysis>]) {
    for view in [View::Layers, View::Treemap] {
        let mut window = Window::new(Arc::clone(&stages[0]), view, false);
        let mut times = Times::default();
        for stage in stages {
            window.arrives(Arc::clone(stage));
            for number in 0..15 {
                times.add(&window.scroll(number));
                times.add(&window.later(Vec::new()));
            }
        }
        times.print(&format!("{view:?} while layers arrive"));
        window.settle("the rest of the part");
        println!("  {:<44} {:>9}", "rows then", window.rows());
        let mut times = Times::default();
        for number in 0..200 {
            times.add(&window.scroll(number));
        }
        times.print(&format!("{view:?} of a part, scrolled"));
    }
}

/// What the views of a whole image cost.
fn whole(analysis: &Arc<Analysis>) {
    let mut window = Window::new(Arc::clone(analysis), View::Layers, true);
    window.settle("open the layers view");
    let mut times = Times::default();
    window.click_files();
    for number in 0..200 {
        times.add(&window.key(if number % 2 == 0 { Key::ArrowRight } else { Key::ArrowDown }));
        times.add(&window.later(Vec::new()));
    }
    times.print("expand and go down, by keyboard");
    println!("  {:<44} {:>9}", "rows then", window.rows());

    window.views.layers.open_all();
    window.settle("open every folder");
    println!("  {:<44} {:>9}", "rows then", window.rows());
    let mut times = Times::default();
    let mut allocations = 0;
    for number in 0..300 {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        times.add(&window.scroll(number));
        allocations = allocations.max(ALLOCATIONS.load(Ordering::Relaxed) - before);
    }
    times.print("scroll, every folder open");
    println!("  {:<44} {:>9}", "allocations in a scrolled frame, at most", allocations);

    let sort = window.find_sort();
    for _ in 0..2 {
        window.click(sort);
        window.settle("sort, every folder open");
    }
    for layer in [50, 10, 99] {
        window.views.layers.select_layer(layer);
        window.settle("switch to another layer");
    }
    for filter in ["*.so", " size:>10K", " file_12"] {
        window.type_filter(filter);
        window.settle(&format!("filter, further {filter:?}"));
    }

    // Memory below is that of one window.
    drop(window);
    let mut window = Window::new(Arc::clone(analysis), View::Layers, true);
    window.settle("open the layers view");
    for filter in ["*.so", " size:>10K", " file_12"] {
        window.type_filter(filter);
        window.settle(&format!("filter of everything, further {filter:?}"));
    }
    window.clear_filter();
    window.settle("clear the filter");

    window.view = View::Treemap;
    for by in ColorBy::ALL {
        window.views.treemap.color_by(by);
        window.settle(&format!("treemap by {}", by.title()));
        let mut times = Times::default();
        for number in 0..100_u16 {
            times.add(
                &window.point(egui::pos2(60.0 + f32::from(number) * 9.0, 120.0 + f32::from(number) * 7.0)),
            );
        }
        times.print("  pointed at");
        let mut times = Times::default();
        for _ in 0..4 {
            times.add(&window.click(egui::pos2(300.0, 300.0)));
            times.add(&window.key(Key::Enter));
        }
        for _ in 0..8 {
            times.add(&window.key(Key::Backspace));
        }
        times.print("  into folders and back");
    }
    for view in [View::Overview, View::Findings, View::Cuda, View::Layers] {
        window.view = view;
        window.settle(&format!("{view:?}"));
    }
    memory("all views seen", &window);
    println!(
        "  {:<44} {:>9}",
        "allowed: 60 MiB and 150 bytes a file, KiB",
        (60 << 10) + files_of(analysis) * 150 / 1024
    );
}

fn files_of(analysis: &Analysis) -> u64 {
    analysis.layers.iter().filter_map(|layer| layer.counts()).map(|counts| counts.files).sum()
}

fn memory(what: &str, _alive: &Window) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("?").trim();
    let live = LIVE.load(Ordering::Relaxed) / 1024;
    println!("  {:<44} {:>9} KiB live, {resident} resident", format!("memory, {what}"), live);
}

fn main() {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 1_000_000] } else { sizes };
    for files in sizes {
        println!("{files} files in {LAYERS} layers");
        let sample = Reference::parse("sample:runtime").unwrap();
        let sample =
            analyze(&sample, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {});
        let mut empty = Window::new(sample.unwrap(), View::Layers, true);
        empty.settle("a window with the sample");
        memory("with the sample", &empty);
        drop(empty);
        let (done, stages) = analysis(files);
        println!("  {:<44} {:>9}", "files", files_of(&done));
        // As the job of an analysis does before it publishes.
        timed("findings by file, beside the window", || {
            done.findings.as_ref().unwrap().by_file().all().count()
        });
        loading(&stages);
        drop(stages);
        whole(&done);
        models(&done);
    }
}
