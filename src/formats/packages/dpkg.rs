//! The dpkg database: `status`, the parts of `status.d` in distroless images, and file lists.

use hashbrown::HashMap;

use super::fields::{Part, Parts, lines};
use super::{Bounds, Collector, Package, Problem, Read, some_text, text};

/// The fields of one package as written.
#[derive(Default)]
struct Stanza<'a> {
    /// Its offset; `None` between stanzas.
    at: Option<usize>,
    name: Option<&'a [u8]>,
    version: Option<&'a [u8]>,
    status: Option<&'a [u8]>,
    architecture: Option<&'a [u8]>,
    source: Option<&'a [u8]>,
    maintainer: Option<&'a [u8]>,
    before: Option<&'a [u8]>,
    depends: Option<&'a [u8]>,
    recommends: Option<&'a [u8]>,
    suggests: Option<&'a [u8]>,
    provides: Option<&'a [u8]>,
    priority: Option<&'a [u8]>,
    essential: Option<&'a [u8]>,
    important: Option<&'a [u8]>,
    protected: Option<&'a [u8]>,
}

impl<'a> Stanza<'a> {
    fn take(&mut self, at: usize, name: &[u8], value: &'a [u8]) {
        self.at.get_or_insert(at);
        // Field names are not case sensitive (deb-control(5)).
        let place = match name.to_ascii_lowercase().as_slice() {
            b"package" => &mut self.name,
            b"version" => &mut self.version,
            b"status" => &mut self.status,
            b"architecture" => &mut self.architecture,
            b"source" => &mut self.source,
            b"maintainer" => &mut self.maintainer,
            b"pre-depends" => &mut self.before,
            b"depends" => &mut self.depends,
            b"recommends" => &mut self.recommends,
            b"suggests" => &mut self.suggests,
            b"provides" => &mut self.provides,
            b"priority" => &mut self.priority,
            b"essential" => &mut self.essential,
            b"important" => &mut self.important,
            b"protected" => &mut self.protected,
            _ => return,
        };
        *place = Some(value);
    }

    /// Whether apt never removes it as unneeded.
    fn is_essential(&self) -> bool {
        let is = |value: Option<&[u8]>, word: &[u8]| {
            value.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(word))
        };
        let is_held = self.status.is_some_and(|status| status.trim_ascii_start().starts_with(b"hold"));
        is_held
            || [self.essential, self.important, self.protected].into_iter().any(|value| is(value, b"yes"))
            || is(self.priority, b"required")
            || is(self.priority, b"important")
    }

    /// Ends the stanza; `false` when there are too many packages.
    fn finish(&mut self, collector: &mut Collector) -> bool {
        let stanza = std::mem::take(self);
        let Some(at) = stanza.at else { return true };
        let Some(name) = stanza.name.and_then(some_text) else {
            collector.problem(at, "package without a name");
            return true;
        };
        let wanted = [stanza.before, stanza.depends].into_iter().flatten();
        let depends = collector.names(at, wanted.flat_map(relation_names));
        let mut names = |list: Option<&[u8]>| collector.names(at, list.into_iter().flat_map(relation_names));
        let (recommends, suggests) = (names(stanza.recommends), names(stanza.suggests));
        let provides = names(stanza.provides);
        let package = Package {
            name,
            version: stanza.version.map(text).unwrap_or_default(),
            architecture: stanza.architecture.and_then(some_text),
            source: stanza.source.and_then(|source| some_text(bare_name(source))),
            maker: stanza.maintainer.and_then(some_text),
            depends,
            recommends,
            suggests,
            provides,
            essential: stanza.is_essential(),
            installed: stanza.status.is_none_or(is_installed),
            files: None,
        };
        collector.package(at, package)
    }
}

/// Parses `/var/lib/dpkg/status`, or a file of `status.d`, which has no `Status` and counts as installed.
pub fn read_status(bytes: &[u8]) -> Read {
    let mut collector = Collector::new(Bounds::USUAL);
    let mut stanza = Stanza::default();
    for part in Parts::new(bytes) {
        match part {
            Part::Field { at, name, value } => stanza.take(at, name, value),
            Part::Blank => {
                if !stanza.finish(&mut collector) {
                    return collector.finish();
                }
            }
            Part::Odd(at) => collector.problem(at, "invalid field"),
        }
    }
    stanza.finish(&mut collector);
    collector.finish()
}

/// [`read_status`] of a complete `status` file. dpkg ends each package with an empty line, so a file without a final line
/// break is truncated.
pub fn read_whole_status(bytes: &[u8]) -> Read {
    let mut read = read_status(bytes);
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        let at = bytes.len() as u64;
        let what = "ends in the middle of a line: packages may be missing".into();
        read.problems.push(Problem { at, what });
    }
    read
}

/// `Status` has three words: the wanted state, an error flag, and the actual state, which is used here.
fn is_installed(status: &[u8]) -> bool {
    let mut words = status.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next_back() == Some(b"installed")
}

/// The names in a list such as `libc6 (>= 2.34), default-mta | mail-transport-agent, python3:any`.
fn relation_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| matches!(byte, b',' | b'|')).map(bare_name)
}

/// A name without the version, architecture or restriction that follows it.
fn bare_name(one: &[u8]) -> &[u8] {
    let one = one.trim_ascii();
    let end = one.iter().position(|byte| byte.is_ascii_whitespace() || b"(:[<".contains(byte));
    end.and_then(|end| one.get(..end)).unwrap_or(one)
}

/// Parses `info/NAME.list`: absolute paths, one per line, the first 4 million. The root, written as `/.`, is left out.
pub fn list_paths(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let paths = lines(bytes).map(|(_, line)| line).filter(|line| !matches!(*line, b"" | b"/" | b"/."));
    paths.take(Bounds::USUAL.paths)
}

/// Parses `NAME.md5sums`, the only file list in a distroless image: `md5  usr/bin/x` is `/usr/bin/x`. Other lines are
/// left out, as are those after 4 million.
pub fn read_md5sums(bytes: &[u8]) -> Vec<Vec<u8>> {
    let paths = lines(bytes).filter_map(|(_, line)| {
        let (sum, rest) = line.split_at_checked(32)?;
        let path = rest.strip_prefix(b"  ").or_else(|| rest.strip_prefix(b" *"))?;
        let path = path.strip_prefix(b"./").or_else(|| path.strip_prefix(b"/")).unwrap_or(path);
        (sum.iter().all(u8::is_ascii_hexdigit) && !path.is_empty()).then(|| [b"/", path].concat())
    });
    paths.take(Bounds::USUAL.paths).collect()
}

/// The package of a file list in `info/`: `libc6:amd64.list` is of `libc6`. `None` for other files.
pub fn list_name(file_name: &[u8]) -> Option<&[u8]> {
    let name = file_name.strip_suffix(b".list")?;
    let name = name.split(|byte| *byte == b':').next()?;
    (!name.is_empty()).then_some(name)
}

/// The file of dpkg's diversions.
pub const DIVERSIONS: &[u8] = b"/var/lib/dpkg/diversions";

/// Diverted files: dpkg unpacked them at other paths than those in the file lists of their packages, because another
/// package or the administrator has a file there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Diversions {
    /// By the path in file lists.
    moved: HashMap<Vec<u8>, Diversion>,
}

#[derive(Debug, PartialEq, Eq)]
struct Diversion {
    to: Vec<u8>,
    /// The package whose own file stays; `None` if no package's does.
    by: Option<Vec<u8>>,
}

impl Diversions {
    /// Parses [`DIVERSIONS`]: three lines each, the last one a package or `:`. `None` if it is damaged.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let all: Vec<&[u8]> = lines(bytes).map(|(_, line)| line).collect();
        let (threes, rest) = all.as_chunks::<3>();
        let mut moved = HashMap::with_capacity(threes.len());
        for [from, to, by] in threes {
            if !from.starts_with(b"/") || !to.starts_with(b"/") || by.is_empty() {
                return None;
            }
            let by = (*by != b":").then(|| by.to_vec());
            moved.insert(from.to_vec(), Diversion { to: to.to_vec(), by });
        }
        rest.is_empty().then_some(Self { moved })
    }

    /// The path to which dpkg diverts the file that a package lists at `path`. The diversion may be older than the file,
    /// which is then at `path`.
    pub fn diverted_to(&self, path: &[u8], package: &[u8]) -> Option<&[u8]> {
        let diversion = self.moved.get(path)?;
        (diversion.by.as_deref() != Some(package)).then_some(diversion.to.as_slice())
    }

    /// The paths to which the administrator diverted files: no package does it again.
    pub fn local(&self) -> impl Iterator<Item = &[u8]> {
        self.moved.values().filter(|one| one.by.is_none()).map(|one| one.to.as_slice())
    }
}
