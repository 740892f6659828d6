/// Bounds on what one file may cost. The default is what the program uses; tests lower single values.
#[derive(Clone, Debug)]
pub struct BinaryLimits {
    /// First bytes of a streamed ELF file that are kept: nearly all libraries have their dynamic strings
    /// there. In both ways of reading, version needs are known only where a stream could know them.
    pub head_bytes: usize,
    /// The same for a member of an archive, where only GPU code is asked for.
    pub member_head_bytes: usize,
    /// Bytes kept from behind the head of one streamed ELF file: tables, notes, strings.
    pub capture_bytes: usize,
    /// Bytes behind the head within which the strings of one dynamic table may lie, each at its longest: those
    /// beyond are left out in both ways of reading. Less than `capture_bytes`, so that a stream can keep them.
    pub spread_bytes: u64,
    /// Bytes of strings from behind the head that may turn out to be library names or search paths.
    pub candidate_bytes: usize,
    /// Program headers of one file. Linkers write about a dozen.
    pub program_headers: usize,
    /// Entries of the dynamic table. Linkers write some dozens, plus one per needed library.
    pub dynamic_entries: usize,
    /// Needed libraries of one file.
    pub needed: usize,
    /// Version needs of one file, names of files and of versions together.
    pub versions: usize,
    /// Bytes of a library name or of the interpreter: the longest path that Linux takes.
    pub string_bytes: usize,
    /// Bytes of the names of one file together: its own, of needed libraries, of versions. Entries may share
    /// bytes of the file, so its size does not bound them. The most seen is some KiB.
    pub names_bytes: usize,
    /// Bytes of a library search path.
    pub path_bytes: usize,
    /// Section headers of one file. Objects with a section for each function have thousands; the most seen are 85,911,
    /// in `libnvJitLink_static.a` and `libnvrtc_static.a` of CUDA 13. A table of so many fits into `capture_bytes`.
    pub sections: usize,
    /// Sections of one file that hold GPU code, or may hold it. Real files have some dozens.
    pub gpu_sections: usize,
    /// Whether containers are looked for in all data of a program or library. Members of archives have them in
    /// sections of their own: each of a thousand objects has some data.
    pub data_sections: bool,
    /// Bytes of note segments of one file.
    pub note_bytes: usize,
    /// Bytes of the note with the drivers that a compatibility library supports.
    pub compat_bytes: usize,
    /// Containers of GPU code in one file (or archive member). The most seen are 443.
    pub containers: usize,
    /// Entries of those containers. The most seen are 5,868.
    pub entries: usize,
    /// Distinct (kind, architecture, compression) of one file. Real files have some dozens.
    pub rows: usize,
    /// Members of a static archive. The largest CUDA ones have some thousands.
    pub members: u64,
    /// Bytes read in search of containers where ranges are read: holes of sparse files cost time too.
    pub search_bytes: u64,
    /// Problems of one file that are listed; the rest is counted.
    pub problems: usize,
}

impl Default for BinaryLimits {
    fn default() -> Self {
        Self {
            head_bytes: 4 << 20,
            member_head_bytes: 64 << 10,
            capture_bytes: 12 << 20,
            spread_bytes: 2 << 20,
            candidate_bytes: 1 << 20,
            program_headers: 4_096,
            dynamic_entries: 65_536,
            needed: 4_096,
            versions: 4_096,
            string_bytes: 4_096,
            names_bytes: 64 << 10,
            path_bytes: 64 << 10,
            sections: 1 << 17,
            gpu_sections: 1_024,
            data_sections: true,
            note_bytes: 1 << 20,
            compat_bytes: 64 << 10,
            containers: 100_000,
            entries: 200_000,
            rows: 4_096,
            members: 1_000_000,
            search_bytes: 2 << 30,
            problems: 8,
        }
    }
}
