//! The rows of a tree of values: which nodes are open, which is chosen.

use std::sync::Arc;

use super::{NodeKind, Outline};
use crate::base::size::grouped;

/// Rows that are open at first, at most.
const FIRST_ROWS: usize = 200;

/// A row as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineRow {
    /// Tells it from all others.
    pub node: usize,
    /// The name, or the number in a list.
    pub key: String,
    /// Whether that is a name.
    pub named: bool,
    /// The value, or the number of members.
    pub value: String,
    /// Whether it is a value.
    pub scalar: bool,
    /// Depth, from 0.
    pub depth: usize,
    /// Whether its members are shown; `None` without members.
    pub open: Option<bool>,
}

impl OutlineRow {
    /// For screen readers.
    pub fn spoken(&self) -> String {
        match (&*self.key, self.scalar) {
            ("", _) => self.value.clone(),
            (key, true) => format!("{key}: {}", self.value),
            (key, false) => format!("{key}, {}", self.value),
        }
    }
}

/// A tree of values with its rows.
pub struct OutlineRows {
    outline: Arc<Outline>,
    /// By node.
    open: Vec<bool>,
    /// Nodes in sight when scrolled to, and their numbers among their siblings.
    rows: Vec<(u32, u32)>,
    selected: Option<usize>,
    /// Whether the chosen row is to come into sight.
    pub reveal: bool,
}

impl OutlineRows {
    /// With as many levels open as are seen at a glance.
    pub fn new(outline: Arc<Outline>) -> Self {
        let open = vec![false; outline.nodes.len()];
        let mut rows = Self { outline, open, rows: Vec::new(), selected: None, reveal: false };
        rows.open_first();
        rows.build();
        rows
    }

    fn open_first(&mut self) {
        let mut level = vec![0];
        let mut shown = 0_usize;
        while !level.is_empty() {
            let more = level.iter().map(|node| self.outline.node(*node).members as usize).sum::<usize>();
            shown = shown.saturating_add(more);
            if shown > FIRST_ROWS && level != [0] {
                return;
            }
            for node in &level {
                self.open[*node] = true;
            }
            level = level.iter().flat_map(|node| self.outline.members(*node)).collect();
            level.retain(|node| self.outline.folds(*node));
        }
    }

    /// The tree.
    pub fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none: an object without members.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The chosen row.
    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    /// The node of a row.
    pub fn node(&self, row: usize) -> Option<usize> {
        self.rows.get(row).map(|(node, _)| *node as usize)
    }

    /// A row as it is shown.
    pub fn row(&self, row: usize) -> OutlineRow {
        let (node, place) = self.rows[row];
        let node = node as usize;
        let found = self.outline.node(node);
        let named = found.key.0 != found.key.1;
        let key = match (named, node) {
            (true, _) => self.outline.key(node),
            (false, 0) => String::new(),
            (false, _) => grouped(u64::from(place)),
        };
        OutlineRow {
            node,
            key,
            named,
            value: self.outline.value(node),
            scalar: found.kind == NodeKind::Scalar,
            depth: usize::from(found.depth).saturating_sub(1),
            open: self.outline.folds(node).then(|| self.open[node]),
        }
    }

    /// Chooses a row.
    pub fn select(&mut self, row: usize) {
        self.selected = Some(row).filter(|row| *row < self.rows.len());
    }

    /// Chooses the row that a row belongs to.
    pub fn select_parent(&mut self, row: usize) {
        let Some(node) = self.node(row) else { return };
        let depth = self.outline.node(node).depth;
        let above =
            self.rows[..row].iter().rposition(|(node, _)| self.outline.nodes[*node as usize].depth < depth);
        if let Some(parent) = above {
            (self.selected, self.reveal) = (Some(parent), true);
        }
    }

    /// Shows the members of a row.
    pub fn open(&mut self, row: usize) {
        let Some(node) = self.node(row).filter(|node| !self.open[*node]) else { return };
        self.open[node] = true;
        let mut below = Vec::new();
        self.push_members(node, &mut below);
        let count = below.len();
        self.rows.splice(row + 1..row + 1, below);
        self.selected = self.selected.map(|at| if at > row { at + count } else { at });
    }

    /// Hides them.
    pub fn close(&mut self, row: usize) {
        let Some(node) = self.node(row).filter(|node| self.open[*node]) else { return };
        self.open[node] = false;
        let end = self.outline.node(node).end;
        let count = self.rows[row + 1..].partition_point(|(node, _)| *node < end);
        self.rows.drain(row + 1..row + 1 + count);
        self.selected = self.selected.map(|at| if at > row { row.max(at.saturating_sub(count)) } else { at });
    }

    /// Opens or closes all.
    pub fn set_all(&mut self, open: bool) {
        let chosen = self.selected.and_then(|row| self.node(row));
        self.open.fill(open);
        self.open[0] = true;
        self.build();
        if let Some(mut node) = chosen {
            // What is chosen stays, or what it is in.
            if !open {
                node = self.outline.members(0).take_while(|member| *member <= node).last().unwrap_or(0);
            }
            self.choose(node);
        }
    }

    /// Chooses a node and opens what it is in.
    pub fn reveal(&mut self, node: usize) {
        let (mut at, mut changed) = (0, false);
        while at != node {
            changed |= !std::mem::replace(&mut self.open[at], true);
            let Some(next) = self.outline.members(at).take_while(|member| *member <= node).last() else {
                break;
            };
            at = next;
        }
        if changed {
            self.build();
        }
        self.choose(node);
    }

    fn choose(&mut self, node: usize) {
        // Rows are in the order of nodes.
        self.selected = self.rows.binary_search_by(|(at, _)| (*at as usize).cmp(&node)).ok();
        self.reveal = true;
    }

    fn build(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        if self.outline.node(0).kind == NodeKind::Scalar {
            rows.push((0, 0));
        }
        self.push_members(0, &mut rows);
        self.rows = rows;
        self.selected = None;
    }

    /// As deep as the tree, which is bounded.
    fn push_members(&self, node: usize, rows: &mut Vec<(u32, u32)>) {
        for (place, member) in (0_u32..).zip(self.outline.members(node)) {
            rows.push((u32::try_from(member).unwrap_or(u32::MAX), place));
            if self.open[member] {
                self.push_members(member, rows);
            }
        }
    }
}
