//! When the work of a method is done, which for asynchronous ones is not when they return.
//!
//! [`Completion::of`] tells it by the signature, the attributes and the instructions of a method; of its
//! module it asks a [`CompletionContext`].

#[cfg(test)]
mod tests;

use crate::body::MethodBody;
use crate::instruction::Operand;
use crate::messages::messages;
use crate::opcode::Opcode;
use crate::signature::{MethodSig, RUNTIME_ASYNC, TokenNames, TypeSig};
use crate::symbol::{MethodSymbol, Reference, Resolver, TypeSymbol};
use crate::token::{TypeDef, TypeRef, TypeToken};

/// The assemblies by which programs name the types of the core library.
const CORE: [&str; 6] = [
    "System.Runtime",
    "System.Private.CoreLib",
    "mscorlib",
    "netstandard",
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

/// When the work of a method is done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Completion {
    /// When it returns or throws. So it is of methods whose tasks the runtime itself makes
    /// (runtime-async), too: code around their body runs when they are done.
    Return,
    /// When what it returns completes.
    Task(TaskResult),
    /// Later than it returns, or it may be so; there is no general way to be told.
    Unobservable(Unobservable),
}

/// The result of a method is a `Task`, a `Task<T>`, a `ValueTask` or a `ValueTask<T>`, be the method
/// `async` or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskResult {
    /// The type of the result.
    returned: TypeSig,
}

messages! {
    /// Why nobody can be told when the work of a method is done.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Unobservable {
        /// An `async void` method gives its caller nothing to wait for.
        AsyncVoid => "`async void` tells nobody when it is done";
        /// The result can be awaited and is none of the four types: each such type has its own ways.
        CustomAwaitable => "it returns an awaitable that is no Task or ValueTask";
        /// An iterator (`yield`): its code runs as the caller enumerates the result.
        Iterator => "an iterator runs while its result is enumerated";
        /// An asynchronous iterator (`IAsyncEnumerable<T>`).
        AsyncIterator => "an asynchronous iterator runs while its result is enumerated";
    }
}

/// What has to be known of a method and its module.
pub trait CompletionContext {
    /// Why something cannot be known.
    type Error;

    /// The signature of the method.
    fn signature(&self) -> &MethodSig;

    /// Its implementation flags.
    fn implementation(&self) -> u32;

    /// Its name, without that of its type.
    fn name(&self) -> &str;

    /// What stands behind the tokens of its body.
    fn resolver(&self) -> &dyn Resolver;

    /// Whether the module is the core library.
    fn is_core_library(&self) -> bool;

    /// The name of a type that the module defines.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn type_def_name(&self, class: TypeDef) -> Result<String, Self::Error>;

    /// The assembly in which the module looks for a type, and its name; `None` for one in another type
    /// or module.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn type_ref_name(&self, class: TypeRef) -> Result<Option<(String, String)>, Self::Error>;

    /// Whether the method has an attribute, by its full name.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn has_attribute(&self, name: &str) -> Result<bool, Self::Error>;

    /// Whether a type itself says how it is awaited: by a method `GetAwaiter`. `false` if that cannot be
    /// told.
    fn has_awaiter(&self, class: TypeToken) -> bool;
}

impl Completion {
    /// Of a method with this body, not changed yet.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    pub fn of<F: CompletionContext>(method: &F, body: &MethodBody) -> Result<Self, F::Error> {
        if method.implementation() & RUNTIME_ASYNC != 0 {
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

/// The name of a type, if it is one of the core library.
fn core_name<F: CompletionContext>(
    method: &F,
    class: TypeToken,
) -> Result<Option<String>, F::Error> {
    Ok(match class {
        TypeToken::Def(class) if method.is_core_library() => Some(method.type_def_name(class)?),
        TypeToken::Ref(class) => {
            let named = method.type_ref_name(class)?;
            let of_core = named.filter(|(assembly, _)| CORE.contains(&assembly.as_str()));
            of_core.map(|(_, name)| name)
        }
        TypeToken::Def(_) | TypeToken::Spec(_) => None,
    })
}

/// Whether a method makes an object of a type that a compiler has made for it: `<M>d__0`. Not every
/// compiler marks iterators by an attribute.
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
    /// For [`Wrap::replace_result`](crate::wrap::Wrap::replace_result): load the state, load the
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
