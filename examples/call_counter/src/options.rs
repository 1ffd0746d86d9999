//! The options that the runner passes, through environment variables.

use std::env;

use clr_profiler::{Error, Result};
use report::{Output, path_from_environment};
use stacks::Form;

/// Which methods, and what to write.
pub(crate) struct Options {
    pub(crate) output: Output,
    pub(crate) form: Form,
    pub(crate) sort: Sort,
    pub(crate) filter: Option<String>,
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
    pub(crate) fn from_environment() -> Result<Self> {
        let output = Output::whole(path_from_environment("CALL_COUNTER_OUTPUT", "calls.txt"))?;
        let form = Form::of(output.path());
        let times = env::var_os("CALL_COUNTER_NO_TIMES").is_none();
        let sort = match text("CALL_COUNTER_SORT")?.as_deref() {
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
            filter: text("CALL_COUNTER_FILTER")?,
            inline: env::var_os("CALL_COUNTER_INLINE").is_some(),
            times,
        })
    }
}

fn text(variable: &str) -> Result<Option<String>> {
    let text = env::var_os(variable).map(std::ffi::OsString::into_string);
    text.transpose()
        .map_err(|_| Error::other(format!("{variable} is not UTF-8")))
}
