//! Opens the window: which display, which renderer, and the reason when there is none.

use std::any::Any;
use std::cell::Cell;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use eframe::{NativeOptions, Renderer};
use egui::ViewportBuilder;

use super::app::{App, Setup};
use super::design::DesktopFonts;
use super::models::gpu::MachineSetup;
use super::remembered;

const ICON: &[u8] = include_bytes!("../../assets/icons/cutaway.png");

/// Shows the window until it is closed.
pub(super) fn run(setup: Setup) -> Result<(), String> {
    display()?;
    let machine = MachineSetup { history: remembered::gpu_history(), ..setup.machine };
    let setup = Setup { drops_arrive: drops_arrive(), machine, ..setup };
    let wanted = setup.renderer.clone().or_else(|| std::env::var("CUTAWAY_RENDERER").ok());
    let (first, second) = renderers(wanted.as_deref().map(str::trim))?;
    let first_reason = match attempt(&setup, first, None) {
        Ok(()) => return Ok(()),
        Err(NoWindow::NoDisplay(reason)) => return Err(reason),
        Err(NoWindow::NoRenderer(reason)) => reason,
    };
    let Some(second) = second else {
        return Err(format!(
            "{first} failed: {first_reason}; this build has no other renderer ({WITHOUT_WGPU})"
        ));
    };
    // Not an error while the other renderer works, but the requested one is reported.
    let note = format!("note: renderer {first} is not available: {first_reason}");
    match attempt(&setup, second, Some(note)) {
        Ok(()) => Ok(()),
        Err(NoWindow::NoDisplay(reason) | NoWindow::NoRenderer(reason)) => {
            Err(format!("{first} failed: {first_reason}; {second} failed: {reason}"))
        }
    }
}

/// How to get the second renderer where the build lacks it.
const WITHOUT_WGPU: &str = "wgpu requires a build with `--features wgpu`";

/// The renderer to try first, and the one to fall back to.
fn renderers(wanted: Option<&str>) -> Result<(Renderer, Option<Renderer>), String> {
    match wanted {
        #[cfg(feature = "wgpu")]
        None | Some("" | "glow") => Ok((Renderer::Glow, Some(Renderer::Wgpu))),
        #[cfg(feature = "wgpu")]
        Some("wgpu") => Ok((Renderer::Wgpu, Some(Renderer::Glow))),
        #[cfg(not(feature = "wgpu"))]
        None | Some("" | "glow") => Ok((Renderer::Glow, None)),
        #[cfg(not(feature = "wgpu"))]
        Some("wgpu") => Err(WITHOUT_WGPU.to_owned()),
        Some(other) => Err(format!("unknown renderer '{other}'; expected glow or wgpu")),
    }
}

/// Why a renderer gave no window.
enum NoWindow {
    /// There is no display, so another renderer gives none either.
    NoDisplay(String),
    /// This renderer cannot paint here.
    NoRenderer(String),
}

/// Whether there is a display at all, before any library is asked.
fn display() -> Result<(), String> {
    const NAMES: [&str; 3] = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"];
    let needs_one = cfg!(all(unix, not(target_os = "macos")));
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if needs_one && !NAMES.iter().any(is_set) {
        return Err("neither WAYLAND_DISPLAY nor DISPLAY is set".to_owned());
    }
    Ok(())
}

/// Whether files dropped on the window arrive; winit does not hand them on under Wayland.
fn drops_arrive() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !(is_set("WAYLAND_DISPLAY") || is_set("WAYLAND_SOCKET"))
}

/// Shows the window with one renderer; prints `note` on stderr when it opens.
fn attempt(setup: &Setup, renderer: Renderer, note: Option<String>) -> Result<(), NoWindow> {
    let frames = Rc::new(Cell::new(0));
    let shown = Arc::new(AtomicBool::new(false));
    let (app_frames, app_shown) = (Rc::clone(&frames), Arc::clone(&shown));
    let (native, setup) = (native(setup, renderer), setup.clone());
    let create: eframe::AppCreator<'_> = Box::new(move |context| {
        if let Some(note) = note {
            writeln!(std::io::stderr(), "{note}").ok();
        }
        let mut app = App::new(&context.egui_ctx, context.storage, setup);
        let fonts = DesktopFonts::default();
        context.egui_ctx.add_font_provider(Arc::new(fonts.clone()));
        app.on_frame(move || {
            // The first frame is painted when this one begins.
            if app_frames.get() > 0 {
                fonts.list();
            }
            app_frames.set(app_frames.get() + 1);
            app_shown.store(true, Ordering::Relaxed);
        });
        Ok(Box::new(app))
    });
    let ended = quietly(&shown, || eframe::run_native(remembered::APP, native, create));
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(eframe::Error::WinitEventLoop(error))) => {
            let text = error.to_string();
            // winit puts the place in its own source first.
            let reason = text.rsplit(": ").next().unwrap_or(&text);
            Err(NoWindow::NoDisplay(format!("cannot use the display: {}", one_line(reason))))
        }
        Ok(Err(eframe::Error::NoGlutinConfigs(..))) => {
            Err(NoWindow::NoRenderer("no usable OpenGL configuration".to_owned()))
        }
        Ok(Err(error)) => Err(NoWindow::NoRenderer(one_line(&error.to_string()))),
        // A panic of a window that was there is a fault of ours and must be seen as one.
        Err(payload) if frames.get() > 0 => resume_unwind(payload),
        Err(payload) => Err(NoWindow::NoRenderer(one_line(&message(payload.as_ref())))),
    }
}

/// Runs `work`; a panic before anything was `shown` prints nothing: the reason is reported elsewhere.
fn quietly<T>(shown: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let usual = Arc::new(std::panic::take_hook());
    let (hook, loud, thread) = (Arc::clone(&usual), Arc::clone(shown), std::thread::current().id());
    std::panic::set_hook(Box::new(move |info| {
        if loud.load(Ordering::Relaxed) || std::thread::current().id() != thread {
            hook(info);
        }
    }));
    let result = catch_unwind(AssertUnwindSafe(work));
    std::panic::set_hook(Box::new(move |info| usual(info)));
    result
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "the window library failed without a reason".to_owned())
}

fn one_line(text: &str) -> String {
    crate::base::text::elide_end(&text.split_whitespace().collect::<Vec<_>>().join(" "), 300)
}

fn native(setup: &Setup, renderer: Renderer) -> NativeOptions {
    let mut viewport = ViewportBuilder::default()
        .with_title("Cutaway")
        .with_app_id("cutaway")
        .with_inner_size([1200.0, 800.0])
        .with_min_inner_size([640.0, 420.0])
        .with_drag_and_drop(true);
    // The picture is part of the program; should it not decode, the window has no icon.
    if let Ok(icon) = eframe::icon_data::from_png_bytes(ICON) {
        viewport = viewport.with_icon(icon);
    }
    NativeOptions {
        viewport,
        renderer,
        // A window that closes by itself has nothing to remember.
        persist_window: setup.exit_after_frames.is_none(),
        dithering: false,
        // Its thread would begin before the first frame.
        system_font_fallback: false,
        ..NativeOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_panic_becomes_one_line() {
        let result = super::quietly(&Arc::new(AtomicBool::new(false)), || panic!("no\n  display"));
        let payload = result.expect_err("it panicked");
        assert_eq!(super::one_line(&super::message(payload.as_ref())), "no display");
    }
}
