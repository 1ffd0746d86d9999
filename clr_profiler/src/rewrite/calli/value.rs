//! The types of Rust that IL has, too.

use clr_profiler_il::signature::TypeSig;

/// Keeps the traits to this crate.
pub trait SealedReturn: 'static {
    #[doc(hidden)]
    const ZERO: Self;

    #[doc(hidden)]
    fn type_sig() -> TypeSig;
}

/// What can be passed to a [`NativeCall`](super::NativeCall): integers, floats and pointers.
///
/// Any bits are a value of these types, so whatever the IL passes is fine as a value. A pointer is
/// no more than a number, before someone says why it may be followed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed from IL to Rust",
    note = "i8 to i64, u8 to u64, isize, usize, f32, f64 and pointers can; pass a `bool` as a `u8`"
)]
pub trait NativeValue: NativeReturn + Copy {}

/// What a [`NativeCall`](super::NativeCall) can return: a [`NativeValue`] or nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from Rust to IL",
    note = "nothing, i8 to i64, u8 to u64, isize, usize, f32, f64 and pointers can"
)]
pub trait NativeReturn: SealedReturn {}

impl SealedReturn for () {
    const ZERO: Self = ();

    fn type_sig() -> TypeSig {
        TypeSig::Void
    }
}

impl NativeReturn for () {}

macro_rules! values {
    ($($({$parameter:ident})? $type:ty = $zero:expr, $sig:ident;)*) => {$(
        impl$(<$parameter: 'static>)? SealedReturn for $type {
            const ZERO: Self = $zero;

            fn type_sig() -> TypeSig {
                TypeSig::$sig
            }
        }
        impl$(<$parameter: 'static>)? NativeReturn for $type {}
        impl$(<$parameter: 'static>)? NativeValue for $type {}
    )*};
}

values! {
    i8 = 0, I1;
    u8 = 0, U1;
    i16 = 0, I2;
    u16 = 0, U2;
    i32 = 0, I4;
    u32 = 0, U4;
    i64 = 0, I8;
    u64 = 0, U8;
    isize = 0, NativeInt;
    usize = 0, NativeUint;
    f32 = 0.0, R4;
    f64 = 0.0, R8;
    {T} *const T = std::ptr::null(), NativeInt;
    {T} *mut T = std::ptr::null_mut(), NativeInt;
}
