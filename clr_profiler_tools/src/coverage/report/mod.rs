//! Coverage in the formats of other tools.

mod cobertura;
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
        BranchKey, Coverage, FileCoverage, MethodCoverage, MethodKey, MethodName,
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
