//! Programs run by the image's command and its scripts, and the links by which a toolkit is found.

use super::SplitContext;
use crate::cuda::Inode;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Maximum words of a command that are looked at.
const WORDS: usize = 1_000;

impl SplitContext<'_> {
    /// The program of a `#!` line as written; for `env` the program that it runs, by the image's `PATH`.
    pub(in crate::rewrite::split) fn interpreter(&self, (layer, entry): Inode) -> Option<Vec<u8>> {
        let read = self.input.layers.get(usize::from(layer))?.as_deref()?;
        let line = read.facts.script(entry)?;
        let line = line.strip_prefix(b"#!").unwrap_or(line).split(|byte| *byte == b'\n').next()?;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let program = words.next()?;
        if !program.ends_with(b"/env") {
            return Some(program.to_vec());
        }
        let started = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
        self.program(std::str::from_utf8(started).ok()?)
    }

    /// A program by the image's `PATH`, or a path unchanged.
    pub(in crate::rewrite::split) fn program(&self, name: &str) -> Option<Vec<u8>> {
        if name.contains('/') {
            return Some(name.as_bytes().to_vec());
        }
        let path = self.input.image.search_path();
        let found = |folder: &str| {
            let path = format!("{folder}/{name}").into_bytes();
            self.paths.lookup(&path).map(|_| path)
        };
        path.split(':').filter(|folder| !folder.is_empty()).take(64).find_map(found)
    }

    /// A variable of the image; the last definition counts.
    pub(in crate::rewrite::split) fn variable(&self, name: &str) -> Option<&str> {
        self.input.image.variable(name)
    }

    /// Paths in the command: its words, and those of a shell text.
    pub(in crate::rewrite::split) fn command_paths(&self) -> Vec<Vec<u8>> {
        let Some(config) = self.input.image.run_config() else {
            return Vec::new();
        };
        let folder = config.working_dir().clone().unwrap_or_else(|| "/".to_owned());
        let words = [config.entrypoint(), config.cmd()];
        let words = words_of_command(words.into_iter().flatten().flatten().chain(&self.health));
        let mut paths = Vec::new();
        for word in words.into_iter().take(WORDS) {
            let word = word.trim_matches(['"', '\'', ';', '(', ')']);
            paths.extend(self.program(word).filter(|_| !word.contains('/')));
            paths.push(if word.starts_with('/') {
                word.as_bytes().to_vec()
            } else {
                format!("{folder}/{word}").into_bytes()
            });
        }
        paths.retain(|path| !path.starts_with(b"/opt/nvidia/nvidia_entrypoint"));
        paths
    }

    /// Paths in the image's command, working directory and variables, except the root folder.
    pub(in crate::rewrite::split) fn named_paths(&self) -> Vec<Vec<u8>> {
        let config = self.input.image.run_config();
        let Some(config) = config else { return Vec::new() };
        let mut paths: Vec<Vec<u8>> =
            self.command_paths().into_iter().filter(|path| self.paths.lookup(path).is_some()).collect();
        // Lists, such as a class path: `-cp target/classes:target/lib/*`.
        let folder = config.working_dir().as_deref().unwrap_or("/");
        let words = [config.entrypoint(), config.cmd()].into_iter().flatten().flatten();
        let lists = words
            .flat_map(|word| word.split_ascii_whitespace())
            .filter(|word| word.contains([':', '=', ',']));
        let parts = lists.flat_map(|list| list.split([':', '=', ','])).filter(|part| part.contains('/'));
        let parts = parts.take(WORDS).map(|part| {
            let part = part.trim_end_matches('*');
            if part.starts_with('/') { part.to_owned() } else { format!("{folder}/{part}") }
        });
        paths.extend(parts.map(String::into_bytes).filter(|path| self.paths.lookup(path).is_some()));
        paths.extend(config.working_dir().iter().map(|folder| folder.clone().into_bytes()));
        let values = config.env().iter().flatten().filter_map(|pair| pair.split_once('='));
        let parts = values.flat_map(|(_, value)| value.split([':', ' ', '=', ',']));
        paths.extend(parts.filter(|part| part.starts_with('/')).map(|part| part.as_bytes().to_vec()));
        paths.extend(self.editable_projects());
        paths.retain(|path| path.iter().any(|byte| *byte != b'/'));
        paths
    }

    /// Whether the command starts what files of its own list, such as jobs of cron: which folders these name is not known.
    pub(in crate::rewrite::split) fn starts_others(&self) -> bool {
        const STARTERS: [&[u8]; 11] = [
            b"circusd",
            b"cron",
            b"crond",
            b"foreman",
            b"honcho",
            b"monit",
            b"runsvdir",
            b"s6-svscan",
            b"supercronic",
            b"supervisord",
            b"systemd",
        ];
        let paths = self.command_paths();
        paths
            .iter()
            .any(|path| path.rsplit(|byte| *byte == b'/').next().is_some_and(|name| STARTERS.contains(&name)))
    }

    /// Links by which a toolkit is found: `/usr/local/cuda`, those of its alternatives, and those in its root.
    pub(in crate::rewrite::split) fn toolkit_links(&self) -> Vec<NodeId> {
        let toolkits = self.input.inventory.toolkits.iter();
        let mut folders: Vec<&[u8]> = toolkits.map(|toolkit| toolkit.root.as_slice()).collect();
        folders.extend([b"/usr/local".as_slice(), b"/etc/alternatives"]);
        let mut links = Vec::new();
        for folder in folders {
            let Some(node) = self.paths.lookup(folder) else { continue };
            let named = |name: &[u8]| name.starts_with(b"cuda") || folder.starts_with(b"/usr/local/cuda");
            let children = self.rootfs.node(node).children();
            let children = children.filter(|node| node.kind() == NodeKind::Symlink && named(node.name()));
            links.extend(children.map(Node::id));
        }
        links.sort_unstable();
        links.dedup();
        links
    }
}

/// The words of a command. Of code that it gives an interpreter, such as `python -c "import x"`, only those in quotes.
fn words_of_command<'w>(parts: impl Iterator<Item = &'w String>) -> Vec<&'w str> {
    let mut words = Vec::new();
    let (mut code, mut is_code): (&[&str], bool) = (&[], false);
    for part in parts {
        let mut rest = part.as_str();
        if std::mem::take(&mut is_code) {
            words.extend(words_in_quotes(rest));
            continue;
        }
        while let Some(start) = rest.find(|one: char| !one.is_ascii_whitespace()) {
            rest = &rest[start..];
            let quote = rest.chars().next().filter(|one| matches!(one, '"' | '\''));
            if let Some(quote) = quote.filter(|_| std::mem::take(&mut is_code)) {
                let end = closing(&rest[1..], quote) + 1;
                words.extend(words_in_quotes(&rest[1..end]));
                rest = rest.get(end + 1..).unwrap_or_default();
                continue;
            }
            let end = rest.find(|one: char| one.is_ascii_whitespace()).unwrap_or(rest.len());
            let word = &rest[..end];
            words.push(word);
            is_code = code.contains(&word);
            if !word.starts_with('-') {
                code = options_for_code(word);
            }
            rest = &rest[end..];
        }
    }
    words
}

/// The options of an interpreter before a text of code; none for other programs.
fn options_for_code(word: &str) -> &'static [&'static str] {
    let name = word.rsplit('/').next().unwrap_or(word).trim_matches(['"', '\'', '(']);
    match name.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.') {
        "python" | "pypy" => &["-c"],
        "node" | "nodejs" => &["-e", "--eval", "-p"],
        "perl" | "ruby" => &["-e"],
        "php" => &["-r"],
        _ => &[],
    }
}

/// Where a quoted text ends.
fn closing(text: &str, quote: char) -> usize {
    let ends = text.char_indices().filter(|(_, one)| *one == quote).map(|(at, _)| at);
    ends.into_iter().find(|at| !text[..*at].ends_with('\\')).unwrap_or(text.len())
}

fn words_in_quotes(code: &str) -> impl Iterator<Item = &str> {
    let quoted = code.split(['"', '\'']).skip(1).step_by(2);
    quoted.flat_map(|text| text.trim_end_matches('\\').split_ascii_whitespace())
}
