//! Methods, fields, parameters, properties and events.

use super::{attributes, values};

values! {
    /// The accessibility of a method or field.
    #[doc(alias = "CompilerControlled")]
    MemberAccess {
        /// Code of the same module, by the token (`privatescope`).
        PrivateScope = 0,
        /// Code of the same type.
        Private = 1,
        /// Code of derived types that are in the same assembly.
        FamAndAssem = 2,
        /// Code of the same assembly.
        Assembly = 3,
        /// Code of derived types.
        Family = 4,
        /// Code of derived types and of the same assembly.
        FamOrAssem = 5,
        /// All code.
        Public = 6,
        ..
    }

    /// The kind of code of a method.
    CodeType {
        /// IL.
        IL = 0,
        /// Native code.
        Native = 1,
        /// Optimized IL, which no runtime has.
        OptIL = 2,
        ;
        /// Code that the runtime generates.
        Runtime = 3,
    }

    /// The encoding of strings for a native function.
    CharSet {
        /// Not specified.
        NotSpec = 0,
        /// An encoding of 8-bit units.
        Ansi = 1,
        /// UTF-16.
        Unicode = 2,
        ;
        /// The encoding of the platform.
        Auto = 3,
    }

    /// The calling convention of a native function.
    CallConv {
        /// The default of the platform.
        Winapi = 1,
        /// The caller cleans the stack.
        Cdecl = 2,
        /// The callee cleans the stack.
        Stdcall = 3,
        /// A method of C++.
        Thiscall = 4,
        /// The first arguments are in registers.
        Fastcall = 5,
        ..
    }

    /// Whether a conversion of strings for native code is enabled.
    PInvokeOption {
        /// The assembly decides.
        UseAssem = 0,
        /// It is enabled.
        Enabled = 1,
        /// It is disabled.
        Disabled = 2,
        ..
    }
}

attributes! {
    /// The attributes of a method (ECMA-335 II.23.1.10).
    MethodAttributes = "CorMethodAttr" {
        /// Its accessibility.
        access, with_access: MemberAccess in MEMBER_ACCESS_MASK = 0x0007;
    } {
        /// It is exported to native code.
        UNMANAGED_EXPORT = 0x0008;
        /// It belongs to the type, not to an instance.
        STATIC = 0x0010;
        /// It cannot be overridden.
        FINAL = 0x0020;
        /// It is virtual.
        VIRTUAL = 0x0040;
        /// It hides methods by name and signature; without the flag, only by name.
        HIDE_BY_SIG = 0x0080;
        /// It always gets a new slot in the vtable, and overrides nothing.
        NEW_SLOT = 0x0100;
        /// Only code that may use it may override it.
        #[doc(alias = "Strict")]
        CHECK_ACCESS_ON_OVERRIDE = 0x0200;
        /// It has no implementation.
        ABSTRACT = 0x0400;
        /// Its name has a meaning, such as that of a property's getter.
        SPECIAL_NAME = 0x0800;
        /// Its name has a meaning to the runtime, such as that of a constructor.
        RT_SPECIAL_NAME = 0x1000;
        /// It is implemented by a native function.
        PINVOKE_IMPL = 0x2000;
        /// It has security declarations.
        HAS_SECURITY = 0x4000;
        /// It calls a method with security declarations.
        REQUIRE_SEC_OBJECT = 0x8000;
    }

    /// The attributes of the implementation of a method (ECMA-335 II.23.1.11).
    MethodImplAttributes = "CorMethodImpl" {
        /// The kind of its code.
        code_type, with_code_type: CodeType in CODE_TYPE_MASK = 0x0003;
    } {
        /// Its code is not managed.
        UNMANAGED = 0x0004;
        /// It is not inlined.
        NO_INLINING = 0x0008;
        /// It is declared, and implemented elsewhere.
        FORWARD_REF = 0x0010;
        /// A call of it holds a lock on the object, or on the type if it is static.
        SYNCHRONIZED = 0x0020;
        /// It is compiled without optimization.
        NO_OPTIMIZATION = 0x0040;
        /// Its signature is that of the native function: no HRESULT becomes an exception.
        PRESERVE_SIG = 0x0080;
        /// It is inlined where possible.
        AGGRESSIVE_INLINING = 0x0100;
        /// It is compiled with all optimizations at once.
        AGGRESSIVE_OPTIMIZATION = 0x0200;
        /// The runtime implements it in native code.
        INTERNAL_CALL = 0x1000;
        /// The runtime suspends and resumes it (.NET 10).
        ASYNC = 0x2000;
    }

    /// The attributes of a field (ECMA-335 II.23.1.5).
    FieldAttributes = "CorFieldAttr" {
        /// Its accessibility.
        access, with_access: MemberAccess in FIELD_ACCESS_MASK = 0x0007;
    } {
        /// It belongs to the type, not to an instance.
        STATIC = 0x0010;
        /// Only constructors and initializers set it (`readonly`).
        INIT_ONLY = 0x0020;
        /// It is a constant of the metadata (`const`).
        LITERAL = 0x0040;
        /// It is not serialized.
        NOT_SERIALIZED = 0x0080;
        /// It has data in the image.
        HAS_FIELD_RVA = 0x0100;
        /// Its name has a meaning.
        SPECIAL_NAME = 0x0200;
        /// Its name has a meaning to the runtime.
        RT_SPECIAL_NAME = 0x0400;
        /// It has marshalling information.
        HAS_FIELD_MARSHAL = 0x1000;
        /// It is implemented by a native library.
        PINVOKE_IMPL = 0x2000;
        /// It has a constant.
        HAS_DEFAULT = 0x8000;
    }

    /// The common attributes of methods and fields, for a member that can be either.
    MemberAttributes = "CorMethodAttr" {
        /// Its accessibility.
        access, with_access: MemberAccess in MEMBER_ACCESS_MASK = 0x0007;
    } {
        /// It belongs to the type, not to an instance.
        STATIC = 0x0010;
        /// It is implemented by a native library.
        PINVOKE_IMPL = 0x2000;
    }

    /// The attributes of a parameter (ECMA-335 II.23.1.13).
    ParamAttributes = "CorParamAttr" {} {
        /// It is passed to the method.
        IN = 0x0001;
        /// It is passed back by the method.
        OUT = 0x0002;
        /// It can be omitted in a call.
        OPTIONAL = 0x0010;
        /// It has a default value.
        HAS_DEFAULT = 0x1000;
        /// It has marshalling information.
        HAS_FIELD_MARSHAL = 0x2000;
    }

    /// The attributes of a property (ECMA-335 II.23.1.14).
    PropertyAttributes = "CorPropertyAttr" {} {
        /// Its name has a meaning.
        SPECIAL_NAME = 0x0200;
        /// Its name has a meaning to the runtime.
        RT_SPECIAL_NAME = 0x0400;
        /// It has a default value.
        HAS_DEFAULT = 0x1000;
    }

    /// The attributes of an event (ECMA-335 II.23.1.4).
    EventAttributes = "CorEventAttr" {} {
        /// Its name has a meaning.
        SPECIAL_NAME = 0x0200;
        /// Its name has a meaning to the runtime.
        RT_SPECIAL_NAME = 0x0400;
    }

    /// The role of a method in a property or event (ECMA-335 II.23.1.12).
    MethodSemanticsAttributes = "CorMethodSemanticsAttr" {} {
        /// It sets the property.
        SETTER = 0x0001;
        /// It reads the property.
        GETTER = 0x0002;
        /// It has another role.
        OTHER = 0x0004;
        /// It adds a handler to the event.
        ADD_ON = 0x0008;
        /// It removes a handler from the event.
        REMOVE_ON = 0x0010;
        /// It raises the event.
        FIRE = 0x0020;
    }

    /// The properties of a native function (ECMA-335 II.23.1.8).
    PInvokeAttributes = "CorPinvokeMap" {
        /// The encoding of strings.
        char_set, with_char_set: CharSet in CHAR_SET_MASK = 0x0006;
        /// Whether characters without an equivalent are replaced by similar ones.
        best_fit, with_best_fit: PInvokeOption in BEST_FIT_MASK = 0x0030;
        /// The calling convention.
        call_conv, with_call_conv: CallConv in CALL_CONV_MASK = 0x0700;
        /// Whether characters without an equivalent cause an exception.
        throw_on_unmappable_char, with_throw_on_unmappable_char: PInvokeOption
            in THROW_ON_UNMAPPABLE_CHAR_MASK = 0x3000;
    } {
        /// The name is the exact name of the function, without suffixes such as `A` and `W`.
        NO_MANGLE = 0x0001;
        /// The last error of the platform is saved after the call.
        SUPPORTS_LAST_ERROR = 0x0040;
    }
}

impl MethodAttributes {
    /// Whether the method belongs to the type, not to an instance.
    #[must_use]
    pub const fn is_static(self) -> bool {
        self.contains(Self::STATIC)
    }
}

impl FieldAttributes {
    /// Whether the field belongs to the type, not to an instance.
    #[must_use]
    pub const fn is_static(self) -> bool {
        self.contains(Self::STATIC)
    }
}

impl MemberAttributes {
    /// The attributes of a member that is a method.
    #[must_use]
    pub const fn of_method(self) -> MethodAttributes {
        MethodAttributes::from_bits_retain(self.bits())
    }

    /// The attributes of a member that is a field.
    #[must_use]
    pub const fn of_field(self) -> FieldAttributes {
        FieldAttributes::from_bits_retain(self.bits())
    }
}
