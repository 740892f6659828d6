//! All commands of the window in one table: title, description, keys, place in the menus, and what each needs.
//! Menus, palette, key sheet, tooltips and the buttons of views read it; the window runs them.

use egui::accesskit::Role;
use egui::{Button, Key, KeyboardShortcut, Modifiers, Ui, WidgetInfo};

use super::{Action, View};

/// A menu of the menu bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Opening and closing.
    File,
    /// What is in front, and how it looks.
    View,
    /// The image in front.
    Image,
    /// Help.
    Help,
}

impl Menu {
    /// All menus in the order of the bar.
    pub const ALL: [Self; 4] = [Self::File, Self::View, Self::Image, Self::Help];

    /// Its name in the bar.
    pub const fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::View => "View",
            Self::Image => "Image",
            Self::Help => "Help",
        }
    }

    /// Its commands, from top to bottom.
    pub fn commands(self) -> impl Iterator<Item = Command> {
        let views = View::ALL.iter().filter(move |_| self == Self::View).map(|view| Command::Show(*view));
        views.chain(LISTED.iter().copied().filter(move |command| command.info().menu == self))
    }
}

/// What must be the case for a command to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Always available.
    Nothing,
    /// No file dialog is open.
    NoDialog,
    /// A reference to a registry, typed or of the image in front.
    Repository,
    /// Engine images are not being listed.
    IdleEngines,
    /// A login of this session.
    Logins,
    /// An allowed registry.
    Hosts,
    /// A recent image.
    Recent,
    /// The GPU check is not running.
    NoCheck,
    /// The GPU check is running.
    Check,
    /// The zoom is not the largest.
    ZoomBelowMost,
    /// The zoom is not the smallest.
    ZoomAboveLeast,
    /// An open tab, in front or not.
    Tabs,
    /// A tab in front.
    Front,
    /// A tab in front that has this view.
    View(View),
    /// Work on the tab in front.
    Running,
    /// No work on the tab in front.
    Ended,
    /// Something to search.
    Searchable,
    /// The manifest of the image in front.
    Loaded,
    /// Findings of the image in front.
    Findings,
    /// A change of the plan that can be undone.
    Undo,
    /// A change of the plan that was undone.
    Redo,
    /// A proposed Dockerfile.
    Proposal,
    /// A Dockerfile given by the user.
    Dockerfile,
    /// A tab in front that can be compared.
    Comparable,
    /// Another image beside the one in front.
    Compared,
    /// A path that is selected or looked at.
    Path,
    /// The same, and no folder.
    File,
    /// A finished comparison.
    Comparison,
    /// The content of a report.
    Report,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// Its name in menus and in the palette.
    pub title: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The menu that it is in.
    pub menu: Menu,
    /// Group within the menu; groups are separated by a line.
    pub group: u8,
    /// The keys that run it; the first is the one that is shown.
    pub keys: &'static [KeyboardShortcut],
    /// What must be the case for it to run.
    pub needs: Needs,
}

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

const fn keys(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(modifiers, key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    keys(Modifiers::NONE, key)
}

/// Keys of the views, in the order of the rail.
const VIEW_KEYS: [KeyboardShortcut; 10] = [
    ctrl(Key::Num1),
    ctrl(Key::Num2),
    ctrl(Key::Num3),
    ctrl(Key::Num4),
    ctrl(Key::Num5),
    ctrl(Key::Num6),
    ctrl(Key::Num7),
    ctrl(Key::Num8),
    ctrl(Key::Num9),
    // Ctrl+0 resets the zoom.
    ctrl(Key::M),
];

macro_rules! commands {
    ($($menu:ident $group:literal {
        $($name:ident: $title:literal, $about:literal, $keys:expr, $needs:ident;)*
    })*) => {
        /// Everything that menus, palette and keys run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Command {
            /// Bring a view to the front.
            Show(View),
            $($(#[doc = $about] $name,)*)*
        }

        /// All commands but those of [`Command::Show`], in the order of the menus.
        const LISTED: &[Command] = &[$($(Command::$name,)*)*];

        impl Command {
            /// Its row in the table.
            pub fn info(self) -> CommandInfo {
                let (title, about, keys, menu, group, needs) = match self {
                    Self::Show(view) => {
                        let place = view as usize;
                        let keys = const { &VIEW_KEYS }.get(place..=place).unwrap_or_default();
                        (view.title(), view.description(), keys, Menu::View, 0, Needs::View(view))
                    }
                    $($(Self::$name => {
                        const KEYS: &[KeyboardShortcut] = &$keys;
                        ($title, $about, KEYS, Menu::$menu, $group, Needs::$needs)
                    })*)*
                };
                CommandInfo { title, about, menu, group, keys, needs }
            }
        }
    };
}

commands! {
    File 0 {
        NewTab: "Open image…", "Open an image in a new tab", [ctrl(Key::T)], Nothing;
        OpenArchive: "Open archive…", "Open an OCI or docker save archive, plain or compressed",
            [ctrl(Key::O)], NoDialog;
        OpenFolder: "Open folder…", "Open an OCI layout, a skopeo directory or a root filesystem",
            [ctrl_shift(Key::O)], NoDialog;
    }
    File 1 {
        SampleDevel: "Open devel sample", "Small example of a service built on a CUDA devel image", [], Nothing;
        SampleRuntime: "Open runtime sample", "The same service on a CUDA runtime image", [], Nothing;
    }
    File 2 {
        ListTags: "List tags…", "List the tags of this image in its registry", [], Repository;
        ListEngines: "Refresh local images", "List the images of the local container engines again",
            [], IdleEngines;
        LogIn: "Log in to registry…", "Store registry credentials until the window closes", [], Nothing;
        ForgetLogins: "Clear logins", "Delete all registry credentials of this session", [], Logins;
        ForgetHosts: "Reset registry permissions", "Ask before connecting to any registry again", [], Hosts;
    }
    File 3 {
        ForgetRecent: "Clear recent images", "Remove all entries from the recent images", [], Recent;
    }
    File 4 {
        Settings: "Settings…", "Theme, text size, cache, registries and defaults, kept in one file",
            [ctrl(Key::Comma)], Nothing;
    }
    File 5 {
        CloseTab: "Close image", "Close this tab and cancel its work", [ctrl(Key::W)], Front;
        Quit: "Quit", "Close the window", [ctrl(Key::Q)], Nothing;
    }
    View 1 {
        Find: "Find in view", "Focus the filter of this view", [ctrl(Key::F)], Searchable;
        NextPane: "Next pane", "Move the keyboard to the next pane of the view", [plain(Key::F6)], Front;
        PreviousPane: "Previous pane", "Move the keyboard to the previous pane of the view",
            [keys(Modifiers::SHIFT, Key::F6)], Front;
        Log: "Log", "Warnings and errors of the image in front or of all images", [ctrl(Key::J)], Nothing;
    }
    View 2 {
        ThemeSystem: "System theme", "Color theme of the window", [], Nothing;
        ThemeLight: "Light theme", "Color theme of the window", [], Nothing;
        ThemeDark: "Dark theme", "Color theme of the window", [], Nothing;
    }
    View 3 {
        ZoomIn: "Zoom in", "Increase text size", [ctrl(Key::Plus), ctrl(Key::Equals)], ZoomBelowMost;
        ZoomOut: "Zoom out", "Decrease text size", [ctrl(Key::Minus)], ZoomAboveLeast;
        ZoomReset: "Reset zoom", "Show text at 100 %", [ctrl(Key::Num0)], Nothing;
    }
    View 4 {
        CheckGpu: "Run GPU check", "Run a kernel on this machine's GPU, verify the results and time launches",
            [], NoCheck;
        StopCheck: "Stop GPU check", "Stop the check and keep the results so far", [], Check;
    }
    Image 0 {
        Again: "Reload", "Reload this image", [ctrl(Key::R), plain(Key::F5)], Ended;
        Cancel: "Cancel", "Stop loading this image", [ctrl(Key::Period)], Running;
    }
    Image 1 {
        CopyReference: "Copy reference", "Copy the reference of this image to the clipboard", [], Front;
        ShowContents: "Show file contents", "Show the text, bytes or headers of the selected file",
            [plain(Key::F3)], File;
        ShowWhy: "Why is this here?", "Show what brought the selected path, what uses it and its findings",
            [ctrl(Key::I)], Path;
    }
    Image 2 {
        UndoPlan: "Undo", "Undo the last change of the selected findings", [ctrl(Key::Z)], Undo;
        RedoPlan: "Redo", "Redo the change of the selected findings", [ctrl_shift(Key::Z), ctrl(Key::Y)], Redo;
        SelectSafe: "Select all removable findings", "Select removable findings only", [], Findings;
        ClearPlan: "Clear selection", "Remove all findings from the plan", [], Findings;
        CopyPlan: "Copy plan", "Copy the selected findings to the clipboard as text", [], Findings;
        SavePlan: "Save plan as…", "Save the selected findings and answers for cutaway dockerfile --plan",
            [], Findings;
        OpenPlan: "Open plan…", "Load selected findings and answers from a saved plan or report", [], Findings;
        WriteSlim: "Write slim image…", "Write the image without the selected findings", [], Findings;
    }
    Image 3 {
        CopyDockerfile: "Copy Dockerfile", "Copy the proposed Dockerfile to the clipboard",
            [ctrl_shift(Key::C)], Proposal;
        SaveDockerfile: "Save Dockerfile as…", "Save the proposed Dockerfile to a file",
            [ctrl(Key::S)], Proposal;
        SavePatch: "Save patch as…", "Save the changes as a patch for git apply",
            [ctrl_shift(Key::S)], Proposal;
        OpenDockerfile: "Open Dockerfile…", "Use the Dockerfile that the image was built from",
            [ctrl_shift(Key::D)], Loaded;
        CloseDockerfile: "Close Dockerfile", "Return to the Dockerfile reconstructed from the image history",
            [], Dockerfile;
        OpenPlatformFile: "Open platform file…",
            "Check cerebrium.toml, Azure ML YAML or Kubernetes manifests against this image", [], Loaded;
        NextChange: "Next change", "Go to the next change in the Dockerfile", [plain(Key::F7)], Proposal;
        PreviousChange: "Previous change", "Go to the previous change in the Dockerfile",
            [keys(Modifiers::SHIFT, Key::F7)], Proposal;
    }
    Image 4 {
        AddImage: "Compare with…", "Compare this image with another", [ctrl_shift(Key::B)], Comparable;
        NextBaseline: "Next baseline", "Use the next compared image as the baseline",
            [plain(Key::F8)], Compared;
        OnlyDifferences: "Only differences", "Hide what is identical in all images", [], Compared;
        CopyComparison: "Copy comparison", "Copy the comparison to the clipboard as Markdown", [], Comparison;
        SaveComparison: "Save comparison as…", "Save the comparison as HTML, Markdown, JSON, CSV or text",
            [], Comparison;
        ClearComparison: "Clear comparison",
            "Remove the other images from the comparison; their tabs stay open", [], Compared;
    }
    Image 5 {
        SaveReport: "Save report…", "Save the report as HTML, Markdown, JSON, SARIF, CSV or text",
            [ctrl(Key::E)], Report;
        CopyReport: "Copy report as Markdown", "Copy the report to the clipboard as Markdown",
            [ctrl_shift(Key::M)], Report;
    }
    Image 6 {
        NextImage: "Next image", "Switch to the next tab",
            [keys(Modifiers::CTRL, Key::Tab), ctrl(Key::PageDown)], Tabs;
        PreviousImage: "Previous image", "Switch to the previous tab",
            [keys(Modifiers::CTRL.plus(Modifiers::SHIFT), Key::Tab), ctrl(Key::PageUp)], Tabs;
    }
    Help 0 {
        Palette: "Command palette", "Search all commands", [ctrl(Key::K), ctrl_shift(Key::P)], Nothing;
        Keys: "Keyboard shortcuts", "List all keyboard shortcuts", [plain(Key::F1)], Nothing;
        Manual: "Manual", "Help: chapters on views, files, sizes, CUDA, settings and the command line", [], Nothing;
    }
    Help 1 {
        About: "About Cutaway", "Version and license", [], Nothing;
    }
}

impl Command {
    /// All of them, in the order of the menus.
    pub fn all() -> impl Iterator<Item = Self> {
        Menu::ALL.into_iter().flat_map(Menu::commands)
    }

    /// The command whose keys were pressed; its keys are used up. One at a time, those with the most
    /// modifiers first, since egui also takes `Ctrl+Shift+P` for `Ctrl+P`.
    /// While something is typed, keys that act on text are left to the field.
    pub(crate) fn pressed(input: &mut egui::InputState, typing: bool) -> Option<Self> {
        let weight = |keys: &KeyboardShortcut| u8::from(keys.modifiers.shift) + u8::from(keys.modifiers.alt);
        (0..=2).rev().find_map(|wanted| {
            let of_text = |command: &Self| matches!(command, Self::UndoPlan | Self::RedoPlan);
            Self::all().filter(|command| !(typing && of_text(command))).find(|command| {
                let mut keys = command.info().keys.iter().filter(|keys| weight(keys) == wanted);
                keys.any(|keys| input.consume_shortcut(keys))
            })
        })
    }
}

impl CommandInfo {
    /// The keys as they are shown, such as `Ctrl+K`; empty without any.
    pub fn keys_text(&self, context: &egui::Context) -> String {
        self.keys.first().map(|keys| keys_text(context, *keys)).unwrap_or_default()
    }
}

/// Keys as printed on a keyboard: `Ctrl++` for `Ctrl+Plus` in egui.
pub(crate) fn keys_text(context: &egui::Context, keys: KeyboardShortcut) -> String {
    const SIGNS: [(&str, &str); 7] = [
        ("Plus", "+"),
        ("Minus", "-"),
        ("Equals", "="),
        ("Period", "."),
        ("Comma", ","),
        ("PageUp", "Page up"),
        ("PageDown", "Page down"),
    ];
    let text = context.format_shortcut(&keys);
    match SIGNS.iter().find(|(name, _)| text.ends_with(name)) {
        Some((name, sign)) => format!("{}{sign}", text.trim_end_matches(name)),
        None => text,
    }
}

/// A button for a command; `label` is its title in short.
pub(super) fn command_button(ui: &mut Ui, command: Command, label: &str) -> Option<Action> {
    let info = command.info();
    let keys = info.keys_text(ui.ctx());
    let tooltip = if keys.is_empty() { info.about.to_owned() } else { format!("{} ({keys})", info.about) };
    let response = ui.add(Button::new(label));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), info.title));
    response.on_hover_text(tooltip).clicked().then_some(Action::Run(command))
}

#[cfg(test)]
mod tests;
