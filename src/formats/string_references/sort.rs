//! How a file is searched, by its name or first bytes.

use std::sync::LazyLock;

use hashbrown::HashSet;

use super::strings::Language;

/// Size limit of searched texts: no script, written or generated, is larger.
pub const TEXT_BYTES: u64 = 1 << 20;
/// Size limit of searched sources in Python, JavaScript and other languages, which tools put together from many (that of
/// TypeScript's compiler has 9 MB), and of notebooks, which contain pictures.
pub const SOURCE_BYTES: u64 = 16 << 20;
/// Size limit of searched binaries: larger ones are framework libraries, whose needs follow from their links.
pub const BINARY_BYTES: u64 = 64 << 20;
/// Size limit of searched texts whose names tell nothing: files that a script sources or reads commands from.
pub(super) const PLAIN_BYTES: u64 = 64 << 10;
/// Bytes that identify a program: up to the type in the ELF header.
pub(super) const HEAD_BYTES: usize = 18;

/// Suffixes of files that are not searched: documents, sources of which nothing runs before they are compiled, what only
/// build systems read, styles, translations, what tools write for themselves, archives, and media. None of them is read to
/// see that it is no text.
const OF_DATA: &str = "\
     a ac adoc am arb asc asciidoc asm avif avsc beam bib bin bmp bpe bst bz2 c cache cc cff class \
     cmake code-workspace containerfile cpp crt csproj css cu cuh cxx d dat db dep dic diff dll \
     dockerfile dot drawio dtd ear egg en eot f f90 feature flow ftl geojson gif gmo gyp gypi gz h \
     har hh hpp htm html hxx ico iml importmap in inl jar jpeg jpg jsonld key la lang less lock \
     lockfile log m4 map markdown md mdx mkd mmd mo mp3 mp4 ninja npy npz nuspec o ogg old onnx opam \
     org orig otf parquet patch pbxproj pc pcss pdf pem pex phar pkl png po pod podspec pom pot \
     prisma proto pt pth pub puml pxd pyc pyi pyx pyz rdoc rego rej resx rs rst rtf s safetensors \
     sass scss sln snap so spdx sqlite srt strings styl svg tar targets tex textile tgz tif tiff \
     tsbuildinfo ttf ttl vcxproj vim vocab vtt war wasm wav webm webmanifest webp whl woff woff2 \
     xcconfig xpm xsd xz zip zst";
static DATA: LazyLock<HashSet<&'static [u8]>> =
    LazyLock::new(|| OF_DATA.split(' ').map(str::as_bytes).collect());

/// How a file is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A script or settings. Lines that begin with `#` are comments.
    Script,
    /// A source in Python.
    Python,
    /// A source in JavaScript or `TypeScript`.
    JavaScript,
    /// A source in another language with the comments of C, in lines and blocks.
    Source,
    /// A source or notebook in a language whose comments are not known here.
    Code,
    /// Text that is no source: data, and settings.
    Text,
    /// A file whose name tells nothing: searched like a script if it is a text.
    Plain,
    /// A program or shared library.
    Binary,
}

impl Sort {
    /// Kind of a file by its name, and that of the folder it is in: a table of cron has any name. Others are recognised
    /// by content: text that begins with `#!` is a [`Script`](Self::Script), an ELF program or shared object is a [`Binary`](Self::Binary).
    pub fn by_path(folder: &[u8], name: &[u8]) -> Option<Self> {
        // `START.SH`, `jobs.YML`
        let lower = || Self::by_name(&name.to_ascii_lowercase());
        let has_upper = || name.iter().any(u8::is_ascii_uppercase);
        let is_table = name.starts_with(b"crontab")
            || name.starts_with(b"Procfile.")
            || name.ends_with(b".cron")
            || matches!(folder, b"cron" | b"cron.d" | b"crontabs");
        // What is rendered or copied to the name without it: `settings.yml.in`
        let of_stem = || {
            let stem = [&b".in"[..], b".orig"].into_iter().find_map(|end| name.strip_suffix(end))?;
            Self::by_name(stem).filter(|_| stem != b"Makefile")
        };
        Self::by_name(name)
            .or_else(of_stem)
            .or_else(|| has_upper().then(lower).flatten())
            .or(is_table.then_some(Self::Script))
    }

    /// Kind of a file by its name alone.
    pub fn by_name(name: &[u8]) -> Option<Self> {
        const FILES: [&[u8]; 18] = [
            b"Brewfile",
            b"Capfile",
            b"GNUmakefile",
            b"Gemfile",
            b"Guardfile",
            b"Jenkinsfile",
            b"Justfile",
            b"Makefile",
            b"Procfile",
            b"Rakefile",
            b"SConscript",
            b"SConstruct",
            b"Snakefile",
            b"Thorfile",
            b"Vagrantfile",
            b"justfile",
            b"makefile",
            b"wscript",
        ];
        if FILES.contains(&name) {
            return Some(Self::Script);
        }
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        match &name[dot + 1..] {
            // Settings, and languages whose comments begin with `#`.
            b"py" | b"pyw" | b"wsgi" => Some(Self::Python),
            b"sh" | b"bash" | b"pl" | b"rb" | b"toml" | b"yaml" | b"yml" | b"cfg" | b"conf" | b"ini"
            | b"envsh" | b"rc" | b"service" | b"R" | b"jl" | b"env" | b"properties" | b"awk" | b"bats"
            | b"cr" | b"csh" | b"cwl" | b"ex" | b"exs" | b"exp" | b"fish" | b"gemspec" | b"hcl" | b"jq"
            | b"ksh" | b"mk" | b"nim" | b"nix" | b"path" | b"pm" | b"ps1" | b"psgi" | b"psm1" | b"r"
            | b"rake" | b"raku" | b"ru" | b"sed" | b"smk" | b"socket" | b"tcl" | b"tf" | b"timer"
            | b"tcsh" | b"wdl" | b"zsh" => Some(Self::Script),
            b"js" | b"mjs" | b"cjs" | b"ts" | b"tsx" | b"jsx" | b"mts" | b"cts" => Some(Self::JavaScript),
            b"dart" | b"go" | b"gradle" | b"groovy" | b"java" | b"kt" | b"kts" | b"nf" | b"scala"
            | b"swift" => Some(Self::Source),
            b"txt" | b"xml" | b"pbtxt" | b"json" | b"json5" | b"jsonc" | b"edn" | b"sql" => Some(Self::Text),
            b"asp" | b"aspx" | b"cgi" | b"clj" | b"cljc" | b"cljs" | b"coffee" | b"cs" | b"cshtml"
            | b"csx" | b"ejs" | b"el" | b"erb" | b"erl" | b"escript" | b"fcgi" | b"fs" | b"fsx" | b"ftl"
            | b"hbs" | b"hs" | b"inc" | b"ipynb" | b"j2" | b"jinja" | b"jinja2" | b"jsp" | b"lisp"
            | b"lua" | b"ml" | b"mustache" | b"php" | b"php5" | b"php7" | b"php8" | b"phtml" | b"qmd"
            | b"rkt" | b"Rmd" | b"rmd" | b"Rnw" | b"scm" | b"svelte" | b"template" | b"tmpl" | b"tpl"
            | b"twig" | b"vb" | b"vbs" | b"vue" => Some(Self::Code),
            _ => None,
        }
    }

    /// Whether a file whose name tells no language may have commands if it is a text: one that a script sources, a file of
    /// settings, a table (`/etc/default/app`, `.env.production`, `jobs.csv`, `app.yml.dist`). Not documents, sources that
    /// are only compiled, and data.
    pub fn is_plain(name: &[u8]) -> bool {
        /// Documents, also with the suffix of a language: `README.zh-CN`.
        const DOCUMENTS: [&[u8]; 11] = [
            b"authors",
            b"changelog",
            b"changes",
            b"citation",
            b"contributing",
            b"copyright",
            b"licence",
            b"license",
            b"notice",
            b"readme",
            b"thanks",
        ];
        /// Records of git, and tables of the system.
        const OTHERS: [&[u8]; 10] = [
            b"earthfile",
            b"gitattributes",
            b"gitignore",
            b"gitkeep",
            b"gitmodules",
            b"networks",
            b"protocols",
            b"rpc",
            b"services",
            b"shells",
        ];
        /// Recipes of images, which were run already.
        const RECIPES: [&[u8]; 2] = [b"containerfile", b"dockerfile"];
        /// Letters of a name above which it may be a hash: caches have such names.
        const HASH: usize = 16;
        let name = name.strip_prefix(b".").unwrap_or(name);
        let suffix = memchr::memrchr(b'.', name).map(|dot| &name[dot + 1..]);
        let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
        let is_hash =
            || name.len() >= HASH && name.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
        // Pages of manuals and versions of libraries end in numbers.
        let is_data = |suffix: &[u8]| {
            let is_upper = suffix.iter().any(u8::is_ascii_uppercase);
            suffix.iter().all(u8::is_ascii_digit)
                || DATA.contains(suffix)
                || is_upper && DATA.contains(&suffix.to_ascii_lowercase()[..])
        };
        !suffix.is_some_and(is_data)
            && name.iter().any(u8::is_ascii_lowercase)
            && name != b"history"
            && !name.ends_with(b"_history")
            && !RECIPES.iter().any(|recipe| {
                name.get(..recipe.len()).is_some_and(|start| start.eq_ignore_ascii_case(recipe))
            })
            && !DOCUMENTS.iter().any(|document| stem.eq_ignore_ascii_case(document))
            && !OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other))
            && !is_hash()
    }

    /// Size limit of searched files of this kind, in bytes.
    pub fn most(self) -> u64 {
        match self {
            Self::Binary => BINARY_BYTES,
            Self::Python | Self::JavaScript | Self::Code => SOURCE_BYTES,
            Self::Script | Self::Source | Self::Text => TEXT_BYTES,
            Self::Plain => PLAIN_BYTES,
        }
    }

    /// The language of a source, if its strings are known. A script that another program starts is none: a shell reads
    /// `''''exec uv run "$0"'''` in it as a command.
    pub(super) fn language(self, text: &[u8]) -> Option<Language> {
        let (language, interpreters) = match self {
            Self::Python => (Language::Python, &[&b"python"[..], b"pypy"][..]),
            Self::JavaScript => (Language::JavaScript, &[&b"node"[..], b"bun", b"deno"][..]),
            Self::Script | Self::Source | Self::Code | Self::Text | Self::Plain | Self::Binary => {
                return None;
            }
        };
        if !text.starts_with(b"#!") {
            return Some(language);
        }
        let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
        // `#!/usr/bin/env -S uv run python` starts uv.
        let words = line[2..].split(|byte| matches!(byte, b' ' | b'\t' | b'/')).map(<[u8]>::trim_ascii);
        let program = words
            .filter(|word| !word.starts_with(b"-"))
            .find(|word| !matches!(*word, b"" | b"usr" | b"bin" | b"local" | b"env" | b"opt"));
        interpreters.iter().any(|name| program.is_some_and(|word| word.starts_with(name))).then_some(language)
    }

    /// Kind by the first bytes, for a file whose kind does not follow from its name; `plain` if that may be any text's.
    pub(super) fn by_head(head: &[u8], executable: bool, plain: bool) -> Option<Self> {
        if executable && head.starts_with(b"#!") {
            return Some(Self::Script);
        }
        if plain && is_text(head) {
            return Some(Self::Plain);
        }
        // `e_type` in either byte order: 2 is a program, 3 a shared object.
        let of_type = matches!(head.get(16..HEAD_BYTES), Some([2 | 3, 0] | [0, 2 | 3]));
        (head.starts_with(crate::formats::elf::MAGIC) && of_type).then_some(Self::Binary)
    }
}

fn is_text(head: &[u8]) -> bool {
    !head.is_empty() && head.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..))
}
