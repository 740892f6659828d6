//! The stack from the server down to the GPU, and what bytes are for, as the overview shows them.

use std::collections::BTreeMap;

use crate::base::size::human;
use crate::base::text::{elide_middle, printable};
use crate::cuda::{Class, Inventory, Level, StackLevel, SuppliedBy};
use crate::report::page::share;
use crate::rootfs::Rootfs;

/// Whether a level is in the image or on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The image brings it.
    Image,
    /// The host brings it.
    Host,
    /// Nobody brings it, though it is needed.
    Missing,
    /// It is not used, or nothing is known of it.
    None,
}

/// A level of the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackBox {
    /// What the level is called.
    pub level: &'static str,
    /// Its names; empty without any.
    pub names: String,
    /// Who supplies it, most important first.
    pub supplied_by: Vec<&'static str>,
    /// Its side.
    pub side: Side,
    /// What is wrong, or what the image cannot supply.
    pub note: Option<String>,
    /// Its first file, any bytes.
    pub raw: Option<Vec<u8>>,
}

impl StackBox {
    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let mut text = self.level.to_owned();
        if !self.names.is_empty() {
            text = format!("{text}: {}", self.names);
        }
        text = format!("{text}, {}", self.supplied_by.join(", "));
        match &self.note {
            Some(note) => format!("{text}. {note}"),
            None => text,
        }
    }
}

/// The stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// Its levels, the server first.
    pub boxes: Vec<StackBox>,
    /// The first level that the image does not bring: above it the image ends.
    pub boundary: Option<usize>,
    /// Whether anything in the image uses a GPU.
    pub used: bool,
}

impl Stack {
    /// The stack of an image.
    pub fn new(inventory: &Inventory, rootfs: &Rootfs) -> Self {
        let boxes: Vec<StackBox> = inventory.stack.iter().map(|level| stack_box(level, rootfs)).collect();
        let last = boxes.iter().rposition(|level| level.side == Side::Image).map_or(0, |last| last + 1);
        let boundary = boxes.iter().skip(last).position(|level| level.side == Side::Host).map(|at| at + last);
        let gpu = [Level::Framework, Level::Kernels, Level::Libraries, Level::Runtime, Level::Driver];
        let mut levels = inventory.stack.iter().filter(|level| gpu.contains(&level.level));
        let used = levels.any(|level| {
            !level.supplied_by.iter().all(|by| matches!(by, SuppliedBy::NotUsed | SuppliedBy::Unknown))
        });
        Self { boxes, boundary, used }
    }
}

fn stack_box(level: &StackLevel, rootfs: &Rootfs) -> StackBox {
    const NAMES: usize = 4;
    let mut names: Vec<String> =
        level.names.iter().take(NAMES).map(|name| elide_middle(&printable(name), 60)).collect();
    if level.names.len() > NAMES {
        names.push(format!("and {} more", level.names.len() - NAMES));
    }
    let first = level.supplied_by.first().copied().unwrap_or(SuppliedBy::Unknown);
    let side = match first {
        _ if level.supplied_by.contains(&SuppliedBy::Missing) => Side::Missing,
        SuppliedBy::Host => Side::Host,
        SuppliedBy::NotUsed | SuppliedBy::Unknown | SuppliedBy::Missing => Side::None,
        SuppliedBy::Wheel
        | SuppliedBy::Conda
        | SuppliedBy::BaseImage
        | SuppliedBy::ByHand
        | SuppliedBy::Static => Side::Image,
    };
    let mut supplied_by: Vec<&'static str> = level.supplied_by.iter().map(|by| by.label()).collect();
    if supplied_by.is_empty() {
        supplied_by.push(SuppliedBy::Unknown.label());
    }
    // The GPU has no name that is known, and its note repeats the level.
    let unnamed = side == Side::Host && names == [level.level.label()];
    let note = level.note.as_deref().filter(|_| !unnamed).map(printable);
    StackBox {
        level: level.level.label(),
        names: if unnamed { "not in the image".to_owned() } else { names.join(", ") },
        supplied_by,
        side,
        note,
        raw: level.nodes.first().map(|node| rootfs.node(*node).path()),
    }
}

/// What some of the image's bytes are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassItem {
    /// The class.
    pub class: Class,
    /// What it is called.
    pub name: &'static str,
    /// What belongs to it.
    pub about: &'static str,
    /// Bytes of the merged view.
    pub bytes: u64,
    /// Per cent of all, in words.
    pub share: String,
}

impl ClassItem {
    /// All classes that have bytes, in their order.
    pub fn all(merged: &BTreeMap<Class, u64>) -> Vec<Self> {
        let total: u64 = merged.values().copied().fold(0, u64::saturating_add);
        let used = Class::ALL.into_iter().filter_map(|class| {
            let bytes = merged.get(&class).copied().filter(|bytes| *bytes > 0)?;
            let share = share(bytes, total);
            Some(Self { class, name: class.label(), about: class.about(), bytes, share })
        });
        used.collect()
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        format!("{}: {}, {}", self.name, human(self.bytes), self.share)
    }

    /// Whether it is CUDA.
    pub fn is_cuda(&self) -> bool {
        matches!(self.class, Class::CudaRuntime | Class::CudaDevel)
    }
}
