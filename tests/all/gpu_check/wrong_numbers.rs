//! Kernels that compute wrong, or not at all: every number is looked at.

use super::{Check, Machine};

fn wrong(how: &str) -> Check {
    let check = Machine::new().with("WRONG", how).check(&[]);
    check.fails("verify", "wrong-numbers");
    assert!(check.error("code").is_null(), "it is no error of CUDA");
    assert_eq!(check.devices()[0]["kernel_check"]["verdict"], "fail");
    assert!(!check.steps().contains(&"graph-launches"), "{:?}", check.steps());
    check
}

/// The numbers in a message, without what groups their digits.
fn numbers(check: &Check) -> Vec<u64> {
    let joined: String =
        check.message().chars().filter(|c| !matches!(c, ',' | '\u{202f}' | '\u{a0}' | '\'')).collect();
    joined.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

fn elements(check: &Check) -> u64 {
    let elements = check.devices()[0]["kernel_check"]["elements"].as_u64().unwrap();
    assert!(elements > 1_000_000, "{elements}");
    elements
}

#[test]
fn one_wrong_number_of_all_is_found_and_named() {
    for (how, place) in [("first", 0), ("one", -7), ("last", -1_i64)] {
        let check = wrong(how);
        let elements = elements(&check);
        let index = if place < 0 { elements.checked_add_signed(place).unwrap() } else { 0 };
        let numbers = numbers(&check);
        assert!(numbers.contains(&1) && numbers.contains(&index), "{how}: {}", check.message());
        let off = check.devices()[0]["kernel_check"]["max_abs_error"].as_f64().unwrap();
        let expected = if how == "one" { 0.25 } else { 1.0 };
        assert!((off - expected).abs() < 1e-3, "{how}: {off}");
    }
}

#[test]
fn a_kernel_that_does_nothing_is_found() {
    let check = wrong("nothing");
    let many = elements(&check) / 2;
    assert!(numbers(&check).iter().any(|number| *number > many), "not most of them: {}", check.message());
}

#[test]
fn what_is_no_number_is_wrong() {
    let check = wrong("nan");
    let middle = elements(&check) / 2;
    assert!(numbers(&check).contains(&middle), "{}", check.message());
}
