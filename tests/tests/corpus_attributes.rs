//! The values of every custom attribute of the runtimes are decoded.

use std::collections::BTreeMap;

use assembly_reader::{Assembly, Framework};
use clr_metadata::rows::CustomAttributeRow;
use clr_profiler_il::attribute::{ArgumentValue, AttributeValue, NamedArgumentKind};
use examples_support::Pinned;

use crate::corpus::files;

/// The counts, to notice if something is skipped.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    attributes: usize,
    fixed: usize,
    /// Fields and properties.
    named: [usize; 2],
    /// Texts, types, values of enumerations, arrays, boxed objects; elements included.
    values: [usize; 5],
}

impl Figures {
    fn count(&mut self, value: &ArgumentValue) {
        let kind = match value {
            ArgumentValue::String(_) => 0,
            ArgumentValue::Type(_) => 1,
            ArgumentValue::Enum { .. } => 2,
            ArgumentValue::Array(elements) => {
                let elements = elements.iter().flatten();
                elements.for_each(|element| self.count(element));
                3
            }
            ArgumentValue::Boxed(value) => {
                self.count(value);
                4
            }
            _ => return,
        };
        self.values[kind] += 1;
    }

    fn add(&mut self, attribute: &AttributeValue) {
        self.attributes += 1;
        self.fixed += attribute.fixed.len();
        for argument in &attribute.named {
            self.named[usize::from(argument.member == NamedArgumentKind::Property)] += 1;
        }
        let named = attribute.named.iter().map(|argument| &argument.value);
        for value in attribute.fixed.iter().chain(named) {
            self.count(value);
        }
    }
}

fn check(pinned: &Pinned, expected: &Figures) {
    let Some(files) = files::assemblies(pinned) else {
        return;
    };
    let assemblies = files.iter().map(|(name, bytes)| {
        Assembly::open(bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    let framework = Framework::new(assemblies.collect());
    let mut figures = Figures::default();
    let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (index, (name, _)) in files.iter().enumerate() {
        let assembly = framework.get(index).expect("an assembly");
        let tokens = framework.tokens(index).expect("an assembly");
        for row in assembly.rows::<CustomAttributeRow>() {
            let row = row.expect("an attribute");
            match assembly.attribute_value(&row, |of| tokens.underlying(of)) {
                Ok(value) => figures.add(&value),
                Err(error) => failures
                    .entry(name)
                    .or_default()
                    .push(format!("{row:?}: {error}")),
            }
        }
    }
    println!("{}: {figures:?}", pinned.name);
    for (name, failures) in &failures {
        println!("{name} has {}, the first: {}", failures.len(), failures[0]);
    }
    assert!(failures.is_empty(), "in {} assemblies", failures.len());
    assert_eq!(figures, *expected);
}

#[test]
fn net_core_3_1() {
    check(
        &Pinned::NET_CORE_3_1,
        &Figures {
            attributes: 25_070,
            fixed: 14_087,
            named: [2, 1_549],
            values: [4_090, 933, 1_864, 993, 31],
        },
    );
}

#[test]
fn net_8() {
    check(
        &Pinned::NET_8,
        &Figures {
            attributes: 63_992,
            fixed: 46_809,
            named: [6, 5_766],
            values: [18_324, 1_561, 3_681, 4_875, 1_127],
        },
    );
}

#[test]
fn net_10() {
    check(
        &Pinned::NET_10,
        &Figures {
            attributes: 154_709,
            fixed: 92_045,
            named: [13, 11_170],
            values: [39_152, 4_794, 6_715, 12_377, 1_733],
        },
    );
}
