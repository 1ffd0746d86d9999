//! [`IntoPatterns`]: the patterns of a rule.

use std::sync::Arc;

use crate::error::{Error, Result};
use clr_profiler_il::pattern::MethodPatterns;

/// Patterns of a rule: a [list](MethodPatterns) in text, or one that was parsed before.
///
/// A mistake in a text is the error of [`Setup::attach`](crate::Setup::attach), with its line and column.
pub trait IntoPatterns: sealed::IntoPatterns {}

impl IntoPatterns for &str {}
impl IntoPatterns for MethodPatterns {}
/// The pattern counts of a list that is shared include its other uses.
impl IntoPatterns for Arc<MethodPatterns> {}

mod sealed {
    use super::*;

    pub trait IntoPatterns {
        fn into_patterns(self) -> Result<Arc<MethodPatterns>>;
    }

    impl IntoPatterns for &str {
        fn into_patterns(self) -> Result<Arc<MethodPatterns>> {
            let parsed = MethodPatterns::parse(self);
            let parsed =
                parsed.map_err(|error| Error::other(format!("the patterns `{self}`: {error}")));
            parsed.map(Arc::new)
        }
    }

    impl IntoPatterns for MethodPatterns {
        fn into_patterns(self) -> Result<Arc<MethodPatterns>> {
            Ok(Arc::new(self))
        }
    }

    impl IntoPatterns for Arc<MethodPatterns> {
        fn into_patterns(self) -> Result<Arc<MethodPatterns>> {
            Ok(self)
        }
    }
}

/// The patterns of a text, or its mistake.
pub(crate) fn parsed_patterns(patterns: impl IntoPatterns) -> Result<Arc<MethodPatterns>> {
    patterns.into_patterns()
}
