//! Wildcards against a naive comparison.

use proptest::collection::vec;
use proptest::prelude::*;

use super::glob::{Glob, list_matches};
use super::path::parts;
use super::types::TypeText;

/// By trying everything.
fn naive(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', rest @ ..], _) => {
            naive(rest, text) || text.split_first().is_some_and(|(_, t)| naive(pattern, t))
        }
        ([one, rest @ ..], [first, text @ ..]) => one == first && naive(rest, text),
        _ => false,
    }
}

proptest! {
    #[test]
    fn globs(
        pattern in vec(prop::sample::select(vec!['a', 'b', '*']), 0..8),
        text in vec(prop::sample::select(vec!['a', 'b']), 0..10),
    ) {
        let as_text: String = pattern.iter().collect();
        let glob = Glob::new(as_text.split('*').map(str::to_owned).collect());
        let whole: String = text.iter().collect();
        prop_assert_eq!(glob.matches(&whole), naive(&pattern, &text));
        prop_assert_eq!(glob.literal().is_some(), !pattern.contains(&'*'));
        if glob.matches(&whole) {
            prop_assert!(whole.starts_with(glob.prefix()) && whole.ends_with(glob.suffix()));
        }
    }

    #[test]
    fn lists(
        items in vec(prop::sample::select(vec!['a', 'b', '*']), 0..8),
        values in vec(prop::sample::select(vec!['a', 'b']), 0..10),
    ) {
        let matched: Result<bool, ()> = list_matches(
            &items, &values, |item| *item == '*', |_| true, |item, at| Ok(*item == values[at]),
        );
        prop_assert_eq!(matched, Ok(naive(&items, &values)));
    }

    #[test]
    fn any_text_of_a_type_is_split(text in "[a-c.+<>,\\[\\]&* ()]{0,24}") {
        let _ = TypeText::new(&text);
        let _ = parts(&text);
    }
}

#[test]
fn texts_of_types() {
    let simple = |name: &str, suffix: &str| TypeText {
        name: name.to_owned(),
        arguments: Vec::new(),
        suffix: suffix.to_owned(),
    };
    for (text, expected) in [
        ("int", simple("System.Int32", "")),
        ("decimal", simple("System.Decimal", "")),
        ("T[,][]", simple("T", "[,][]")),
        ("void*", simple("System.Void", "*")),
        ("S.A+B&", simple("S.A+B", "&")),
        ("int& modreq(S.In<T>)", simple("System.Int32", "&")),
        ("<>c+<a.b>d", simple("<>c+<a.b>d", "")),
        (
            "S.A<int>+B<T[], S.C<long>>[]",
            TypeText {
                name: "S.A+B".to_owned(),
                arguments: vec![
                    simple("System.Int32", ""),
                    simple("T", "[]"),
                    TypeText {
                        name: "S.C".to_owned(),
                        arguments: vec![simple("System.Int64", "")],
                        suffix: String::new(),
                    },
                ],
                suffix: "[]".to_owned(),
            },
        ),
    ] {
        assert_eq!(TypeText::new(text), expected, "{text}");
    }
}

#[test]
fn parts_of_names() {
    let of = |name: &str| -> Vec<(bool, String, usize)> {
        let parts = parts(name);
        parts
            .into_iter()
            .map(|p| (p.is_nested, p.name.to_owned(), p.arity))
            .collect()
    };
    let part = |nested: bool, name: &str, arity| (nested, name.to_owned(), arity);
    assert_eq!(
        of("A.B`1+C`2"),
        [part(false, "A", 0), part(false, "B", 1), part(true, "C", 2)]
    );
    assert_eq!(
        of("A+<x.y>d`1"),
        [part(false, "A", 0), part(true, "<x.y>d", 1)]
    );
    assert_eq!(of("Odd`name"), [part(false, "Odd`name", 0)]);
}
