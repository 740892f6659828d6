//! Small files for tests, in both classes and byte orders.

/// One entry: kind, architecture, flags, bytes of payload. Headers have 64 bytes.
pub(in crate::formats) fn entry(kind: u16, arch: u32, flags: u64, payload: u32) -> Vec<u8> {
    let compressed = flags & 0xa000 != 0;
    let mut out = kind.to_le_bytes().to_vec();
    out.extend(0x0101_u16.to_le_bytes());
    out.extend(64_u32.to_le_bytes());
    out.extend(u64::from(payload).to_le_bytes());
    out.extend((if compressed { payload } else { 0 }).to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(3_u16.to_le_bytes());
    out.extend(8_u16.to_le_bytes());
    out.extend(arch.to_le_bytes());
    out.extend([0; 8]);
    out.extend(flags.to_le_bytes());
    out.extend([0; 8]);
    out.extend((if compressed { u64::from(payload) * 4 } else { 0 }).to_le_bytes());
    out.resize(64 + payload as usize, 0xaa);
    out
}

/// One container of these entries.
pub(in crate::formats) fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let area = entries.concat();
    let mut out = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
    out.extend((area.len() as u64).to_le_bytes());
    out.extend(area);
    out
}

/// A 64-bit object of these sections: name, type, content.
pub(in crate::formats) fn object(sections: &[(&str, u32, Vec<u8>)]) -> Vec<u8> {
    let mut library = Library { kind: 1, ..Library::default() };
    library
        .sections
        .extend(sections.iter().map(|(name, kind, bytes)| ((*name).to_owned(), *kind, bytes.clone())));
    library.build()
}

/// A static library of these members: name field and content.
pub(in crate::formats) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        out.extend(format!("{name:<16}0           0     0     644     {size:<10}`\n").bytes());
        out.extend(*bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

/// An ELF file in the making. Addresses are offsets.
#[derive(Clone)]
pub(in crate::formats) struct Library {
    pub(in crate::formats) class64: bool,
    pub(in crate::formats) little: bool,
    pub(in crate::formats) kind: u16,
    pub(in crate::formats) machine: u16,
    pub(in crate::formats) flags: u32,
    pub(in crate::formats) abi: u8,
    /// Name, type, content, in the order of the file.
    pub(in crate::formats) sections: Vec<(String, u32, Vec<u8>)>,
    /// Tag and value.
    pub(in crate::formats) dynamic: Vec<(u64, u64)>,
    /// Content of the version needs.
    pub(in crate::formats) no_table: bool,
}

impl Default for Library {
    fn default() -> Self {
        Self {
            class64: true,
            little: true,
            kind: 3,
            machine: 62,
            flags: 0,
            abi: 0,
            sections: Vec::new(),
            dynamic: Vec::new(),
            no_table: false,
        }
    }
}

/// Strings of the sample: offsets 1, 11, 21 and 34.
const STRINGS: &[u8] = b"\0libc.so.6\0libme.so\0\0$ORIGIN/../x\0GLIBC_2.34\0";

impl Library {
    /// With an interpreter, a build id, a needed library, a soname, a search path and version needs.
    pub(in crate::formats) fn sample() -> Self {
        Self::with(true, true)
    }

    pub(in crate::formats) fn with(class64: bool, little: bool) -> Self {
        let mut it = Self { class64, little, ..Self::default() };
        let mut note = Vec::new();
        for word in [4, 8, 3] {
            it.put(&mut note, word, 4);
        }
        note.extend(b"GNU\0\x01\x02\x03\x04\x05\x06\x07\x08");
        let mut needs = Vec::new();
        for (value, bytes) in
            [(1, 2), (1, 2), (1, 4), (16, 4), (0, 4), (0, 4), (0, 2), (2, 2), (34, 4), (0, 4)]
        {
            it.put(&mut needs, value, bytes);
        }
        it.add(".interp", 1, b"/lib/ld.so\0".to_vec());
        it.add(".note.gnu.build-id", 7, note);
        it.add(".dynstr", 3, STRINGS.to_vec());
        it.add(".gnu.version_r", 0x6fff_fffe, needs);
        it.add(".dynamic", 6, Vec::new());
        it.dynamic = vec![(1, 1), (14, 11), (29, 21), (0x6fff_fffb, 0x0800_0800)];
        it
    }

    pub(in crate::formats) fn add(&mut self, name: &str, kind: u32, bytes: Vec<u8>) {
        self.sections.push((name.to_owned(), kind, bytes));
    }

    /// Writes a number of so many bytes.
    pub(in crate::formats) fn put(&self, out: &mut Vec<u8>, value: u64, bytes: usize) {
        let raw = value.to_le_bytes();
        if self.little {
            out.extend(&raw[..bytes]);
        } else {
            out.extend(raw[..bytes].iter().rev());
        }
    }

    fn word(&self) -> usize {
        if self.class64 { 8 } else { 4 }
    }

    /// Offset of a section, with the sizes as they are now.
    fn offset(&self, name: &str) -> u64 {
        let mut at: usize = if self.class64 { 64 + 56 * 4 } else { 52 + 32 * 4 };
        for (other, _, bytes) in &self.sections {
            at = at.next_multiple_of(8);
            if other == name {
                return at as u64;
            }
            at += bytes.len();
        }
        at.next_multiple_of(8) as u64
    }

    fn finish_dynamic(&mut self) {
        let count = self.dynamic.len() + 4;
        let bytes = vec![0; count * 2 * self.word()];
        let Some(place) = self.sections.iter().position(|section| section.0 == ".dynamic") else { return };
        self.sections[place].2 = bytes;
        let mut tags = self.dynamic.clone();
        tags.push((5, self.offset(".dynstr")));
        tags.push((11, 24));
        tags.push((0x6fff_fffe, self.offset(".gnu.version_r")));
        tags.push((0, 0));
        let mut out = Vec::new();
        for (tag, value) in tags {
            self.put(&mut out, tag, self.word());
            self.put(&mut out, value, self.word());
        }
        self.sections[place].2 = out;
    }

    /// The file.
    pub(in crate::formats) fn build(&self) -> Vec<u8> {
        let mut it = self.clone();
        it.finish_dynamic();
        let names: Vec<u8> = it.sections.iter().fold(vec![0], |mut names, section| {
            names.extend(section.0.as_bytes());
            names.push(0);
            names
        });
        it.add(".shstrtab", 3, [names, b".shstrtab\0".to_vec()].concat());
        let table = it.offset("");
        let mut out = it.header(table);
        it.segments(&mut out, table);
        for (name, _, bytes) in &it.sections {
            out.resize(it.offset(name) as usize, 0);
            out.extend(bytes);
        }
        out.resize(table as usize, 0);
        let word = it.word();
        let mut name_at = 0;
        let first = (String::new(), 0, Vec::new());
        for (name, kind, bytes) in std::iter::once(&first).chain(&it.sections) {
            let at = if name.is_empty() { 0 } else { it.offset(name) };
            it.put(&mut out, name_at, 4);
            it.put(&mut out, u64::from(*kind), 4);
            for value in [0, 0, at, bytes.len() as u64] {
                it.put(&mut out, value, word);
            }
            it.put(&mut out, 0, 8);
            it.put(&mut out, 0, word);
            it.put(&mut out, 0, word);
            name_at += name.len() as u64 + 1;
        }
        out
    }

    fn header(&self, table: u64) -> Vec<u8> {
        let mut out = b"\x7fELF".to_vec();
        out.extend([1 + u8::from(self.class64), 2 - u8::from(self.little), 1, self.abi, 0]);
        out.resize(16, 0);
        let (word, wide) = (self.word(), self.class64);
        let segments = if self.kind == 3 { 4 } else { 0 };
        let table = if self.no_table { 0 } else { table };
        let header = if wide { 64 } else { 52 };
        for (value, bytes) in [
            (u64::from(self.kind), 2),
            (u64::from(self.machine), 2),
            (1, 4),
            (0, word),
            (header, word),
            (table, word),
            (u64::from(self.flags), 4),
            (header, 2),
            (if wide { 56 } else { 32 }, 2),
            (segments, 2),
            (if wide { 64 } else { 40 }, 2),
            (self.sections.len() as u64 + 1, 2),
            (self.sections.len() as u64, 2),
        ] {
            self.put(&mut out, value, bytes);
        }
        out
    }

    fn segments(&self, out: &mut Vec<u8>, size: u64) {
        let size_of = |name: &str| {
            self.sections.iter().find(|section| section.0 == name).map_or(0, |section| section.2.len() as u64)
        };
        let named = [(3, ".interp"), (4, ".note.gnu.build-id"), (2, ".dynamic")];
        let named = named.map(|(kind, name)| (kind, self.offset(name), size_of(name)));
        for (kind, at, bytes) in std::iter::once((1, 0, size)).chain(named) {
            let word = self.word();
            self.put(out, kind, 4);
            if self.class64 {
                self.put(out, 4, 4);
            }
            for value in [at, at, at, bytes, bytes] {
                self.put(out, value, word);
            }
            if !self.class64 {
                self.put(out, 4, 4);
            }
            self.put(out, 4, word);
        }
    }
}
