//! [`Completion`]: when the work of a method is done, which for asynchronous ones is not when they
//! return.

mod kind;

use std::fmt;

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::signature::{TokenNames, TypeSig};
use clr_profiler_il::symbol::{MethodSymbol, TypeSymbol};

use super::RewriteContext;
use crate::error::Result;

/// When the work of a method is done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completion {
    /// When it returns or throws. So it is of methods whose tasks the runtime itself makes
    /// (runtime-async), too: code around their body runs when they are done.
    Return,
    /// When what it returns completes.
    Followed(Followed),
    /// Later than it returns, or it may be so; there is no general way to be told.
    Unfollowed(Unfollowed),
}

/// The result of a method is a `Task`, a `Task<T>`, a `ValueTask` or a `ValueTask<T>`, be the method
/// `async` or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The type of the result.
    returned: TypeSig,
}

/// Why nobody can be told when the work of a method is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unfollowed {
    /// An `async void` method gives its caller nothing to wait for.
    AsyncVoid,
    /// The result can be awaited and is none of the four types: each such type has its own ways.
    CustomAwaitable,
    /// An iterator (`yield`): its code runs as the caller enumerates the result.
    Iterator,
    /// An asynchronous iterator (`IAsyncEnumerable<T>`).
    AsyncIterator,
}

impl Followed {
    /// The type of the result, in terms of the method's module.
    pub fn returned(&self) -> &TypeSig {
        &self.returned
    }

    /// The type of the value that comes in the end: the `T` of `Task<T>`.
    pub fn value(&self) -> Option<&TypeSig> {
        match &self.returned {
            TypeSig::GenericInstance { arguments, .. } => arguments.first(),
            _ => None,
        }
    }

    /// The overload of a helper's method that takes a state and the result, and returns what the
    /// program is to get in its place.
    ///
    /// For [`Wrap::replace_result`](crate::il::wrap::Wrap::replace_result): load the state, load the
    /// result, call the method. `state` is the type of the state in text. The helper has four of them:
    ///
    /// ```csharp
    /// static Task Completes(State state, Task task);
    /// static Task<T> Completes<T>(State state, Task<T> task);
    /// static ValueTask Completes(State state, ValueTask task);
    /// static ValueTask<T> Completes<T>(State state, ValueTask<T> task);
    /// ```
    ///
    /// What the helper does decides what the program sees of it. A task is returned as it is, after a
    /// continuation was added to it: `ContinueWith` with `ExecuteSynchronously` and
    /// `TaskScheduler.Default` leaves it to the program's own continuations where they run, which a
    /// second awaiter does not. Whoever reads `Task.Exception` counts as having seen it. A `ValueTask` may
    /// be consumed once only: one that is not complete is returned as another one whose
    /// `IValueTaskSource` hands on what it is asked. The example `method_tracer` has such a helper.
    pub fn method(&self, owner: &str, name: &str, state: &str) -> MethodSymbol {
        let mut returned = self.returned.clone();
        let mut type_arguments = Vec::new();
        if let TypeSig::GenericInstance { arguments, .. } = &mut returned {
            let own = arguments
                .iter()
                .map(|one| one.text(&TokenNames).to_string());
            type_arguments = own.map(Into::into).collect();
            *arguments = (0..).take(arguments.len()).map(TypeSig::MVar).collect();
        }
        let returned = returned.text(&TokenNames).to_string();
        MethodSymbol {
            owner: TypeSymbol::new(owner),
            name: name.into(),
            signature: format!("{returned} ({state}, {returned})").into(),
            type_arguments,
        }
    }
}

impl RewriteContext<'_> {
    /// When the work of the method is done, as far as its signature, its attributes and its own body
    /// tell. Code around the method that measures it should not end before.
    ///
    /// `body` is that of the method, not changed yet.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::Completion;
    /// use clr_profiler::il::wrap::Wrap;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let wrap = match cx.completion(body)? {
    ///         Completion::Followed(followed) => {
    ///             let completes = followed.method("[Helper]Tracer", "Completes", "string");
    ///             let name = cx.full_name().to_owned();
    ///             Wrap::new().replace_result(move |code, _, result| {
    ///                 code.ldstr(&name).ldloc(result).call(&completes);
    ///             })
    ///         }
    ///         _ => Wrap::new(),
    ///     };
    ///     body.wrap(&wrap, &cx.shape()?)?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn completion(&mut self, body: &MethodBody) -> Result<Completion> {
        kind::completion(self, body)
    }
}

impl fmt::Display for Unfollowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsyncVoid => "`async void` tells nobody when it is done",
            Self::CustomAwaitable => "it returns an awaitable that is no Task or ValueTask",
            Self::Iterator => "an iterator runs while its result is enumerated",
            Self::AsyncIterator => "an asynchronous iterator runs while its result is enumerated",
        })
    }
}
