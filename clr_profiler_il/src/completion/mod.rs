//! When the work of a method completes: for an asynchronous one, not when it returns.
//!
//! [`Completion::of`] determines it from the signature, the attributes and the instructions of a
//! method; a [`CompletionContext`] gives the facts of its module.

#[cfg(test)]
mod tests;

use crate::attributes::MethodImplAttributes;
use crate::body::MethodBody;
use crate::core_library;
use crate::instruction::Operand;
use crate::messages::messages;
use crate::opcode::Opcode;
use crate::signature::{MethodSig, TokenNames, TypeSig};
use crate::symbol::{MethodSymbol, Reference, Resolver, TypeSymbol};
use crate::token::{TypeDef, TypeRef, TypeToken};

/// Further assemblies through which programs refer to the tasks of the core library.
const OF_TASKS: [&str; 2] = [
    "System.Threading.Tasks",
    "System.Threading.Tasks.Extensions",
];

const FOLLOWED: [&str; 4] = [
    "System.Threading.Tasks.Task",
    "System.Threading.Tasks.Task`1",
    "System.Threading.Tasks.ValueTask",
    "System.Threading.Tasks.ValueTask`1",
];

const ENUMERATED: [&str; 4] = [
    "System.Collections.IEnumerable",
    "System.Collections.IEnumerator",
    "System.Collections.Generic.IEnumerable`1",
    "System.Collections.Generic.IEnumerator`1",
];

const ENUMERATED_LATER: [&str; 2] = [
    "System.Collections.Generic.IAsyncEnumerable`1",
    "System.Collections.Generic.IAsyncEnumerator`1",
];

/// When the work of a method completes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completion {
    /// When the method returns or throws. This includes runtime-async methods, whose tasks the
    /// runtime creates: their body ends when they complete.
    Return,
    /// When the returned task completes.
    Task(TaskResult),
    /// After the method returns, or possibly so; there is no general way to observe it.
    Unobservable(Unobservable),
}

/// The result of a method that returns a `Task`, a `Task<T>`, a `ValueTask` or a `ValueTask<T>`,
/// whether the method is `async` or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskResult {
    /// The type of the result.
    returned: TypeSig,
}

messages! {
    /// The reason why the completion of a method cannot be observed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Unobservable {
        /// An `async void` method gives its caller nothing to await.
        AsyncVoid => "the completion of `async void` cannot be observed";
        /// The result is another awaitable type, each of which has a protocol of its own.
        CustomAwaitable => "it returns an awaitable other than Task and ValueTask";
        /// An iterator (`yield`): its code runs as the caller enumerates the result.
        Iterator => "an iterator runs while its result is enumerated";
        /// An asynchronous iterator (`IAsyncEnumerable<T>`).
        AsyncIterator => "an asynchronous iterator runs while its result is enumerated";
    }
}

/// The facts about a method and its module that decide its completion.
pub trait CompletionContext {
    /// The error of a failed metadata call.
    type Error;

    /// The signature of the method.
    fn signature(&self) -> &MethodSig;

    /// The attributes of its implementation.
    fn implementation(&self) -> MethodImplAttributes;

    /// Its name, without that of the type.
    fn name(&self) -> &str;

    /// The resolver for the tokens of its body.
    fn resolver(&self) -> &dyn Resolver;

    /// Whether the module is the core library.
    fn is_core_library(&self) -> bool;

    /// The name of a type that the module defines.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn type_def_name(&self, class: TypeDef) -> Result<String, Self::Error>;

    /// The assembly of a type reference, and the type's name; `None` for a nested type or one of
    /// another module of the assembly.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn type_ref_name(&self, class: TypeRef) -> Result<Option<(String, String)>, Self::Error>;

    /// Whether the method has an attribute, by its full name.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn has_attribute(&self, name: &str) -> Result<bool, Self::Error>;

    /// Whether a type itself has a method `GetAwaiter`; `false` if that is not known.
    fn has_awaiter(&self, class: TypeToken) -> bool;
}

impl Completion {
    /// Determines the completion of a method with this body, which must not be edited yet.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    pub fn of<F: CompletionContext>(method: &F, body: &MethodBody) -> Result<Self, F::Error> {
        if method
            .implementation()
            .contains(MethodImplAttributes::ASYNC)
        {
            return Ok(Self::Return);
        }
        let returned = method.signature().return_type.unmodified().clone();
        let class = match returned {
            TypeSig::ValueType(class) => Some(class),
            ref other => class_of(other),
        };
        let of_core = match class {
            Some(class) => core_name(method, class)?,
            None => None,
        };
        let is = |names: &[&str]| of_core.as_deref().is_some_and(|name| names.contains(&name));
        if is(&FOLLOWED) {
            return Ok(Self::Task(TaskResult { returned }));
        }
        let has = |attribute: &str| {
            method.has_attribute(&format!("System.Runtime.CompilerServices.{attribute}"))
        };
        let unfollowed = if has("AsyncIteratorStateMachineAttribute")?
            || (is(&ENUMERATED_LATER) && makes_own(method, body)?)
        {
            Unobservable::AsyncIterator
        } else if has("IteratorStateMachineAttribute")?
            || (is(&ENUMERATED) && makes_own(method, body)?)
        {
            Unobservable::Iterator
        } else if has("AsyncStateMachineAttribute")? {
            match returned {
                TypeSig::Void => Unobservable::AsyncVoid,
                _ => Unobservable::CustomAwaitable,
            }
        } else if class.is_some_and(|class| method.has_awaiter(class)) {
            Unobservable::CustomAwaitable
        } else {
            return Ok(Self::Return);
        };
        Ok(Self::Unobservable(unfollowed))
    }
}

/// A class, or the generic type of an instance.
fn class_of(type_sig: &TypeSig) -> Option<TypeToken> {
    match *type_sig {
        TypeSig::Class(class)
        | TypeSig::GenericInstance {
            definition: class, ..
        } => Some(class),
        _ => None,
    }
}

/// The name of a type of the core library; `None` for any other type.
fn core_name<F: CompletionContext>(
    method: &F,
    class: TypeToken,
) -> Result<Option<String>, F::Error> {
    Ok(match class {
        TypeToken::Def(class) if method.is_core_library() => Some(method.type_def_name(class)?),
        TypeToken::Ref(class) => {
            let named = method.type_ref_name(class)?;
            let of_core = named.filter(|(assembly, _)| {
                core_library::has_name(assembly) || OF_TASKS.contains(&assembly.as_str())
            });
            of_core.map(|(_, name)| name)
        }
        TypeToken::Def(_) | TypeToken::Spec(_) => None,
    })
}

/// Whether a method creates an object of its compiler-generated type, `<M>d__0`. Not every compiler
/// marks iterators with an attribute.
fn makes_own<F: CompletionContext>(method: &F, body: &MethodBody) -> Result<bool, F::Error> {
    let start = format!("<{}>", method.name());
    for instruction in body.instructions() {
        if instruction.opcode() == Opcode::Newobj
            && let Operand::Reference(reference @ Reference::Token(_)) = instruction.operand()
            && let Some(made) = method.resolver().declaring_type(reference)
            && let Some(TypeToken::Def(class)) = class_of(&made)
            && method.type_def_name(class)?.starts_with(&start)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

impl TaskResult {
    /// The type of the result, in terms of the method's module.
    #[must_use]
    pub fn returned(&self) -> &TypeSig {
        &self.returned
    }

    /// The type of the task's result: the `T` of `Task<T>`.
    #[must_use]
    pub fn value(&self) -> Option<&TypeSig> {
        match &self.returned {
            TypeSig::GenericInstance { arguments, .. } => arguments.first(),
            _ => None,
        }
    }

    /// The overload of a helper's method that takes a state and the result, and returns the
    /// replacement of the result.
    ///
    /// For [`Wrap::replace_result`](crate::wrap::Wrap::replace_result): load the state, load the
    /// result, call the method. `state` is the type of the state in text. The helper has four
    /// overloads:
    ///
    /// ```csharp
    /// static Task Completes(State state, Task task);
    /// static Task<T> Completes<T>(State state, Task<T> task);
    /// static ValueTask Completes(State state, ValueTask task);
    /// static ValueTask<T> Completes<T>(State state, ValueTask<T> task);
    /// ```
    ///
    /// The effect on the program depends on the helper. Return a task itself after adding a
    /// continuation to it: `ContinueWith` with `ExecuteSynchronously` and `TaskScheduler.Default`
    /// does not change where the program's own continuations run, but a second awaiter does.
    /// Reading `Task.Exception` marks the exception as observed. A `ValueTask` may be consumed only
    /// once: replace an incomplete one by another whose `IValueTaskSource` forwards to it. The
    /// example `method_tracer` has such a helper.
    #[must_use]
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
