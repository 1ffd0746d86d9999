//! The options that the command passes.

use std::sync::Arc;

use crate::profilers::form;
use crate::report::{Output, Settings, methods};
use crate::stacks::Form;
use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::{Error, Result};

/// Which methods, and what to write.
pub(crate) struct Options {
    pub(crate) output: Output,
    pub(crate) form: Form,
    pub(crate) sort: Sort,
    pub(crate) methods: Option<Arc<MethodPatterns>>,
    pub(crate) inline: bool,
    pub(crate) times: bool,
}

/// The column by which the table is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Own,
    Total,
    Calls,
}

impl Options {
    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let output = Output::whole(settings.path("CALL_COUNTER_OUTPUT", "calls.txt"))?;
        let form = form(settings, "CALL_COUNTER_FORMAT", output.path())?;
        let times = !settings.is_set("CALL_COUNTER_NO_TIMES");
        let sort = match settings.text("CALL_COUNTER_SORT")?.as_deref() {
            None if times => Sort::Own,
            None => Sort::Calls,
            Some("own") => Sort::Own,
            Some("total") => Sort::Total,
            Some("calls") => Sort::Calls,
            Some(other) => {
                return Err(Error::other(format!(
                    "the table has no column `{other}`: it can be ordered by `own`, `total` or \
                     `calls`"
                )));
            }
        };
        Ok(Self {
            output,
            form,
            sort,
            methods: methods(settings, "CALL_COUNTER_METHODS")?,
            inline: settings.is_set("CALL_COUNTER_INLINE"),
            times,
        })
    }
}
