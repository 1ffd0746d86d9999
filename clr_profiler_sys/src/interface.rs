//! The macro that declares interfaces.

use windows_core::GUID;

/// Declares interfaces, one line a method, and a table `INTERFACES` of them.
///
/// ```text
/// interfaces! {
///     /// Allocates method bodies.
///     "A0EFB28B-6EE2-4D7B-B983-A75EF7BEEDB8"
///     IMethodMalloc, IMethodMalloc_Vtbl: IUnknown {
///         /// Allocates a body.
///         fn Alloc(cb: ULONG) -> PVOID;
///     }
/// }
/// ```
///
/// becomes
///
/// ```text
/// pub struct IMethodMalloc(IUnknown);
/// impl Deref for IMethodMalloc { type Target = IUnknown; ... }
/// unsafe impl Interface for IMethodMalloc {
///     type Vtable = IMethodMalloc_Vtbl;
///     const IID: GUID = guid("A0EFB28B-6EE2-4D7B-B983-A75EF7BEEDB8");
/// }
/// impl InterfaceFacts for IMethodMalloc { ... }
/// impl IMethodMalloc { pub unsafe fn Alloc(&self, cb: ULONG) -> PVOID { ... } }
/// #[repr(C)]
/// pub struct IMethodMalloc_Vtbl {
///     pub base__: IUnknown_Vtbl,
///     pub Alloc: unsafe extern "system" fn(*mut c_void, cb: ULONG) -> PVOID,
/// }
/// ```
///
/// A method without `->` returns the whole HRESULT: `S_FALSE` is not lost.
macro_rules! interfaces {
    (@returns) => { ::windows_core::HRESULT };
    (@returns $returns:ty) => { $returns };
    (@return_type) => { "HRESULT" };
    (@return_type $returns:ty) => { stringify!($returns) };
    ($(
        $(#[$doc:meta])*
        $iid:literal
        $name:ident, $vtable:ident: $parent:ident {
            $(
                $(#[$method_doc:meta])*
                fn $method:ident($($parameter:ident: $type:ty),* $(,)?) $(-> $returns:ty)?;
            )*
        }
    )*) => {
        pub(crate) const INTERFACES: &[$crate::facts::InterfaceRow] =
            &[$($crate::facts::InterfaceRow::of::<$name>()),*];

        $(
            $(#[$doc])*
            #[repr(transparent)]
            #[derive(Clone, PartialEq, Eq, Debug)]
            pub struct $name($parent);

            impl ::core::ops::Deref for $name {
                type Target = $parent;

                fn deref(&self) -> &$parent {
                    &self.0
                }
            }

            // SAFETY: the type is a transparent pointer all the way up to `IUnknown`, whose clone
            // and drop it inherits; IID and vtable are in one declaration and are
            // compared with the reference by the tests.
            unsafe impl ::windows_core::Interface for $name {
                type Vtable = $vtable;
                const IID: ::windows_core::GUID = $crate::interface::guid($iid);
            }

            impl $crate::facts::InterfaceFacts for $name {
                const NAME: &'static str = stringify!($name);
                const PARENT: &'static str = stringify!($parent);
                const METHODS: &'static [$crate::facts::Method] = &[$($crate::facts::Method {
                    name: stringify!($method),
                    slot: ::core::mem::offset_of!($vtable, $method) / size_of::<usize>(),
                    return_type: interfaces!(@return_type $($returns)?),
                    returns: size_of::<interfaces!(@returns $($returns)?)>(),
                    parameters: &[$($crate::facts::Parameter {
                        name: stringify!($parameter),
                        type_name: stringify!($type),
                        size: size_of::<$type>(),
                        pointee: <$type as $crate::facts::Argument>::POINTEE,
                    }),*],
                }),*];
            }

            impl $name {
                $(
                    $(#[$method_doc])*
                    ///
                    /// # Safety
                    /// The arguments meet the interface definition: pointers are valid
                    /// for reading or writing as many elements as it says, or null where it allows
                    /// that. The call is legal now: in this callback, on this thread.
                    #[inline]
                    pub unsafe fn $method(
                        &self,
                        $($parameter: $type),*
                    ) -> interfaces!(@returns $($returns)?) {
                        let vtable = ::windows_core::Interface::vtable(self);
                        let this = ::windows_core::Interface::as_raw(self);
                        // SAFETY: `Interface` vouches for the vtable and for `this`, the caller for
                        // the arguments.
                        unsafe { (vtable.$method)(this, $($parameter),*) }
                    }
                )*
            }

            #[doc = concat!("The vtable of [`", stringify!($name), "`].")]
            #[repr(C)]
            pub struct $vtable {
                /// The vtable of the interface that this one extends.
                pub base__: <$parent as ::windows_core::Interface>::Vtable,
                $(
                    $(#[$method_doc])*
                    pub $method: unsafe extern "system" fn(
                        this: *mut ::core::ffi::c_void,
                        $($parameter: $type),*
                    ) -> interfaces!(@returns $($returns)?),
                )*
            }

            impl ::core::fmt::Debug for $vtable {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(stringify!($vtable)).finish_non_exhaustive()
                }
            }
        )*
    };
}
pub(crate) use interfaces;

/// The GUID of the form `XXXXXXXX-XXXX-XXXX-XXXX-XXXXXXXXXXXX`; anything else does not
/// compile.
pub(crate) const fn guid(text: &str) -> GUID {
    let text = text.as_bytes();
    assert!(text.len() == 36, "a GUID has 36 characters");
    let mut value = 0u128;
    let mut index = 0;
    while index < text.len() {
        if matches!(index, 8 | 13 | 18 | 23) {
            assert!(
                text[index] == b'-',
                "a GUID has hyphens after 8, 4, 4 and 4 digits"
            );
        } else {
            let digit = (text[index] as char)
                .to_digit(16)
                .expect("a GUID has hexadecimal digits");
            value = value << 4 | digit as u128;
        }
        index += 1;
    }
    GUID::from_u128(value)
}
