//! Rewrite every method of `Shapes` and `ShapesIL`, each in the way of a kind of tool.

mod census;
mod counts;
mod inspects;
mod logs;
mod rejits;
mod wraps;

use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::prelude::*;

pub(crate) use inspects::InspectsShapes;
pub(crate) use logs::LogsShapes;
pub(crate) use rejits::RejitsShapes;
pub(crate) use wraps::WrapsShapes;

/// The helper assembly of the scenarios.
fn helper() -> Result<HelperAssembly> {
    HelperAssembly::open(variable("SHAPES_HELPER"))
}

/// A method of the helper's `Logger`.
fn logger(name: &str, signature: &str) -> MethodSymbol {
    MethodSymbol::new("[Helper]Logger", name, signature)
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
