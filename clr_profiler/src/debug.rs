//! `Debug` of types that hold what is not to be shown: handles and closures.

/// Prints values of these types by the name of the type, with the fields that are named.
macro_rules! opaque {
    ($(
        $name:ident $(<$lifetime:lifetime>)?
        $({ $this:ident => $($field:ident: $value:expr),* })?
    ),*) => {$(
        impl std::fmt::Debug for $name $(<$lifetime>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(let $this = self;)?
                f.debug_struct(stringify!($name))
                    $($(.field(stringify!($field), &$value))*)?
                    .finish_non_exhaustive()
            }
        }
    )*};
}
