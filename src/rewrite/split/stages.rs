//! Two stages: today's instructions up to the last that builds become a build stage, and a smaller final stage
//! repeats what runs and copies what was built.

use super::from::{is_set_by_user, reference, settings};
use super::keep::{Fate, Keep};
use super::lines::{Lines, last_making};
use super::packages::{Asked, added};
use super::stage::Final;
use super::steps::Steps;
use super::swap::BANNER;
use crate::base::convert::layer16;
use crate::base::size::human;
use crate::cuda::Flavor;
use crate::formats::dockerfile::PieceKind;
use crate::rewrite::draft::Draft;
use crate::rewrite::propose::Input;
use crate::rewrite::select::Selection;
use crate::rewrite::tidy;
use crate::rewrite::value::{Applicability, Edit, StageSize};
use crate::rootfs::{Node, NodeKind};

/// The draft whose final stage starts from the base of `keep`; `None` when no instruction builds.
pub(super) fn draft(
    id: &'static str,
    input: &Input<'_>,
    stage: &Final<'_>,
    steps: &Steps<'_, '_>,
    keep: &Keep<'_, '_>,
    asked: &Asked,
) -> Option<Draft> {
    let file = stage.file;
    let base = keep.base;
    let last = last_making(steps, 0)?;
    // Stages that others start from stay as they are; only the last one is split.
    let place = steps.list.get(last)?.place;
    if place < stage.from {
        return None;
    }
    let tidied = tidy::of_tail(steps.scene, place + 1);
    let build = stage.build_name();
    let mut lines = Lines::new(stage, keep, steps, last, &build, &asked.dropped, &tidied, added(keep, &asked.kept));
    let set = settings(keep.world, base, file, stage);
    lines.write();
    let end = file.line_end();
    let from = &file.instructions[stage.from];
    let lower = file.slice(&from.keyword_span).bytes().all(|byte| byte.is_ascii_lowercase());
    let word = |keyword: &str| if lower { keyword.to_lowercase() } else { keyword.to_owned() };
    let mut edits: Vec<Edit> = Vec::new();
    let mut edit = |at: std::ops::Range<usize>, with: String, reason: String, bytes: Option<u64>| {
        edits.push(Edit { at, with, reason, applicability: Applicability::Review, bytes });
    };
    let division = lines.division.clone();
    let first = division.as_ref().map_or(&build, |division| &division.name);
    let (at, name) = match from.words.get(2) {
        Some(name) => (name.span.clone(), first.clone()),
        None => (from.arguments.end..from.arguments.end, format!(" {} {first}", word("AS"))),
    };
    if let Some(division) = &division
        && let Some(place) = steps.list.get(division.step).map(|step| step.place)
    {
        let at = split_at(stage, place);
        let blank = if ends_with_blank(file.text(), at) { "" } else { end };
        edit(
            at..at,
            format!("{blank}{} {} {} {build}{end}", word("FROM"), division.name, word("AS")),
            "The stage before it has the dependencies alone: a change of code leaves them as they are.".to_owned(),
            None,
        );
    }
    edit(at, name, "Becomes the build stage: only what is copied from it is in the image.".to_owned(), None);
    let at = split_at(stage, place);
    let mut first = true;
    let mut put = |text: String, reason: String, bytes: Option<u64>, edit: &mut dyn FnMut(std::ops::Range<usize>, String, String, Option<u64>)| {
        let mut text = text.replace("\r\n", "\n").replace('\n', end);
        if first && !file.text().get(..at).is_some_and(|before| before.ends_with('\n')) {
            text.insert_str(0, end);
        }
        first = false;
        edit(at..at, format!("{text}{end}"), reason, bytes);
    };
    if !lines.removed.is_empty() {
        let paths: Vec<&str> = lines.removed.iter().map(|(path, _)| path.as_str()).collect();
        let bytes = lines.removed.iter().map(|(_, bytes)| bytes).sum();
        put(
            format!("{} rm -rf {}", word("RUN"), paths.join(" ")),
            "Nothing reads these at run time; they lie in folders that are copied.".to_owned(),
            Some(bytes),
            &mut edit,
        );
    }
    let name = from.words.get(2).map(|name| format!(" {} {}", word("AS"), file.slice(&name.span)));
    let flags = &file.instructions[stage.base_from].flags;
    let flags: Vec<&str> = flags.iter().map(|flag| file.slice(&flag.span)).collect();
    let flags = if flags.is_empty() { String::new() } else { format!("{} ", flags.join(" ")) };
    let gap = if lines.removed.is_empty() && ends_with_blank(file.text(), at) { "" } else { "\n" };
    let gone: u64 = keep
        .world
        .rootfs
        .nodes()
        .filter(|node| node.kind() == NodeKind::File && keep.fate(node.id()) == Fate::Gone)
        .map(Node::bytes)
        .sum();
    let what = match base.flavor {
        _ if base.own => "the same base image without the build's packages and files",
        Flavor::None if base.local => "the slim variant: the same Python without compilers and headers",
        Flavor::None => "the distribution's image: nothing loads a library of the CUDA image",
        Flavor::Base => "the base flavor: libcudart and the settings for the NVIDIA container runtime",
        Flavor::Runtime | Flavor::Devel => "the runtime flavor: the toolkit's libraries without compilers and headers",
    };
    let question = keep.world.open_question(&|node| keep.fate(node) == Fate::Gone);
    let question = question.map_or_else(String::new, |question| format!("{question}\n"));
    put(
        format!("{gap}{question}{} {flags}{}{}", word("FROM"), reference(stage, base), name.unwrap_or_default()),
        format!("The image starts from {what}. The build stage keeps {}.", human(gone)),
        Some(gone),
        &mut edit,
    );
    if !set.is_empty() {
        put(
            format!("{} {}", word("ENV"), set.join(&format!(" {}\n    ", file.escape))),
            "NVIDIA's image sets these variables: they request the GPU from the container runtime.".to_owned(),
            None,
            &mut edit,
        );
    }
    for line in std::mem::take(&mut lines.lines) {
        put(line.text, line.reason, None, &mut edit);
    }
    for (at, with, reason) in std::mem::take(&mut lines.edits) {
        edit(at, with, reason, None);
    }
    let replaced: Vec<std::ops::Range<usize>> = edits.iter().map(|edit| edit.at.clone()).collect();
    let is_free = |one: &&Edit| !replaced.iter().any(|at| at.start < at.end && at.start <= one.at.start && one.at.end <= at.end);
    edits.extend(tidied.edits.iter().filter(is_free).cloned());
    let config = input.image.config.as_ref().and_then(|config| config.config().as_ref());
    let mut environment = config.and_then(|config| config.env().clone()).unwrap_or_default();
    if !set.is_empty() {
        let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
        environment.retain(|pair| is_set_by_user(file, stage, &name(pair)));
        environment.extend(set.into_iter().filter(|pair| !is_set_by_user(file, stage, &name(pair))));
    }
    let mut entrypoint = config.and_then(|config| config.entrypoint().clone());
    let mut kept = Vec::new();
    let banner = entrypoint.as_ref().and_then(|words| words.first()).is_some_and(|word| word.contains("nvidia_entrypoint"));
    if banner && !base.own && !matches!(base.flavor, Flavor::Runtime | Flavor::Devel) {
        entrypoint = None;
        kept.push(BANNER.to_owned());
    }
    let mut assumed = lines.assumed.clone();
    assumed.extend(tidied.assumed.iter().cloned());
    if !base.own {
        assumed.push(format!(
            "{} has the same content as the lowest {} layers of this image.",
            base.reference, base.layers
        ));
        if stage.base.contains('@') {
            assumed.push("The current base image is pinned by digest; the new one is named by its tag.".to_owned());
        }
    }
    if !asked.dropped.is_empty() {
        let list: Vec<&str> = asked.dropped.iter().map(String::as_str).collect();
        assumed.push(format!("Only the build stage needs these packages: {}.", list.join(", ")));
    }
    let title = if base.own {
        "Multi-stage: build first, run on the same base image".to_owned()
    } else {
        format!("Multi-stage: run on {}", base.reference)
    };
    Some(Draft {
        id,
        title,
        applicability: Applicability::Review,
        base_image: Some(base.reference.clone()),
        edits,
        selection: selection(keep, &lines, &tidied),
        environment,
        entrypoint,
        stages: stages(input, stage, steps, last, &lines.removed, &build),
        kept,
        assumed,
        by_hand: lines.by_hand.clone(),
        hints: tidied.hints.clone(),
    })
}

fn stages(
    input: &Input<'_>,
    stage: &Final<'_>,
    steps: &Steps<'_, '_>,
    last: usize,
    removed: &[(String, u64)],
    build: &str,
) -> Vec<StageSize> {
    let mut stages = tidy::earlier_stages(stage.file);
    // What later instructions bring is in the final stage only.
    let later = steps.list.iter().skip(last + 1).flat_map(|step| &step.layers).min();
    let nodes = input.merge.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    let later: u64 = nodes.filter(|node| later.is_some_and(|later| node.layer() >= *later)).map(Node::bytes).sum();
    let removed: u64 = removed.iter().map(|(_, bytes)| bytes).sum();
    stages.push(StageSize {
        name: build.to_owned(),
        base: stage.base.clone(),
        merged_bytes: Some(input.merge.merged_bytes.saturating_sub(later).saturating_sub(removed)),
    });
    stages
}

fn ends_with_blank(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.ends_with("\n\n") || before.ends_with("\n\r\n")
}

/// Where the new stage begins: behind the last instruction that builds, before the comments of what follows.
fn split_at(stage: &Final<'_>, place: usize) -> usize {
    let pieces = &stage.file.pieces;
    let Some(at) = pieces.iter().position(|piece| piece.kind == PieceKind::Instruction(place)) else {
        return stage.file.text().len();
    };
    let mut end = pieces[at].span.end;
    for piece in &pieces[at + 1..] {
        if piece.kind != PieceKind::Blank {
            break;
        }
        end = piece.span.end;
    }
    end
}

/// What the new image holds: the new base, what packages bring, and what lines copy.
fn selection(keep: &Keep<'_, '_>, lines: &Lines<'_, '_, '_, '_, '_>, tidied: &tidy::Tidied) -> Selection {
    let rootfs = keep.world.rootfs;
    let layers = layer16(keep.world.input.layers.len());
    let entries: Vec<usize> = (0..layers).map(|layer| rootfs.layer(layer).len()).collect();
    let mut selection = Selection::prefix(&entries, usize::from(keep.base.layers));
    let mut set = |layer: u16, entry, stays: bool| {
        selection.set(layer, entry, stays, entries.get(usize::from(layer)).copied().unwrap_or_default());
    };
    for node in rootfs.nodes() {
        let fate = keep.fate(node.id());
        let stays = lines.covered.contains(&node.id()) || matches!(fate, Fate::Base | Fate::Installed | Fate::Rewritten);
        if !stays {
            continue;
        }
        for (layer, entry) in
            node.content().into_iter().chain(node.entry().map(|entry| (node.layer(), entry)))
        {
            set(layer, entry, true);
        }
        let mut above = node.parent();
        while above.id() != crate::rootfs::NodeId::ROOT {
            if let Some(entry) = above.entry() {
                set(above.layer(), entry, true);
            }
            above = above.parent();
        }
    }
    for (layer, entry) in &tidied.gone {
        set(*layer, *entry, false);
    }
    selection
}
