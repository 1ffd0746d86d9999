//! Enumerations with a text for each variant.

/// Declares an enumeration and its `Display`. The text of a variant follows its declaration and may
/// name its fields; a literal after the name of the enumeration is a prefix of all texts.
///
/// ```text
/// messages! {
///     /// An error in a box.
///     #[derive(Debug)]
///     pub enum BoxError: "the box " {
///         /// It has no contents.
///         Empty => "is empty";
///         /// It holds something of another size.
///         Size(size: u32) => "cannot hold {size} bytes";
///     }
/// }
/// ```
macro_rules! messages {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(: $prefix:literal)? {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $(($value:ident: $value_type:ty))?
                $({ $($(#[$field_doc:meta])* $field:ident: $field_type:ty,)* })?
                => $text:literal $(, $argument:expr)*;
            )*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $(
                $(#[$doc])*
                $variant $(($value_type))? $({ $($(#[$field_doc])* $field: $field_type,)* })?,
            )*
        }

        impl std::fmt::Display for $name {
            #[allow(unused_variables, reason = "a text need not tell all")]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(f.write_str($prefix)?;)?
                match self {
                    $(
                        Self::$variant $(($value))? $({ $($field),* })? => {
                            write!(f, $text $(, $argument)*)
                        }
                    )*
                }
            }
        }
    };
}

pub(crate) use messages;
