//! The last look at a new body: what the JIT would crash on must not reach it.

use super::error::Refused;
use super::resolver::MetadataResolver;
use crate::error::{Error, Result};
use clr_profiler_il::body::MethodBody;

/// How many violations an error lists.
const LISTED: usize = 3;

/// Checks the bytes of a body, as the JIT will read them, against the metadata of its module.
pub(super) fn check(bytes: &[u8], resolver: &MetadataResolver<'_, '_>) -> Result<()> {
    let body = MethodBody::decode(bytes).map_err(Error::other)?;
    let problems = problems(&body, resolver);
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::other(Refused {
        problem: problems.join("; "),
        listing: body.to_string(),
    }))
}

/// What is wrong with a body. Here is decided what is checked.
fn problems(body: &MethodBody, resolver: &MetadataResolver<'_, '_>) -> Vec<String> {
    let violations = body.verify_structure();
    if !violations.is_empty() {
        let first = violations.iter().take(LISTED);
        return first.map(ToString::to_string).collect();
    }
    let depths = body.stack_depths(resolver);
    depths.err().iter().map(ToString::to_string).collect()
}
