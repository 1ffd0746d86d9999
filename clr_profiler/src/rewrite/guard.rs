//! [`ReentrancyGuard`]: keeps what rewritten code calls from being instrumented itself.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::symbol::FieldSymbol;

use super::{NativeCall, RewriteContext};
use crate::error::{Error, Result};

/// Keeps inserted code from running within itself, on each thread.
///
/// Code that a rewrite inserts calls something: a helper's `Logger.Enter`, `Console.WriteLine`. Where
/// that comes, by whatever way, to a method that is instrumented too, the inserted code would run
/// again, and call again, without an end. Behind a guard it does not: on a thread that is inside of
/// guarded code, all code under the same guard is skipped, and the methods do only what is their own.
/// [`RewriteContext::guarded`] makes such code.
///
/// # Which one
///
/// | | [`new`](Self::new) | [`in_field`](Self::in_field) |
/// |---|---|---|
/// | is kept | in the profiler's library | in a `[ThreadStatic]` field of a helper assembly |
/// | needs | nothing | the helper |
/// | is one for | all modules, the framework's too | all modules that can refer to the helper |
/// | the first use on a thread | allocates nothing | can allocate and run managed code |
///
/// [`new`](Self::new) is the one to take; docs/performance.md has what both cost.
#[derive(Clone, Debug)]
pub struct ReentrancyGuard(Way);

#[derive(Clone, Debug)]
enum Way {
    /// A bit of the thread's [`INSIDE`].
    Bit(u64),
    Field(FieldSymbol),
}

thread_local! {
    /// Inside of which guards this thread is, a bit each. Without a destructor it can be used until
    /// the thread is gone.
    static INSIDE: Cell<u64> = const { Cell::new(0) };
}

/// 1 where the thread was not inside, and is from now on.
extern "C" fn enter(guard: u64) -> i32 {
    let inside = INSIDE.get();
    INSIDE.set(inside | guard);
    i32::from(inside & guard == 0)
}

extern "C" fn leave(guard: u64) {
    INSIDE.set(INSIDE.get() & !guard);
}

impl ReentrancyGuard {
    /// A guard of its own, which the profiler's library keeps for each thread.
    ///
    /// # Errors
    ///
    /// That 64 were made already: one for a purpose is enough, kept where the profiler is.
    pub fn new() -> Result<Self> {
        static GUARDS: AtomicU32 = AtomicU32::new(0);
        let next = |number| (number < u64::BITS).then_some(number + 1);
        let number = GUARDS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let number = number.map_err(|_| {
            Error::other("there are 64 guards already: make one in `initialize` and keep it")
        })?;
        Ok(Self(Way::Bit(1 << number)))
    }

    /// A guard in a static field of type `int`, which is `[ThreadStatic]`: 1 on threads that are
    /// inside.
    ///
    /// It is for code that wants to look at the field itself. A field without that attribute would
    /// guard all threads at once: nobody can tell here.
    pub fn in_field(field: FieldSymbol) -> Self {
        Self(Way::Field(field))
    }
}

impl RewriteContext<'_> {
    /// Code that runs unless this thread is inside of the same guard, and is inside of it until its
    /// end, whichever way that is: an exception leaves the guard behind, and goes on.
    ///
    /// The stack must be empty where the code is put, and is afterwards: a
    /// [`prologue`](crate::il::body::MethodBody::prologue) and the parts of a
    /// [`Wrap`](crate::il::wrap::Wrap) are such places; before the `ret` of a method that returns
    /// something there is the result on the stack. It is good for methods of this module.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::symbol::MethodSymbol;
    /// use clr_profiler::il::wrap::Wrap;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId, guard: &ReentrancyGuard) -> Result<()> {
    /// let enter = MethodSymbol::new("[Helper]Logger", "Enter", "void (string)");
    /// let leave = MethodSymbol::new("[Helper]Logger", "Leave", "void ()");
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let name = cx.full_name().to_owned();
    ///     let enter = cx.guarded(guard, |code| {
    ///         code.ldstr(&name).call(&enter);
    ///     })?;
    ///     let leave = cx.guarded(guard, |code| {
    ///         code.call(&leave);
    ///     })?;
    ///     let wrap = Wrap::new()
    ///         .before(move |code, _| {
    ///             code.append(&enter);
    ///         })
    ///         .finally(move |code, _| {
    ///             code.append(&leave);
    ///         });
    ///     body.wrap(&wrap, &cx.shape()?)?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn guarded(
        &mut self,
        guard: &ReentrancyGuard,
        code: impl FnOnce(&mut Fragment),
    ) -> Result<Fragment> {
        let mut all = Fragment::new();
        let skip = all.label();
        let mut left = Fragment::new();
        match &guard.0 {
            Way::Bit(bit) => {
                let enter = self.quick(NativeCall::raw(enter as extern "C" fn(u64) -> i32))?;
                let leave = self.quick(NativeCall::raw(leave as extern "C" fn(u64)))?;
                all.ldc_i8(bit.cast_signed()).append(&enter).brfalse(skip);
                left.ldc_i8(bit.cast_signed()).append(&leave);
            }
            Way::Field(field) => {
                all.ldsfld(field).brtrue(skip).ldc_i4(1).stsfld(field);
                left.ldc_i4(0).stsfld(field);
            }
        }
        all.try_block(code)
            .finally(|end| {
                end.append(&left);
            })
            .end()
            .mark(skip);
        Ok(all)
    }

    #[allow(unsafe_code, reason = "the promise of a call without transition")]
    fn quick(&mut self, call: NativeCall) -> Result<Fragment> {
        let call = if self.can_suppress_transitions()? {
            // SAFETY: `enter` and `leave` change a number of the thread, and do nothing else.
            unsafe { call.without_transition() }
        } else {
            call
        };
        self.call_native(&call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_know_their_own_thread_and_themselves() {
        let (one, other) = (1 << 62, 1 << 63);
        assert_eq!(enter(one), 1);
        assert_eq!(enter(one), 0);
        assert_eq!(enter(other), 1);
        std::thread::spawn(move || assert_eq!(enter(one), 1))
            .join()
            .unwrap();
        leave(one);
        assert_eq!(enter(one), 1);
        assert_eq!(enter(other), 0);
        leave(one);
        leave(other);
    }
}
