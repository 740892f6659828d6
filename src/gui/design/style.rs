//! The style of egui, made from the tokens.

use egui::style::{HandleShape, ScrollStyle, Selection, WidgetVisuals, Widgets};
use egui::{Color32, CornerRadius, Margin, Shadow, Stroke, Style, TextStyle, Theme, Visuals, vec2};

use super::{Tokens, radius, text};

/// Gives `context` the fonts and the styles of both themes. To be called before the first frame.
pub fn apply(context: &egui::Context) {
    context.set_fonts(super::font_definitions());
    for (theme, tokens) in [(Theme::Light, &super::LIGHT), (Theme::Dark, &super::DARK)] {
        context.style_mut_of(theme, |style| shape(style, tokens));
    }
    // Zoom and quit are our own commands, so that they are in the menu and saved.
    context.options_mut(|options| {
        options.zoom_with_keyboard = false;
        options.quit_shortcuts.clear();
    });
}

fn shape(style: &mut Style, tokens: &Tokens) {
    style.text_styles = [
        (TextStyle::Small, text::small()),
        (TextStyle::Body, text::body()),
        (TextStyle::Button, text::body()),
        (TextStyle::Heading, text::heading()),
        (TextStyle::Monospace, text::mono()),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(8.0, 4.0);
    spacing.button_padding = vec2(10.0, 4.0);
    spacing.menu_margin = Margin::same(6);
    spacing.window_margin = Margin::same(12);
    spacing.interact_size = vec2(24.0, 24.0);
    spacing.menu_width = 320.0;
    spacing.tooltip_width = 420.0;
    spacing.indent = 16.0;
    spacing.scroll = ScrollStyle {
        bar_width: 10.0,
        floating_width: 6.0,
        floating_allocated_width: 6.0,
        handle_min_length: 24.0,
        dormant_background_opacity: 0.0,
        active_background_opacity: 0.0,
        interact_background_opacity: 0.4,
        dormant_handle_opacity: 0.25,
        active_handle_opacity: 0.35,
        interact_handle_opacity: 0.6,
        ..ScrollStyle::floating()
    };
    style.interaction.tooltip_delay = 0.4;
    style.interaction.selectable_labels = false;
    style.animation_time = 0.1;
    style.visuals = visuals(tokens);
}

fn visuals(tokens: &Tokens) -> Visuals {
    let base = if tokens.dark { Visuals::dark() } else { Visuals::light() };
    let shadow = Shadow {
        offset: [0, 6],
        blur: 20,
        spread: 0,
        color: Color32::from_black_alpha(if tokens.dark { 120 } else { 36 }),
    };
    Visuals {
        weak_text_color: Some(tokens.text_weak),
        widgets: widgets(tokens),
        selection: Selection { bg_fill: tokens.selection, stroke: Stroke::new(1.5, tokens.accent) },
        hyperlink_color: tokens.accent,
        faint_bg_color: tokens.stripe,
        extreme_bg_color: tokens.field,
        text_edit_bg_color: Some(tokens.field),
        code_bg_color: tokens.raised,
        warn_fg_color: tokens.warning,
        error_fg_color: tokens.error,
        window_corner_radius: radius::L,
        window_shadow: shadow,
        window_fill: tokens.popup,
        window_stroke: Stroke::new(1.0, tokens.border),
        window_highlight_topmost: false,
        menu_corner_radius: radius::M,
        panel_fill: tokens.background,
        popup_shadow: shadow,
        indent_has_left_vline: false,
        slider_trailing_fill: true,
        handle_shape: HandleShape::Circle,
        disabled_alpha: 0.55,
        ..base
    }
}

fn widgets(tokens: &Tokens) -> Widgets {
    let state = |fill: Color32, line: Color32, text: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, line),
        corner_radius: CornerRadius::same(4),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    let button = if tokens.dark { tokens.hovered } else { tokens.background };
    Widgets {
        noninteractive: state(tokens.background, tokens.border, tokens.text),
        inactive: state(button, tokens.border, tokens.text),
        hovered: state(tokens.hovered, tokens.border_strong, tokens.text),
        // Pressed, and in the focus of the keyboard: the line is what shows the focus.
        active: WidgetVisuals {
            bg_stroke: Stroke::new(1.5, tokens.accent),
            ..state(tokens.hovered, tokens.accent, tokens.text)
        },
        open: state(tokens.hovered, tokens.border, tokens.text),
    }
}
