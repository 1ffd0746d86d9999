//! Patterns select methods of a running program by all kinds of facts.

use clr_profiler::il::pattern::{MethodPattern, MethodPatterns};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// A pattern, and the methods of the program that it selects.
type Row = (&'static str, &'static [&'static str]);

/// Each method that is compiled is compared with each pattern. Methods of the framework are not compared, except by
/// patterns that name them.
const ROWS: &[Row] = &[
    // Names.
    (
        "Patterns!Patterned.House.Sell(string, *)",
        &["Patterned.House.Sell(string, int[])"],
    ),
    (
        "Patterned.House.Sell(int?)",
        &["Patterned.House.Sell(System.Nullable<int>)"],
    ),
    (
        "Patterned.House.Sell(string, int[])",
        &["Patterned.House.Sell(string, int[])"],
    ),
    ("Patterned.House.Sell(**, long)", &[]),
    ("patterned.House.Sell", &[]),
    (
        "**.Turn",
        &[
            "Patterned.House+Room+Corner.Turn(System.Collections.Generic.List<System.Collections.Generic.Dictionary<string, int[]>>)",
            "Patterned.House+Room.Turn()",
        ],
    ),
    ("Patterned.House+*.Turn", &["Patterned.House+Room.Turn()"]),
    (
        "Patterned.**.Turn(**.List<**.Dictionary<string, *[]>>)",
        &[
            "Patterned.House+Room+Corner.Turn(System.Collections.Generic.List<System.Collections.Generic.Dictionary<string, int[]>>)",
        ],
    ),
    (
        "**.Point(int*, char**)",
        &["Patterned.Program.Point(int*, char**)"],
    ),
    // Constructors, accessors, explicit implementations.
    (
        "Patterned.House..ctor(string, ref int)",
        &["Patterned.House..ctor(string, int&)"],
    ),
    ("Patterned.House..cctor", &["Patterned.House..cctor()"]),
    (
        "Patterned.House.*et_Rooms",
        &[
            "Patterned.House.get_Rooms()",
            "Patterned.House.set_Rooms(int)",
        ],
    ),
    (
        "Patterned.House.add_Sold",
        &["Patterned.House.add_Sold(System.Action)"],
    ),
    (
        "Patterned.House.'System.IDisposable.Dispose'",
        &["Patterned.House.System.IDisposable.Dispose()"],
    ),
    (
        "Patterned.House.*First",
        &["Patterned.House.Patterned.IShelf<System.String>.First()"],
    ),
    // Accessibility.
    (
        "internal Patterned.House.*",
        &["Patterned.House..ctor(string, int&)"],
    ),
    ("protected Patterned.House.*", &["Patterned.House.Kept()"]),
    ("protected internal **", &["Patterned.House.Guarded()"]),
    ("private protected **", &["Patterned.House.Hidden()"]),
    (
        "private Patterned.House.*()",
        &[
            "Patterned.House..cctor()",
            "Patterned.House.Patterned.IShelf<System.String>.First()",
            "Patterned.House.Secret()",
            "Patterned.House.System.IDisposable.Dispose()",
        ],
    ),
    // Attributes.
    (
        "[Patterned.Marked] Patterned.**",
        &["Patterned.House.Sell(string, int[])"],
    ),
    (
        "[method: **.MarkedAttribute] **",
        &["Patterned.House.Sell(string, int[])"],
    ),
    (
        "[type: Patterned.Marked] **.*o*",
        &["Patterned.Villa..ctor()", "Patterned.Villa.Pool()"],
    ),
    (
        "[assembly: Patterned.Marked] **.Pool",
        &["Patterned.Villa.Pool()"],
    ),
    ("[assembly: Patterned.Other] **.Pool", &[]),
    // Base types and interfaces.
    (
        "**.*o* : Patterned.Building<int>",
        &[
            "Patterned.House..cctor()",
            "Patterned.House..ctor()",
            "Patterned.House..ctor(string, int&)",
            "Patterned.House.add_Sold(System.Action)",
            "Patterned.House.get_Rooms()",
            "Patterned.House.set_Rooms(int)",
            "Patterned.Villa..ctor()",
            "Patterned.Villa.Pool()",
            "Patterned.House.System.IDisposable.Dispose()",
        ],
    ),
    (
        "**.Size : Patterned.Building<int>, Patterned.House",
        &["Patterned.Villa.Size(int)"],
    ),
    ("**.Pool : Patterned.Building<long>", &[]),
    ("**.Pool : System.IDisposable", &["Patterned.Villa.Pool()"]),
    (
        "**.Pool : Patterned.IShelf<string>, Patterned.IPlace",
        &["Patterned.Villa.Pool()"],
    ),
    (
        "Patterned.** : System.Exception",
        &["Patterned.Strict..ctor()", "Patterned.Strict.Check()"],
    ),
    (
        "Patterned.**.Check : System.ArgumentException, object",
        &["Patterned.Strict.Check()"],
    ),
    // Generic types, methods and instances.
    (
        "**.Add(T)",
        &[
            "Patterned.Cart<System.__Canon>.Add(System.__Canon)|Patterned.Cart<T>.Add(T)|Patterned.Cart<string>.Add(string)",
            "Patterned.Cart<int>.Add(int)",
            "Patterned.Cart<long>.Add(long)",
        ],
    ),
    ("Patterned.Cart<int>.Add", &["Patterned.Cart<int>.Add(int)"]),
    (
        "Patterned.Cart.Add(long)",
        &["Patterned.Cart<long>.Add(long)"],
    ),
    ("Patterned.Cart<*, *>.Add", &[]),
    (
        "Patterned.Cart<T>+Line.Get",
        &["Patterned.Cart<int>+Line.Get()"],
    ),
    (
        "Patterned.Cart`1+Line.Get",
        &["Patterned.Cart<int>+Line.Get()"],
    ),
    (
        "Patterned.Building<int>.**",
        &[
            "Patterned.Building<int>..ctor()",
            "Patterned.Building<int>.Size(int)",
        ],
    ),
    // Names of the compiler.
    (
        "Patterned.Program+<>c__DisplayClass*.<Main>g__Local*",
        &["Patterned.Program+<>c__DisplayClass5_0.<Main>g__Local|2(int)"],
    ),
    (
        "Patterned.Program+<Numbers>d__*.MoveNext",
        &["Patterned.Program+<Numbers>d__*.MoveNext()"],
    ),
    (
        "Patterned.Program+<>c__DisplayClass*.<Main>b__*",
        &["Patterned.Program+<>c__DisplayClass*.<Main>b__0()"],
    ),
    ("Patterned.**.MoveNext", &[]),
    (
        "generated Patterned.**.MoveNext",
        &[
            "Patterned.Program+<Later>d__*.MoveNext()",
            "Patterned.Program+<Numbers>d__*.MoveNext()",
        ],
    ),
    (
        "Patterned.Program.*a*",
        &["Patterned.Program.Later(int)", "Patterned.Program.Main()"],
    ),
];

/// Logs each method with the number of each pattern that it matches, alone and in a list.
pub(crate) struct Patterns {
    list: MethodPatterns,
    some: MethodPatterns,
}

#[profiler(clsid = clsid("Patterns"))]
impl Profiler for Patterns {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        // Otherwise small methods are never compiled alone.
        setup.add_events(EventMask::DISABLE_INLINING);
        let rows = ROWS
            .iter()
            .map(|(pattern, _)| MethodPattern::parse(pattern));
        Ok(Self {
            list: rows.collect::<std::result::Result<_, _>>()?,
            some: MethodPatterns::parse(
                "Patterns!Patterned.Villa.*; -**.Size; Not.There; -**.Nowhere",
            )?,
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "Patterns" {
            return Ok(());
        }
        let name = method.full_name()?;
        let matching = self.list.matching(&method)?;
        for (number, pattern) in self.list.patterns().iter().enumerate() {
            if pattern.matches(&method)? != matching.contains(&number) {
                log::line(format_args!("not as alone: {pattern}, {name}"));
            }
        }
        for number in matching {
            log::line(format_args!("{number} {name}"));
        }
        if self.some.matches(&method)? {
            log::line(format_args!("some {name}"));
        }
        let (class, space) = (method.type_name()?, method.namespace()?);
        if !name.starts_with(&format!("{class}.")) || space != "Patterned" {
            log::line(format_args!("names: {class}, {space}, {name}"));
        }
        let metadata = method.metadata()?;
        let declared = metadata.type_def_props(method.declaring_type()?)?.name;
        let parameters = method.parameter_types()?;
        if name.contains("Villa.Size") {
            log::line(format_args!("{declared} {parameters:?}"));
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        for pattern in self.some.unmatched() {
            log::line(format_args!("unmatched {pattern}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clr_profiler_tests::Scenario;

    use super::{Patterns, ROWS};

    /// An expected name: `*` is any digits, `|` separates alternatives.
    fn is_name(expected: &str, name: &str) -> bool {
        let is_one = |expected: &str| match expected.split_once('*') {
            Some((start, end)) if !expected.contains("int*") => {
                let middle = name
                    .strip_prefix(start)
                    .and_then(|rest| rest.strip_suffix(end));
                middle.is_some_and(|middle| !middle.contains('.'))
            }
            _ => expected == name,
        };
        is_one(expected) || expected.split('|').any(is_one)
    }

    #[test]
    fn patterns_select_methods_of_a_running_program() {
        let scenario = Scenario::new("Patterns").profiled_by::<Patterns>();
        scenario.compare(|plain, profiled| {
            assert_eq!(plain.status.code(), Some(9), "{plain:?}");
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let log = &profiled.log;
            assert!(
                !log.contains("not as alone") && !log.contains("failed"),
                "{log}"
            );
            assert!(!log.contains("names: "), "{log}");
            for (number, (pattern, expected)) in ROWS.iter().enumerate() {
                let prefix = format!("{number} ");
                let found: BTreeSet<&str> = log
                    .lines()
                    .filter_map(|line| line.strip_prefix(&prefix))
                    .collect();
                let strange: Vec<_> = found
                    .iter()
                    .filter(|name| !expected.iter().any(|expected| is_name(expected, name)))
                    .collect();
                let missing: Vec<_> = expected
                    .iter()
                    .filter(|expected| !found.iter().any(|name| is_name(expected, name)))
                    .collect();
                assert!(
                    strange.is_empty() && missing.is_empty(),
                    "{pattern}: not expected {strange:?}, missing {missing:?}\n{log}"
                );
            }
            let some: BTreeSet<&str> = log
                .lines()
                .filter_map(|line| line.strip_prefix("some "))
                .collect();
            let expected = ["Patterned.Villa..ctor()", "Patterned.Villa.Pool()"];
            assert_eq!(some.into_iter().collect::<Vec<_>>(), expected, "{log}");
            assert!(log.contains("\nPatterned.Villa [\"int\"]\n"), "{log}");
            assert!(
                log.ends_with("unmatched Not.There\nunmatched -**.Nowhere\n"),
                "{log}"
            );
        });
    }
}
