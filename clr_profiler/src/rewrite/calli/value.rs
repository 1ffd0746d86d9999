//! The Rust types that IL has, too.

use clr_profiler_il::signature::TypeSig;

/// Seals the trait.
pub trait SealedReturn: 'static {
    #[doc(hidden)]
    const ZERO: Self;

    #[doc(hidden)]
    fn type_sig() -> TypeSig;
}

/// A type that can be passed to a [`NativeCall`](super::NativeCall): an integer, float or pointer.
///
/// Any bits are a value of these types, so all values that the IL passes are valid. A pointer is only a
/// number until the caller argues why it may be dereferenced.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed from IL to Rust",
    note = "i8 to i64, u8 to u64, isize, usize, f32, f64 and pointers can; pass a `bool` as a `u8`"
)]
pub trait NativeValue: NativeReturn + Copy {}

/// A type that a [`NativeCall`](super::NativeCall) can return: a [`NativeValue`] or nothing.
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
