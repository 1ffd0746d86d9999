//! Inserted code uses what it may use; what it may not is refused before the JIT throws.

use clr_profiler_tests::Scenario;

/// What methods use, and what is said of it.
const USES: [(&str, &str); 24] = [
    ("UsesInternal", "used"),
    ("UsesProtected", "Accesses.Shape::Protected is protected"),
    ("UsesBoth", "used"),
    ("UsesHidden", "Accesses.Shape::Hidden is private"),
    ("UsesField", "Accesses.Shape::secret is private"),
    ("UsesInner", "Accesses.Shape+Inner is private"),
    // By `ldtoken`, which the JIT does not ask access for.
    ("UsesInnerType", "used"),
    (
        "UsesInitializer",
        "Accesses.Shape::.cctor is a type initialiser, which the runtime alone calls",
    ),
    ("MakesCircle", "used"),
    (
        "MakesShape",
        "Accesses.Shape is abstract: newobj makes no objects of it",
    ),
    (
        "MakesByMethod",
        "newobj calls Grow, which is no constructor",
    ),
    ("UsesFriend", "used"),
    ("UsesFriendClosed", "used"),
    ("UsesFriendPrivate", "Friend.Open::Private is private"),
    ("UsesStranger", "Stranger.Open::Internal is internal"),
    ("UsesStrangerClosed", "Stranger.Closed is internal"),
    ("UsesStrangerArray", "Stranger.Closed is internal"),
    ("UsesCore", "System.Version::_Major is private"),
    ("InOwn", "used"),
    ("InNested", "used"),
    ("InDerived", "used"),
    ("InDerivedHidden", "Accesses.Shape::Hidden is private"),
    ("InGeneric", "used"),
    ("InGuest", "used"),
];

#[test]
fn what_code_may_not_use_is_refused() {
    let scenario = Scenario::new("Accesses").profiler("Accesses");
    scenario.compare(|plain, profiled| {
        assert_eq!(plain.output(), (Some(4), "0\n", ""));
        assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
        let expected = USES.map(|(method, said)| format!("{method}: {said}"));
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(lines, expected);
    });
}
