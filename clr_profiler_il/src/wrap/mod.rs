//! Wrapping whole bodies: code before, after and instead of a method's code, and for its
//! exceptions.
//!
//! A [`Wrap`] is built once and [applied](crate::body::MethodBody::wrap) to many bodies. Its parts
//! are closures that append code to a [`Fragment`], because the code depends on the method: on its
//! return type, and on the locals of the result and the exception.
//!
//! ```
//! use clr_profiler_il::body::MethodBody;
//! use clr_profiler_il::signature::{MethodSig, TypeSig};
//! use clr_profiler_il::symbol::MethodSymbol;
//! use clr_profiler_il::wrap::{Caught, MethodShape, Wrap};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let begin = MethodSymbol::new("[Tracer]Trace", "Begin", "int64 ()");
//! let failed = MethodSymbol::new("[Tracer]Trace", "Failed", "void (object)");
//! let end = MethodSymbol::new("[Tracer]Trace", "End", "void (int64)");
//! let trace = Wrap::new()
//!     .local(TypeSig::I8)
//!     .before(move |code, method| {
//!         code.call(&begin).stloc(method.local(0));
//!     })
//!     .on_exception("[System.Runtime]System.Exception", Caught::Rethrow, move |code, _, exception| {
//!         code.ldloc(exception).call(&failed);
//!     })
//!     .finally(move |code, method| {
//!         code.ldloc(method.local(0)).call(&end);
//!     });
//!
//! // `int M(int a) => a;`
//! let mut body = MethodBody::decode(&[0x0a, 0x02, 0x2a])?;
//! let signature = MethodSig::new(TypeSig::I4, vec![TypeSig::I4]);
//! let shape = MethodShape::new(&signature);
//! let wrapped = body.wrap(&trace, &shape)?;
//! assert_eq!((wrapped.local(0), wrapped.result, wrapped.exception), (0, Some(1), Some(2)));
//! assert_eq!(
//!     body.to_string(),
//!     "\
//! .maxstack 8
//! .locals init
//! .local [0] long
//! .local [1] int
//! .local [2] object
//! IL_0000:  call       int64 [Tracer]Trace::Begin()
//! IL_0005:  stloc.0
//! IL_0006:  ldarg.0
//! IL_0007:  stloc.1
//! IL_0008:  leave.s    IL_001a
//! IL_000a:  stloc.2
//! IL_000b:  ldloc.2
//! IL_000c:  call       void [Tracer]Trace::Failed(object)
//! IL_0011:  rethrow
//! IL_0013:  ldloc.0
//! IL_0014:  call       void [Tracer]Trace::End(int64)
//! IL_0019:  endfinally
//! IL_001a:  ldloc.1
//! IL_001b:  ret
//! .try IL_0006 to IL_000a catch [System.Runtime]System.Exception handler IL_000a to IL_0013
//! .try IL_0006 to IL_0013 finally handler IL_0013 to IL_001a
//! "
//! );
//! # Ok(())
//! # }
//! ```
//!
//! # The wrapped method
//!
//! ```text
//!         before, replace_argument; if skip_if: go to exit
//!         .try {
//!             .try {
//!                 the method's code; every `ret` stores the result and leaves to returned
//!             }
//!             filter { store the exception; observe_exception; accept none }
//!             catch T { store the exception; on_exception; rethrow, or leave to exit }
//!             ...
//! returned:   on_return, replace_result; leave to exit
//!         }
//!         fault { fault }
//!         finally { finally }
//! exit:   after; load the result; ret
//! ```
//!
//! Parts that are not given generate no code. These parts run in each case:
//!
//! | The method's code | `on_return` | `on_exception` | `fault` | `finally` | `after` |
//! |---|---|---|---|---|---|
//! | returns | yes | | | yes | yes |
//! | throws, rethrown or not caught | | if caught | yes | yes | |
//! | throws, swallowed | | yes | | yes | yes |
//! | is skipped | | | | | yes |
//!
//! `observe_exception` runs before any other part when an exception leaves the method's code,
//! during the first pass, while the runtime searches for a handler: nothing has been unwound, and
//! the program's handling of the exception does not change. A `catch` that rethrows does change it:
//! the `finally` blocks in the method's code then run before the filters of its callers.
//!
//! An exception in `on_return` is not an exception of the method: no `on_exception` sees it, but
//! `fault` and `finally` run. An exception in `before` propagates to the caller. To keep exceptions of added
//! code from the program, put the code into a [`try_block`](Fragment::try_block): the stack is
//! empty at the start of a part, and must be empty at its end.
//!
//! # Guarantees and limits
//!
//! - Branches to a `ret` run the code after the method's; branches back to the method's first
//!   instruction do not run `before` again.
//! - A method that never returns (it throws, or loops forever) gets no code that returns.
//! - The result may have any type of a local, including by-refs, by-ref-like types, pointers and
//!   generic parameters. The first three cannot be boxed or passed to a generic method; see
//!   [`MethodShape::return_type`].
//! - The new clauses enclose all existing ones and so follow them.
//! - `finally` cannot return: to change the result there, store it in its local.
//! - Arguments that the method assigns have their new values in all parts except those that run
//!   before its code. To use an original value later, copy it to a [local](Wrap::local) in
//!   `before`.
//! - `localloc` in the method's code remains valid, because a try region may contain it; in the
//!   code of handlers it is refused.
//! - In a static constructor, or in a method of a type that is not `beforefieldinit`, reading the
//!   type's static fields in the new code may trigger the type initialiser.

mod apply;
mod constructor;
mod parts;
mod shape;
mod survey;

use std::fmt;
use std::sync::Arc;

use crate::fragment::{Fragment, TypeName};
use crate::signature::TypeSig;

pub use shape::{MethodShape, WrappedMethod};

/// Appends code for one method.
type Code = Arc<dyn Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync>;
/// As `Code`, with the number of a local.
type LocalCode = Arc<dyn Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync>;

/// The continuation of an exception after the code of [`Wrap::on_exception`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Caught {
    /// It propagates to the caller (`rethrow`).
    Rethrow,
    /// The method returns the value of the result's local: the value that the code stored there,
    /// otherwise zero.
    Swallow,
}

/// The treatment of methods that return by a `tail.` call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TailCalls {
    /// Refuse such a method: [`NotInstrumentable::TailCall`].
    ///
    /// [`NotInstrumentable::TailCall`]: crate::edit::NotInstrumentable::TailCall
    #[default]
    Skip,
    /// Turn them into ordinary calls. Recursion that relied on them then needs stack space, and may
    /// overflow.
    StripPrefix,
}

/// The part of a constructor that is wrapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Constructors {
    /// The code after the call of the base constructor, or of another one of the type, so that
    /// `this` is an object wherever the new code runs. The call itself and the code before it
    /// (field initialisers in C#) are not covered.
    #[default]
    AfterBaseCall,
    /// All of its code. Code that may run before or without the base constructor must not use
    /// `this`, nor may the method continue without it: [`NotInstrumentable::UninitializedThis`].
    ///
    /// [`NotInstrumentable::UninitializedThis`]: crate::edit::NotInstrumentable::UninitializedThis
    Whole,
}

/// The code to put around a method; see the [module](self).
///
/// Several pieces of code for one part run in the order in which they were given.
#[derive(Clone, Default)]
#[must_use = "a wrap does nothing until it is applied to a body"]
pub struct Wrap {
    locals: Vec<TypeSig>,
    before: Vec<Code>,
    arguments: Vec<(u16, Code)>,
    skip_if: Vec<Code>,
    observe: Vec<LocalCode>,
    catches: Vec<Catch>,
    on_return: Vec<Code>,
    replace_result: Vec<LocalCode>,
    fault: Vec<Code>,
    finally: Vec<Code>,
    after: Vec<Code>,
    tail_calls: TailCalls,
    constructors: Constructors,
}

#[derive(Clone)]
struct Catch {
    name: TypeName,
    then: Caught,
    code: LocalCode,
}

impl Wrap {
    /// A wrap without parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a local for the wrap's own use to every method, initially zero;
    /// [`WrappedMethod::local`] returns its number.
    ///
    /// Classes and value types are given by tokens of one module: a wrap with such a local is valid
    /// only for methods of that module.
    pub fn local(mut self, local: TypeSig) -> Self {
        self.locals.push(local);
        self
    }

    /// Runs code before the method's code.
    pub fn before(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.before.push(Arc::new(code));
        self
    }

    /// Replaces an argument after `before` and before the method's code: the code leaves the new
    /// value on the stack. Arguments are numbered as in IL: 0 is `this` in an instance method.
    pub fn replace_argument(
        mut self,
        number: u16,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.arguments.push((number, Arc::new(code)));
        self
    }

    /// Decides whether the method's code runs: the code leaves a bool on the stack. If that is
    /// true, the method returns the value of the result's local, which is zero unless this code
    /// stored a value.
    ///
    /// Runs after `before` and the replacement of arguments.
    pub fn skip_if(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.skip_if.push(Arc::new(code));
        self
    }

    /// Runs code after the method's code has returned. The result, if any, is in the local
    /// [`WrappedMethod::result`], where the code may replace it.
    pub fn on_return(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_return.push(Arc::new(code));
        self
    }

    /// Replaces the result after the method's code has returned and after `on_return`: the code
    /// gets the number of the result's local and leaves the new value on the stack.
    pub fn replace_result(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync + 'static,
    ) -> Self {
        self.replace_result.push(Arc::new(code));
        self
    }

    /// Runs code when an exception leaves the method's code, without catching it: in a filter that
    /// accepts nothing, before any frame is unwound. The code gets the number of the exception's
    /// local, which `finally` may read as well; the stack is empty.
    ///
    /// An exception of the code itself ends there, because runtimes swallow exceptions in filters.
    pub fn observe_exception(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync + 'static,
    ) -> Self {
        self.observe.push(Arc::new(code));
        self
    }

    /// Runs code when an exception of a type leaves the method's code. The code gets the number of
    /// the exception's local; the stack is empty.
    ///
    /// The first matching one of several runs, as with `catch` clauses in C#.
    ///
    /// `System.Exception` matches every exception in an assembly with
    /// `RuntimeCompatibility(WrapNonExceptionThrows = true)`, which C# compilers always emit. In
    /// other assemblies, an object that is thrown and is not an exception, such as a string,
    /// arrives as it is: `System.Object` matches it, too.
    pub fn on_exception(
        mut self,
        name: impl Into<TypeName>,
        then: Caught,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync + 'static,
    ) -> Self {
        self.catches.push(Catch {
            name: name.into(),
            then,
            code: Arc::new(code),
        });
        self
    }

    /// Runs code when an exception leaves the method's code, after `on_return` or `on_exception` and before `finally`, while the
    /// frames are unwound. It cannot catch the exception, and has no access to it.
    ///
    /// It costs less than `finally` in calls that return.
    pub fn fault(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.fault.push(Arc::new(code));
        self
    }

    /// Runs code however control leaves the method's code, after `on_return` or `on_exception`.
    pub fn finally(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.finally.push(Arc::new(code));
        self
    }

    /// Runs code last, before the method returns to its caller.
    pub fn after(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.after.push(Arc::new(code));
        self
    }

    /// Sets the treatment of methods that return by a `tail.` call.
    pub fn tail_calls(mut self, tail_calls: TailCalls) -> Self {
        self.tail_calls = tail_calls;
        self
    }

    /// Sets the part of constructors that is wrapped.
    pub fn constructors(mut self, constructors: Constructors) -> Self {
        self.constructors = constructors;
        self
    }
}

impl fmt::Debug for Wrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replaced = self.arguments.iter().map(|(number, _)| number);
        let caught = self.catches.iter().map(|one| (&one.name, one.then));
        f.debug_struct("Wrap")
            .field("locals", &self.locals)
            .field("before", &self.before.len())
            .field("replace_argument", &replaced.collect::<Vec<_>>())
            .field("skip_if", &self.skip_if.len())
            .field("observe_exception", &self.observe.len())
            .field("on_return", &self.on_return.len())
            .field("replace_result", &self.replace_result.len())
            .field("on_exception", &caught.collect::<Vec<_>>())
            .field("fault", &self.fault.len())
            .field("finally", &self.finally.len())
            .field("after", &self.after.len())
            .field("tail_calls", &self.tail_calls)
            .field("constructors", &self.constructors)
            .finish()
    }
}
