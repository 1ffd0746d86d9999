//! Rules for spans: data that give the spans of methods a kind, a name, attributes and a status.
//!
//! A [`Rule`] selects methods by patterns. Its values are [expressions](expression) over paths, such as `order.Customer.Name`,
//! that start at an argument, `this` or the result. Code that reads the paths is inserted into the methods; the expressions are
//! evaluated later, on a thread of the tool.
//!
//! Files of rules are read and checked by [`files`], before the program starts. The profiler gets the [checked] form.

pub mod checked;
mod evaluate;
pub mod expression;
#[cfg(feature = "convention_files")]
pub mod files;
mod parse;
mod rule;
#[cfg(all(test, feature = "convention_files"))]
mod tests;
mod value;

pub use checked::RuleText;
pub use evaluate::{Details, Scope};
pub use rule::{
    AddsTo, Attribute, Carrier, Context, Mistake, Path, Root, Rule, SpanKind, Status, StatusRule,
    ValueType,
};
pub use value::Value;

/// The rules that ship with the tool, in the checked form.
pub static SHIPPED: &str = include_str!("shipped.json");
