//! What a frame of the layers view costs, and how long a layer switch, a filter and a sort take, on trees
//! of 1,000 to 1,000,000 files. Prints a table; a frame includes layout and tessellation, not the GPU.
//! On a busy machine only the mean of the processor's time is to be trusted.
//!
//! `cargo bench --bench frames`, or `cargo bench --bench frames -- 300000` for one size.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop at the first surprise")]
#![allow(unsafe_code, reason = "allocations are counted by a global allocator, which is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cutaway::analysis::{Analysis, Options, analyze};
use cutaway::base::Limits;
use cutaway::gui::models::files::{FileMatches, FileSort, FileTree, FileTreeRows, Files, Scope};
use cutaway::gui::models::filter::Filter;
use cutaway::gui::models::findings::ChosenPlan;
use cutaway::gui::models::gpu::Machine;
use cutaway::gui::models::overview::Contents;
use cutaway::gui::models::treemap::Treemap;
use cutaway::gui::views::compare::CompareContext;
use cutaway::gui::views::report::ProposedDockerfile;
use cutaway::gui::views::{ImageView as _, LayersView, ViewContext};
use cutaway::gui::{design, testing};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::layer::{EntryKind, IndexBuilder, LayerIndex, NewEntry};
use cutaway::rootfs::{PathId, Timeline, merge};
use cutaway::source::Reference;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of the trait.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One layer of `files` files, some hundred in a folder, named like those of a Python environment.
fn layer(files: u32, salt: u32) -> Arc<LayerIndex> {
    let mut builder = IndexBuilder::new(&Limits::default());
    for number in 0..files {
        let folder = number / 90;
        let kind = ["so", "py", "pyc", "h", "txt"][(number % 5) as usize];
        let path = format!(
            "opt/venv/lib/python3.12/site-packages/pack_{}/mod_{folder}/file_{}.{kind}",
            folder / 30,
            number.wrapping_mul(7).wrapping_add(salt)
        );
        let size = u64::from(number.wrapping_mul(2_654_435_761) >> 8);
        let entry = NewEntry {
            body_at: None,
            kind: EntryKind::File,
            size,
            mode: 0o644,
            uid: 0,
            gid: 0,
            mtime: 1_767_323_045,
            link: b"",
        };
        builder.add_path(path.as_bytes(), entry).unwrap();
    }
    Arc::new(builder.finish())
}

fn image(files: u32) -> Arc<Analysis> {
    let sample = Reference::parse("sample:runtime").unwrap();
    let done =
        analyze(&sample, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {}).unwrap();
    let mut analysis = Analysis::clone(&done);
    let mut source = cutaway::source::Image::clone(&analysis.image);
    source.layers.truncate(3);
    analysis.image = Arc::new(source);
    analysis.layers.truncate(3);
    for (place, part) in [(0, 2), (1, 2), (2, 5)] {
        let mut read = analysis.layers[place].read.as_deref().unwrap().clone();
        read.index = layer(files / part, if place == 2 { 0 } else { u32::try_from(place).unwrap() });
        analysis.layers[place].read = Some(Arc::new(read));
    }
    let indexes = indexes(&analysis);
    analysis.merge = Some(Arc::new(merge(&indexes, &[], 0)));
    Arc::new(analysis)
}

fn indexes(analysis: &Analysis) -> Vec<Arc<LayerIndex>> {
    analysis.layers.iter().map(|layer| Arc::clone(&layer.read.as_ref().unwrap().index)).collect()
}

/// What this thread has used of a processor, to a few milliseconds (Linux only).
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = work();
    println!("  {what:<44} {:>9.2} ms", start.elapsed().as_secs_f64() * 1e3);
    value
}

fn models(analysis: &Analysis) {
    let cancel = CancelToken::new();
    let timeline = timed("timeline, once an image", || Arc::new(Timeline::new(&indexes(analysis))));
    let make = |scope| FileTree::new(Arc::clone(&timeline), scope, true, &cancel).unwrap();
    let tree = timed("switch to another layer, merged up to it", || make(Scope::Merged(2)));
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

/// Frames that scroll through the open tree: median and worst time, allocations, rows made.
fn frames(analysis: &Arc<Analysis>) {
    let context = egui::Context::default();
    design::apply(&context);
    let mut view = LayersView::default();
    view.open_all();
    let mut machine = Machine::new(testing::no_machine());
    let images = CompareContext::default();
    let mut frame = |events: Vec<egui::Event>| {
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1400.0, 900.0));
        let input = egui::RawInput { screen_rect: Some(screen), events, ..egui::RawInput::default() };
        let (start, before) = (Instant::now(), ALLOCATIONS.load(Ordering::Relaxed));
        let mut actions = Vec::new();
        let mut output = context.run_ui(input, |ui| {
            let progress = Progress::default().snapshot();
            let plan = ChosenPlan::default();
            let mut context = ViewContext {
                analysis,
                generation: 1,
                plan: &plan,
                progress,
                layers_passed: Vec::new(),
                done: true,
                machine: &mut machine,
                images: &images,
                proposed: ProposedDockerfile::default(),
                actions: &mut actions,
            };
            view.ui(ui, &mut context);
        });
        output.textures_delta.clear();
        let primitives = context.tessellate(output.shapes, output.pixels_per_point);
        std::hint::black_box(primitives);
        let spent = start.elapsed();
        let rows = view.browser().rows().map_or(0, FileTreeRows::len);
        (spent, ALLOCATIONS.load(Ordering::Relaxed) - before, rows, view.painted_rows())
    };
    let want = analysis.layers.iter().filter_map(|layer| layer.counts()).map(|counts| counts.files).max();
    let started = Instant::now();
    let mut worst_while_loading = Duration::ZERO;
    while frame(Vec::new()).2 < usize::try_from(want.unwrap_or(0)).unwrap()
        && started.elapsed() < Duration::from_mins(1)
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    for _ in 0..30 {
        worst_while_loading = worst_while_loading.max(frame(Vec::new()).0);
    }
    let pointer = egui::Event::PointerMoved(egui::pos2(700.0, 500.0));
    let mut times = Vec::new();
    let used = cpu_time();
    let (mut allocations, mut painted, mut all) = (0, 0, 0);
    for number in 0..300_u16 {
        let wheel = egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -(97.0 + f32::from(number % 13) * 400.0)),
            source: egui::MouseWheelSource::Wheel,
            phase: egui::TouchPhase::Move,
            modifiers: egui::Modifiers::NONE,
        };
        let (spent, count, rows, made) = frame(vec![pointer.clone(), wheel]);
        times.push(spent);
        allocations = allocations.max(count);
        painted = painted.max(made);
        all = rows;
    }
    let used = cpu_time().saturating_sub(used) / 300;
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("  {:<44} {:>9}", "rows in the tree", all);
    println!("  {:<44} {:>9}", "rows made for a scrolled frame, at most", painted);
    println!("  {:<44} {:>9.2} ms", "a frame at rest, worst of 30", ms(worst_while_loading));
    println!("  {:<44} {:>9.2} ms", "a scrolled frame, time on the processor, mean", ms(used));
    println!("  {:<44} {:>9.2} ms", "a scrolled frame, median of 300", ms(times[150]));
    println!("  {:<44} {:>9.2} ms", "a scrolled frame, worst of 300", ms(times[299]));
    println!("  {:<44} {:>9}", "allocations in a scrolled frame, at most", allocations);
}

fn main() {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 300_000, 1_000_000] } else { sizes };
    for files in sizes {
        let analysis = image(files);
        println!("{files} files");
        models(&analysis);
        frames(&analysis);
    }
}
