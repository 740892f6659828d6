//! Tools of images in which people work: a shell is the command, or an editor opens them.

use super::words::searched_terms;
use super::{Certainty, Demand, Demands};
use crate::findings::facts::Facts;
use crate::findings::value::User;
use crate::formats::string_references::is_wrapper;

/// Shells that wait for commands when nothing tells them to run a script.
const SHELLS: [&str; 5] = ["ash", "bash", "fish", "sh", "zsh"];

impl Demands {
    /// Tools that the image's own layers install by name, in an image for development: one with the label of development
    /// containers, or whose own command is a shell. A base image often brings a shell as command, which says nothing.
    pub(super) fn by_hand(&mut self, facts: &Facts<'_>) {
        let Some((setting, why)) = setting(facts) else { return };
        let base = facts.base_layers();
        for (place, package) in facts.inventory.packages.iter().enumerate() {
            let is_named = package.automatic.is_none() && usize::from(package.layer) >= base;
            if !is_named || !package.is_of_system() {
                continue;
            }
            let mut names = searched_terms(&package.name);
            let rule = facts.devel_rule(place);
            names.extend(rule.and_then(|rule| rule.read_as.as_deref()));
            let also: &[&str] = match package.name.as_str() {
                "build-essential" => &["compiler", "dpkg-dev", "libraries", "make"],
                name if name.ends_with("-dev") || name.ends_with("-devel") => &["libraries"],
                _ => &[],
            };
            names.extend(also);
            for name in names {
                let demand = Demand {
                    certainty: Certainty::Asked,
                    user: User::Setting(setting.to_owned()),
                    who: setting.to_owned(),
                    why: why.to_owned(),
                    site: None,
                    whole_toolkit: true,
                };
                self.add(name, &demand);
            }
        }
    }
}

/// Programs with cells or terminals in which people work.
const WORKBENCHES: [&str; 7] = [
    "code-server",
    "jupyter",
    "jupyter-lab",
    "jupyter-notebook",
    "jupyterhub-singleuser",
    "openvscode-server",
    "rserver",
];

/// Whether it is an image in which people start tools.
pub(in crate::findings) fn is_for_work(facts: &Facts<'_>) -> bool {
    setting(facts).is_some()
}

/// The setting that makes it an image for development, and how.
fn setting(facts: &Facts<'_>) -> Option<(&'static str, &'static str)> {
    let config = facts.input.image.config.as_ref()?;
    let labels = config.config().as_ref().and_then(|config| config.labels().as_ref());
    if labels.is_some_and(|labels| labels.contains_key("devcontainer.metadata")) {
        return Some(("The label devcontainer.metadata", "marks an image in which people use tools by hand"));
    }
    // The entrypoint of a base image often starts the command.
    let run = facts.input.image.run_config()?;
    let command = run.cmd().as_ref().or(run.entrypoint().as_ref())?;
    let programs = run.entrypoint().iter().flatten().chain(command);
    let mut programs = programs.flat_map(|text| text.split_whitespace());
    if programs.any(|word| WORKBENCHES.contains(&word.rsplit('/').next().unwrap_or(word))) {
        return Some(("The image's command", "starts a workbench, in which people use tools by hand"));
    }
    // `CMD bash` is `/bin/sh -c bash`; tini and its like start what follows them.
    let words = command.iter().flat_map(|text| text.split_whitespace());
    let words: Vec<&str> = words.map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let is_start = |word: &&&str| is_wrapper(word.as_bytes()) || matches!(**word, "--" | "-c");
    let mut words = words.iter().filter(|word| !is_start(word)).peekable();
    let mut is_shell = false;
    while words.next_if(|word| SHELLS.contains(word)).is_some() {
        is_shell = true;
    }
    let rest: Vec<&&str> = words.collect();
    let waits = [&["sleep", "infinity"][..], &["tail", "-f", "null"]];
    let is_shell = if is_shell {
        // `bash --rcfile /etc/rc`
        (0..rest.len()).all(|at| rest[at].starts_with('-') || at > 0 && **rest[at - 1] == *"--rcfile")
    } else {
        waits.iter().any(|wait| rest.iter().map(|word| **word).eq(wait.iter().copied()))
    };
    // The last instruction that sets a command, and the layers before it.
    let mut layers = 0;
    let mut own = false;
    for entry in config.history().iter().flatten() {
        let text = entry.created_by().as_deref().unwrap_or_default();
        if ["CMD [", "ENTRYPOINT ["].iter().any(|start| text.contains(start)) {
            own = layers > facts.base_layers();
        }
        layers += usize::from(!entry.empty_layer().unwrap_or(false));
    }
    (is_shell && own && facts.base_layers() > 0)
        .then_some(("The image's command", "starts a shell, in which people use tools by hand"))
}
