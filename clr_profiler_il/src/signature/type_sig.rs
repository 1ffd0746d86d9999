use super::MethodSig;
use crate::token::TypeToken;

/// A type in a signature (ECMA-335 II.23.2.12), including custom modifiers (II.23.2.7), by-ref
/// (II.23.2.10) and `pinned` (II.23.2.9).
///
/// Types nest in the order of the blob, from outside to inside: `int&` with a modifier in front is
/// `Modified { inner: ByRef(I4), .. }`.
///
/// A `TypeSig` that was read is at most [`MAX_DEPTH`](super::MAX_DEPTH) deep, so that cloning,
/// comparing, printing and dropping it need little stack. One that is built by hand may be deeper;
/// [`write`](super::TypeSpecSig::write) refuses it.
///
/// ```
/// use clr_profiler_il::signature::{TokenNames, TypeSig, TypeSpecSig};
/// use clr_profiler_il::token::TypeRef;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let list = TypeRef::from_row(0x15).ok_or("a row has 24 bits")?;
/// let strings = TypeSig::GenericInstance {
///     is_value_type: false,
///     definition: list.into(),
///     arguments: vec![TypeSig::String],
/// };
/// assert_eq!(strings.display(&TokenNames).to_string(), "0x01000015<string>");
/// let blob = TypeSpecSig { type_sig: strings }.to_bytes()?;
/// assert_eq!(blob, [0x15, 0x12, 0x55, 0x01, 0x0e]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "CorElementType")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeSig {
    /// `void`: no value, or the target type of an untyped pointer.
    #[doc(alias = "ELEMENT_TYPE_VOID")]
    Void,
    /// `System.Boolean`.
    #[doc(alias = "ELEMENT_TYPE_BOOLEAN")]
    Bool,
    /// `System.Char`: a UTF-16 code unit.
    #[doc(alias = "ELEMENT_TYPE_CHAR")]
    Char,
    /// `System.SByte`.
    #[doc(alias = "ELEMENT_TYPE_I1")]
    I1,
    /// `System.Byte`.
    #[doc(alias = "ELEMENT_TYPE_U1")]
    U1,
    /// `System.Int16`.
    #[doc(alias = "ELEMENT_TYPE_I2")]
    I2,
    /// `System.UInt16`.
    #[doc(alias = "ELEMENT_TYPE_U2")]
    U2,
    /// `System.Int32`.
    #[doc(alias = "ELEMENT_TYPE_I4")]
    I4,
    /// `System.UInt32`.
    #[doc(alias = "ELEMENT_TYPE_U4")]
    U4,
    /// `System.Int64`.
    #[doc(alias = "ELEMENT_TYPE_I8")]
    I8,
    /// `System.UInt64`.
    #[doc(alias = "ELEMENT_TYPE_U8")]
    U8,
    /// `System.Single`.
    #[doc(alias = "ELEMENT_TYPE_R4")]
    R4,
    /// `System.Double`.
    #[doc(alias = "ELEMENT_TYPE_R8")]
    R8,
    /// `System.String`.
    #[doc(alias = "ELEMENT_TYPE_STRING")]
    String,
    /// `System.Object`.
    #[doc(alias = "ELEMENT_TYPE_OBJECT")]
    Object,
    /// `System.IntPtr`, a signed integer as wide as a pointer.
    #[doc(alias = "ELEMENT_TYPE_I")]
    NativeInt,
    /// `System.UIntPtr`, an unsigned integer as wide as a pointer.
    #[doc(alias = "ELEMENT_TYPE_U")]
    NativeUint,
    /// `System.TypedReference`: a managed pointer with its type.
    #[doc(alias = "ELEMENT_TYPE_TYPEDBYREF")]
    TypedReference,
    /// A reference type.
    #[doc(alias = "ELEMENT_TYPE_CLASS")]
    Class(TypeToken),
    /// A value type.
    #[doc(alias = "ELEMENT_TYPE_VALUETYPE")]
    ValueType(TypeToken),
    /// A generic type with its arguments, `List<int>`.
    #[doc(alias = "ELEMENT_TYPE_GENERICINST")]
    GenericInstance {
        /// Whether the generic type is a value type.
        is_value_type: bool,
        /// The generic type without arguments.
        definition: TypeToken,
        /// The arguments, those of enclosing types first. Never empty in a blob.
        arguments: Vec<TypeSig>,
    },
    /// A generic parameter of the enclosing type, counted from 0: `!0`.
    #[doc(alias = "ELEMENT_TYPE_VAR")]
    Var(u32),
    /// A generic parameter of the method, counted from 0: `!!0`.
    #[doc(alias = "ELEMENT_TYPE_MVAR")]
    MVar(u32),
    /// An unmanaged pointer, `T*`.
    #[doc(alias = "ELEMENT_TYPE_PTR")]
    Pointer(Box<TypeSig>),
    /// A managed pointer, `T&`: `ref`, `in` and `out` parameters.
    #[doc(alias = "ELEMENT_TYPE_BYREF")]
    ByRef(Box<TypeSig>),
    /// An array of one dimension with a lower bound of 0, `T[]`: a vector.
    #[doc(alias = "ELEMENT_TYPE_SZARRAY")]
    SzArray(Box<TypeSig>),
    /// An array of any number of dimensions, `T[,]`.
    #[doc(alias = "ELEMENT_TYPE_ARRAY")]
    Array {
        /// The type of the elements.
        element: Box<TypeSig>,
        /// The number of dimensions and their bounds.
        shape: Box<ArrayShape>,
    },
    /// A pointer to a function.
    #[doc(alias = "ELEMENT_TYPE_FNPTR")]
    FunctionPointer(Box<MethodSig>),
    /// A type with a custom modifier.
    #[doc(alias = "ELEMENT_TYPE_CMOD_REQD")]
    #[doc(alias = "ELEMENT_TYPE_CMOD_OPT")]
    Modified {
        /// Whether a compiler that does not know the modifier must refuse the type (`modreq`) or
        /// may ignore the modifier (`modopt`).
        required: bool,
        /// The type of the modifier.
        modifier: TypeToken,
        /// The modified type.
        inner: Box<TypeSig>,
    },
    /// A local whose target the garbage collector must not move.
    #[doc(alias = "ELEMENT_TYPE_PINNED")]
    Pinned(Box<TypeSig>),
}

/// The dimensions of an array (ECMA-335 II.23.2.13).
///
/// Sizes and lower bounds are listed from the first dimension on; further dimensions have none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// The number of dimensions, at least 1.
    pub rank: u32,
    /// The numbers of elements, at most `rank` of them.
    pub sizes: Vec<u32>,
    /// The lower bounds, at most `rank` of them.
    pub lower_bounds: Vec<i32>,
}

impl ArrayShape {
    /// Dimensions without bounds, as C# declares them.
    #[must_use]
    pub const fn unbounded(rank: u32) -> Self {
        Self {
            rank,
            sizes: Vec::new(),
            lower_bounds: Vec::new(),
        }
    }
}

/// Generates the conversions of primitives from one table.
///
/// `I4 = 0x08, "int" "int32", "System.Int32";` generates one match arm for each of: element type to
/// `TypeSig`, `TypeSig` to element type, `TypeSig` to its C# keyword and full name, and C# keyword
/// or `ilasm` name to `TypeSig`.
macro_rules! primitives {
    ($($variant:ident = $code:literal, $keyword:literal $($assembler:literal)?, $name:literal;)*) => {
        impl TypeSig {
            pub(crate) const fn from_primitive(element_type: u8) -> Option<Self> {
                match element_type {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            pub(super) const fn primitive(&self) -> Option<u8> {
                match self {
                    $(Self::$variant => Some($code),)*
                    _ => None,
                }
            }

            /// The C# keyword of a primitive and the full name of its type in the core library.
            #[must_use]
            pub const fn primitive_names(&self) -> Option<(&'static str, &'static str)> {
                match self {
                    $(Self::$variant => Some(($keyword, $name)),)*
                    _ => None,
                }
            }

            /// The full name of the type of the core library that a C# keyword names.
            #[cfg(feature = "patterns")]
            pub(crate) fn class_of_keyword(keyword: &str) -> Option<&'static str> {
                match keyword {
                    $($keyword => Some($name),)*
                    // Has no element type of its own.
                    "decimal" => Some("System.Decimal"),
                    _ => None,
                }
            }

            /// The primitive of a type of the core library, by the full name of the type.
            #[must_use]
            pub fn from_primitive_class(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// As [`from_primitive_class`](Self::from_primitive_class), by the name without `System.`.
            #[cfg(feature = "bodies")]
            pub(crate) fn from_system_class(class: &str) -> Option<Self> {
                $(
                    if $name.strip_prefix("System.") == Some(class) {
                        return Some(Self::$variant);
                    }
                )*
                None
            }

            /// The primitive with this C# keyword or `ilasm` name, if that is a single word.
            #[cfg(feature = "bodies")]
            pub(crate) fn from_primitive_name(name: &str) -> Option<Self> {
                match name {
                    $($keyword $(| $assembler)? => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

primitives! {
    Void = 0x01, "void", "System.Void";
    Bool = 0x02, "bool", "System.Boolean";
    Char = 0x03, "char", "System.Char";
    I1 = 0x04, "sbyte" "int8", "System.SByte";
    U1 = 0x05, "byte" "uint8", "System.Byte";
    I2 = 0x06, "short" "int16", "System.Int16";
    U2 = 0x07, "ushort" "uint16", "System.UInt16";
    I4 = 0x08, "int" "int32", "System.Int32";
    U4 = 0x09, "uint" "uint32", "System.UInt32";
    I8 = 0x0a, "long" "int64", "System.Int64";
    U8 = 0x0b, "ulong" "uint64", "System.UInt64";
    R4 = 0x0c, "float" "float32", "System.Single";
    R8 = 0x0d, "double" "float64", "System.Double";
    String = 0x0e, "string", "System.String";
    TypedReference = 0x16, "typedref", "System.TypedReference";
    NativeInt = 0x18, "nint", "System.IntPtr";
    NativeUint = 0x19, "nuint", "System.UIntPtr";
    Object = 0x1c, "object", "System.Object";
}

impl TypeSig {
    /// The type without its outermost modifiers and `pinned`.
    ///
    /// The types inside of a by-ref, pointer, array or argument list keep their modifiers.
    #[must_use]
    pub fn unmodified(&self) -> &Self {
        let mut current = self;
        while let Self::Modified { inner, .. } | Self::Pinned(inner) = current {
            current = inner;
        }
        current
    }

    /// Whether this is `void`, modified or not: a method with this return type returns no value.
    #[must_use]
    pub fn is_void(&self) -> bool {
        matches!(self.unmodified(), Self::Void)
    }

    /// Whether this is a managed pointer, modified or not.
    #[must_use]
    pub fn is_by_ref(&self) -> bool {
        matches!(self.unmodified(), Self::ByRef(_))
    }

    /// Whether this is a pinned local, modified or not.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        let mut current = self;
        loop {
            match current {
                Self::Pinned(_) => return true,
                Self::Modified { inner, .. } => current = inner,
                _ => return false,
            }
        }
    }

    /// Substitutes generic parameters: `!n` by `type_arguments[n]`, `!!n` by `method_arguments[n]`.
    ///
    /// A parameter without an argument is unchanged. Parameters inside of the arguments are not
    /// substituted, so these may be in terms of another method.
    ///
    /// ```
    /// use clr_profiler_il::signature::TypeSig;
    ///
    /// let vector = TypeSig::SzArray(Box::new(TypeSig::Var(0)));
    /// let strings = vector.substitute(&[TypeSig::String], &[]);
    /// assert_eq!(strings, TypeSig::SzArray(Box::new(TypeSig::String)));
    /// ```
    #[must_use]
    pub fn substitute(&self, type_arguments: &[Self], method_arguments: &[Self]) -> Self {
        let inner = |of: &Self| Box::new(of.substitute(type_arguments, method_arguments));
        let argument = |of: &[Self], index: u32| {
            usize::try_from(index)
                .ok()
                .and_then(|index| of.get(index))
                .cloned()
        };
        match self {
            Self::Var(index) => argument(type_arguments, *index).unwrap_or(Self::Var(*index)),
            Self::MVar(index) => argument(method_arguments, *index).unwrap_or(Self::MVar(*index)),
            Self::GenericInstance {
                is_value_type,
                definition,
                arguments,
            } => Self::GenericInstance {
                is_value_type: *is_value_type,
                definition: *definition,
                arguments: arguments
                    .iter()
                    .map(|of| of.substitute(type_arguments, method_arguments))
                    .collect(),
            },
            Self::Pointer(of) => Self::Pointer(inner(of)),
            Self::ByRef(of) => Self::ByRef(inner(of)),
            Self::SzArray(of) => Self::SzArray(inner(of)),
            Self::Pinned(of) => Self::Pinned(inner(of)),
            Self::Array { element, shape } => Self::Array {
                element: inner(element),
                shape: shape.clone(),
            },
            Self::Modified {
                required,
                modifier,
                inner: of,
            } => Self::Modified {
                required: *required,
                modifier: *modifier,
                inner: inner(of),
            },
            Self::FunctionPointer(method) => Self::FunctionPointer(Box::new(
                method.substitute(type_arguments, method_arguments),
            )),
            _ => self.clone(),
        }
    }
}
