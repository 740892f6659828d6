//! Inter for the window, Hack for what is of fixed width. See the notes beside the font files.

use std::sync::{Arc, OnceLock};

use egui::epaint::text::{FallbackRequest, FontInsert, FontProvider};
use egui::{FontData, FontDefinitions, FontFamily, FontTweak};
use egui_system_font_provider::SystemFontProvider;
use epaint_default_fonts::{EGUI_ICONS, HACK_REGULAR};

use super::SEMIBOLD;

const REGULAR_BYTES: &[u8] = include_bytes!("../../../assets/fonts/Inter-tnum-Regular.otf");
const SEMIBOLD_BYTES: &[u8] = include_bytes!("../../../assets/fonts/Inter-tnum-SemiBold.otf");

/// Fonts for both weights and for fixed width, with two of egui's own behind them for rare signs. What no font has, such
/// as Chinese names, comes from [`DesktopFonts`].
pub fn font_definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    for (name, bytes) in [("Hack", HACK_REGULAR), ("egui-icons", EGUI_ICONS)] {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let mut add = |name: &str, bytes: &'static [u8]| {
        // Inter sits slightly high in its line box.
        let tweak = FontTweak { y_offset_factor: 0.02, ..FontTweak::default() };
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes).tweak(tweak)));
    };
    add("Inter", REGULAR_BYTES);
    add("Inter semibold", SEMIBOLD_BYTES);
    let behind = ["Hack", "egui-icons"];
    let mut family = |family: FontFamily, first: &[&str]| {
        let names = first.iter().chain(&behind).map(|name| (*name).to_owned());
        fonts.families.insert(family, names.collect());
    };
    family(FontFamily::Proportional, &["Inter"]);
    family(FontFamily::Name(SEMIBOLD.into()), &["Inter semibold", "Inter"]);
    family(FontFamily::Monospace, &["Hack", "Inter"]);
    fonts
}

/// The fonts of the desktop, for characters that no other font has. To list them takes 70 ms of a processor, so that is
/// done after the first frame, or when the first such character is painted.
#[derive(Clone, Default)]
pub struct DesktopFonts(Arc<OnceLock<SystemFontProvider>>);

impl DesktopFonts {
    /// Lists them on another thread, once.
    pub fn list(&self) -> &SystemFontProvider {
        self.0.get_or_init(SystemFontProvider::new)
    }
}

impl FontProvider for DesktopFonts {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        self.list().font_for(request)
    }
}
