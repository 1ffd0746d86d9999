//! `Debug` of types that hold nothing to be shown: handles and closures.

/// Prints values of these types by the name of the type.
macro_rules! opaque {
    ($($name:ident $(<$lifetime:lifetime>)?),*) => {$(
        impl std::fmt::Debug for $name $(<$lifetime>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
