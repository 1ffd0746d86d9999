//! [`ReentrancyGuard`]: keeps the callees of inserted code from running inserted code themselves.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::FieldSymbol;

use super::{NativeCall, RewriteContext};
use crate::error::{Error, Result};

/// Keeps inserted code from running within itself, on each thread.
///
/// Inserted code calls other methods, such as a helper's `Logger.Enter` or `Console.WriteLine`. If one of them
/// is instrumented, or calls an instrumented method, the inserted code runs again within itself, and recurses
/// without end. A guard prevents this: while a thread is in guarded code, it skips all other code of the same
/// guard, and the methods run only their original code. [`RewriteContext::guarded`] makes guarded code.
///
/// # Which constructor
///
/// | | [`new`](Self::new) | [`in_field`](Self::in_field) |
/// |---|---|---|
/// | is stored | in the profiler's library | in a `[ThreadStatic]` field of a helper assembly |
/// | needs | nothing | the helper |
/// | is shared by | all modules, including the framework's | all modules that can refer to the helper |
/// | the first use on a thread | allocates nothing | can allocate and run managed code |
///
/// Use [`new`](Self::new) unless you need the field.
#[derive(Clone, Debug)]
pub struct ReentrancyGuard(Storage);

#[derive(Clone, Debug)]
enum Storage {
    /// One of the thread's bytes in [`INSIDE`].
    Byte(u32),
    Field(FieldSymbol),
}

/// The maximum number of guards.
const GUARDS: u32 = 64;

thread_local! {
    /// The guards that this thread is in: 1 in the byte of each. It has no destructor, so it can be used
    /// until the thread is gone.
    static INSIDE: [Cell<u8>; GUARDS as usize] = const { [const { Cell::new(0) }; GUARDS as usize] };
}

/// The address of a guard's byte for this thread. Only this thread uses the byte, which outlives every call
/// of a method on it. The inserted code reads and writes the byte itself, because only the lookup takes time.
extern "C" fn byte_of(guard: u32) -> *mut u8 {
    INSIDE.with(|inside| {
        let byte = inside.get(guard as usize);
        byte.map_or(std::ptr::null_mut(), Cell::as_ptr)
    })
}

impl ReentrancyGuard {
    /// A new guard, which the profiler's library stores for each thread.
    ///
    /// # Errors
    ///
    /// That there are 64 already: one for a purpose is enough; keep it in the profiler.
    pub fn new() -> Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let next = |number| (number < GUARDS).then_some(number + 1);
        let number = MADE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let number = number.map_err(|_| {
            Error::other("there are 64 guards already: make one in `initialize` and keep it")
        })?;
        Ok(Self(Storage::Byte(number)))
    }

    /// A guard in a static `[ThreadStatic]` field of type `int`: 1 on threads that are in guarded code.
    ///
    /// For code that reads the field itself. A field without that attribute would guard all threads
    /// at once: this is not checked.
    #[must_use]
    pub fn in_field(field: FieldSymbol) -> Self {
        Self(Storage::Field(field))
    }
}

impl RewriteContext<'_> {
    /// Code that is skipped while this thread is in code under the same guard. The guard is released at its
    /// end, also by an exception, which then propagates.
    ///
    /// The stack must be empty where the code is inserted, and is empty afterwards. That is so in a
    /// [`prologue`](crate::il::body::MethodBody::prologue) and in the parts of a
    /// [`Wrap`](crate::il::wrap::Wrap), but not before the `ret` of a method that returns a value. The code
    /// is for this body alone, which gets a local for it.
    ///
    /// # Errors
    ///
    /// That the body has no room for another local; an error of the metadata.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # use clr_profiler::rewrite::ReentrancyGuard;
    /// use clr_profiler::il::symbol::MethodSymbol;
    /// use clr_profiler::il::wrap::Wrap;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId, guard: &ReentrancyGuard) -> Result<()> {
    /// let enter = MethodSymbol::new("[Helper]Logger", "Enter", "void (string)");
    /// let leave = MethodSymbol::new("[Helper]Logger", "Leave", "void ()");
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let name = cx.full_name().to_owned();
    ///     let enter = cx.guarded(body, guard, |code| {
    ///         code.ldstr(&name).call(&enter);
    ///     })?;
    ///     let leave = cx.guarded(body, guard, |code| {
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
        body: &mut MethodBody,
        guard: &ReentrancyGuard,
        code: impl FnOnce(&mut Fragment),
    ) -> Result<Fragment> {
        let mut all = Fragment::new();
        let skip = all.label();
        let mut left = Fragment::new();
        match &guard.0 {
            Storage::Byte(_) => {
                let byte = body.add_local(TypeSig::NativeInt)?;
                all.append(&self.guard_byte(guard)?);
                all.stloc(byte).ldloc(byte).ldind_u1().brtrue(skip);
                all.ldloc(byte).ldc_i4(1).stind_i1();
                left.ldloc(byte).ldc_i4(0).stind_i1();
            }
            Storage::Field(field) => {
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

    /// Code that pushes the address of a guard's byte for this thread, which is 1 while the thread is in guarded code.
    ///
    /// # Errors
    ///
    /// That the guard is stored in a field; an error of the metadata.
    pub(crate) fn guard_byte(&mut self, guard: &ReentrancyGuard) -> Result<Fragment> {
        let Storage::Byte(number) = guard.0 else {
            return Err(Error::other("the guard is stored in a field"));
        };
        let byte_of = NativeCall::raw(byte_of as extern "C" fn(u32) -> *mut u8);
        let byte_of = self.quick(byte_of)?;
        let mut code = Fragment::new();
        code.ldc_i4(number.cast_signed()).append(&byte_of);
        Ok(code)
    }

    #[allow(unsafe_code, reason = "the promise of a call without transition")]
    fn quick(&mut self, call: NativeCall) -> Result<Fragment> {
        let call = if self.can_suppress_transitions()? {
            // SAFETY: `byte_of` looks up the address of a thread-local variable, and does nothing else.
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
    fn each_guard_has_a_byte_of_each_thread() {
        let [one, other] = [byte_of(62), byte_of(63)];
        assert_eq!((one, other), (byte_of(62), byte_of(63)));
        assert_ne!(one, other);
        let here = one as usize;
        let there = std::thread::spawn(|| byte_of(62) as usize);
        assert_ne!(there.join().unwrap(), here);
        assert!(byte_of(GUARDS).is_null());
    }
}
