//! The settings, in the place of what is in front. Each change is kept at once.

use egui::{Label, Margin, Rect, RichText, ScrollArea, TextEdit, Ui, UiBuilder, pos2, vec2};

use super::sheet::capitalised;
use crate::base::size::Units;
use crate::base::text::printable;
use crate::gui::app::App;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::settings::{CacheUsage, TypedSetting};
use crate::gui::views::{Action, Command};
use crate::gui::widgets::alert::error_box;
use crate::gui::widgets::controls::{check_box, heading, weak};
use crate::settings::{Settings, TEXT_SIZES, Theme};

/// Width of the column in the middle.
const COLUMN: f32 = 720.0;
/// Width of the names of settings.
const NAME: f32 = 200.0;

/// State of the page: what is typed, and not yet taken.
pub(crate) struct SettingsPage {
    drafts: Vec<Draft>,
    usage: CacheUsage,
    focused: bool,
}

/// A value that is being typed.
struct Draft {
    typed: TypedSetting,
    text: String,
    error: Option<String>,
}

impl SettingsPage {
    /// The page with these values.
    pub(crate) fn new(settings: &Settings) -> Self {
        let draft = |typed: TypedSetting| Draft { typed, text: typed.text(settings), error: None };
        Self {
            drafts: TypedSetting::ALL.into_iter().map(draft).collect(),
            usage: CacheUsage::default(),
            focused: false,
        }
    }
}

/// Shows the page.
pub(crate) fn settings_page(ui: &mut Ui, app: &mut App) {
    let Some(mut page) = app.settings_page.take() else { return };
    let whole = ui.available_rect_before_wrap();
    let side = ((whole.width() - COLUMN) / 2.0).max(space::L);
    let column = Rect::from_min_max(
        pos2(whole.left() + side, whole.top() + space::XL),
        pos2(whole.right() - side, whole.bottom()),
    );
    let mut closes = false;
    ui.scope_builder(UiBuilder::new().max_rect(column), |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Settings").font(text::title()).color(Tokens::of(ui).text));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let close = ui.button("Close");
                closes = close.clicked();
                if !page.focused {
                    page.focused = close.has_focus();
                    close.request_focus();
                }
            });
        });
        file(ui, app);
        ui.add_space(space::S);
        ScrollArea::vertical().id_salt("settings").auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 8.0;
            display(ui, app);
            window(ui, app);
            defaults(ui, app, &mut page);
            cache(ui, app, &mut page);
            registries(ui, app, &mut page);
            engines(ui, app, &mut page);
            ui.add_space(space::XL);
        });
    });
    let escaped = !ui.text_edit_focused() && ui.input(|input| input.key_pressed(egui::Key::Escape));
    if !closes && !escaped {
        app.settings_page = Some(page);
    }
}

/// Where the settings are kept, and what is wrong there.
fn file(ui: &mut Ui, app: &App) {
    let Some(file) = &app.settings_file else {
        weak(ui, "Kept until the window closes: there is no home folder.");
        return;
    };
    let shown = file.shown();
    let words = RichText::new(&shown).font(text::mono()).color(Tokens::of(ui).text_weak);
    ui.horizontal_wrapped(|ui| {
        ui.add(Label::new(words).wrap().selectable(true));
        if ui.button("Copy path").clicked() {
            ui.ctx().copy_text(shown);
        }
    });
    if let Some(fault) = &app.settings_fault {
        error_box(ui, |ui| {
            ui.add(Label::new(capitalised(fault)).wrap().selectable(true));
            weak(ui, "Changes last until the window closes. Correct the file, then change any setting.");
        });
    }
}

fn section(ui: &mut Ui, name: &str) {
    ui.add_space(space::L);
    heading(ui, name);
}

/// A setting with its name at the left.
fn row<R>(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui, egui::Id) -> R) -> R {
    ui.horizontal(|ui| {
        let left = egui::Layout::left_to_right(egui::Align::Center);
        let label = ui.allocate_ui_with_layout(vec2(NAME, 24.0), left, |ui| {
            ui.set_min_width(NAME);
            ui.add(Label::new(name).truncate())
        });
        let label = label.inner;
        add(ui, label.id)
    })
    .inner
}

/// A setting that is on or off.
fn switch(ui: &mut Ui, app: &mut App, on: bool, label: &str, set: fn(&mut Settings, bool)) {
    if check_box(ui, on, label).clicked() {
        app.change_settings(|settings| set(settings, !on));
    }
}

fn display(ui: &mut Ui, app: &mut App) {
    section(ui, "Display");
    row(ui, "Theme", |ui, _| {
        for theme in Theme::ALL {
            let chosen = app.settings.theme == theme;
            if ui.selectable_label(chosen, capitalised(theme.name())).clicked() {
                app.set_theme(theme);
            }
        }
    });
    row(ui, "Text size", |ui, _| {
        let size = app.settings.text_size;
        let step = |ui: &mut Ui, label: &str, name: &str, to: u16| {
            let there = TEXT_SIZES.contains(&to);
            let button = ui.add_enabled(there, egui::Button::new(label).min_size(vec2(24.0, 24.0)));
            button.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::Button, there, name));
            button.clicked().then_some(to)
        };
        let smaller = step(ui, "−", "Smaller text", size.saturating_sub(10));
        ui.add_sized(vec2(52.0, 24.0), Label::new(format!("{size} %")));
        let larger = step(ui, "+", "Larger text", size.saturating_add(10));
        let usual = (size != 100 && ui.button("Reset").clicked()).then_some(100);
        if let Some(size) = smaller.or(larger).or(usual) {
            app.zoom(size);
        }
    });
    row(ui, "Units", |ui, _| {
        for (units, label) in [(Units::Binary, "Binary (MiB)"), (Units::Decimal, "Decimal (MB)")] {
            if ui.selectable_label(app.settings.units == units, label).clicked() {
                app.change_settings(|settings| settings.units = units);
            }
        }
    });
}

fn window(ui: &mut Ui, app: &mut App) {
    section(ui, "Window");
    let (restore, watch) = (app.settings.restore_images, app.settings.watch_files);
    switch(ui, app, restore, "Open the images of the last session", |settings, on| {
        settings.restore_images = on;
    });
    switch(ui, app, watch, "Offer to reload local images that changed", |settings, on| {
        settings.watch_files = on;
    });
}

fn defaults(ui: &mut Ui, app: &mut App, page: &mut SettingsPage) {
    section(ui, "Defaults");
    let hint = "such as gpu:h100; azure:Standard_NC24ads_A100_v4";
    typed(ui, app, page, TypedSetting::Targets, "Target GPUs and machines", hint, None);
    typed(ui, app, page, TypedSetting::Profile, "Deployment platform", "such as kubernetes, azureml", None);
    note(ui, "Apply to images opened from now on. Options of the command line override them.");
}

fn cache(ui: &mut Ui, app: &mut App, page: &mut SettingsPage) {
    section(ui, "Cache");
    let overrides = app.overrides;
    let by_option = overrides.cache_limit.then_some("Set by an option or the environment");
    typed(ui, app, page, TypedSetting::CacheLimit, "Limit of the index cache", "2 GiB", by_option);
    let by_option = overrides.blob_limit.then_some("Set by an option or the environment");
    typed(ui, app, page, TypedSetting::BlobLimit, "Limit of the blob cache", "off", by_option);
    let waker = app.waker();
    row(ui, "Size", |ui, _| {
        let Some(cache) = app.cache() else {
            weak(ui, "The index cache is disabled");
            return;
        };
        page.usage.start(cache, false, &waker);
        weak(ui, page.usage.words());
        let clear = ui.add_enabled(!page.usage.is_busy(), egui::Button::new("Clear cache"));
        if clear.on_hover_text("Layers are read again when they are opened next").clicked() {
            page.usage.start(cache, true, &waker);
        }
    });
}

fn registries(ui: &mut Ui, app: &mut App, page: &mut SettingsPage) {
    section(ui, "Registries");
    let ask = app.settings.ask;
    switch(ui, app, ask, "Ask before connecting to a registry for the first time", |settings, on| {
        settings.ask = on;
    });
    row(ui, "Allowed registries", |ui, _| {
        if app.settings.allowed.is_empty() {
            weak(ui, "None");
        } else if ui.button("Reset").on_hover_text(Command::ForgetHosts.info().about).clicked() {
            app.actions.push(Action::Run(Command::ForgetHosts));
        }
    });
    for host in app.settings.allowed.clone() {
        row(ui, "", |ui, _| {
            ui.add(Label::new(printable(&host)).truncate());
            let remove = ui.button("Remove");
            let name = format!("Remove {host}");
            remove.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::Button, true, &name));
            if remove.clicked() {
                app.change_settings(|settings| settings.allowed.retain(|allowed| *allowed != host));
            }
        });
    }
    let by_option = app.overrides.ca_file.then_some("Set by an option");
    let hint = "path of a PEM file";
    typed(ui, app, page, TypedSetting::CaFile, "Further CA certificates", hint, by_option);
}

fn engines(ui: &mut Ui, app: &mut App, page: &mut SettingsPage) {
    section(ui, "Container engines");
    let list = app.settings.list_engines;
    switch(ui, app, list, "List images of Docker and Podman on the start screen", |settings, on| {
        settings.list_engines = on;
    });
    let by = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let set = by("DOCKER_HOST").then_some("Set by DOCKER_HOST");
    typed(ui, app, page, TypedSetting::DockerHost, "Docker address", "usual sockets", set);
    let set = by("CONTAINER_HOST").then_some("Set by CONTAINER_HOST");
    typed(ui, app, page, TypedSetting::PodmanHost, "Podman address", "usual sockets", set);
}

fn note(ui: &mut Ui, words: &str) {
    let words = RichText::new(words).font(text::small()).color(Tokens::of(ui).text_weak);
    ui.add(Label::new(words).wrap());
}

/// A setting that is typed: taken with Enter, or when the keyboard leaves the field.
fn typed(
    ui: &mut Ui,
    app: &mut App,
    page: &mut SettingsPage,
    typed: TypedSetting,
    name: &str,
    hint: &str,
    overridden: Option<&str>,
) {
    let Some(draft) = page.drafts.iter_mut().find(|draft| draft.typed == typed) else { return };
    row(ui, name, |ui, label| {
        let field = TextEdit::singleline(&mut draft.text)
            .hint_text(hint)
            .margin(Margin::symmetric(8, 5))
            .min_size(vec2(0.0, 28.0))
            .desired_width((ui.available_width() - space::S).clamp(120.0, 400.0));
        let field = ui.add_enabled(overridden.is_none(), field).labelled_by(label);
        if field.changed() {
            draft.error = None;
        }
        if field.lost_focus() && draft.text.trim() != typed.text(&app.settings) {
            match app.type_setting(typed, &draft.text) {
                Ok(()) => draft.text = typed.text(&app.settings),
                Err(reason) => draft.error = Some(reason),
            }
        }
        field.on_disabled_hover_text(overridden.unwrap_or_default());
    });
    if let Some(error) = &draft.error {
        row(ui, "", |ui, _| {
            let words = RichText::new(capitalised(error)).color(Tokens::of(ui).error);
            ui.add(Label::new(words).wrap());
        });
    }
}
