/// Limits on the cost of one file. The program uses the default; tests lower single values.
#[derive(Clone, Debug)]
pub struct BinaryLimits {
    /// First bytes of a streamed ELF file that are stored: nearly all libraries have their dynamic strings there. Both
    /// readers report version needs only where a stream can store them.
    pub head_bytes: usize,
    /// The same for an archive member, of which only GPU code is needed.
    pub member_head_bytes: usize,
    /// Maximum bytes stored from after the head of one streamed ELF file: tables, notes, strings.
    pub capture_bytes: usize,
    /// Bytes after the head that the strings of one dynamic table may span, each at its maximum length; both readers
    /// omit the strings beyond. Less than `capture_bytes`, so that a stream can store them.
    pub spread_bytes: u64,
    /// Maximum bytes of candidate strings after the head: possible library names and search paths.
    pub candidate_bytes: usize,
    /// Program headers of one file. Linkers write about a dozen.
    pub program_headers: usize,
    /// Entries of the dynamic table. Linkers write some dozens, plus one per needed library.
    pub dynamic_entries: usize,
    /// Needed libraries of one file.
    pub needed: usize,
    /// Version needs of one file, names of files and of versions together.
    pub versions: usize,
    /// Bytes of a library name or the interpreter: the longest path that Linux accepts.
    pub string_bytes: usize,
    /// Bytes of all names of one file: its own, of needed libraries, of versions. Entries may share bytes of the file,
    /// so its size does not bound them. Real files have some KiB at most.
    pub names_bytes: usize,
    /// Bytes of a library search path.
    pub path_bytes: usize,
    /// Section headers of one file. Objects with one section per function have thousands; the observed maximum is
    /// 85,911, in `libnvJitLink_static.a` and `libnvrtc_static.a` of CUDA 13. Such a table fits into `capture_bytes`.
    pub sections: usize,
    /// Sections of one file that contain, or may contain, GPU code. Real files have some dozens.
    pub gpu_sections: usize,
    /// Whether to search all data of a program or library for containers. Archive members have them in dedicated
    /// sections, and each of a thousand objects has some data.
    pub data_sections: bool,
    /// Bytes of note segments of one file.
    pub note_bytes: usize,
    /// Bytes of the note that lists the drivers supported by a compatibility library.
    pub compat_bytes: usize,
    /// Containers of GPU code in one file (or archive member). The observed maximum is 443.
    pub containers: usize,
    /// Entries of those containers. The observed maximum is 5,868.
    pub entries: usize,
    /// Distinct (kind, architecture, compression) of one file. Real files have some dozens.
    pub rows: usize,
    /// Members of a static archive. The largest CUDA ones have some thousands.
    pub members: u64,
    /// Bytes searched for containers in range reads: holes of sparse files cost time too.
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
