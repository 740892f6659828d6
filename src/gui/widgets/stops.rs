//! Where the keyboard stops in the view in front: filters, lists and panes register while they are painted, and keys go
//! from one to another. What is registered lasts for one frame.

use egui::{Context, Id, Key, Modifiers, Rect, Response, Ui};

/// What a stop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopKind {
    /// A field that filters the list of a view.
    Filter,
    /// A list.
    List,
    /// What is known of the chosen row.
    Details,
    /// Any other pane.
    Pane,
}

#[derive(Clone)]
struct Stop {
    id: Id,
    kind: StopKind,
    name: String,
    rect: Rect,
}

/// Panes whose left edges differ by less are below each other.
const COLUMN: f32 = 32.0;

/// Where the keyboard is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoTo {
    /// The main list of a view that was just opened, once it is there, unless something is typed meanwhile.
    Opened,
    /// The main list, from its filter.
    List,
    /// The same, and its first row that is no folder or group: what the filter found.
    Found,
    /// From a list: to the details of its chosen row, or back to its filter.
    Beside(Id, bool),
    /// The next pane, or the one before.
    Pane(bool),
}

#[derive(Clone, Default)]
struct Stops {
    pass: u64,
    all: Vec<Stop>,
    /// The filter with text in it.
    filled: Option<Id>,
    wanted: Option<GoTo>,
    /// The list that the focus came to for what the filter found.
    found: Option<Id>,
    /// The filter that is to be cleared.
    cleared: Option<Id>,
    /// Whether the rows of the main list are not yet those of its filter.
    filtering: bool,
}

fn with<R>(context: &Context, change: impl FnOnce(&mut Stops) -> R) -> R {
    let pass = context.cumulative_pass_nr();
    context.data_mut(|data| {
        let stops: &mut Stops = data.get_temp_mut_or_default(Id::unique("stops of the keyboard"));
        if stops.pass != pass {
            stops.pass = pass;
            stops.all.clear();
            (stops.filled, stops.filtering) = (None, false);
        }
        change(stops)
    })
}

/// Registers a stop, for this frame.
pub fn stop(ui: &Ui, kind: StopKind, name: &str, response: &Response) {
    let stop = Stop { id: response.id, kind, name: name.to_owned(), rect: response.rect };
    with(ui.ctx(), |stops| stops.all.push(stop));
}

/// Goes there at the end of the frame.
pub fn go(context: &Context, to: GoTo) {
    with(context, |stops| stops.wanted = Some(to));
}

/// Registers that a filter has text in it, for this frame.
pub fn fill(ui: &Ui, filter: &Response) {
    with(ui.ctx(), |stops| stops.filled = Some(filter.id));
}

/// Registers that the rows of the main list are not yet those of its filter, for this frame: what it found is not known.
pub fn filtering(context: &Context) {
    with(context, |stops| stops.filtering = true);
}

/// Escape with nothing chosen: the filter of the view in front is cleared; without one, the keyboard leaves the list.
pub fn escape(context: &Context) {
    let cleared = with(context, |stops| {
        stops.cleared = stops.filled;
        stops.cleared.is_some()
    });
    if !cleared {
        context.memory_mut(|memory| memory.focused().map(|id| memory.surrender_focus(id)));
    }
    context.request_repaint();
}

/// Whether a filter is to be cleared, once.
pub fn is_cleared(filter: &Response) -> bool {
    with(&filter.ctx, |stops| stops.cleared.take_if(|id| *id == filter.id).is_some())
}

/// Whether the focus has just come to a list for what the filter found, once.
pub fn has_found(context: &Context, list: Id) -> bool {
    with(context, |stops| stops.found.take_if(|id| *id == list).is_some())
}

/// A filter was left for its list, or a list for what is beside it: Tab and the keys that lead on.
pub(super) fn leave(ui: &Ui, response: &Response) {
    let pressed = |modifiers: Modifiers| {
        ui.input(|input| input.key_pressed(Key::Tab) && input.modifiers.matches_logically(modifiers))
    };
    if response.lost_focus() {
        if pressed(Modifiers::SHIFT) {
            go(ui.ctx(), GoTo::Beside(response.id, false));
        } else if pressed(Modifiers::NONE) {
            go(ui.ctx(), GoTo::Beside(response.id, true));
        }
    }
}

/// Moves the focus to where it was asked to go, once all stops of the frame are known. `lists` are the names of the main
/// lists of the view in front.
pub fn settle(context: &Context, lists: &[&str]) {
    let Stops { all, wanted, filtering, .. } = with(context, |stops| stops.clone());
    let Some(to) = wanted else { return };
    let main = all.iter().find(|stop| stop.kind == StopKind::List && lists.contains(&stop.name.as_str()));
    let found = match to {
        GoTo::Opened if context.text_edit_focused() || lists.is_empty() => None,
        // What is still being read has no list yet; whoever does something meanwhile keeps the keyboard.
        GoTo::Opened if main.is_none() && context.input(|input| input.pointer.any_pressed()) => None,
        GoTo::Opened if main.is_none() => return,
        GoTo::Found if filtering => return context.request_repaint(),
        GoTo::Opened | GoTo::List | GoTo::Found => main,
        GoTo::Beside(id, on) => {
            let from_main = main.is_some_and(|main| main.id == id);
            let kind = if on { StopKind::Details } else { StopKind::Filter };
            all.iter().find(|stop| from_main && stop.kind == kind)
        }
        GoTo::Pane(on) => next_pane(context, &all, on),
    };
    with(context, |stops| stops.wanted = None);
    if let Some(stop) = found {
        with(context, |stops| stops.found = (to == GoTo::Found).then_some(stop.id));
        context.memory_mut(|memory| memory.request_focus(stop.id));
        context.request_repaint();
    }
}

/// The pane after the one with the focus, from left to right and from top to bottom.
fn next_pane<'a>(context: &Context, all: &'a [Stop], on: bool) -> Option<&'a Stop> {
    let mut panes: Vec<&Stop> = all.iter().filter(|stop| stop.kind != StopKind::Filter).collect();
    panes.sort_by(|a, b| {
        // Panes below each other may begin a point or two apart.
        let key = |stop: &Stop| ((stop.rect.left() / COLUMN).round(), stop.rect.top());
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let focused = context.memory(egui::Memory::focused);
    let at = focused.and_then(|id| context.read_response(id)).map(|response| response.rect.center());
    let within = |stop: &&&Stop| at.is_some_and(|at| stop.rect.contains(at));
    let current = panes.iter().position(|stop| Some(stop.id) == focused).or_else(|| {
        let smallest = panes.iter().filter(within).min_by(|a, b| a.rect.area().total_cmp(&b.rect.area()))?;
        panes.iter().position(|stop| stop.id == smallest.id)
    });
    let count = panes.len();
    let next = match (current, on) {
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
        (None, _) => 0,
    };
    panes.get(next).copied()
}
