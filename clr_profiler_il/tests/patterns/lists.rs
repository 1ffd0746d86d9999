use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::pattern::{Matched, MethodPattern, MethodPatterns, is_generated};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::facts::{Facts, strings};

#[test]
fn matches_are_counted() {
    let list =
        MethodPatterns::parse("Shop.**; Shop.Store.Sell; -**.ToString; Nothing.At.All; -A.B")
            .unwrap();
    let sell = Facts::new("Shop", "Shop.Store", "Sell");
    let text = Facts::new("Shop", "Shop.Store", "ToString");
    for _ in 0..3 {
        assert_eq!(list.matches(&sell), Ok(true));
        assert_eq!(list.matching(&sell), Ok(vec![0, 1]));
    }
    assert_eq!(list.matches(&text), Ok(false));
    assert_eq!(list.matching(&text), Ok(Vec::new()));
    let counts: Vec<u64> = list.counts().map(|(_, count)| count).collect();
    assert_eq!(counts, [8, 6, 2, 0, 0]);
    let unmatched: Vec<String> = list.unmatched().map(ToString::to_string).collect();
    assert_eq!(unmatched, ["Nothing.At.All", "-A.B"]);
}

#[test]
fn what_one_method_matches_counts_for_others() {
    let list = MethodPatterns::parse("Shop.**; Shop!**; -Shop.Log.*; generated Shop.**").unwrap();
    assert!(list.are_of_types());
    let count = || list.counts().map(|(_, count)| count).collect::<Vec<_>>();
    let sell = list.matched(&Facts::new("Shop", "Shop.Store", "Sell"));
    assert_eq!(sell.as_ref().map(Matched::indices), Ok(&[0, 1][..]));
    let excluded = list.matched(&Facts::new("Shop", "Shop.Log", "Write"));
    assert_eq!(excluded.as_ref().map(Matched::indices), Ok(&[][..]));
    assert_eq!(count(), [2, 2, 1, 0]);
    list.count(&sell.unwrap());
    list.count(&excluded.unwrap());
    assert_eq!(count(), [4, 4, 2, 0]);
    for of_methods in [
        "Shop.**.Sell",
        "Shop.**.*(int)",
        "public Shop.**",
        "Shop.**; -**.ToString",
        "[Obsolete] Shop.**",
    ] {
        let list = MethodPatterns::parse(of_methods).unwrap();
        assert!(!list.are_of_types(), "{of_methods}");
    }
}

#[test]
fn threads_share_a_list() {
    let list = MethodPatterns::parse("Shop.**").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let sell = Facts::new("Shop", "Shop.Store", "Sell");
                for _ in 0..1000 {
                    assert_eq!(list.matches(&sell), Ok(true));
                }
            });
        }
    });
    assert_eq!(list.counts().map(|(_, count)| count).sum::<u64>(), 4000);
}

#[test]
fn lists_are_joined() {
    let mut list = MethodPatterns::parse("Shop.**").unwrap();
    list.extend(
        MethodPatterns::parse("-**.Sell")
            .unwrap()
            .patterns()
            .iter()
            .cloned(),
    );
    assert_eq!(
        list.matches(&Facts::new("Shop", "Shop.Store", "Sell")),
        Ok(false)
    );
    assert_eq!(
        list.matches(&Facts::new("Shop", "Shop.Store", "Buy")),
        Ok(true)
    );
}

fn word() -> impl Strategy<Value = String> {
    // Few and short, so that patterns often match; one is longer than the keys of the table.
    let long = "Long".repeat(20);
    let words = ["A", "B", "AB", "BA", "Get", "GetA", "<A>b", "<>c"];
    prop::sample::select(
        words
            .map(str::to_owned)
            .into_iter()
            .chain([long])
            .collect::<Vec<_>>(),
    )
}

fn segment() -> impl Strategy<Value = String> {
    let wild = prop::sample::select(vec![
        "*", "A*", "*A", "A*B", "Get*", "<*>*", "*Long", "Long*",
    ]);
    prop_oneof![3 => word(), 2 => wild.prop_map(str::to_owned)]
}

fn separator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![".", ".", "+"])
}

fn pattern() -> impl Strategy<Value = String> {
    let step = prop_oneof![4 => segment(), 1 => Just("**".to_owned())];
    (
        prop::sample::select(vec!["", "", "", "-", "generated "]),
        prop::sample::select(vec!["", "", "A!", "A*!", "*!"]),
        step.clone(),
        vec((separator(), step), 0..3),
        prop_oneof![4 => segment(), 1 => Just("**".to_owned()), 1 => Just(".ctor".to_owned())],
        prop::sample::select(vec!["", "", "", "()", "(int)", "(*, **)", " : I", "`1"]),
    )
        .prop_map(|(before, assembly, first, steps, method, after)| {
            let steps: String = steps
                .into_iter()
                .map(|(by, step)| format!("{by}{step}"))
                .collect();
            let after = if (method == "**" || method == ".ctor") && after == "`1" {
                ""
            } else {
                after
            };
            format!("{before}{assembly}{first}{steps}.{method}{after}")
        })
}

fn method() -> impl Strategy<Value = Facts> {
    (
        prop::sample::select(vec!["A", "AB", "B"]),
        word(),
        vec((separator(), word()), 0..3),
        prop_oneof![5 => word(), 1 => Just(".ctor".to_owned()), 1 => Just("<Main>$".to_owned())],
        prop::sample::select(vec!["", "int", "long"]),
        any::<bool>(),
    )
        .prop_map(|(assembly, first, steps, name, parameter, is_one)| {
            let steps: String = steps
                .into_iter()
                .map(|(by, step)| format!("{by}{step}"))
                .collect();
            Facts::new(assembly, &format!("{first}{steps}"), &name).with(|it| {
                it.parameters = strings(&[parameter]);
                it.parameters.retain(|text| !text.is_empty());
                it.interfaces = if is_one { strings(&["I"]) } else { Vec::new() };
                it.generic_parameters[1] = if is_one { strings(&["T"]) } else { Vec::new() };
            })
        })
}

/// A pattern of names alone, evaluated by trying all assignments of segments.
mod naive {
    use crate::facts::Facts;

    fn glob(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => {
                glob(rest, text) || (!text.is_empty() && glob(pattern, &text[1..]))
            }
            ([one, rest @ ..], [first, text @ ..]) => one == first && glob(rest, text),
            _ => false,
        }
    }

    fn split(path: &str) -> Vec<(bool, &str)> {
        let mut nested = false;
        let mut segments = Vec::new();
        for segment in path.split_inclusive(['.', '+']) {
            segments.push((nested, segment.trim_end_matches(['.', '+'])));
            nested = segment.ends_with('+');
        }
        segments
    }

    fn one(pattern: &str, name: &str, all: bool) -> bool {
        let is_hidden = name.starts_with('<') && name != "<Main>$";
        glob(pattern.as_bytes(), name.as_bytes()) && (all || !is_hidden || pattern.starts_with('<'))
    }

    fn path(steps: &[(bool, &str)], names: &[(bool, &str)], all: bool) -> bool {
        match (steps, names) {
            ([], []) => true,
            ([(_, "**"), rest @ ..], _) => {
                path(rest, names, all)
                    || names.split_first().is_some_and(|((_, name), names)| {
                        (all || !name.starts_with('<')) && path(steps, names, all)
                    })
            }
            ([(by, step), rest @ ..], [(at, name), names @ ..]) => {
                by == at && one(step, name, all) && path(rest, names, all)
            }
            _ => false,
        }
    }

    /// Whether a pattern as generated matches.
    pub(crate) fn matches(pattern: &str, facts: &Facts) -> bool {
        let (all, pattern) = match pattern.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (generated, pattern) = match pattern.strip_prefix("generated ") {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let (assembly, pattern) = pattern.split_once('!').unwrap_or(("*", pattern));
        let (pattern, base) = pattern.split_once(" : ").unwrap_or((pattern, ""));
        let (pattern, parameters) = pattern.split_once('(').unwrap_or((pattern, "**)"));
        let (pattern, arity) = pattern.split_once('`').unwrap_or((pattern, ""));
        let cut = match pattern.strip_suffix("..ctor") {
            Some(class) => class.len(),
            None => pattern.rfind('.').unwrap(),
        };
        let (class, method) = (&pattern[..cut], &pattern[cut + 1..]);
        let mut steps = split(class);
        let method = if method == "**" {
            steps.push((false, "**"));
            "*"
        } else {
            method
        };
        let names = split(&facts.class);
        let hidden = (facts.name.starts_with('<') && facts.name != "<Main>$")
            || names.iter().any(|(_, name)| name.starts_with('<'));
        let all = all || generated;
        let count = facts.parameters.len();
        glob(assembly.as_bytes(), facts.assembly.as_bytes())
            && path(&steps, &names, all)
            && one(method, &facts.name, all)
            && (!generated || hidden)
            && (base.is_empty() || facts.interfaces == ["I"])
            && (arity.is_empty() || facts.generic_parameters[1].len() == 1)
            && match parameters {
                ")" => count == 0,
                "int)" => facts.parameters == ["int"],
                "*, **)" => count >= 1,
                _ => true,
            }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_list_matches_as_a_naive_comparison_does(
        texts in vec(pattern(), 1..40),
        methods in vec(method(), 1..12),
    ) {
        let list = MethodPatterns::parse(&texts.join("\n")).unwrap();
        let mut counts = vec![0_u64; texts.len()];
        for method in &methods {
            let matched: Vec<bool> =
                texts.iter().map(|text| naive::matches(text, method)).collect();
            for (text, expected) in texts.iter().zip(&matched).filter(|(text, _)| !text.starts_with('-')) {
                let single = MethodPattern::parse(text).unwrap();
                prop_assert_eq!(single.matches(method), Ok(*expected), "{} {:?}", text, method);
            }
            let of = |is_exclusion: bool| {
                let numbers = (0..texts.len()).filter(|at| matched[*at]);
                numbers.filter(|at| texts[*at].starts_with('-') == is_exclusion).collect::<Vec<_>>()
            };
            let (mut included, excluded) = (of(false), of(true));
            for at in included.iter().chain(excluded.iter().filter(|_| !included.is_empty())) {
                counts[*at] += 1;
            }
            if !excluded.is_empty() {
                included.clear();
            }
            prop_assert_eq!(list.matching(method), Ok(included), "{:?} {:?}", texts, method);
        }
        let found: Vec<u64> = list.counts().map(|(_, count)| count).collect();
        prop_assert_eq!(found, counts);
    }

    #[test]
    fn lists_of_types_match_all_methods_of_a_type_alike(
        texts in vec((prop::sample::select(vec!["", "[A] ", "[type: A] ", "public "]), pattern()), 1..40),
        one in method(),
        others in vec((method(), any::<bool>()), 1..12),
    ) {
        let texts = texts.iter().map(|(before, text)| match text.split_once(' ') {
            Some(("generated", text)) => format!("generated {before}{text}"),
            _ if text.starts_with('-') => format!("-{before}{}", &text[1..]),
            _ => format!("{before}{text}"),
        });
        let texts = texts.filter(|text| MethodPatterns::parse(text).unwrap().are_of_types());
        let list = MethodPatterns::parse(&texts.collect::<Vec<_>>().join("\n")).unwrap();
        prop_assert!(list.are_of_types());
        let matched = list.matched(&one).unwrap();
        for (other, is_marked) in others {
            // Only the method is another one.
            let method = Facts::new(&one.assembly, &one.class, &other.name).with(|it| {
                it.access = if is_marked { MemberAccess::Private } else { MemberAccess::Public };
                it.parameters = other.parameters;
                it.interfaces.clone_from(&one.interfaces);
                it.generic_parameters = [one.generic_parameters[0].clone(), other.generic_parameters[1].clone()];
                it.attributes[0] = if is_marked { strings(&["A"]) } else { Vec::new() };
            });
            if is_generated(&one.name) == is_generated(&method.name) {
                let same = list.matched(&method).unwrap();
                prop_assert_eq!(same.indices(), matched.indices(), "{:?} {:?} {:?}", list, one, method);
            }
        }
    }
}
