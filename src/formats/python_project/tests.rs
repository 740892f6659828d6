use super::{Project, Requirement};

fn names(list: &[Requirement]) -> Vec<&str> {
    list.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn requirements_have_a_name_extras_and_conditions() {
    let read = |text| Requirement::read(text).expect("a name");
    let plain = read("uvicorn[standard, more]>=0.30");
    assert_eq!(
        (plain.name.as_str(), plain.extras, plain.is_conditional),
        ("uvicorn", vec!["standard".to_owned(), "more".to_owned()], false)
    );
    let marked = read("tomli >=1 ; python_version < '3.11'");
    assert_eq!((marked.name.as_str(), marked.is_conditional, marked.only_with), ("tomli", true, vec![]));
    let extra = read("pysocks!=1.5.7,>=1.5.6; (extra == 'socks') and os_name == \"nt\" or extra == \"all\"");
    assert_eq!(
        (extra.name.as_str(), extra.only_with),
        ("pysocks", vec!["socks".to_owned(), "all".to_owned()])
    );
    assert_eq!(read("lxml; extra == 'extra'").only_with, ["extra"]);
    assert_eq!(read("lxml; 'socks' == extra and os_name == 'nt'").only_with, ["socks"]);
    assert_eq!(read("own @ https://example.org/own.whl").name, "own");
    assert_eq!(Requirement::read("; extra == 'a'"), None);
    assert_eq!(Requirement::read(""), None);
}

#[test]
fn groups_with_such_a_name_are_for_development() {
    let uv = br#"
[project]
name = "service"
dependencies = ["fastapi[standard]>=0.115", "numpy"]
[project.optional-dependencies]
gpu = ["torch"]
test = ["httpx"]
[dependency-groups]
dev = ["pytest>=8", {include-group = "lint"}]
lint = ["ruff"]
inference = ["onnxruntime"]
[tool.uv]
dev-dependencies = ["mypy"]
"#;
    let project = Project::read(uv).expect("a project");
    assert_eq!(names(&project.runtime), ["fastapi", "numpy", "torch", "onnxruntime"]);
    assert_eq!(names(&project.development), ["httpx", "pytest", "ruff", "mypy"]);
    let poetry = br#"
[tool.poetry.dependencies]
python = "^3.11"
gunicorn = "^23"
uvicorn = {version = "^0.30", extras = ["standard"]}
redis = {version = "^5", optional = true}
[tool.poetry.dev-dependencies]
black = "*"
[tool.poetry.group.Dev.dependencies]
pytest = "^8"
[tool.poetry.group.jobs.dependencies]
celery = "*"
"#;
    let project = Project::read(poetry).expect("a project");
    assert_eq!(names(&project.runtime), ["gunicorn", "redis", "uvicorn", "celery"]);
    assert_eq!(project.runtime[2].extras, ["standard"]);
    assert!(project.runtime[1].is_conditional && !project.runtime[0].is_conditional);
    assert_eq!(names(&project.development), ["black", "pytest"]);
    let pdm = b"[tool.pdm.dev-dependencies]\ntest = [\"pytest\"]\nodd = [\"tox\"]\n";
    assert_eq!(names(&Project::read(pdm).expect("a project").development), ["tox", "pytest"]);
}

#[test]
fn what_cannot_be_parsed_is_no_project() {
    for other in [&b"\xff"[..], b"[project", b"project = 1", b"[project]\ndependencies = 'a'"] {
        assert_eq!(Project::read(other), None);
    }
}
