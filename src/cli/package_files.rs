//! Files of packages that follow from the arguments: man pages and completion scripts.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap_complete::Shell;

use crate::base::save::save;

/// Completion scripts, where each shell looks for them below `/usr`.
const SCRIPTS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/cutaway"),
    (Shell::Zsh, "share/zsh/vendor-completions/_cutaway"),
    (Shell::Fish, "share/fish/vendor_completions.d/cutaway.fish"),
];
/// Man pages.
const PAGES: &str = "share/man/man1";

/// Writes a page for the program and for each of its commands, and the scripts.
pub(super) fn package_files(mut program: clap::Command, folder: &Path) -> anyhow::Result<ExitCode> {
    for (shell, name) in SCRIPTS {
        put(&folder.join(name), &completions(&program, shell))?;
    }
    program.build();
    pages(&program, &folder.join(PAGES))?;
    Ok(ExitCode::SUCCESS)
}

/// The completion script of `shell`, which offers what the help shows.
pub(super) fn completions(program: &clap::Command, shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(program), program.get_name(), &mut script);
    script
}

/// A command without its hidden commands and options, which clap offers otherwise. Has what completions are made of.
fn visible(command: &clap::Command) -> clap::Command {
    let options = command.get_arguments().filter(|option| !option.is_hide_set()).cloned();
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set()).map(visible);
    clap::Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .version(command.get_version().unwrap_or_default().to_owned())
        .disable_version_flag(command.get_version().is_none())
        .args(options)
        .subcommands(commands)
}

/// Writes the page of a command and those of its subcommands: `cutaway-cache-prune.1`.
fn pages(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(&name).render(&mut page)?;
    put(&folder.join(format!("{name}.1")), &page)?;
    let visible = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(visible).try_for_each(|command| pages(command, folder))
}

fn put(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| save(file, bytes)).with_context(|| format!("cannot write {}", file.display()))
}
