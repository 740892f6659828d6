use super::super::places::PathScope;
use super::super::{Catalog, DevelPath};
use super::{PathRules, Walker};

/// The parts of a path that globs of a scope are compared with, found by splitting the path.
fn scoped(catalog: &Catalog, scope: PathScope, path: &str) -> Vec<String> {
    match scope {
        PathScope::System => vec![path.to_owned()],
        PathScope::Python => (0..path.len())
            .filter_map(|at| path.get(at..))
            .filter_map(|rest| {
                rest.strip_prefix("/site-packages/").or_else(|| rest.strip_prefix("/dist-packages/"))
            })
            .map(str::to_owned)
            .collect(),
        PathScope::Toolkit => {
            let Some((_, rest)) = catalog.toolkit_root(path.as_bytes()) else { return Vec::new() };
            let rest = String::from_utf8(rest.to_vec()).unwrap();
            if rest.is_empty() {
                return Vec::new();
            }
            let target = rest.strip_prefix("targets/").and_then(|below| below.split_once('/'));
            let below = target.map(|(_, below)| below.to_owned());
            let both: Vec<String> = [rest].into_iter().chain(below).collect();
            let plain =
                both.iter().filter_map(|rest| rest.strip_prefix("lib64/")).map(|b| format!("lib/{b}"));
            plain.chain(both.clone()).collect()
        }
    }
}

fn fits(catalog: &Catalog, scope: PathScope, globs: &[String], path: &str) -> bool {
    let texts = scoped(catalog, scope, path);
    globs.iter().any(|glob| {
        let name = glob.strip_prefix("**/").filter(|name| !name.contains('/') && !name.contains("**"));
        texts.iter().any(|text| matches(glob, text) || name.is_some_and(|name| matches(name, text)))
    })
}

/// Whether all of a text matches a glob, in which `*` matches no slash, and `**` any text.
fn matches(glob: &str, text: &str) -> bool {
    let pattern = regex::escape(glob).replace(r"\*\*", "(?s:.*)").replace(r"\*", "[^/]*");
    regex::Regex::new(&format!("^{pattern}$")).unwrap().is_match(text)
}

/// Reference implementation of the walker: compares glob by glob.
fn slow<'c>(catalog: &'c Catalog, path: &str) -> PathRules<'c> {
    let order = |rule: &&DevelPath| super::net::CATEGORIES.iter().position(|known| *known == rule.category);
    let scopes = [PathScope::Python, PathScope::Toolkit, PathScope::System];
    let document = &catalog.document;
    PathRules {
        devel: document
            .devel_paths
            .iter()
            .filter(|rule| {
                fits(catalog, rule.scope, &rule.patterns, path)
                    && !fits(catalog, rule.scope, &rule.except, path)
            })
            .min_by_key(order),
        tool: document.tool_folders.iter().any(|rule| fits(catalog, rule.scope, &rule.patterns, path)),
        class: scopes
            .iter()
            .flat_map(|scope| document.path_classes.iter().filter(move |rule| rule.scope == *scope))
            .find(|rule| fits(catalog, rule.scope, &rule.patterns, path))
            .map(|rule| rule.class.as_str()),
        toolkit: catalog.toolkit_root(path.as_bytes()).is_some(),
        framework: document
            .frameworks
            .iter()
            .find(|framework| fits(catalog, PathScope::System, &framework.files, path)),
    }
}

fn text(rules: PathRules<'_>) -> String {
    let framework = rules.framework.map(|framework| &framework.name);
    let (devel, PathRules { tool, class, toolkit, .. }) = (rules.devel.map(|rule| &rule.id), rules);
    format!("{devel:?} {tool} {class:?} {toolkit} {framework:?}")
}

/// Random paths from prefixes, middle parts and suffixes in the rules.
fn paths(count: usize) -> Vec<String> {
    const ROOTS: &str = "/usr/local/cuda /usr/local/cuda-13.0 /usr/local/cuda-x /opt/cuda /opt/cuda-12 \
        /opt/nvidia/hpc_sdk/Linux_x86_64/25.1/cuda/12.6 /opt/nvidia/hpc_sdk/a/cuda /usr/lib/nvidia-cuda-toolkit \
        /usr/lib/python3/dist-packages /v/lib/python3.12/site-packages /site-packages /opt/nvidia/nsight-compute /usr \
        /usr/include /usr/lib /usr/lib64 /usr/lib/x86_64-linux-gnu /usr/src/tensorrt /usr/lib/gcc/x86_64-linux-gnu/13 \
        /usr/libexec/gcc /usr/lib/llvm-18 /usr/share /app /opt/conda /opt/miniconda3 /etc/ld.so.conf.d /usr/local";
    const MIDDLES: &str = "lib lib64 targets/x86_64-linux targets targets/a/targets/b stubs bin include nvvm nvvm/lib64 \
        nvvm/libdevice nvvm/libnvvm-samples extras/CUPTI extras/CUPTI/lib64 extras/x cmake pkgconfig nvidia nvidia/cu13 \
        nvidia/cublas/lib triton/backends/nvidia torch torch/share site-packages dist-packages compat gds gds/samples \
        share doc tools nsight-compute-2025 nvidia_cutlass_dsl/a tensorrt_libs nvidia_x.dist-info ray/core/src";
    const ENDS: &str = "a libcuda.so libcudadevrt.a libcublas_static.a x.o x.la libgcc.a libcudnn8.a libcudnn.so.9 \
        libcupti.so.13 nvcc ptxas cuda.h cudnn_v9.h NvInfer.h stdio.h gcc-13 ld ld.gold cc1plus README.md cufile.json \
        nccl.pc cuda.pc libnvvm.so.4 lib lib64 targets stubs include cuda cuda-13.0 nvcc.profile .a a.a/b lib.a x.so \
        cuda-gdb-minimal nsys \u{e9}.a";
    let words = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
    let (roots, middles, ends) = (words(ROOTS), words(MIDDLES), words(ENDS));
    let mut seed = 7u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    let mut made = Vec::new();
    for _ in 0..count {
        let mut path = roots[random(roots.len())].to_owned();
        for _ in 0..random(4) {
            path = format!("{path}/{}", middles[random(middles.len())]);
        }
        if random(20) > 0 {
            path = format!("{path}/{}", ends[random(ends.len())]);
        }
        made.push(path);
    }
    made
}

fn by_folders<'c>(walker: &mut Walker<'c>, path: &str) -> PathRules<'c> {
    let (folders, name) = path[1..].rsplit_once('/').unwrap_or(("", &path[1..]));
    let mut at = walker.root();
    for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
        at = walker.below(at, folder.as_bytes());
    }
    walker.file(at, name.as_bytes())
}

#[test]
fn a_walk_says_what_the_globs_say() {
    let catalog = Catalog::builtin();
    let mut walker = catalog.walker();
    let mut found = 0;
    for path in paths(1500) {
        let expected = slow(catalog, &path);
        found += usize::from(expected.devel.is_some());
        assert_eq!(text(by_folders(&mut walker, &path)), text(expected), "{path}");
        assert_eq!(text(walker.path(path.as_bytes())), text(expected), "{path}");
        assert_eq!(text(catalog.path_rules(path.as_bytes())), text(expected), "{path}");
    }
    assert!(found > 300, "{found}");
}

#[test]
fn states_that_were_forgotten_are_found_again() {
    let catalog = Catalog::builtin();
    let (mut walker, mut small) = (catalog.walker(), catalog.walker_within(8 << 10));
    let all = paths(2000);
    // Folder states are cached across all walks, as for a tree with files in any order.
    let folders: Vec<_> = all
        .iter()
        .map(|path| {
            let root = small.root();
            path[1..].split('/').fold(root, |at, part| small.below(at, part.as_bytes()))
        })
        .collect();
    for (path, folder) in all.iter().zip(&folders).rev() {
        let expected = text(walker.path(format!("{path}/libx.a").as_bytes()));
        assert_eq!(text(small.file(*folder, b"libx.a")), expected, "{path}");
    }
    assert!(small.age > 100, "{}", small.age);
    assert_eq!(walker.age, 0);
    // The same folder has the same state in every lookup.
    let root = walker.root();
    let (one, two) = (walker.below(root, b"app"), walker.below(root, b"data"));
    assert_eq!((one, walker.below(one, b"x")), (two, two));
}

#[test]
fn the_category_that_the_report_takes_first_counts() {
    let text = "[[devel_path]]\nid = \"late\"\nscope = \"system\"\ncategory = \"build-tools\"\n\
        patterns = [\"/x/**\"]\nsource = \"ours\"\n\n\
        [[devel_path]]\nid = \"own\"\nscope = \"system\"\ncategory = \"ours\"\npatterns = [\"/**\"]\nsource = \"ours\"\n\n\
        [[devel_path]]\nid = \"first\"\nscope = \"system\"\ncategory = \"stubs\"\npatterns = [\"/x/*.s\"]\n\
        except = [\"**/no.s\"]\nsource = \"ours\"\n";
    let catalog = Catalog::with_user_files(&[("ours.toml", text)]).unwrap();
    let of = |path: &str| catalog.is_devel_path(path.as_bytes()).map(|rule| rule.id.as_str());
    assert_eq!(of("/x/a.s"), Some("first"));
    assert_eq!(of("/x/no.s"), Some("late"));
    assert_eq!(of("/y/a.s"), Some("own"));
    assert_eq!(Catalog::default().is_devel_path(b"/usr/include/a.h").map(|rule| &rule.id), None);
}

#[test]
fn globs_without_end_are_an_error() {
    // Each glob has its own prefix, so that no nodes are shared.
    let globs: Vec<String> = (0..600).map(|at| format!("\"/{at:03}{}\"", "*?".repeat(500))).collect();
    let text = format!(
        "[[tool_folder]]\nscope = \"system\"\npatterns = [{}]\nsource = \"ours\"\n",
        globs.join(", ")
    );
    let error = Catalog::with_user_files(&[("ours.toml", &text)]).unwrap_err();
    assert!(error.to_string().contains("262144"), "{error}");
}
