//! Components that compile at run time, recognized by their packages or by what they compiled before.

use super::words::tool_name;
use super::{Certainty, Demand, Demands};
use crate::base::text::printable;
use crate::cuda::Package;
use crate::cuda::catalog::normalized_python_name;
use crate::findings::facts::Facts;
use crate::findings::value::User;
use crate::rootfs::Node;

impl Demands {
    /// Folders in which frameworks cache kernels they compiled: another GPU or version triggers the next compilation.
    pub(super) fn compiled_before(&mut self, facts: &Facts<'_>) {
        const KEPT: [&str; 3] = [".cache/torch_extensions", ".cache/flashinfer", ".cache/deep_gemm"];
        let homes = facts.paths.lookup(b"/home").map(|home| facts.node(home).children());
        let homes = homes.into_iter().flatten().map(Node::path);
        let folders = homes
            .chain([b"/root".to_vec()])
            .flat_map(|home| KEPT.map(|kept| [&home[..], b"/", kept.as_bytes()].concat()));
        let named = facts.variable("TORCH_EXTENSIONS_DIR").map(|folder| folder.as_bytes().to_vec());
        for folder in folders.chain(named) {
            let Some(node) = facts.paths.lookup(&folder).filter(|node| facts.node(*node).files() > 0) else {
                continue;
            };
            let demand = Demand {
                certainty: Certainty::Asked,
                who: facts.shown(node),
                user: User::File(node),
                why: "contains code that was compiled at run time".to_owned(),
                site: None,
                whole_toolkit: true,
            };
            for name in ["nvcc", "compiler", "ninja", "headers-torch"] {
                self.add(name, &demand);
            }
        }
    }

    /// Python compilers: they compile when a module is imported or a package is built.
    pub(super) fn compilers_of_python(&mut self, facts: &Facts<'_>) {
        const COMPILERS: [&str; 23] = [
            "aesara",
            "brian2",
            "casadi",
            "cmdstanpy",
            "cppimport",
            "cppyy",
            "cython",
            "devito",
            "fenics-ffcx",
            "httpstan",
            "jitcdde",
            "jitcode",
            "jitcsde",
            "pyccel",
            "pystan",
            "pytensor",
            "pythran",
            "stanio",
            "theano",
            "theano-pymc",
            "tinygrad",
            "tl2cgen",
            "transonic",
        ];
        for package in facts.inventory.packages.iter().filter(|package| package.manager == "pip") {
            if !COMPILERS.contains(&normalized_python_name(&package.name).as_str()) {
                continue;
            }
            let who = format!("{} {}", package.name, package.version);
            let root = package.root.clone().unwrap_or_default();
            let demand = Demand {
                certainty: Certainty::Asked,
                user: User::Package(who.clone(), root),
                who,
                why: "may compile extensions at run time".to_owned(),
                site: package.root.clone(),
                whole_toolkit: false,
            };
            self.add("compiler", &demand);
            self.add("libraries", &demand);
            self.add("make", &demand);
        }
    }

    /// System packages that depend on a compiler: it reads the headers of the system, links its libraries, and is often
    /// run by make.
    pub(super) fn compilers_of_packages(&mut self, facts: &Facts<'_>) {
        const COMPILERS: [&str; 7] =
            ["build-base", "build-essential", "clang", "g++", "gcc", "gcc-c++", "gfortran"];
        // They do nothing else than compile what a program contains, when it runs.
        const INLINE: [&str; 4] =
            ["libinline-c-perl", "libinline-cpp-perl", "ruby-inline", "ruby-rubyinline"];
        // What reads headers of a language is compiled when it is called: ruby-inline.
        let is_headers =
            |name: &str| name == "libperl-dev" || name.starts_with("ruby") && name.ends_with("-dev");
        let is_compiler = |name: &str| COMPILERS.contains(&tool_name(name)) || is_headers(name);
        for dependent in facts.dependents(facts.tools(is_compiler)) {
            let (who, user) = dependent.user();
            let is_inline = INLINE.contains(&dependent.package.name.as_str());
            let demand = Demand {
                certainty: if is_inline { Certainty::Known } else { Certainty::Asked },
                user,
                who,
                why: if is_inline {
                    "compiles C or C++ when a program calls it".to_owned()
                } else {
                    dependent.why()
                },
                site: None,
                whole_toolkit: true,
            };
            for name in ["compiler", "libraries", "make"] {
                self.add(name, &demand);
            }
        }
    }

    /// Readers of manuals, if somebody installed them by name.
    pub(super) fn readers_of_documentation(&mut self, facts: &Facts<'_>) {
        const READERS: [&str; 4] = ["info", "man-db", "mandoc", "pinfo"];
        let is_reader =
            |package: &&Package| READERS.contains(&package.name.as_str()) && package.automatic.is_none();
        for package in facts.inventory.packages.iter().filter(is_reader) {
            let who = format!("{} {}", package.name, package.version);
            let demand = Demand {
                certainty: Certainty::Asked,
                user: User::Package(who.clone(), package.root.clone().unwrap_or_default()),
                who,
                why: "shows manuals".to_owned(),
                site: None,
                whole_toolkit: true,
            };
            self.add("documentation", &demand);
        }
    }

    /// Packages of R that compile models or functions when a script calls them.
    pub(super) fn compilers_of_r(&mut self, facts: &Facts<'_>) {
        const LIBRARIES: [&[u8]; 5] = [
            b"/usr/local/lib/R/site-library",
            b"/usr/lib/R/site-library",
            b"/usr/lib/R/library",
            b"/usr/local/lib/R/library",
            b"/usr/lib64/R/library",
        ];
        const COMPILERS: [&[u8]; 10] = [
            b"Rcpp",
            b"RcppArmadillo",
            b"TMB",
            b"brms",
            b"cmdstanr",
            b"cpp11",
            b"inline",
            b"nimble",
            b"odin",
            b"rstan",
        ];
        let folders = LIBRARIES.iter().filter_map(|folder| facts.paths.lookup(folder));
        for folder in folders.flat_map(|folder| facts.node(folder).children()) {
            if !COMPILERS.contains(&folder.name()) || facts.paths.child(folder.id(), b"DESCRIPTION").is_none()
            {
                continue;
            }
            let demand = Demand {
                certainty: Certainty::Asked,
                who: format!("R package {}", printable(&String::from_utf8_lossy(folder.name()))),
                user: User::File(folder.id()),
                why: "compiles C++ at run time, for example with sourceCpp or a Stan model".to_owned(),
                site: None,
                whole_toolkit: true,
            };
            for name in ["compiler", "libraries", "make"] {
                self.add(name, &demand);
            }
        }
    }
}
