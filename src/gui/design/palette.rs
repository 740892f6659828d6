//! The colours themselves: the only place where a colour is written down.

use egui::Color32;

use super::{LAYER_HUES, Tokens};

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

const fn hues(hex: [u32; LAYER_HUES]) -> [Color32; LAYER_HUES] {
    let mut colors = [Color32::BLACK; LAYER_HUES];
    let mut index = 0;
    while index < LAYER_HUES {
        colors[index] = rgb(hex[index]);
        index += 1;
    }
    colors
}

/// The light theme.
pub static LIGHT: Tokens = Tokens {
    dark: false,
    background: rgb(0xFF_FF_FF),
    panel: rgb(0xF4_F5_F7),
    raised: rgb(0xF8_F9_FA),
    popup: rgb(0xFF_FF_FF),
    field: rgb(0xFF_FF_FF),
    border: rgb(0xDF_E2_E7),
    border_strong: rgb(0x87_8F_9B),
    text: rgb(0x1A_1E_24),
    text_weak: rgb(0x57_60_6D),
    text_disabled: rgb(0x9A_A1_AC),
    accent: rgb(0x1F_5F_C4),
    accent_hovered: rgb(0x18_4D_A1),
    on_accent: rgb(0xFF_FF_FF),
    selection: rgb(0xD6_E4_FA),
    hovered: rgb(0xE9_EC_F0),
    stripe: rgb(0xFA_FA_FB),
    added: rgb(0x1B_75_37),
    changed: rgb(0x8A_5A_00),
    removed: rgb(0xBE_26_2E),
    hidden: rgb(0x7A_45_C4),
    warning: rgb(0x8A_5A_00),
    error: rgb(0xBE_26_2E),
    success: rgb(0x1B_75_37),
    // Equal steps of hue in OKLCH, five twelfths of the circle apart, lightness alternating.
    layers: hues([
        0x6C_A1_E5, 0xB8_68_42, 0x1D_B4_B4, 0xB0_62_90, 0x7F_AE_64, 0x7A_75_C2, 0xC8_93_44, 0x00_8E_B4,
        0xDC_7F_87, 0x25_95_6F, 0xB9_88_D0, 0x8B_83_21,
    ]),
    ink: rgb(0x0E_11_15),
    paper: rgb(0xFF_FF_FF),
};

/// The dark theme.
pub static DARK: Tokens = Tokens {
    dark: true,
    background: rgb(0x14_17_1B),
    panel: rgb(0x1B_1F_24),
    raised: rgb(0x1A_1E_23),
    popup: rgb(0x22_27_2E),
    field: rgb(0x10_13_16),
    border: rgb(0x2E_34_3D),
    border_strong: rgb(0x6A_73_80),
    text: rgb(0xE4_E7_EB),
    text_weak: rgb(0x9B_A4_B1),
    text_disabled: rgb(0x62_6B_78),
    accent: rgb(0x74_AC_FF),
    accent_hovered: rgb(0x97_C1_FF),
    on_accent: rgb(0x0B_16_28),
    selection: rgb(0x1D_35_55),
    hovered: rgb(0x28_2E_36),
    stripe: rgb(0x17_1A_1F),
    added: rgb(0x4F_C5_85),
    changed: rgb(0xDF_B2_50),
    removed: rgb(0xFF_80_78),
    hidden: rgb(0xBB_9C_F2),
    warning: rgb(0xDF_B2_50),
    error: rgb(0xFF_80_78),
    success: rgb(0x4F_C5_85),
    layers: hues([
        0x6B_9B_D8, 0xAD_65_43, 0x2F_AC_AC, 0xA6_60_88, 0x7C_A7_64, 0x74_71_B6, 0xBE_8E_48, 0x16_87_A9,
        0xD1_7C_83, 0x2D_8E_6B, 0xB1_84_C5, 0x84_7D_28,
    ]),
    ink: rgb(0x0E_11_15),
    paper: rgb(0xFF_FF_FF),
};
