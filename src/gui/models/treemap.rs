//! A treemap as data: the cells of a folder, nested while there is room.

use std::collections::VecDeque;

use super::files::{FileTree, PathChange};
use crate::rootfs::PathId;

/// A place in points, from the top left corner of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f32,
    /// Top edge.
    pub y: f32,
    /// Width.
    pub width: f32,
    /// Height.
    pub height: f32,
}

impl Area {
    /// Points squared.
    fn size(&self) -> f32 {
        self.width * self.height
    }

    /// Whether it contains a point.
    pub fn contains(&self, x: f32, y: f32) -> bool {
        x >= self.x && x < self.x + self.width && y >= self.y && y < self.y + self.height
    }
}

/// Where a key leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
}

/// What a cell represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A file, or a folder that has no room for its parts.
    Whole(PathId),
    /// A folder with its parts inside, and a head with its name where there is room.
    Folder(PathId),
    /// The small rest of a folder, so many paths.
    Rest(PathId, usize),
}

/// A cell of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreemapCell {
    /// What it represents.
    pub kind: CellKind,
    /// The first folder of its name: a chain of single folders is one cell.
    pub top: PathId,
    /// Its position.
    pub area: Area,
    /// Depth, from the folder that the map shows.
    pub depth: u8,
    /// Height of the head with the name; 0 for none.
    pub head: f32,
}

impl TreemapCell {
    /// The path to choose when the cell is clicked.
    pub fn path(&self) -> PathId {
        match self.kind {
            CellKind::Whole(path) | CellKind::Folder(path) | CellKind::Rest(path, _) => path,
        }
    }
}

/// Cells, folders before their parts.
pub struct Treemap {
    /// The folder shown.
    pub folder: PathId,
    /// Its cells.
    pub cells: Vec<TreemapCell>,
}

/// About so many cells in all: each folder has its share of them, by its area.
const MOST_CELLS: usize = 3_000;
/// So many parts of a folder have cells, however small its share; the rest of them is one cell.
const FEW_PARTS: usize = 24;
const LEAST_AREA: f32 = 24.0;
const HEAD: f32 = 16.0;
const GAP: f32 = 1.0;
const DEEPEST: u8 = 6;

/// A folder that waits for its cells.
#[derive(Clone, Copy)]
struct Pending {
    folder: PathId,
    /// The room for them.
    area: Area,
    depth: u8,
    /// The cell of the folder; none for the one that the map shows.
    cell: Option<usize>,
}

impl Treemap {
    /// Lays out the content of `folder` in `width` by `height` points.
    pub fn new(tree: &FileTree, folder: PathId, width: f32, height: f32) -> Self {
        let mut map = Self { folder, cells: Vec::new() };
        if width > 1.0 && height > 1.0 {
            let area = Area { x: 0.0, y: 0.0, width, height };
            let per_point = MOST_CELLS as f32 / area.size();
            let mut pending = VecDeque::from([Pending { folder, area, depth: 0, cell: None }]);
            // Breadth first: large folders get their cells before small ones.
            while let Some(next) = pending.pop_front() {
                let filled = map.cells.len() < MOST_CELLS && map.fill(tree, next, per_point, &mut pending);
                if let Some(cell) = next.cell.filter(|_| !filled).and_then(|cell| map.cells.get_mut(cell)) {
                    (cell.kind, cell.head) = (CellKind::Whole(next.folder), 0.0);
                }
            }
        }
        map
    }

    /// The innermost cell at a point.
    pub fn at(&self, x: f32, y: f32) -> Option<&TreemapCell> {
        // Parts come after the folder they are in.
        self.cells.iter().rev().find(|cell| cell.area.contains(x, y))
    }

    /// The cell of a file or whole folder that is next to `from` in a direction; the largest without `from`.
    pub fn next(&self, from: Option<Area>, direction: Direction) -> Option<&TreemapCell> {
        let whole = self.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Whole(_)));
        let Some(from) = from else {
            return whole.max_by(|a, b| a.area.size().total_cmp(&b.area.size()));
        };
        let middle = |area: &Area| (area.x + area.width / 2.0, area.y + area.height / 2.0);
        let (from_x, from_y) = middle(&from);
        let distance = |area: &Area| {
            let (x, y) = middle(area);
            let (ahead, across) = match direction {
                Direction::Left => (from_x - x, gap(from_y, area.y, area.height)),
                Direction::Right => (x - from_x, gap(from_y, area.y, area.height)),
                Direction::Up => (from_y - y, gap(from_x, area.x, area.width)),
                Direction::Down => (y - from_y, gap(from_x, area.x, area.width)),
            };
            // What is beside the way counts more than what is far ahead.
            (ahead > 0.5).then_some(ahead + 3.0 * across)
        };
        let near = whole.filter_map(|cell| Some((distance(&cell.area)?, cell)));
        near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, cell)| cell)
    }

    /// Adds the cells of a folder; `false`, with none added, where a single cell says as much.
    fn fill(
        &mut self,
        tree: &FileTree,
        at: Pending,
        per_point: f32,
        pending: &mut VecDeque<Pending>,
    ) -> bool {
        let Pending { folder, area, depth, .. } = at;
        let above = tree.mark(folder);
        let counts = |path: PathId| tree.mark(path) != PathChange::Removed || above == PathChange::Removed;
        let mut parts: Vec<(u64, PathId)> = tree
            .children(folder)
            .filter(|path| counts(*path))
            .map(|path| (tree.bytes(path), path))
            .filter(|(bytes, _)| *bytes > 0)
            .collect();
        let total: u64 = parts.iter().map(|(bytes, _)| bytes).sum();
        let rest = split_rest(&mut parts, total, area, per_point);
        // Mostly grey: the colour of the folder says more.
        if total == 0 || at.cell.is_some() && rest.bytes > total / 3 {
            return false;
        }
        let mut sizes: Vec<u64> = parts.iter().map(|(bytes, _)| *bytes).collect();
        if rest.bytes > 0 {
            sizes.push(rest.bytes);
        }
        for (place, area) in squarify(&sizes, area).into_iter().enumerate() {
            let area = inset(area);
            let Some((_, path)) = parts.get(place) else {
                let kind = CellKind::Rest(folder, rest.paths);
                self.cells.push(TreemapCell { kind, top: folder, area, depth, head: 0.0 });
                continue;
            };
            let roomy = area.width >= 40.0 && area.height >= 30.0 && depth < DEEPEST;
            if roomy && tree.is_folder(*path) && tree.bytes(*path) > 0 {
                let end = end_of_chain(tree, *path);
                let inner = Area {
                    x: area.x + 2.0,
                    y: area.y + HEAD,
                    width: area.width - 4.0,
                    height: area.height - HEAD - 2.0,
                };
                let cell = Some(self.cells.len());
                pending.push_back(Pending { folder: end, area: inner, depth: depth + 1, cell });
                let kind = CellKind::Folder(end);
                self.cells.push(TreemapCell { kind, top: *path, area, depth, head: HEAD });
            } else {
                let kind = CellKind::Whole(*path);
                self.cells.push(TreemapCell { kind, top: *path, area, depth, head: 0.0 });
            }
        }
        true
    }
}

/// What of a folder has no cell of its own.
struct Rest {
    bytes: u64,
    paths: usize,
}

/// Takes from `parts` what is too small to be seen in `area`, or more than its share of cells; sorts what is left,
/// largest first.
fn split_rest(parts: &mut Vec<(u64, PathId)>, total: u64, area: Area, per_point: f32) -> Rest {
    let largest_first = |a: &(u64, PathId), b: &(u64, PathId)| (b.0, a.1).cmp(&(a.0, b.1));
    let mut rest = Rest { bytes: 0, paths: 0 };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most MOST_CELLS")]
    let most = ((area.size() * per_point) as usize).max(FEW_PARTS);
    if parts.len() > most {
        parts.select_nth_unstable_by(most, largest_first);
        rest.bytes += parts[most..].iter().map(|(bytes, _)| bytes).sum::<u64>();
        rest.paths += parts.len() - most;
        parts.truncate(most);
    }
    parts.sort_unstable_by(largest_first);
    let per_byte = f64::from(area.size()) / total.max(1) as f64;
    let seen = |bytes: u64| bytes as f64 * per_byte >= f64::from(LEAST_AREA);
    while parts.len() > 1 && !parts.last().is_some_and(|(bytes, _)| seen(*bytes)) {
        rest.bytes += parts.pop().map_or(0, |(bytes, _)| bytes);
        rest.paths += 1;
    }
    rest
}

/// How far a place is outside a range.
fn gap(at: f32, from: f32, length: f32) -> f32 {
    (from - at).max(at - from - length).max(0.0)
}

/// The first folder from `path` down with more than one child folder.
fn end_of_chain(tree: &FileTree, path: PathId) -> PathId {
    let mut end = path;
    loop {
        let mut parts = tree.children(end).filter(|part| tree.bytes(*part) > 0);
        match (parts.next(), parts.next()) {
            (Some(only), None) if tree.is_folder(only) => end = only,
            _ => return end,
        }
    }
}

/// A thin gap around each cell, as far as it can spare it.
fn inset(area: Area) -> Area {
    let gap = |side: f32| if side > 4.0 { GAP / 2.0 } else { 0.0 };
    let (x, y) = (gap(area.width), gap(area.height));
    Area { x: area.x + x, y: area.y + y, width: area.width - 2.0 * x, height: area.height - 2.0 * y }
}

/// Rectangles of the sizes' proportions that fill `area` and are as square as can be. Sizes come largest
/// first. (Bruls, Huizing and van Wijk, "Squarified treemaps", 2000.)
pub fn squarify(sizes: &[u64], area: Area) -> Vec<Area> {
    let total: f64 = sizes.iter().map(|size| *size as f64).sum();
    let mut areas = Vec::with_capacity(sizes.len());
    if total <= 0.0 {
        return areas;
    }
    let scale = f64::from(area.width) * f64::from(area.height) / total;
    let sizes: Vec<f64> = sizes.iter().map(|size| *size as f64 * scale).collect();
    let (mut x, mut y) = (f64::from(area.x), f64::from(area.y));
    let (mut width, mut height) = (f64::from(area.width), f64::from(area.height));
    let mut at = 0;
    while at < sizes.len() {
        let side = width.min(height).max(f64::MIN_POSITIVE);
        // Take sizes into the row for as long as its worst proportion gets better.
        let (mut sum, mut end, mut worst) = (0.0, at, f64::INFINITY);
        while end < sizes.len() {
            let next = sum + sizes[end];
            let thickness = next / side;
            let proportion = |size: f64| {
                let length = (size / thickness).max(f64::MIN_POSITIVE);
                (length / thickness).max(thickness / length)
            };
            let becomes = proportion(sizes[at]).max(proportion(sizes[end]));
            if becomes > worst {
                break;
            }
            (sum, worst) = (next, becomes);
            end += 1;
        }
        let thickness = if end == sizes.len() { width.max(height).min(sum / side) } else { sum / side };
        let mut offset = 0.0;
        for size in &sizes[at..end] {
            let length = if sum > 0.0 { side * size / sum } else { 0.0 };
            areas.push(if width >= height {
                area_of(x, y + offset, thickness, length)
            } else {
                area_of(x + offset, y, length, thickness)
            });
            offset += length;
        }
        if width >= height {
            x += thickness;
            width = (width - thickness).max(0.0);
        } else {
            y += thickness;
            height = (height - thickness).max(0.0);
        }
        at = end;
    }
    areas
}

#[allow(clippy::cast_possible_truncation, reason = "places on a screen")]
fn area_of(x: f64, y: f64, width: f64, height: f64) -> Area {
    Area { x: x as f32, y: y as f32, width: width as f32, height: height as f32 }
}
