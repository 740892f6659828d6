//! A stage for the views of an image: what a view is given, what it asks for, and the hands of a user.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cutaway::analysis::Analysis;
use cutaway::gui::models::findings::ChosenPlan;
use cutaway::gui::models::gpu::Machine;
use cutaway::gui::views::compare::CompareContext;
use cutaway::gui::views::report::ProposedDockerfile;
use cutaway::gui::views::{Action, TabViews, View, ViewContext};
use cutaway::gui::{design, testing};
use cutaway::jobs::Progress;
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

/// However slow the machine is, nothing takes longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// The views of one image, of which one is in front.
pub struct Stage {
    pub analysis: Arc<Analysis>,
    pub generation: u64,
    pub done: bool,
    pub plan: ChosenPlan,
    /// Whether changes of the plan are made, as the window does, and not kept in `actions`.
    pub plans: bool,
    pub machine: Machine,
    pub images: CompareContext,
    pub views: TabViews,
    pub view: View,
    /// What the views asked for.
    pub actions: Vec<Action>,
}

impl Stage {
    /// A view of an image that is all there, with the plan that it begins with.
    pub fn new(analysis: Arc<Analysis>, view: View) -> Self {
        let mut plan = ChosenPlan::default();
        plan.update(Some(&analysis));
        Self {
            analysis,
            generation: 1,
            done: true,
            plan,
            plans: false,
            machine: Machine::new(testing::no_machine()),
            images: CompareContext::default(),
            views: TabViews::default(),
            view,
            actions: Vec::new(),
        }
    }

    /// Puts it into a window of this size, in which nothing was painted yet.
    pub fn begin(self, size: [f32; 2]) -> Harness<'static, Self> {
        harness(size).build_ui_state(|ui, stage: &mut Self| stage.ui(ui), self)
    }

    /// The same, with what is there at once.
    pub fn show(self, size: [f32; 2]) -> Harness<'static, Self> {
        let mut harness = self.begin(size);
        settle(&mut harness);
        harness
    }

    fn ui(&mut self, ui: &mut egui::Ui) {
        self.machine.poll();
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
            actions: &mut self.actions,
        };
        self.views.ui(self.view, ui, &mut context);
        let (plan, findings) = (&mut self.plan, &mut self.views.findings);
        self.actions.retain(|action| match action {
            Action::ChangePlan(change) if self.plans => {
                plan.change(change.clone());
                false
            }
            Action::LoadPlan(saved) if self.plans => {
                findings.plan_loaded(plan.load(saved.clone()));
                false
            }
            _ => true,
        });
    }
}

/// A window without a display, in the design of the program.
pub fn harness<State>(size: [f32; 2]) -> egui_kittest::HarnessBuilder<State> {
    Harness::builder()
        .with_size(size)
        .with_context_setup(design::apply)
        .with_step_dt(1.0 / 60.0)
        .with_max_steps(40)
}

/// Steps until something is there.
pub fn until<S>(harness: &mut Harness<'_, S>, what: &str, there: impl Fn(&S) -> bool) {
    let begun = Instant::now();
    harness.run_ok();
    while !there(harness.state()) {
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(2));
        harness.run_steps(1);
    }
    harness.run_ok();
}

/// Steps until nothing is worked on.
pub fn settle(harness: &mut Harness<'_, Stage>) {
    until(harness, "end", |stage| !stage.machine.is_busy() && !stage.views.is_busy(stage.view));
}

pub fn press<S>(harness: &mut Harness<'_, S>, keys: &[Key]) {
    for key in keys {
        harness.key_press(*key);
        harness.run_ok();
    }
}

pub fn click<S>(harness: &mut Harness<'_, S>, role: Role, label: &str) {
    harness.get_by_role_and_label(role, label).click();
    harness.run_ok();
}

/// Brings the page to the front whose tab begins with this name.
pub fn tab(harness: &mut Harness<'_, Stage>, name: &str) {
    let is_tab = |tab: &egui_kittest::Node<'_>| {
        tab.accesskit_node().label().is_some_and(|label| label.starts_with(name))
    };
    harness.get_all_by_role(Role::Tab).find(is_tab).unwrap_or_else(|| panic!("no tab {name}")).click();
    settle(harness);
}

/// What is said of the chosen row; empty where none is chosen.
pub fn selected<S>(harness: &Harness<'_, S>) -> String {
    let rows = harness.query_all_by_role(Role::Row);
    let chosen = rows.map(|row| row.accesskit_node()).find(|row| row.is_selected() == Some(true));
    chosen.and_then(|row| row.label()).unwrap_or_default()
}

/// Names of all that has this role, top to bottom.
pub fn names<S>(harness: &Harness<'_, S>, role: Role) -> Vec<String> {
    harness.query_all_by_role(role).filter_map(|node| node.accesskit_node().label()).collect()
}

/// Whether a text with this part is seen.
pub fn shows<S>(harness: &Harness<'_, S>, part: &str) -> bool {
    harness.query_all_by_label_contains(part).next().is_some()
}

/// What the views asked for since the last call.
pub fn actions(harness: &mut Harness<'_, Stage>) -> Vec<Action> {
    harness.state_mut().actions.drain(..).collect()
}
