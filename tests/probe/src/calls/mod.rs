//! All calls: those of the rows of the library's table, and handwritten ones.

pub mod rest;
mod rows;
mod wrappers;

use std::fmt::Debug;
use std::sync::OnceLock;

use clr_profiler::ErrorKind;
use clr_profiler::metadata::{MetadataItem, MetadataIter};
use clr_profiler::prelude::*;

use crate::at::At;

/// The effect of a call on the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It only reads.
    Asks,
    /// It changes something: events, sessions, compilations.
    Changes,
    /// It writes metadata or IL. The arguments are arbitrary, so that the program's behaviour may change.
    Writes,
    /// It affects other calls, so that it is alone in its process.
    Alone,
}

/// A call, with arguments from the place where it is made; `None` if there are none for it.
pub type Run = for<'a> fn(&At<'a>) -> Option<Result<()>>;

#[derive(Clone, Copy)]
pub struct Call {
    /// The trait or type, and the function.
    pub name: &'static str,
    pub effect: Effect,
    pub run: Run,
}

/// Every call, once.
pub fn all() -> &'static [Call] {
    static CALLS: OnceLock<Vec<Call>> = OnceLock::new();
    CALLS.get_or_init(|| {
        let mut calls = rows::rows();
        calls.extend(wrappers::calls());
        calls.extend(rest::calls());
        calls
    })
}

/// Wrappers of native methods that are not called here, with the reason.
pub fn left_out() -> impl Iterator<Item = (&'static str, &'static str)> {
    wrappers::LEFT_OUT.iter().copied()
}

/// Declares handwritten calls.
macro_rules! calls {
    ($($effect:ident $owner:ident::$name:ident = |$at:ident| $run:expr;)*) => {
        vec![$($crate::calls::Call {
            name: concat!(stringify!($owner), "::", stringify!($name)),
            effect: $crate::calls::Effect::$effect,
            run: |$at| $run,
        }),*]
    };
}
use calls;

/// How a call ended, in a word.
pub fn outcome(answer: &Option<Result<()>>) -> String {
    match answer {
        None => "none".to_owned(),
        Some(Ok(())) => "ok".to_owned(),
        Some(Err(error)) => match error.kind() {
            ErrorKind::Call { hresult, .. } => format!("error {hresult}"),
            ErrorKind::Unsupported { .. } => "unsupported".to_owned(),
            ErrorKind::Rule { .. } => "refused".to_owned(),
            ErrorKind::Invalid { .. } => "invalid".to_owned(),
            _ => "other".to_owned(),
        },
    }
}

/// The result of a call: an enumeration is walked, any other value is shown.
pub struct Given<T>(pub Option<T>);

pub trait Walked {
    fn used(&mut self) -> Option<Result<()>>;
}

/// Reads the first items.
fn walk<T>(items: impl Iterator<Item = Result<T>>) -> Result<()> {
    items.take(40).try_for_each(|item| item.map(drop))
}

impl<T: Debug, I: Iterator<Item = Result<T>>> Walked for Given<Result<I>> {
    fn used(&mut self) -> Option<Result<()>> {
        Some(self.0.take()?.and_then(walk))
    }
}

impl<T: Debug + MetadataItem> Walked for Given<MetadataIter<'_, T>> {
    fn used(&mut self) -> Option<Result<()>> {
        Some(walk(self.0.take()?))
    }
}

pub trait Shown {
    fn used(&mut self) -> Option<Result<()>>;
}

impl<T: Debug> Shown for &mut Given<Result<T>> {
    fn used(&mut self) -> Option<Result<()>> {
        Some(self.0.take()?.map(|given| drop(format!("{given:?}"))))
    }
}
