//! The colours: the only place that defines them.

use egui::Color32;

use super::Tokens;

/// A colour as `#RRGGBB`.
const fn rgb(text: &str) -> Color32 {
    const fn digit(digit: u8) -> u8 {
        match digit {
            b'0'..=b'9' => digit - b'0',
            _ => digit - b'A' + 10,
        }
    }
    const fn pair(text: &[u8], at: usize) -> u8 {
        digit(text[at]) * 16 + digit(text[at + 1])
    }
    let text = text.as_bytes();
    Color32::from_rgb(pair(text, 1), pair(text, 3), pair(text, 5))
}

const fn hues<const N: usize>(texts: [&str; N]) -> [Color32; N] {
    let mut colors = [Color32::BLACK; N];
    let mut index = 0;
    while index < N {
        colors[index] = rgb(texts[index]);
        index += 1;
    }
    colors
}

/// The light theme.
pub static LIGHT: Tokens = Tokens {
    dark: false,
    background: rgb("#FFFFFF"),
    panel: rgb("#F4F5F7"),
    raised: rgb("#F8F9FA"),
    popup: rgb("#FFFFFF"),
    field: rgb("#FFFFFF"),
    border: rgb("#DFE2E7"),
    border_strong: rgb("#838B97"),
    text: rgb("#1A1E24"),
    text_weak: rgb("#57606D"),
    text_disabled: rgb("#9AA1AC"),
    accent: rgb("#1F5FC4"),
    accent_hovered: rgb("#184DA1"),
    on_accent: rgb("#FFFFFF"),
    selection: rgb("#D6E4FA"),
    hovered: rgb("#E9ECF0"),
    stripe: rgb("#FAFAFB"),
    added: rgb("#1B7537"),
    changed: rgb("#8A5A00"),
    removed: rgb("#BE262E"),
    hidden: rgb("#7A45C4"),
    warning: rgb("#8A5A00"),
    error: rgb("#BE262E"),
    success: rgb("#1B7537"),
    // Equal steps of hue in OKLCH, five twelfths of the circle apart, lightness alternating.
    layers: hues([
        "#6CA1E5", "#B86842", "#1DB4B4", "#B46694", "#7FAE64", "#7A75C2", "#C89344", "#008EB4", "#DC7F87",
        "#25956F", "#B988D0", "#8B8321",
    ]),
    classes: hues(["#8A94A3", "#4C9F50", "#C98A2B", "#5B8DEF", "#A06CC4", "#1FA6A0"]),
    suppliers: hues(["#5B8DEF", "#1FA6A0", "#4C9F50", "#8A94A3", "#C98A2B"]),
    codes: hues(["#4A86DE", "#C98A2B", "#A06CC4", "#8A94A3"]),
    ink: rgb("#0E1115"),
    paper: rgb("#FFFFFF"),
};

/// The dark theme.
pub static DARK: Tokens = Tokens {
    dark: true,
    background: rgb("#14171B"),
    panel: rgb("#1B1F24"),
    raised: rgb("#1A1E23"),
    popup: rgb("#22272E"),
    field: rgb("#101316"),
    border: rgb("#2E343D"),
    border_strong: rgb("#6A7380"),
    text: rgb("#E4E7EB"),
    text_weak: rgb("#9BA4B1"),
    text_disabled: rgb("#626B78"),
    accent: rgb("#74ACFF"),
    accent_hovered: rgb("#97C1FF"),
    on_accent: rgb("#0B1628"),
    selection: rgb("#1D3555"),
    hovered: rgb("#282E36"),
    stripe: rgb("#171A1F"),
    added: rgb("#4FC585"),
    changed: rgb("#DFB250"),
    removed: rgb("#FF8078"),
    hidden: rgb("#BB9CF2"),
    warning: rgb("#DFB250"),
    error: rgb("#FF8078"),
    success: rgb("#4FC585"),
    layers: hues([
        "#6B9BD8", "#A96240", "#2FACAC", "#A66088", "#7CA764", "#716EB2", "#BE8E48", "#1687A9", "#D17C83",
        "#2D8E6B", "#B184C5", "#8B8430",
    ]),
    classes: hues(["#77818F", "#5BAF63", "#C9923F", "#5F8FE0", "#A57BCB", "#34A7A2"]),
    suppliers: hues(["#5F8FE0", "#34A7A2", "#5BAF63", "#77818F", "#C9923F"]),
    codes: hues(["#5B93E6", "#C9923F", "#A57BCB", "#77818F"]),
    ink: rgb("#0E1115"),
    paper: rgb("#FFFFFF"),
};
