use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

use super::{Holds, Host, LONGEST, Requirement, is_true};

const NVIDIA_12_4: &str = "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470,driver<471 brand=nvidia,driver>=470,driver<471 brand=geforce,driver>=470,driver<471 brand=tesla,driver>=525,driver<526 brand=nvidia,driver>=525,driver<526 brand=geforce,driver>=525,driver<526";

fn holds(value: &str, host: &Host<'_>) -> Holds {
    Requirement::parse(value).holds(host)
}

#[test]
fn requirements_are_read_as_the_container_toolkit_reads_them() {
    let host = Host {
        cuda: Some((12, 2)),
        driver: Some(&[535, 104, 5]),
        sm: 86,
        brand: Some("nvidia"),
        ..Host::default()
    };
    for (value, wanted) in [
        ("", Holds::Yes),
        ("  ", Holds::Yes),
        (",", Holds::Yes),
        ("cuda>=12.2", Holds::Yes),
        ("CUDA>=12.2", Holds::Yes),
        ("cuda>=12", Holds::Yes),
        ("cuda>=12.2.0", Holds::Yes),
        ("cuda>=12.2.1", Holds::No),
        ("cuda>=12.3", Holds::No),
        ("cuda<12.10", Holds::Yes),
        ("cuda=12.2", Holds::Yes),
        ("cuda!=12.2", Holds::No),
        ("cuda>=13 driver>=535", Holds::Yes),
        ("cuda>=13 driver>=535,driver<536", Holds::Yes),
        ("driver>=535.104.05", Holds::Yes),
        ("driver>535.104.5", Holds::No),
        ("driver<=535.104.5,arch>=8.6,brand=NVIDIA", Holds::Yes),
        ("brand!=nvidia", Holds::No),
        ("arch=8.6", Holds::Yes),
        ("arch<8.6", Holds::No),
        (NVIDIA_12_4, Holds::No),
        // Syntax errors and unknown names.
        ("cuda", Holds::Unknown),
        ("cuda>=", Holds::Unknown),
        ("cuda=>12", Holds::Unknown),
        ("cuda==12", Holds::Unknown),
        ("cuda>=v12", Holds::Unknown),
        ("cuda>=99999999999999999999", Holds::Unknown),
        ("cuda >= 12.2", Holds::Unknown),
        (">=12.2", Holds::Unknown),
        ("brand>=tesla", Holds::Unknown),
        ("memory>=16", Holds::Unknown),
        // Certain results are unaffected by unknown terms.
        ("memory>=16 cuda>=12.2", Holds::Yes),
        ("memory>=16,cuda>=13", Holds::No),
    ] {
        assert_eq!(holds(value, &host), wanted, "{value:?}");
    }
}

#[test]
fn a_branch_stands_for_any_driver_of_it() {
    let host = Host { driver: Some(&[550]), sm: 80, ..Host::default() };
    for (value, wanted) in [
        ("driver<551", Holds::Yes),
        ("driver>=550", Holds::Yes),
        ("driver>550", Holds::Yes),
        ("driver=550", Holds::No),
        ("driver<=550.0", Holds::No),
        ("driver>=550.90", Holds::Unknown),
        ("driver<550.90", Holds::Unknown),
        ("driver>=551", Holds::No),
        ("driver>=535.104", Holds::Yes),
        ("cuda>=12", Holds::Unknown),
        ("brand=tesla", Holds::Unknown),
        ("brand=tesla,driver<550", Holds::No),
    ] {
        assert_eq!(holds(value, &host), wanted, "{value}");
    }
}

#[test]
fn a_cuda_version_that_is_the_least_decides_only_what_it_can() {
    let host = Host { cuda: Some((13, 4)), cuda_or_later: true, sm: 90, ..Host::default() };
    for (value, wanted) in [
        ("cuda>=13.4", Holds::Yes),
        ("cuda>=12.0", Holds::Yes),
        ("cuda<13.4", Holds::No),
        ("cuda>=13.5", Holds::Unknown),
        ("cuda<14", Holds::Unknown),
        ("cuda=13.4", Holds::Unknown),
    ] {
        assert_eq!(holds(value, &host), wanted, "{value}");
    }
}

#[test]
fn windows_of_drivers_let_older_ones_pass() {
    let with = |driver: &[u32], cuda, brand| {
        holds(
            NVIDIA_12_4,
            &Host { cuda: Some(cuda), driver: Some(driver), sm: 80, brand: Some(brand), ..Host::default() },
        )
    };
    assert_eq!(with(&[525, 60, 13], (12, 0), "tesla"), Holds::Yes);
    assert_eq!(with(&[525, 60, 13], (12, 0), "titan"), Holds::No);
    assert_eq!(with(&[530, 30, 2], (12, 1), "tesla"), Holds::No);
    assert_eq!(with(&[550, 54, 14], (12, 4), "titan"), Holds::Yes);
}

#[test]
fn faults_are_told_and_the_first_clause_is_the_one_that_is_named() {
    assert_eq!(Requirement::parse(NVIDIA_12_4).fault(), None);
    assert_eq!(Requirement::parse(NVIDIA_12_4).first_clause(), "cuda>=12.4");
    assert!(Requirement::parse("cuda>=12.4 memory>=1").fault().unwrap().contains("other than cuda"));
    assert!(Requirement::parse("cuda~12").fault().is_some());
    let long = "cuda>=12.4 ".repeat(10_000);
    assert_eq!(holds(&long, &Host { cuda: Some((12, 4)), ..Host::default() }), Holds::Unknown);
    assert!(Requirement::parse(&long).fault().is_some());
}

#[test]
fn the_least_version_of_all_clauses_counts() {
    for (value, wanted) in [
        ("cuda>=12.4 brand=tesla,driver>=470,driver<471", Some(&[12, 4][..])),
        ("CUDA>=12.3", Some(&[12, 3])),
        ("brand=tesla,cuda>=11.0 cuda>=12.0", Some(&[11, 0])),
        ("driver>=525", None),
        ("cuda>=", None),
    ] {
        assert_eq!(Requirement::parse(value).least_cuda(), wanted, "{value}");
    }
}

#[test]
fn only_what_the_toolkit_takes_for_yes_is_yes() {
    assert!(is_true("1") && is_true("true") && is_true("T"));
    assert!(!is_true("") && !is_true("yes") && !is_true("0") && !is_true("tRue"));
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("cuda".to_owned()),
        Just("driver".to_owned()),
        Just("brand".to_owned()),
        Just("arch".to_owned()),
        Just(">=".to_owned()),
        Just("<".to_owned()),
        Just("=".to_owned()),
        Just("!".to_owned()),
        Just(",".to_owned()),
        Just(" ".to_owned()),
        Just("12.4".to_owned()),
        Just("tesla".to_owned()),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_and_its_terms_are_no_more_than_it_has_bytes(parts in proptest::collection::vec(part(), 0..40)) {
        let value: String = parts.concat();
        let requirement = Requirement::parse(&value);
        prop_assert!(requirement.clauses.iter().flatten().count() <= value.len().min(LONGEST));
        let host = Host { cuda: Some((12, 4)), driver: Some(&[550, 54, 14]), sm: 80, brand: Some("tesla"), ..Host::default() };
        let known = requirement.holds(&host);
        if requirement.fault().is_none() {
            prop_assert!(known != Holds::Unknown, "{value:?}");
        }
        // Less information never changes a result to another certain one.
        let blind = requirement.holds(&Host { sm: 80, ..Host::default() });
        prop_assert!(blind == Holds::Unknown || blind == known, "{value:?}");
    }

    #[test]
    fn versions_compare_as_their_numbers_do(have in (0u32..20, 0u32..20), want in (0u32..20, 0u32..20)) {
        let host = Host { cuda: Some(have), sm: 80, ..Host::default() };
        let value = format!("cuda>={}.{}", want.0, want.1);
        prop_assert_eq!(holds(&value, &host), Holds::from(have >= want));
    }
}
