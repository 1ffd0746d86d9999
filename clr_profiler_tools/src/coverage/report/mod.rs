//! Coverage in the formats of other tools.

mod cobertura;
mod folders;
mod html;
mod json;
mod lcov;
mod markup;
mod summary;

pub use cobertura::cobertura;
pub use html::html;
pub use json::{from_json, to_json};
pub use lcov::lcov;
pub use summary::summary;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::coverage::{
        BranchKey, Coverage, FileCoverage, FileHits, MethodCoverage, MethodKey, MethodName,
    };

    /// Two files: one with a branch of which an outcome is missing, and one that no test has reached.
    pub(super) fn sample() -> Coverage {
        let key = |class: &str, name: &str| MethodKey {
            assembly: "Shop".to_owned(),
            name: MethodName {
                class: class.to_owned(),
                name: name.to_owned(),
                parameters: "(List<int>)".to_owned(),
            },
        };
        let method = |calls, line, last| MethodCoverage {
            calls,
            line,
            lines: BTreeSet::from_iter(line..=last),
        };
        let branch = BranchKey {
            line: 3,
            method: "Shop.A.Sell(List<int>)".to_owned(),
            offset: 4,
        };
        let first = FileCoverage {
            lines: BTreeMap::from([(3, 2), (4, 0), (5, 2)]),
            branches: BTreeMap::from([(branch, vec![0, 2])]),
            methods: BTreeMap::from([(key("Shop.A", "Sell"), method(2, 3, 5))]),
        };
        let second = FileCoverage {
            lines: BTreeMap::from([(1, 0)]),
            branches: BTreeMap::new(),
            methods: BTreeMap::from([(key("Shop.B", "Buy"), method(0, 1, 1))]),
        };
        Coverage {
            files: BTreeMap::from([
                ("/shop/src/A.cs".to_owned(), first),
                ("/shop/src/B.cs".to_owned(), second),
            ]),
            blocks: BTreeMap::from([(key("Other.C", "Do"), vec![1, 0])]),
            contexts: BTreeMap::new(),
        }
    }

    /// The same, of which a test has run line 5.
    pub(super) fn with_contexts() -> Coverage {
        let mut coverage = sample();
        let path = "/shop/src/A.cs";
        let mut outside = FileHits::of(&coverage.files[path]).unwrap();
        outside.lines.remove(&5);
        let of_test = FileHits {
            lines: BTreeSet::from([5]),
            ..FileHits::default()
        };
        let files = |hits| BTreeMap::from([(path.to_owned(), hits)]);
        coverage.contexts = BTreeMap::from([
            (String::new(), files(outside)),
            ("Shop.Tests.Sells(int)".to_owned(), files(of_test)),
        ]);
        coverage
    }

    #[test]
    fn each_context_has_records_of_the_files_that_it_has_hit() {
        let text = super::lcov(&with_contexts());
        let records: Vec<&str> = text.split_terminator("end_of_record\n").collect();
        assert_eq!(records.len(), 3, "{text}");
        let has = |record: usize, lines: &[&str]| {
            for line in lines {
                let found = records[record].lines().any(|of| of == *line);
                assert!(found, "{line}: {}", records[record]);
            }
        };
        has(0, &["TN:", "DA:3,1", "DA:4,0", "DA:5,0", "BRDA:3,0,1,2"]);
        has(1, &["TN:", "SF:/shop/src/B.cs", "DA:1,0"]);
        let name = "TN:Shop_Tests_Sells_int_";
        has(2, &[name, "DA:3,0", "DA:5,1", "BRDA:3,0,1,-", "LH:1"]);
    }

    #[test]
    fn an_outcome_on_a_line_that_another_context_began_is_kept() {
        let mut coverage = with_contexts();
        let path = "/shop/src/A.cs";
        let branches = coverage.files[path].branches.clone();
        let test = coverage.contexts.get_mut("Shop.Tests.Sells(int)").unwrap();
        test.get_mut(path).unwrap().branches = branches;
        let text = super::lcov(&coverage);
        let (_, of_test) = text.split_once("TN:Shop_Tests_Sells_int_\n").unwrap();
        assert!(of_test.contains("DA:3,0\n"), "{text}");
        let outcomes = "BRDA:3,0,0,0\nBRDA:3,0,1,2\n";
        assert!(of_test.contains(outcomes), "{text}");
    }

    #[test]
    fn a_run_without_contexts_is_outside_of_all() {
        for is_first in [true, false] {
            let (mut first, mut second) = (with_contexts(), sample());
            if !is_first {
                std::mem::swap(&mut first, &mut second);
            }
            first.merge(second);
            let outside = &first.contexts[""]["/shop/src/A.cs"];
            assert_eq!(outside.lines, BTreeSet::from([3, 5]));
            assert_eq!(first.contexts.len(), 2);
        }
    }

    #[test]
    fn a_tracefile_has_lines_branches_and_methods() {
        let expected = "\
TN:
SF:/shop/src/A.cs
FN:3,Shop.A.Sell(List<int>)
FNDA:2,Shop.A.Sell(List<int>)
FNF:1
FNH:1
BRDA:3,0,0,0
BRDA:3,0,1,2
BRF:2
BRH:1
DA:3,2
DA:4,0
DA:5,2
LF:3
LH:2
end_of_record
TN:
SF:/shop/src/B.cs
FN:1,Shop.B.Buy(List<int>)
FNDA:0,Shop.B.Buy(List<int>)
FNF:1
FNH:0
BRF:0
BRH:0
DA:1,0
LF:1
LH:0
end_of_record
";
        assert_eq!(super::lcov(&sample()), expected);
    }

    #[test]
    fn the_summary_has_a_line_for_each_assembly() {
        let expected = "    lines  branches   methods  assembly
   50.0 %    50.0 %    50.0 %  Shop
50.0 % of 2 IL blocks in 1 methods without lines
";
        assert_eq!(super::summary(&sample()), expected);
    }
}
