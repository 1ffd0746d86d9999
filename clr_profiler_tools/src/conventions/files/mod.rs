//! Files of rules, in YAML: our own, and the ones of OpenTelemetry .NET (`no_code`).
//!
//! ```
//! use clr_profiler_tools::conventions::files;
//!
//! let rules = files::read("rules.yaml", "\
//! rules:
//!   - methods: Shop!Shop.Orders.Pay
//!     kind: client
//!     name: pay {order.Customer.Name}
//!     attributes:
//!       shop.order.id: order.Id
//! ")?;
//! assert_eq!(rules.len(), 1);
//!
//! let fault = files::read("rules.yaml", "rules:\n  - methods: Shop!Shop.Pay(\n").unwrap_err();
//! assert_eq!((fault.line, fault.column), (2, 28));
//! # Ok::<(), clr_profiler_tools::conventions::files::Fault>(())
//! ```

mod no_code;
mod rules;
mod tree;

use std::fmt;

use super::checked::RuleText;

/// A mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The mistake.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            problem,
        } = self;
        write!(f, "{line}:{column}: {problem}")
    }
}

impl std::error::Error for Fault {}

/// Reads a file and checks all of its rules. `name` is that of the file, for messages.
///
/// # Errors
///
/// The first mistake.
pub fn read(name: &str, source: &str) -> Result<Vec<RuleText>, Fault> {
    let tree = tree::read(source)?;
    let is_no_code = [
        "file_format",
        "instrumentation/development",
        "no_code/development",
        "no_code",
    ];
    match is_no_code.iter().any(|key| tree.get(key).is_some()) {
        true => no_code::read(name, source, &tree),
        false => rules::read(name, source, &tree),
    }
}
