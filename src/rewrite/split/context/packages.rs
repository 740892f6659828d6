//! What packages are for.

use hashbrown::HashSet;

use super::SplitContext;
use crate::cuda::Inode;

impl SplitContext<'_> {
    /// Whether a large part of a package looks like build content and stays: then it is installed for that part.
    pub(in crate::rewrite::split) fn is_built_for(&self, package: usize) -> bool {
        self.built_for.contains(&package)
    }

    /// Whether a package that nobody asked for exists for those on which it depends, and has only data itself, such as
    /// the list of build-essential.
    pub(super) fn only_pulls_in(&self, package: usize) -> bool {
        let mut files = self.files_of.get(&package).into_iter().flatten();
        let is_automatic = self.input.inventory.packages[package].automatic.is_some();
        is_automatic
            && !self.depends(package).is_empty()
            && files.all(|node| self.rootfs.node(*node).path().starts_with(b"/usr/share/"))
    }

    /// Whether the base image brings a package for building against a library, as `buildpack-deps` does, which no
    /// instruction asks for: who compiles at run time needs the C library and Python.
    pub(super) fn is_for_others(&self, package: usize) -> bool {
        const OF_LANGUAGES: [&str; 14] = [
            "erlang-",
            "libblas-dev",
            "liblapack-dev",
            "libgfortran-",
            "libperl-",
            "libruby",
            "libc6-dev",
            "libc-dev",
            "libcrypt-dev",
            "libgcc-",
            "libpython",
            "libstdc++-",
            "linux-libc-dev",
            "python",
        ];
        const FOR_LIBRARIES: [&str; 4] = ["-arch-config", "-dev", "-headers", "-multidev"];
        let package = &self.input.inventory.packages[package];
        let name = package.name.as_str();
        let is_asked = || self.texts.values().any(|text| text.contains(name));
        package.layer < self.base_layers
            && (FOR_LIBRARIES.iter().any(|end| name.ends_with(end)) || self.is_unnamed_tool(name))
            && !is_asked()
            && !OF_LANGUAGES.iter().any(|known| name.starts_with(known))
    }

    /// Whether a package has tools that prepare a build, and no file of the application names one of them.
    fn is_unnamed_tool(&self, package: &str) -> bool {
        const TOOLS: [(&str, &[&str]); 7] = [
            (
                "autoconf",
                &["autoconf", "autoheader", "autom4te", "autoreconf", "autoscan", "autoupdate", "ifnames"],
            ),
            ("automake", &["aclocal", "automake"]),
            ("libtool", &["libtool", "libtoolize"]),
            ("m4", &["m4"]),
            ("pkg-config", &["pkg-config"]),
            ("pkgconf", &["pkg-config", "pkgconf"]),
            ("pkgconf-bin", &["pkg-config", "pkgconf"]),
        ];
        let Some((_, words)) = TOOLS.iter().find(|(known, _)| *known == package) else { return false };
        let mentions = self.input.inventory.mentions.iter().filter(|mention| !mention.of_package);
        !mentions.flat_map(|mention| &mention.words).any(|word| words.contains(word))
    }

    /// Whether a toolkit package has only headers and libraries for other purposes than compiling kernels: run-time
    /// compilation reads the runtime headers.
    pub(super) fn is_aside(&self, package: usize) -> bool {
        const OF_KERNELS: [&str; 5] = ["cudart", "crt", "cccl", "nvrtc", "nvcc"];
        let name = &self.input.inventory.packages[package].name;
        let is_dev =
            name.contains("-dev-") || name.contains("-devel-") || name.starts_with("cuda-profiler-api");
        is_dev && self.is_cuda(package) && !OF_KERNELS.iter().any(|known| name.contains(known))
    }

    /// Bytes of a package that are in a set, and all of its bytes.
    pub(in crate::rewrite::split) fn share(&self, package: usize, set: &HashSet<Inode>) -> (u64, u64) {
        let mut sums = (0, 0);
        for node in self.files_of.get(&package).into_iter().flatten() {
            let node = self.rootfs.node(*node);
            let Some(inode) = node.content() else { continue };
            sums.1 += node.bytes();
            if set.contains(&inode) {
                sums.0 += node.bytes();
            }
        }
        sums
    }
}
