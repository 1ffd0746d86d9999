use std::borrow::Cow;
use std::convert::Infallible;

use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::pattern::{
    AttributeOwner, GenericOwner, MethodFacts, MethodPattern, MethodPatterns,
};

/// A method: assembly, type, name, parameter.
struct Method(&'static str, &'static str, &'static str, &'static str);

const METHODS: &[Method] = &[
    Method("Shop", "Shop.Store", "Sell", "string"),
    Method("Shop", "Shop.Cart`1+Line", "Add", "T"),
    Method(
        "Shop",
        "Shop.Program+<>c__DisplayClass0_0",
        "<Run>b__0",
        "int[]",
    ),
    Method(
        "System.Linq",
        "Program",
        "<Main>$",
        "System.Collections.Generic.List<int>",
    ),
    Method("A", "<Module>", ".cctor", "void*"),
    Method("A", "B", "I.C", "S.P<T[], U>+Q&"),
];

impl MethodFacts for Method {
    type Error = Infallible;

    fn assembly(&self) -> Result<Cow<'_, str>, Infallible> {
        Ok(self.0.into())
    }

    fn type_path(&self) -> Result<Cow<'_, str>, Infallible> {
        Ok(self.1.into())
    }

    fn method_name(&self) -> Result<Cow<'_, str>, Infallible> {
        Ok(self.2.into())
    }

    fn access(&self) -> Result<MemberAccess, Infallible> {
        Ok(MemberAccess::Public)
    }

    fn parameters(&self) -> Result<Vec<String>, Infallible> {
        Ok(vec![self.3.to_owned()])
    }

    fn generic_parameters(&self, of: GenericOwner) -> Result<Vec<String>, Infallible> {
        Ok(match of {
            GenericOwner::Type => vec!["T".to_owned()],
            GenericOwner::Method => Vec::new(),
        })
    }

    fn generic_arguments(&self, of: GenericOwner) -> Result<Vec<String>, Infallible> {
        Ok(match of {
            GenericOwner::Type => vec!["int".to_owned()],
            GenericOwner::Method => Vec::new(),
        })
    }

    fn attributes(&self, _: AttributeOwner) -> Result<Vec<String>, Infallible> {
        Ok(vec!["Shop.TracedAttribute".to_owned()])
    }

    fn base_types(&self) -> Result<Vec<String>, Infallible> {
        Ok(vec!["object".to_owned()])
    }

    fn interfaces(&self) -> Result<Vec<String>, Infallible> {
        Ok(vec!["System.IComparable<T>".to_owned()])
    }
}

/// Checks that a list of patterns matches methods as its patterns do one by one, that each pattern
/// is read again from its text, and that an error is inside of the text.
///
/// # Panics
///
/// If a check fails.
pub fn pattern(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(error) = MethodPattern::parse(&text) {
        let last = text.lines().map(|line| line.chars().count()).max();
        assert!(
            error.column() > 0 && error.column() <= last.unwrap_or(0) + 2,
            "{error}"
        );
    }
    let list = match MethodPatterns::parse(&text) {
        Ok(list) => list,
        Err(error) => {
            assert!(error.line() <= text.matches('\n').count() + 1, "{error}");
            let line = text.split('\n').nth(error.line() - 1).unwrap_or_default();
            assert!(error.column() <= line.chars().count() + 1, "{error}");
            return;
        }
    };
    for pattern in list.patterns() {
        let printed = pattern.to_string();
        let again =
            MethodPatterns::parse(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(again.patterns(), std::slice::from_ref(pattern), "{printed}");
    }
    for method in METHODS {
        let of = |is_exclusion: bool| -> Vec<usize> {
            let numbered = list.patterns().iter().enumerate();
            let of_kind = numbered.filter(|(_, one)| one.is_exclusion() == is_exclusion);
            let matching = of_kind.filter(|(_, one)| one.matches(method) == Ok(true));
            matching.map(|(number, _)| number).collect()
        };
        let expected = match of(true).is_empty() {
            true => of(false),
            false => Vec::new(),
        };
        assert_eq!(
            list.matching(method),
            Ok(expected),
            "{text}: {}.{}",
            method.1,
            method.2
        );
        // A name in quotes is that method, whatever it contains.
        let quoted = format!("'{}'!'{}'.'{}'", method.0, method.1, method.2);
        let same =
            MethodPattern::parse(&quoted).unwrap_or_else(|error| panic!("{quoted}: {error}"));
        assert_eq!(same.matches(method), Ok(true), "{quoted}");
    }
}
