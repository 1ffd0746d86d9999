//! `Debug` of types with fields that are not printed: handles and closures.

/// Implements `Debug`, which prints the name of the type and the given fields.
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
