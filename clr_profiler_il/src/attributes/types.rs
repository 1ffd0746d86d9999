//! Types and generic parameters.

use super::{attributes, values};

values! {
    /// The accessibility of a type.
    TypeVisibility {
        /// Code of the same assembly: the type is not nested.
        NotPublic = 0,
        /// All code: the type is not nested.
        Public = 1,
        /// All code that may use the enclosing type.
        NestedPublic = 2,
        /// Code of the enclosing type.
        NestedPrivate = 3,
        /// Code of the enclosing type and of types that derive from it.
        NestedFamily = 4,
        /// Code of the same assembly.
        NestedAssembly = 5,
        /// Code of types in the same assembly that derive from the enclosing type.
        NestedFamAndAssem = 6,
        ;
        /// Code of the same assembly, and of types that derive from the enclosing type.
        NestedFamOrAssem = 7,
    }

    /// The layout of the fields of a type.
    TypeLayout {
        /// The runtime chooses the layout.
        Auto = 0,
        /// Fields are in the order of the declaration.
        Sequential = 1,
        /// Fields are at the declared offsets.
        Explicit = 2,
        ..
    }

    /// The encoding of the strings of a type in native code.
    StringFormat {
        /// `LPSTR` is ANSI.
        Ansi = 0,
        /// `LPSTR` is UTF-16.
        Unicode = 1,
        /// The platform decides.
        Auto = 2,
        ;
        /// An encoding of the implementation's own, which
        /// [`CUSTOM_FORMAT_MASK`](TypeAttributes::CUSTOM_FORMAT_MASK) holds.
        CustomFormat = 3,
    }

    /// The variance of a generic parameter of an interface or delegate.
    Variance {
        /// No variance.
        NonVariant = 0,
        /// `out T`.
        Covariant = 1,
        /// `in T`.
        Contravariant = 2,
        ..
    }
}

attributes! {
    /// The attributes of a type (ECMA-335 II.23.1.15).
    TypeAttributes = "CorTypeAttr" {
        /// Its accessibility.
        visibility, with_visibility: TypeVisibility in VISIBILITY_MASK = 0x0000_0007;
        /// The layout of its fields.
        layout, with_layout: TypeLayout in LAYOUT_MASK = 0x0000_0018;
        /// The encoding of its strings in native code.
        string_format, with_string_format: StringFormat in STRING_FORMAT_MASK = 0x0003_0000;
    } {
        /// It is an interface. Other types are classes and value types.
        INTERFACE = 0x0000_0020;
        /// It has no instances of its own.
        ABSTRACT = 0x0000_0080;
        /// No type derives from it.
        SEALED = 0x0000_0100;
        /// Its name has a meaning.
        SPECIAL_NAME = 0x0000_0400;
        /// Its name has a meaning to the runtime.
        RT_SPECIAL_NAME = 0x0000_0800;
        /// It is imported from COM.
        IMPORT = 0x0000_1000;
        /// It can be serialized.
        SERIALIZABLE = 0x0000_2000;
        /// It is a type of the Windows Runtime.
        WINDOWS_RUNTIME = 0x0000_4000;
        /// It has security declarations.
        HAS_SECURITY = 0x0004_0000;
        /// Its initializer may run at any time before the first access to a static field.
        BEFORE_FIELD_INIT = 0x0010_0000;
        /// An exported type that is forwarded to another assembly.
        FORWARDER = 0x0020_0000;
    }

    /// The attributes of a generic parameter (ECMA-335 II.23.1.7).
    GenericParamAttributes = "CorGenericParamAttr" {
        /// Its variance.
        variance, with_variance: Variance in VARIANCE_MASK = 0x0003;
    } {
        /// `where T : class`.
        REFERENCE_TYPE_CONSTRAINT = 0x0004;
        /// `where T : struct`.
        NOT_NULLABLE_VALUE_TYPE_CONSTRAINT = 0x0008;
        /// `where T : new()`.
        DEFAULT_CONSTRUCTOR_CONSTRAINT = 0x0010;
        /// `where T : allows ref struct`.
        ACCEPT_BY_REF_LIKE = 0x0020;
    }
}

impl TypeAttributes {
    /// The bits that select the encoding [`StringFormat::CustomFormat`] is.
    pub const CUSTOM_FORMAT_MASK: Self = Self::from_bits_retain(0x00c0_0000);

    /// Whether the type is an interface.
    #[must_use]
    pub const fn is_interface(self) -> bool {
        self.contains(Self::INTERFACE)
    }
}
