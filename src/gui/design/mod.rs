//! In: the theme in use.
//! Out: [`Tokens`]: colours by meaning, sizes and text styles; the style and fonts of egui made from them.
//! Must not know: images, or what a view shows.

mod fonts;
mod palette;
mod style;

use egui::{Color32, CornerRadius, FontFamily, FontId};

pub use fonts::{DesktopFonts, font_definitions};
pub use palette::{DARK, LIGHT};
pub use style::apply;

/// Number of hues in the layer palette before it repeats.
pub const LAYER_HUES: usize = 12;

/// Number of patterns, none included: bit 0 for horizontal lines, bit 1 for vertical ones, bit 2 for bands.
pub const PATTERNS: u8 = 8;

/// The pattern of layer `index`. Neighbours differ, and with the hue the first 96 layers do, so that colour is not
/// needed.
pub fn layer_pattern(index: usize) -> u8 {
    pattern(index + index / LAYER_HUES)
}

/// The pattern with this number, counted around.
pub fn pattern(number: usize) -> u8 {
    u8::try_from(number % usize::from(PATTERNS)).unwrap_or_default()
}

/// Everything that decides how the window looks, by meaning. Colours are defined only here.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens {
    /// Whether this is the dark theme.
    pub dark: bool,
    /// Behind the content of a view.
    pub background: Color32,
    /// Panels at the edges: menu bar, rail, status bar, side panes.
    pub panel: Color32,
    /// A card on the background, the head of a table, the bed of a bar.
    pub raised: Color32,
    /// Popups, menus and dialogs.
    pub popup: Color32,
    /// Fields that text is typed into.
    pub field: Color32,
    /// Lines between things.
    pub border: Color32,
    /// Borders of controls: at least 3:1 against the background.
    pub border_strong: Color32,
    /// Text.
    pub text: Color32,
    /// Text of second rank; still 4.5:1 on `background` and `panel`.
    pub text_weak: Color32,
    /// Text of what cannot be used now.
    pub text_disabled: Color32,
    /// Links, focus, the chosen, and the one action that matters.
    pub accent: Color32,
    /// The same under the pointer.
    pub accent_hovered: Color32,
    /// Text on `accent`.
    pub on_accent: Color32,
    /// Behind a chosen row.
    pub selection: Color32,
    /// Behind what the pointer is on.
    pub hovered: Color32,
    /// Every other row of a table.
    pub stripe: Color32,
    /// A path that a layer adds. Goes with the sign `+`.
    pub added: Color32,
    /// A path that a layer replaces. Goes with the sign `~`.
    pub changed: Color32,
    /// A path that a layer removes. Goes with the sign `−`.
    pub removed: Color32,
    /// Bytes shadowed by an upper layer. Goes with the sign `◦`.
    pub hidden: Color32,
    /// A warning.
    pub warning: Color32,
    /// Failure.
    pub error: Color32,
    /// Success.
    pub success: Color32,
    /// Hues for layers, bottom first; neighbours differ in hue and lightness. See [`Tokens::layer`].
    pub layers: [Color32; LAYER_HUES],
    /// Classes of bytes, in this order: system, CUDA runtime, CUDA devel-only,
    /// frameworks, weights, application.
    pub classes: [Color32; 6],
    /// Suppliers: wheel, conda, toolkit, distro, application.
    pub suppliers: [Color32; 5],
    /// Kinds of GPU code: SASS, PTX, LTO, other.
    pub codes: [Color32; 4],
    /// Dark text for light fills, see [`Tokens::text_on`].
    pub ink: Color32,
    /// Light text for dark fills, see [`Tokens::text_on`].
    pub paper: Color32,
}

/// Spaces in points: multiples of four.
pub mod space {
    /// Between a mark and its text.
    pub const XS: f32 = 4.0;
    /// Between neighbours that belong together.
    pub const S: f32 = 8.0;
    /// Between groups; inside a card.
    pub const M: f32 = 12.0;
    /// Around a view.
    pub const L: f32 = 16.0;
    /// Between sections.
    pub const XL: f32 = 24.0;
}

/// Heights of rows in points. Other heights lose rows at the end of very long lists.
pub mod row {
    /// Rows of long lists: trees, logs.
    pub const DENSE: f32 = 20.0;
    /// Rows of tables and menus.
    pub const NORMAL: f32 = 24.0;
}

/// Roundness of corners.
pub mod radius {
    use egui::CornerRadius;

    /// Buttons, fields, marks.
    pub const S: CornerRadius = CornerRadius::same(4);
    /// Cards and popups.
    pub const M: CornerRadius = CornerRadius::same(6);
    /// The drop target.
    pub const L: CornerRadius = CornerRadius::same(8);
}

/// The name of the font family of weight 600. Weight 400 is egui's proportional family.
pub const SEMIBOLD: &str = "semibold";

/// Text in its sizes. Digits of all of them are of one width.
pub mod text {
    use super::{FontFamily, FontId, SEMIBOLD};

    fn semibold(size: f32) -> FontId {
        FontId::new(size, FontFamily::Name(SEMIBOLD.into()))
    }

    /// The sentence that a view opens with, and big numbers.
    pub fn title() -> FontId {
        semibold(20.0)
    }

    /// Heads of sections and cards.
    pub fn heading() -> FontId {
        semibold(14.0)
    }

    /// Body text that stands out.
    pub fn strong() -> FontId {
        semibold(13.0)
    }

    /// Body text.
    pub fn body() -> FontId {
        FontId::proportional(13.0)
    }

    /// Notes, units, heads of columns.
    pub fn small() -> FontId {
        FontId::proportional(11.5)
    }

    /// Paths, digests, instructions.
    pub fn mono() -> FontId {
        FontId::monospace(12.0)
    }
}

impl Tokens {
    /// The tokens of the theme that `ui` is drawn in.
    pub fn of(ui: &egui::Ui) -> &'static Self {
        Self::for_theme(ui.visuals().dark_mode)
    }

    /// The tokens of the dark or light theme.
    pub fn for_theme(dark: bool) -> &'static Self {
        if dark { &DARK } else { &LIGHT }
    }

    /// The colour of layer `index`, counted from the bottom. Goes with [`layer_pattern`].
    pub fn layer(&self, index: usize) -> Color32 {
        self.layers[index % LAYER_HUES]
    }

    /// Text that can be read on `fill`.
    pub fn text_on(&self, fill: Color32) -> Color32 {
        let contrast = |text| contrast(text, fill);
        if contrast(self.ink) >= contrast(self.paper) { self.ink } else { self.paper }
    }

    /// Lines of a pattern on `fill`: away from the text on it, which stays as readable.
    pub fn pattern_on(&self, fill: Color32) -> Color32 {
        let away = if self.text_on(fill) == self.ink { self.paper } else { self.ink };
        mix(fill, away, 0.3)
    }

    /// Lines of a pattern on a small piece of `fill` without text: as strong as text would be.
    pub fn chip_pattern_on(&self, fill: Color32) -> Color32 {
        mix(fill, self.text_on(fill), 0.7)
    }

    /// `color` as a thin wash over the background, for the fill of a row or badge.
    pub fn wash(&self, color: Color32) -> Color32 {
        mix(self.background, color, if self.dark { 0.22 } else { 0.12 })
    }

    /// `color` taken back towards the background, for what is out of focus.
    pub fn dim(&self, color: Color32) -> Color32 {
        mix(self.background, color, 0.45)
    }

    /// `color` dimmed, so that highlighted cells stand out.
    pub fn faint(&self, color: Color32) -> Color32 {
        mix(self.raised, color, 0.35)
    }

    /// The fill of a number that is `share`, 0 to 1, of the largest one; grey where it is not in the light.
    pub fn heat(&self, share: f32, highlighted: bool) -> Color32 {
        let (most, color) = if highlighted { (0.54, self.accent) } else { (0.16, self.text_weak) };
        // A square root, so that small numbers differ visibly from zero.
        mix(self.background, color, 0.06 + most * share.clamp(0.0, 1.0).sqrt())
    }

    /// Over all that is behind a dialog.
    pub fn backdrop(&self) -> Color32 {
        Color32::from_black_alpha(if self.dark { 96 } else { 40 })
    }

    /// Cards: a fill and a thin line around.
    pub fn card(&self) -> egui::Frame {
        egui::Frame::new()
            .fill(self.raised)
            .stroke(egui::Stroke::new(1.0, self.border))
            .corner_radius(radius::M)
            .inner_margin(egui::Margin::same(12))
    }

    /// The corner radius of bars: they are never taller than a row.
    pub fn bar_radius(&self) -> CornerRadius {
        CornerRadius::same(3)
    }
}

/// `share` of `over`, the rest of `under`.
fn mix(under: Color32, over: Color32, share: f32) -> Color32 {
    under.lerp_to_gamma(over, share)
}

/// The contrast of two colours as WCAG 2 counts it, 1 to 21.
pub fn contrast(one: Color32, other: Color32) -> f32 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    if one > other { one / other } else { other / one }
}

fn luminance(color: Color32) -> f32 {
    let linear = egui::Rgba::from(color);
    0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use egui::{Color32, Rgba};

    use super::{DARK, LAYER_HUES, LIGHT, PATTERNS, Tokens, contrast, layer_pattern};

    /// A colour as people without one kind of cones see it: matrices of Machado, Oliveira and Fernandes (2009), severity 1.
    fn seen(color: Color32, matrix: [[f32; 3]; 3]) -> Color32 {
        let linear = Rgba::from(color);
        let [r, g, b] = matrix
            .map(|row| row[0] * linear.r() + row[1] * linear.g() + row[2] * linear.b())
            .map(|part| part.clamp(0.0, 1.0));
        Color32::from(Rgba::from_rgb(r, g, b))
    }

    const BLIND: [(&str, [[f32; 3]; 3]); 3] = [
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    #[test]
    fn layers_in_sight_are_told_apart_by_everyone() {
        let looks: BTreeSet<_> = (0..LAYER_HUES * usize::from(PATTERNS))
            .map(|layer| (layer % LAYER_HUES, layer_pattern(layer)))
            .collect();
        assert_eq!(looks.len(), LAYER_HUES * usize::from(PATTERNS), "a look is repeated within 96 layers");
        assert!((0..1_000).all(|layer| layer_pattern(layer) != layer_pattern(layer + 1)));
        for theme in [&LIGHT, &DARK] {
            for layer in 0..LAYER_HUES {
                let fill = theme.layer(layer);
                // Patterns are what is left where hues look alike: they are visible in any case.
                for (name, matrix) in BLIND {
                    let (fill, lines) = (seen(fill, matrix), seen(theme.chip_pattern_on(fill), matrix));
                    assert!(
                        contrast(fill, lines) >= 2.0,
                        "dark {}: {name}: lines of layer {layer}",
                        theme.dark
                    );
                    let next = seen(theme.layer(layer + 1), matrix);
                    let apart = (0..3).map(|channel| fill[channel].abs_diff(next[channel])).max();
                    assert!(
                        apart >= Some(20),
                        "dark {}: {name}: layers {layer} and the next: {apart:?}",
                        theme.dark
                    );
                }
            }
        }
    }

    #[test]
    fn text_can_be_read_on_everything_it_stands_on() {
        for theme in [&LIGHT, &DARK] {
            for (name, text, least) in [
                ("text", theme.text, 7.0),
                ("text_weak", theme.text_weak, 4.5),
                ("accent", theme.accent, 4.5),
                ("added", theme.added, 4.5),
                ("changed", theme.changed, 4.5),
                ("removed", theme.removed, 4.5),
                ("hidden", theme.hidden, 4.5),
                ("warning", theme.warning, 4.5),
                ("error", theme.error, 4.5),
                ("success", theme.success, 4.5),
                ("border_strong", theme.border_strong, 3.0),
            ] {
                for (place, behind) in
                    [("background", theme.background), ("panel", theme.panel), ("raised", theme.raised)]
                {
                    let found = contrast(text, behind);
                    assert!(found >= least, "dark {}: {name} on {place}: {found:.2}", theme.dark);
                }
            }
            let chosen = contrast(theme.text, theme.selection);
            assert!(chosen >= 4.5, "dark {}: text on selection: {chosen:.2}", theme.dark);
            let action = contrast(theme.on_accent, theme.accent);
            assert!(action >= 4.5, "dark {}: text on accent: {action:.2}", theme.dark);
        }
    }

    #[test]
    fn layers_are_told_apart() {
        for theme in [&LIGHT, &DARK] {
            for (index, fill) in theme.layers.iter().enumerate() {
                let text = theme.text_on(*fill);
                assert!(contrast(text, *fill) >= 4.5, "text on layer {index}");
                assert!(contrast(text, theme.pattern_on(*fill)) >= 4.5, "text on the lines of layer {index}");
                assert!(contrast(*fill, theme.background) >= 2.0, "layer {index} on the background");
                let next = theme.layer(index + 1);
                let apart = (0..3).map(|channel| fill[channel].abs_diff(next[channel])).max();
                assert!(apart >= Some(40), "layers {index} and {} look alike", index + 1);
            }
        }
        assert_eq!(Tokens::for_theme(true), &DARK);
    }

    #[test]
    fn parts_of_charts_are_told_apart() {
        for theme in [&LIGHT, &DARK] {
            for fills in [&theme.classes[..], &theme.suppliers[..], &theme.codes[..]] {
                for (index, fill) in fills.iter().enumerate() {
                    assert!(contrast(theme.text_on(*fill), *fill) >= 4.5, "text on part {index}");
                    assert!(contrast(*fill, theme.background) >= 1.9, "dark {}: part {index}", theme.dark);
                    for other in &fills[index + 1..] {
                        let apart = (0..3).map(|channel| fill[channel].abs_diff(other[channel])).max();
                        assert!(
                            apart >= Some(40),
                            "dark {}: part {index} and another look alike",
                            theme.dark
                        );
                    }
                }
            }
            for step in 0..=10_u8 {
                let share = f32::from(step) / 10.0;
                let (highlighted, dim) = (theme.heat(share, true), theme.heat(share, false));
                assert!(
                    contrast(theme.text_on(highlighted), highlighted) >= 4.5,
                    "dark {}: heat {share}",
                    theme.dark
                );
                let found = contrast(theme.text_weak, dim);
                assert!(found >= 3.6, "dark {}: dim heat {share}: {found:.2}", theme.dark);
            }
        }
    }
}
