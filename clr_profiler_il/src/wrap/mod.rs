//! Wrapping whole bodies: code before and after a method, around its exceptions, in place of it.
//!
//! A [`Wrap`] is built once and [applied](crate::body::MethodBody::wrap) to many bodies. Its parts are closures
//! that append code to a [`Fragment`], since the code depends on the method: what it returns, and
//! which locals hold the result and the exception.
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
//! # The whole
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
//!         finally { finally }
//! exit:   after; load the result; ret
//! ```
//!
//! What is not asked for is not there. So, which part runs when:
//!
//! | The method's code | `on_return` | `on_exception` | `finally` | `after` |
//! |---|---|---|---|---|
//! | returns | yes | | yes | yes |
//! | throws, rethrown or not caught | | if caught | yes | |
//! | throws, swallowed | | yes | yes | yes |
//! | is skipped | | | | yes |
//!
//! `observe_exception` runs whenever an exception comes out of the method's code, first of all, while
//! the runtime still looks for who catches it: nothing has been unwound, and what the program does
//! about the exception stays as it is. A `catch` that rethrows is not like that: the blocks of
//! `finally` in the method's code run before the filters of its callers then.
//!
//! An exception in `on_return` is not one of the method: no `on_exception` sees it, `finally` runs.
//! One in `before` goes to the caller. Whoever wants to keep their own exceptions from the program
//! puts the code into a [`try_block`](Fragment::try_block): the stack is empty where a part begins,
//! and must be where it ends.
//!
//! # What holds
//!
//! - Branches to a `ret` run what comes after; branches back to the method's first instruction do
//!   not run `before` again.
//! - A method that never returns (it throws, or loops for ever) gets no code that returns.
//! - The result may be of any type that a local can have: by-refs, by-ref-like types, pointers and
//!   generic parameters too. What is boxed or passed to a generic method must not be one of the
//!   former three; see [`MethodShape::return_type`].
//! - The new clauses are around all that were there and so come after them.
//! - `finally` cannot return: to change the result there, store it in its local.
//! - Arguments that the method assigns to have their new values in all parts but the first ones.
//!   Copy what is wanted at entry to a [local](Wrap::local) in `before`.
//! - `localloc` in the method's code stays fine, since a try region may hold it; in the code of
//!   handlers it is refused.
//! - In a static constructor, or with one of a type that is not `beforefieldinit`, a read of the
//!   type's static fields in the new code can be what runs the initialiser.

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
/// The same, told the number of a local.
type LocalCode = Arc<dyn Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync>;

/// What becomes of an exception when the code of [`Wrap::on_exception`] has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caught {
    /// It goes on to the caller (`rethrow`).
    Rethrow,
    /// The method returns what the result's local holds: what the code stored there, otherwise what
    /// was there from the beginning, which is zero.
    Swallow,
}

/// What to do with methods that return by a `tail.` call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TailCalls {
    /// Leave such a method as it is: [`NotInstrumentable::TailCall`].
    ///
    /// [`NotInstrumentable::TailCall`]: crate::edit::NotInstrumentable::TailCall
    #[default]
    Skip,
    /// Make them ordinary calls. Recursion that relied on them needs stack then, and may overflow.
    StripPrefix,
}

/// Which part of a constructor is wrapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Constructors {
    /// What follows the call of the base constructor, or of another one of the type, so that
    /// `this` is an object wherever the new code runs. That call and what stands before it (field
    /// initialisers in C#) is not covered.
    #[default]
    AfterBaseCall,
    /// Everything. Code that may run before or without the base constructor must not use `this`,
    /// nor may the method go on without it: [`NotInstrumentable::UninitializedThis`].
    ///
    /// [`NotInstrumentable::UninitializedThis`]: crate::edit::NotInstrumentable::UninitializedThis
    Whole,
}

/// What to put around a method; see the [module](self).
///
/// Parts that are given more than once run one after the other, in the order in which they were
/// given.
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
    /// A wrap that does nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives every method one more local for the wrap's own use, zero at the beginning;
    /// [`WrappedMethod::local`] tells its number.
    ///
    /// Classes and value types are named by tokens of one module: a wrap with such a local is one
    /// for methods of this module.
    pub fn local(mut self, local: TypeSig) -> Self {
        self.locals.push(local);
        self
    }

    /// Runs code before the method's own.
    pub fn before(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.before.push(Arc::new(code));
        self
    }

    /// Replaces an argument before the method's code runs, after `before`: the code leaves the new
    /// value on the stack. Arguments are numbered as in IL: 0 is `this` of an instance method.
    pub fn replace_argument(
        mut self,
        number: u16,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.arguments.push((number, Arc::new(code)));
        self
    }

    /// Decides whether the method's code runs at all: the code leaves a bool on the stack, and where
    /// that is true, the method returns what the result's local holds, be it stored by this code, be
    /// it zero.
    ///
    /// It runs after `before` and the replacement of arguments.
    pub fn skip_if(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.skip_if.push(Arc::new(code));
        self
    }

    /// Runs code when the method's own has returned. A result is in the local
    /// [`WrappedMethod::result`], where it may also be replaced.
    pub fn on_return(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_return.push(Arc::new(code));
        self
    }

    /// Replaces the result when the method's code has returned, after `on_return`: the code is told
    /// the result's local and leaves the new value on the stack.
    pub fn replace_result(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync + 'static,
    ) -> Self {
        self.replace_result.push(Arc::new(code));
        self
    }

    /// Runs code when an exception comes out of the method's code, without stopping it: in a filter
    /// that accepts none, before anything is unwound. The code is told the exception's local, which
    /// `finally` sees as well; the stack is empty.
    ///
    /// An exception of the code itself ends there, for that is what runtimes do with exceptions in
    /// filters.
    pub fn observe_exception(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>, u16) + Send + Sync + 'static,
    ) -> Self {
        self.observe.push(Arc::new(code));
        self
    }

    /// Runs code when an exception of a type comes out of the method's code. The code is told the
    /// exception's local; the stack is empty.
    ///
    /// Of several ones, the first that fits runs, as with clauses of `catch` in C#.
    ///
    /// `System.Exception` fits everything in an assembly that says so, as all do that come from a
    /// compiler of C#: `RuntimeCompatibility(WrapNonExceptionThrows = true)`. In others, what IL
    /// throws that is no exception, a string, say, comes as it is: `System.Object` fits that, too.
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

    /// Runs code whichever way control leaves the method's code, after `on_return` or
    /// `on_exception`.
    pub fn finally(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.finally.push(Arc::new(code));
        self
    }

    /// Runs code as the last before the method returns to its caller.
    pub fn after(
        mut self,
        code: impl Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.after.push(Arc::new(code));
        self
    }

    /// Says what to do with methods that return by a `tail.` call.
    pub fn tail_calls(mut self, tail_calls: TailCalls) -> Self {
        self.tail_calls = tail_calls;
        self
    }

    /// Says which part of constructors is wrapped.
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
            .field("finally", &self.finally.len())
            .field("after", &self.after.len())
            .field("tail_calls", &self.tail_calls)
            .field("constructors", &self.constructors)
            .finish()
    }
}
