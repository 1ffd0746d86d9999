use std::error::Error;

use crate::instruction::InstructionId;
use crate::messages::messages;

/// In a method's attributes (`CorMethodAttr`).
const ABSTRACT: u32 = 0x0400;
const PINVOKE: u32 = 0x2000;
/// In a method's implementation flags (`CorMethodImpl`).
const CODE_TYPE: u32 = 0x0003;
const NATIVE: u32 = 1;
const RUNTIME: u32 = 3;
const UNMANAGED: u32 = 0x0004;
const INTERNAL_CALL: u32 = 0x1000;

messages! {
    /// Why a method or its body cannot be rewritten in some way.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum NotInstrumentable: "not instrumentable: " {
        /// A `tail.` call replaces the frame, so nothing can run between it and `ret` (III.2.4). See
        /// [`strip_tail_calls`](crate::body::MethodBody::strip_tail_calls).
        TailCall(id: InstructionId) => "the method returns by a tail call";
        /// `jmp` leaves for another method and never comes back (III.3.37).
        Jmp(id: InstructionId) => "the method leaves by jmp";
        /// The method takes further arguments (`vararg`), which only its own frame can reach.
        VarArg => "the method takes a variable number of arguments";
        /// `ret` stands in a `finally`, `fault` or filter, which nothing may leave (III.3.46).
        RetInHandler(id: InstructionId) =>
            "the method returns from within a finally, fault or filter";
        /// The last instruction goes on to a next one, which would be inserted code.
        FallsOffTheEnd(id: InstructionId) => "the last instruction of the method is not its end";
        /// In the constructor, no call of a constructor on `this` was found after which the stack is
        /// empty. `System.Object`'s constructor has none; elsewhere `this` came by a detour.
        NoConstructorCall => "the constructor calls no constructor on its own object";
        /// In the constructor, the call of a constructor on `this` (here, or first here) is not passed
        /// by every way exactly once: it stands in one of two branches, in a loop, in a protected
        /// region, or has a `ret` before it.
        ConditionalConstructorCall(id: InstructionId) =>
            "the constructor calls the base constructor on some ways only";
        /// Before the call of a constructor on `this` stands an instruction of which the stack effect is
        /// not known: the resolver does not know what it calls.
        UnknownCall(id: InstructionId) =>
            "the constructor calls something unknown before its base constructor";
        /// Code around a whole constructor would use `this`, end the constructor, or go on after an
        /// exception, while the base constructor has not run.
        UninitializedThis => "the code would run on an object that is not constructed";
        /// The method is runtime-async (implementation flag 0x2000) but returns none of `Task`,
        /// `Task<T>`, `ValueTask`, `ValueTask<T>`, so what `ret` takes is not known.
        RuntimeAsync => "the method is runtime-async and returns no task";
        /// The method is runtime-async, and was to get other IL by ReJIT: .NET 10 goes on calling its
        /// original code.
        RuntimeAsyncRejit => "the method is runtime-async, which ReJIT does not reach";
        /// An abstract method is a declaration.
        Abstract => "the method is abstract";
        /// P/Invoke: the code is in a native library.
        PInvoke => "the method is in a native library";
        /// The runtime has the code in native form (`InternalCall`).
        InternalCall => "the method is an internal call";
        /// The runtime makes the code: `Invoke` of delegates, accessors of arrays.
        Runtime => "the method is made by the runtime";
        /// The code is native, in a mixed-mode assembly.
        Native => "the method is native";
        /// There is no code in the file (`extern`): the runtime finds it elsewhere, as that of an
        /// `UnsafeAccessor`.
        Extern => "the method has no code of its own";
        /// The method is the initialiser of a module that loads a helper assembly: whatever else it ran
        /// before could call what is not loaded yet.
        LoadsHelper => "the method loads a helper, and must not call one";
        /// The method is no part of the program: it was added to the metadata with its body.
        Added => "the method was added by the profiler";
    }
}

impl NotInstrumentable {
    /// Why a method has no IL, from what the metadata say of it (`GetMethodProps`): attributes,
    /// implementation flags and RVA. `None` if it has.
    ///
    /// ```
    /// use clr_profiler_il::edit::NotInstrumentable;
    ///
    /// // `public abstract void M();`
    /// let reason = NotInstrumentable::without_il(0x05c6, 0, 0);
    /// assert_eq!(reason, Some(NotInstrumentable::Abstract));
    /// assert_eq!(NotInstrumentable::without_il(0x0086, 0, 0x2050), None);
    /// ```
    #[must_use]
    #[doc(alias = "CorMethodAttr")]
    #[doc(alias = "CorMethodImpl")]
    pub const fn without_il(attributes: u32, impl_flags: u32, rva: u32) -> Option<Self> {
        Some(if attributes & ABSTRACT != 0 {
            Self::Abstract
        } else if attributes & PINVOKE != 0 {
            Self::PInvoke
        } else if impl_flags & INTERNAL_CALL != 0 {
            Self::InternalCall
        } else if impl_flags & CODE_TYPE == RUNTIME {
            Self::Runtime
        } else if impl_flags & CODE_TYPE == NATIVE || impl_flags & UNMANAGED != 0 {
            Self::Native
        } else if rva == 0 {
            Self::Extern
        } else {
            return None;
        })
    }
}

impl Error for NotInstrumentable {}
