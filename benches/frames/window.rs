//! The views of one image without a display, driven by input, each frame timed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cutaway::analysis::Analysis;
use cutaway::gui::models::files::FileTreeRows;
use cutaway::gui::models::findings::ChosenPlan;
use cutaway::gui::models::gpu::Machine;
use cutaway::gui::views::compare::CompareContext;
use cutaway::gui::views::report::ProposedDockerfile;
use cutaway::gui::views::{ImageView as _, TabViews, View, ViewContext};
use cutaway::gui::{design, testing};
use cutaway::jobs::Progress;
use egui::{Event, Key, Modifiers, Pos2, pos2};
use rustix::time::{ClockId, clock_gettime};

/// Longest wait for an answer.
const LIMIT: Duration = Duration::from_mins(1);

/// What the painting thread has used of the processor.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// Processor time of frames.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn add(&mut self, frames: &[Duration]) {
        self.0.extend(frames);
    }

    /// Prints median, 99th percentile and worst.
    pub(crate) fn print(mut self, what: &str) {
        self.0.sort();
        let at = |percent: usize| {
            let place = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
            self.0.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
        };
        println!(
            "  {what:<44} {:>5} frames: median {:>6.2}, 99 % {:>6.2}, worst {:>6.2} ms",
            self.0.len(),
            at(50),
            at(99),
            at(100)
        );
    }
}

/// The views of an image.
pub(crate) struct Window {
    pub(crate) views: TabViews,
    pub(crate) view: View,
    context: egui::Context,
    analysis: Arc<Analysis>,
    generation: u64,
    done: bool,
    plan: ChosenPlan,
    machine: Machine,
    images: CompareContext,
}

impl Window {
    pub(crate) fn new(analysis: Arc<Analysis>, view: View, done: bool) -> Self {
        let context = egui::Context::default();
        design::apply(&context);
        let mut plan = ChosenPlan::default();
        let start = cpu();
        plan.update(Some(&analysis));
        let spent = cpu().saturating_sub(start).as_secs_f64() * 1e3;
        if spent > 1.0 {
            println!("  {:<44} {spent:>9.2} ms", "plan of the findings, in one frame");
        }
        Self {
            views: TabViews::default(),
            view,
            context,
            analysis,
            generation: 1,
            done,
            plan,
            machine: Machine::new(testing::no_machine()),
            images: CompareContext::default(),
        }
    }

    /// A newer stage.
    pub(crate) fn arrives(&mut self, analysis: Arc<Analysis>) {
        (self.analysis, self.generation) = (analysis, self.generation + 1);
    }

    /// One frame; its time.
    pub(crate) fn frame(&mut self, events: Vec<Event>) -> [Duration; 1] {
        let screen = egui::Rect::from_min_size(Pos2::ZERO, egui::vec2(1400.0, 900.0));
        let input = egui::RawInput { screen_rect: Some(screen), events, ..egui::RawInput::default() };
        let start = cpu();
        let mut actions = Vec::new();
        let mut output = self.context.run_ui(input, |ui| {
            let mut context = ViewContext {
                analysis: &self.analysis,
                generation: self.generation,
                plan: &self.plan,
                progress: Progress::default().snapshot(),
                layers_passed: Vec::new(),
                done: self.done,
                machine: &mut self.machine,
                images: &self.images,
                proposed: ProposedDockerfile::default(),
                actions: &mut actions,
            };
            self.views.ui(self.view, ui, &mut context);
        });
        output.textures_delta.clear();
        std::hint::black_box(self.context.tessellate(output.shapes, output.pixels_per_point));
        [cpu().saturating_sub(start)]
    }

    fn is_busy(&self) -> bool {
        self.views.layers.browser().is_busy() || self.views.is_busy(self.view)
    }

    /// Paints until nothing is being worked out, and prints how long that took and what the frames cost.
    pub(crate) fn settle(&mut self, what: &str) {
        let start = Instant::now();
        let mut times = Times::default();
        let mut answer = Duration::ZERO;
        // Some frames more: work that begins when other work ends.
        let mut quiet = 0;
        while quiet < 5 && start.elapsed() < LIMIT {
            times.add(&self.frame(Vec::new()));
            if self.is_busy() {
                quiet = 0;
                std::thread::sleep(Duration::from_millis(2));
            } else {
                if quiet == 0 {
                    answer = start.elapsed();
                }
                quiet += 1;
            }
        }
        times.print(what);
        println!("  {:<44} {:>9.2} ms", "  answered after", answer.as_secs_f64() * 1e3);
    }

    /// A frame of a window that paints 100 times a second, so that work beside it gets on.
    pub(crate) fn later(&mut self, events: Vec<Event>) -> [Duration; 1] {
        std::thread::sleep(Duration::from_millis(10));
        self.frame(events)
    }

    pub(crate) fn rows(&self) -> usize {
        self.views.layers.browser().rows().map_or(0, FileTreeRows::len)
    }

    pub(crate) fn scroll(&mut self, number: u16) -> [Duration; 1] {
        let wheel = Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -(97.0 + f32::from(number % 13) * 400.0)),
            source: egui::MouseWheelSource::Wheel,
            phase: egui::TouchPhase::Move,
            modifiers: Modifiers::NONE,
        };
        self.frame(vec![Event::PointerMoved(pos2(700.0, 500.0)), wheel])
    }

    pub(crate) fn point(&mut self, at: Pos2) -> [Duration; 1] {
        self.frame(vec![Event::PointerMoved(at)])
    }

    /// Presses and releases, in two frames.
    pub(crate) fn click(&mut self, at: Pos2) -> [Duration; 2] {
        let button = |pressed| Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let [down] = self.frame(vec![Event::PointerMoved(at), button(true)]);
        let [up] = self.frame(vec![button(false)]);
        [down, up]
    }

    pub(crate) fn key(&mut self, key: Key) -> [Duration; 1] {
        let event = |pressed| Event::Key {
            key,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        self.frame(vec![event(true), event(false)])
    }

    /// Gives the keyboard to the list of files, at its first row.
    pub(crate) fn click_files(&mut self) {
        let before = self.views.layers.browser().selected_row();
        for y in (60..300).step_by(8) {
            self.click(pos2(560.0, f32::from(u16::try_from(y).unwrap())));
            if self.views.layers.browser().selected_row() != before {
                return;
            }
        }
        panic!("no row of the files was found");
    }

    /// Where the head of the column of sizes is: found by a click that sorts.
    pub(crate) fn find_sort(&mut self) -> Pos2 {
        let before = self.views.layers.browser().sort();
        for y in (40..140).step_by(6) {
            for x in (700..1000).step_by(40) {
                let at = pos2(f32::from(u16::try_from(x).unwrap()), f32::from(u16::try_from(y).unwrap()));
                self.click(at);
                if self.views.layers.browser().sort() != before {
                    self.settle("sort, first");
                    return at;
                }
            }
        }
        panic!("no head that sorts was found");
    }

    pub(crate) fn type_filter(&mut self, text: &str) {
        self.views.layers.focus_search();
        self.frame(Vec::new());
        self.frame(vec![Event::Text(text.to_owned())]);
    }

    pub(crate) fn clear_filter(&mut self) {
        let all = Event::Key {
            key: Key::A,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::COMMAND,
        };
        self.frame(vec![all]);
        self.key(Key::Backspace);
    }
}
