//! Packages that only removed packages need: what apt, dnf and apk would take with build tools, on databases that
//! are written by code. Every image has `cmake`, which needs the library `libxml2`, which needs `libicu72`.

use std::collections::BTreeMap;

use cutaway::analysis::{Options, analyze};
use cutaway::findings::{Finding, Plan, Verdict};
use cutaway::jobs::{CancelToken, Progress};
use cutaway::source::Reference;
use serde_json::{Value, json};

use crate::fixtures::elf::Elf;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::{apk_installed, dpkg_list, dpkg_status};
use crate::fixtures::packing::Packing;
use crate::fixtures::rpm;
use crate::fixtures::service::wheel;
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::{Place, Report};

const TRIPLE: &str = "usr/lib/x86_64-linux-gnu";
const ICU: &str = "/usr/lib/x86_64-linux-gnu/libicuuc.so.72";
const XML: &str = "/usr/lib/x86_64-linux-gnu/libxml2.so.2";

/// A package with its files: name, fields of dpkg, whether it was installed as a dependency, files.
struct Deb {
    name: &'static str,
    fields: Vec<(&'static str, &'static str)>,
    automatic: bool,
    files: Vec<Member>,
}

fn deb(name: &'static str, depends: &'static str, automatic: bool, files: Vec<Member>) -> Deb {
    let fields = if depends.is_empty() { vec![] } else { vec![("Depends", depends)] };
    Deb { name, fields, automatic, files }
}

impl Deb {
    fn with(mut self, field: &'static str, value: &'static str) -> Self {
        self.fields.push((field, value));
        self
    }
}

fn library(name: &str, needed: &[&str]) -> Member {
    file(format!("{TRIPLE}/{name}"), Elf::library(name).needing(needed).build())
}

fn program(path: &str, needed: &[&str]) -> Member {
    file(path, Elf::program(path).needing(needed).build()).mode(0o755)
}

fn path(member: &Member) -> String {
    format!("/{}", String::from_utf8_lossy(&member.name))
}

/// The loader and the C library, installed by name.
fn libc() -> Deb {
    let loader = file("lib64/ld-linux-x86-64.so.2", Elf::library("ld-linux-x86-64.so.2").build());
    deb("libc6", "", false, vec![loader, library("libc.so.6", &[])])
}

/// `cmake` by name, and what it brings.
fn cmake() -> Vec<Deb> {
    vec![
        libc(),
        deb(
            "cmake",
            "libc6 (>= 2.34), libxml2 (>= 2.9)",
            false,
            vec![program("usr/bin/cmake", &["libxml2.so.2"])],
        ),
        deb(
            "libxml2",
            "libc6, libicu72 (>= 72.1~rc-1~)",
            true,
            vec![library("libxml2.so.2", &["libicuuc.so.72"])],
        ),
        deb("libicu72", "libc6", true, vec![library("libicuuc.so.72", &[])]),
    ]
}

/// The files of packages with the databases of dpkg and apt.
fn installed(packages: &[Deb]) -> Vec<Member> {
    let mut members = database(packages);
    let automatic = packages.iter().filter(|package| package.automatic);
    let states = automatic.fold(String::new(), |states, package| {
        states + &format!("Package: {}\nArchitecture: amd64\nAuto-Installed: 1\n\n", package.name)
    });
    members.push(file("var/lib/apt/extended_states", states));
    members
}

/// The same without apt's record.
fn database(packages: &[Deb]) -> Vec<Member> {
    let mut members: Vec<Member> = packages.iter().flat_map(|package| package.files.clone()).collect();
    let status: Vec<u8> =
        packages.iter().flat_map(|package| dpkg_status(package.name, "1.0-1", 1, &package.fields)).collect();
    members.push(file("var/lib/dpkg/status", status));
    for package in packages {
        let paths: Vec<String> = package.files.iter().map(path).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        members.push(file(format!("var/lib/dpkg/info/{}.list", package.name), dpkg_list(&paths)));
    }
    members
}

/// The report of an image of these packages below the application's own files.
fn judged(system: Vec<Member>, application: Vec<Member>, command: &[&str]) -> Report {
    let mut image = Image::of(Packing::Gzip, [tar(system), tar(application)]);
    image.config = json!({"Cmd": command});
    let place = Place::new();
    place.report(&format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t"))))
}

fn service(needed: &[&str]) -> Vec<Member> {
    vec![program("srv/service", needed)]
}

fn run(packages: &[Deb], application: Vec<Member>) -> Report {
    judged(installed(packages), application, &["/srv/service"])
}

fn found(report: &Report) -> Vec<&Value> {
    let findings = report.json["findings"].as_array().unwrap();
    findings.iter().filter(|one| one["rule"] == "orphaned-packages").collect()
}

/// The verdict of the rule on a file, or `-`.
fn verdict<'r>(report: &'r Report, path: &str) -> &'r str {
    let has = |one: &&&Value| one["paths"].as_array().unwrap().iter().any(|known| known == path);
    let found = found(report);
    let one = found.iter().find(has);
    one.map_or("-", |one| one["verdict"].as_str().unwrap())
}

fn all(report: &Report, expected: &[(&str, &str)]) {
    for (path, wanted) in expected {
        assert_eq!(verdict(report, path), *wanted, "{path}: {:#?}", found(report));
    }
}

#[test]
fn libraries_that_only_removed_packages_need_are_safe_with_their_chain() {
    let report = run(&cmake(), service(&[]));
    all(&report, &[(ICU, "safe"), (XML, "safe"), ("/usr/lib/x86_64-linux-gnu/libc.so.6", "-")]);
    let found = found(&report);
    let [one] = found[..] else { panic!("{found:#?}") };
    assert_eq!((&one["category"], &one["files"]), (&json!("build-tools"), &json!(2)));
    let proof: Vec<&str> = one["proof"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(proof.iter().any(|one| one.starts_with("libicu72 ← libxml2 ← cmake (removed)")), "{proof:#?}");
    assert!(
        proof
            .iter()
            .any(|one| one.contains("/var/lib/apt/extended_states") && one.contains("Auto-Installed: 1")),
        "{proof:#?}"
    );
    assert!(
        one["reason"].as_str().unwrap().contains("Applies only together with build-tools:safe."),
        "{one:#}"
    );
    assert!(one["fix"].as_str().unwrap().contains("apt-get purge -y --auto-remove cmake"), "{one:#}");
}

#[test]
fn a_package_stays_that_something_else_needs() {
    let with = |more: Deb| {
        let mut packages = cmake();
        packages.push(more);
        run(&packages, service(&[]))
    };
    let tool = || vec![file("usr/share/tool/data", "data")];
    for (name, report) in [
        ("depends", with(deb("tool", "libc6, libxml2", false, tool()))),
        ("pre-depends", with(deb("tool", "", false, tool()).with("Pre-Depends", "libxml2"))),
        ("recommends", with(deb("tool", "", false, tool()).with("Recommends", "libxml2"))),
        ("suggests", with(deb("tool", "", false, tool()).with("Suggests", "libxml2"))),
        ("an alternative", with(deb("tool", "other (>= 2) | libxml2", false, tool()))),
    ] {
        assert_eq!((verdict(&report, XML), verdict(&report, ICU)), ("-", "-"), "{name}");
    }
    let mut packages = cmake();
    packages[2].fields.push(("Provides", "xml-parser (= 1.0)"));
    packages.push(deb("tool", "xml-parser", false, tool()));
    all(&run(&packages, service(&[])), &[(XML, "-"), (ICU, "-")]);
    // One that is not needed itself keeps nothing.
    let mut packages = cmake();
    packages.push(deb("tool", "libxml2", true, vec![library("libtool1.so.1", &[])]));
    all(&run(&packages, service(&[])), &[(XML, "safe"), (ICU, "safe")]);
}

#[test]
fn settings_of_apt_decide_on_suggestions() {
    let mut packages = cmake();
    packages.push(deb("tool", "", false, vec![]).with("Suggests", "libicu72"));
    let mut members = installed(&packages);
    members.push(file(
        "etc/apt/apt.conf.d/docker-autoremove-suggests",
        "# a remark\nApt::AutoRemove::SuggestsImportant \"false\";\n",
    ));
    let report = judged(members, service(&[]), &["/srv/service"]);
    // Whoever suggests it may use it all the same.
    all(&report, &[(XML, "safe"), (ICU, "unsure")]);
}

#[test]
fn a_package_stays_that_was_installed_by_name_or_is_essential() {
    let mut packages = cmake();
    packages[2].automatic = false;
    all(&run(&packages, service(&[])), &[(XML, "-"), (ICU, "-")]);
    for (field, value) in [("Essential", "yes"), ("Protected", "yes"), ("Priority", "important")] {
        let mut packages = cmake();
        packages[3].fields.push((field, value));
        all(&run(&packages, service(&[])), &[(XML, "safe"), (ICU, "-")]);
    }
    // Without a record of apt all were installed by name.
    all(&judged(database(&cmake()), service(&[]), &["/srv/service"]), &[(XML, "-"), (ICU, "-")]);
}

#[test]
fn a_package_stays_that_the_application_uses_without_saying_so() {
    let stays = |application: Vec<Member>| {
        let report = run(&cmake(), application);
        assert_eq!(verdict(&report, ICU), "-", "{:#?}", found(&report));
    };
    // By its links.
    stays(service(&["libicuuc.so.72"]));
    let plugin =
        file("opt/plugins/engine.so", Elf::library("engine.so").needing(&["libicuuc.so.72"]).build());
    stays([service(&[]), vec![plugin]].concat());
    // By a name in a program, wherever it lies.
    let mut names = Elf::program("names");
    names.sections.push((".rodata.names".into(), b"\0libicuuc.so.%s\0".to_vec()));
    stays(vec![file("srv/service", names.build()).mode(0o755)]);
    stays([service(&[]), vec![file("usr/share/dotnet/host", names.build()).mode(0o755)]].concat());
    // By a name in a script.
    let script = file("srv/load.py", "import ctypes\nctypes.CDLL('libicuuc.so.72')\n");
    stays([service(&[]), vec![script]].concat());
    // By a link.
    stays([service(&[]), vec![symlink("opt/app/lib/libicuuc.so", ICU)]].concat());
}

/// A development package, installed by name, with the library that it is for.
fn portaudio(automatic: bool) -> Vec<Deb> {
    let header = file("usr/include/portaudio.h", "/* x */\n");
    vec![
        libc(),
        deb("portaudio19-dev", "libportaudio2, libjack0", automatic, vec![header]),
        deb("libportaudio2", "libc6, libjack0", true, vec![library("libportaudio.so.2", &["libjack.so.0"])]),
        deb("libjack0", "libc6", true, vec![library("libjack.so.0", &[])]),
    ]
}

#[test]
fn libraries_of_named_development_packages_are_a_question_where_an_interpreter_stays() {
    let library = "/usr/lib/x86_64-linux-gnu/libportaudio.so.2";
    let needed = "/usr/lib/x86_64-linux-gnu/libjack.so.0";
    let python = || vec![program("usr/local/bin/python3.12", &[]), program("srv/service", &[])];
    let report = run(&portaudio(false), python());
    all(&report, &[(library, "unsure"), (needed, "unsure")]);
    let asked = found(&report).iter().any(|one| one["question"].as_str().unwrap().contains("libportaudio2"));
    assert!(asked, "{:#?}", found(&report));
    // Nothing but programs, whose strings were searched.
    all(&run(&portaudio(false), service(&[])), &[(library, "safe"), (needed, "safe")]);
    // What tools brought is no library of the application.
    all(&run(&cmake(), python()), &[(XML, "safe"), (ICU, "safe")]);
}

#[test]
fn sources_of_python_packages_are_searched_for_libraries() {
    let site = "usr/local/lib/python3.12/site-packages";
    let source = b"ffi.dlopen('libicuuc.so.72')\n".to_vec();
    let mut application = wheel(site, "weasyprint", "62.0", &[("weasyprint/ffi.py", source)]);
    application.extend(service(&[]));
    let report = run(&cmake(), application);
    all(&report, &[(ICU, "-")]);
}

/// `git`, which needs Perl, and a tool with a program.
fn git() -> Vec<Deb> {
    let json = file("usr/share/perl/5.36/JSON/PP.pm", "package JSON::PP;\n1;\n");
    let prove = file("usr/bin/prove", "#!/usr/bin/perl\nprint 1;\n").mode(0o755);
    vec![
        libc(),
        deb("perl-base", "", false, vec![program("usr/bin/perl", &[])]).with("Essential", "yes"),
        deb(
            "git",
            "perl, xz-utils, certificates, libz9",
            false,
            vec![program("usr/bin/git", &["libz9.so.9"])],
        ),
        deb("perl", "perl-base, perl-modules, libgdbm6", true, vec![prove]),
        deb("perl-modules", "perl-base", true, vec![json]).with("Source", "perl"),
        deb("libgdbm6", "libc6", true, vec![library("libgdbm.so.6", &[])]),
        deb("xz-utils", "libc6, libz9", true, vec![program("usr/bin/xz", &["libz9.so.9"])]),
        deb("certificates", "", true, vec![file("etc/certificates/all.pem", "x")]),
        deb("libz9", "libz9-common", true, vec![library("libz9.so.9", &[])]),
        deb("libz9-common", "", true, vec![file("usr/share/z9/table", "x")]).with("Source", "libz9 (1.0)"),
    ]
}

#[test]
fn what_may_be_used_without_a_trace_is_a_question() {
    let report = run(&git(), service(&[]));
    for path in
        ["/usr/bin/prove", "/usr/share/perl/5.36/JSON/PP.pm", "/usr/bin/xz", "/etc/certificates/all.pem"]
    {
        assert_eq!(verdict(&report, path), "unsure", "{path}: {:#?}", found(&report));
    }
    // What only they need goes when they do.
    all(
        &report,
        &[
            ("/usr/lib/x86_64-linux-gnu/libgdbm.so.6", "unsure"),
            ("/usr/lib/x86_64-linux-gnu/libz9.so.9", "unsure"),
            ("/usr/share/z9/table", "unsure"),
            ("/usr/bin/perl", "-"),
        ],
    );
    for one in found(&report) {
        let question = one["question"].as_str().unwrap();
        assert!(question.starts_with("Does ") && question.ends_with('?'), "{question}");
    }
    let asked =
        |name: &str| found(&report).iter().any(|one| one["question"].as_str().unwrap().contains(name));
    assert!(asked("run one of these programs: xz?") && asked("read files of certificates?"));
}

#[test]
fn interpreters_and_commands_keep_their_packages() {
    let script =
        |line: &str| vec![program("srv/service", &[]), file("srv/run", format!("{line}\n")).mode(0o755)];
    all(
        &run(&git(), script("#!/usr/bin/env -S xz -d")),
        &[("/usr/bin/xz", "-"), ("/etc/certificates/all.pem", "unsure")],
    );
    all(
        &run(&git(), script("#!/usr/bin/prove --quiet")),
        &[("/usr/bin/prove", "-"), ("/usr/share/perl/5.36/JSON/PP.pm", "-")],
    );
    let command = |command: &[&str]| judged(installed(&git()), service(&[]), command);
    all(
        &command(&["sh", "-c", "xz -d /data && /srv/service"]),
        &[("/usr/bin/xz", "-"), ("/usr/bin/prove", "unsure")],
    );
}

#[test]
fn apk_tells_by_what_the_user_asked_for() {
    let xml = "so:libc.musl-x86_64.so.1 so:libicuuc.so.72";
    let with = |world: &str, more: Vec<u8>| {
        let musl = file("lib/ld-musl-x86_64.so.1", Elf::library("libc.musl-x86_64.so.1").build());
        let usr = |name: &str, needed: &[&str]| {
            file(format!("usr/lib/{name}"), Elf::library(name).needing(needed).build())
        };
        let provides = |stanza: Vec<u8>, names: &str| {
            let text = String::from_utf8(stanza).unwrap();
            text.replacen("\nD:", &format!("\np:{names}\nD:"), 1).into_bytes()
        };
        let installed = [
            provides(
                apk_installed("musl", "1.2", 1, "", &["/lib/ld-musl-x86_64.so.1"]),
                "so:libc.musl-x86_64.so.1=1",
            ),
            apk_installed("cmake", "3.2", 1, "so:libxml2.so.2 so:libc.musl-x86_64.so.1", &["/usr/bin/cmake"]),
            provides(
                apk_installed("libxml2", "2.9", 1, xml, &["/usr/lib/libxml2.so.2"]),
                "so:libxml2.so.2=2.9",
            ),
            provides(
                apk_installed("icu-libs", "72", 1, "", &["/usr/lib/libicuuc.so.72"]),
                "so:libicuuc.so.72=72.1",
            ),
            more,
        ]
        .concat();
        let members = vec![
            musl,
            program("usr/bin/cmake", &["libxml2.so.2"]),
            usr("libxml2.so.2", &["libicuuc.so.72"]),
            usr("libicuuc.so.72", &[]),
            file("lib/apk/db/installed", installed),
            file("etc/apk/world", world),
        ];
        judged(members, service(&[]), &["/srv/service"])
    };
    let (xml, icu) = ("/usr/lib/libxml2.so.2", "/usr/lib/libicuuc.so.72");
    let report = with("cmake\nmusl\n", Vec::new());
    all(&report, &[(xml, "safe"), (icu, "safe"), ("/lib/ld-musl-x86_64.so.1", "-")]);
    assert!(found(&report)[0]["fix"].as_str().unwrap().contains("apk del cmake"));
    all(&with("cmake\nmusl\nicu-libs>72\n", Vec::new()), &[(xml, "safe"), (icu, "-")]);
    // A virtual package keeps what it was made for, but for the build tools themselves.
    let virtual_package = apk_installed(".build-deps", "2026", 0, "cmake", &[]);
    all(&with("musl\n.build-deps\n", virtual_package), &[(xml, "safe"), (icu, "safe")]);
    let virtual_package = apk_installed(".build-deps", "2026", 0, "cmake libxml2", &[]);
    all(&with("musl\n.build-deps\n", virtual_package), &[(xml, "-"), (icu, "-")]);
}

/// The same system in the database of rpm, with one more file.
fn rpm_system(record: Member) -> Report {
    let package = |name: &str, requires: &[&str], files: &[&str]| {
        let mut package = rpm::Package::new(name, "1", "1").with_files(files);
        package.requires = requires.iter().map(|name| (*name).to_owned()).collect();
        package
    };
    let (xml, icu) = ("/usr/lib64/libxml2.so.2", "/usr/lib64/libicuuc.so.72");
    let headers = [
        package("glibc", &[], &["/lib64/ld-linux-x86-64.so.2", "/usr/lib64/libc.so.6"]),
        package("cmake", &["libxml2", "glibc"], &["/usr/bin/cmake"]),
        package("libxml2", &["(icu if glibc)", "rpmlib(x)"], &[xml]),
        package("icu", &["/usr/lib64/libc.so.6"], &[icu]),
    ]
    .map(|package| package.header());
    let library = |path: &str, needed: &[&str]| {
        let name = path.rsplit('/').next().unwrap();
        file(path.trim_start_matches('/'), Elf::library(name).needing(needed).build())
    };
    let members = vec![
        library("/lib64/ld-linux-x86-64.so.2", &[]),
        library("/usr/lib64/libc.so.6", &[]),
        program("usr/bin/cmake", &["libxml2.so.2"]),
        library(xml, &["libicuuc.so.72"]),
        library(icu, &[]),
        file("var/lib/rpm/rpmdb.sqlite", rpm::sqlite(&headers, false).unwrap()),
        record,
    ];
    judged(members, service(&[]), &["/srv/service"])
}

#[test]
fn dnf_tells_why_packages_of_rpm_are_installed() {
    let (xml, icu) = ("/usr/lib64/libxml2.so.2", "/usr/lib64/libicuuc.so.72");
    let state = |icu: &str| {
        let text = format!(
            "version = \"1.0\"\n[packages]\n\"glibc.x86_64\" = {{reason=\"Dependency\"}}\n\
             \"cmake.x86_64\" = {{reason=\"User\"}}\n\"libxml2.x86_64\" = {{reason=\"Dependency\"}}\n\
             \"icu.x86_64\" = {{reason=\"{icu}\"}}\n"
        );
        rpm_system(file("usr/lib/sysimage/libdnf5/packages.toml", text))
    };
    let report = state("Weak Dependency");
    // The service needs the C library, whatever dnf says of it.
    all(&report, &[(xml, "safe"), (icu, "safe"), ("/usr/lib64/libc.so.6", "-")]);
    assert!(found(&report)[0]["fix"].as_str().unwrap().contains("dnf remove -y cmake"));
    all(&state("External User"), &[(xml, "safe"), (icu, "-")]);
    let history = |rows: &str| {
        let schema = format!(
            "CREATE TABLE rpm (item_id INTEGER UNIQUE NOT NULL, name TEXT NOT NULL, epoch INTEGER NOT NULL, \
             version TEXT NOT NULL, release TEXT NOT NULL, arch TEXT NOT NULL); \
             CREATE TABLE trans_item (id INTEGER PRIMARY KEY AUTOINCREMENT, trans_id INTEGER, item_id INTEGER, \
             repo_id INTEGER, action INTEGER NOT NULL, reason INTEGER NOT NULL, state INTEGER NOT NULL); \
             CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB); \
             INSERT INTO rpm VALUES (1, 'cmake', 0, '1', '1', 'x86_64'), (2, 'libxml2', 0, '1', '1', 'x86_64'), \
             (3, 'icu', 0, '1', '1', 'x86_64'); \
             INSERT INTO trans_item (item_id, action, reason, state, trans_id) VALUES {rows};"
        );
        rpm_system(file("var/lib/dnf/history.sqlite", rpm::sqlite_of(&schema, &[], false).unwrap()))
    };
    all(&history("(1, 1, 2, 1, 1), (2, 1, 1, 1, 1), (3, 1, 4, 1, 1)"), &[(xml, "safe"), (icu, "safe")]);
    // The last transaction counts.
    all(
        &history("(1, 1, 2, 1, 1), (2, 1, 1, 1, 1), (3, 1, 1, 1, 1), (3, 10, 2, 1, 2)"),
        &[(xml, "safe"), (icu, "-")],
    );
    all(&rpm_system(file("etc/nothing", "x")), &[(xml, "-"), (icu, "-")]);
}

#[test]
fn a_plan_without_the_build_tools_keeps_what_they_need() {
    let mut image = Image::of(Packing::Gzip, [tar(installed(&cmake())), tar(service(&[]))]);
    image.config = json!({"Cmd": ["/srv/service"]});
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    let reference = Reference::parse(&reference).unwrap();
    let analysis =
        analyze(&reference, &Options::default(), &CancelToken::new(), &Progress::default(), &|_| {}).unwrap();
    let findings = analysis.findings.as_deref().unwrap();
    let plan = Plan::of_safe(findings);
    assert!(plan.contains("orphaned-packages:safe") && plan.contains("build-tools:safe"));
    let all = analysis.predict(&plan).unwrap().merged_bytes;
    let without = |left_out: &[&str]| {
        let chosen = |one: &Finding| one.verdict == Verdict::Safe && !left_out.contains(&one.id.as_str());
        Plan::of(findings, chosen, BTreeMap::new().into())
    };
    let plan = without(&["build-tools:safe"]);
    assert!(!plan.contains("orphaned-packages:safe"));
    let kept = analysis.predict(&plan).unwrap().merged_bytes;
    assert!(all < kept);
    let both = without(&["build-tools:safe", "orphaned-packages:safe"]);
    assert_eq!(analysis.predict(&both).unwrap().merged_bytes, kept);
}
