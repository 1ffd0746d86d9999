//! Compares the attributes with the native definitions, in both directions: every native member has a
//! counterpart, and nothing else has.

use std::collections::BTreeSet;

use bitflags::Flags;
use clr_profiler_il::attributes::*;
use clr_profiler_sys::facts;

/// A native enumeration, and its members that are not accounted for yet.
struct Native {
    prefix: &'static str,
    members: &'static [(&'static str, i64)],
    left: BTreeSet<&'static str>,
}

/// Normalises a name: without underscores and capitals, and `mdAssem` equal to `fdAssembly`.
fn plain(name: &str) -> String {
    name.replace('_', "")
        .to_lowercase()
        .replace("assembly", "assem")
}

impl Native {
    fn of(enumeration: &str, prefix: &'static str) -> Self {
        let rows = facts::ENUMERATIONS.iter().copied().flatten();
        let members = rows
            .clone()
            .find(|row| row.name == enumeration)
            .unwrap_or_else(|| panic!("{enumeration} is no native enumeration"))
            .members;
        Self {
            prefix,
            members,
            left: members.iter().map(|(name, _)| *name).collect(),
        }
    }

    /// The value of the member with this name.
    fn value(&mut self, name: &str) -> Option<u32> {
        let prefix = self.prefix;
        let (member, value) = self.members.iter().find(|(member, _)| {
            member
                .strip_prefix(prefix)
                .is_some_and(|member| plain(member) == plain(name))
        })?;
        self.left.remove(member);
        Some(u32::try_from(*value).expect("an unsigned value"))
    }

    /// Each flag has the value of the member with its name.
    fn flags<F: Flags<Bits = u32>>(mut self) -> Self {
        for flag in F::FLAGS.iter().filter(|flag| !flag.name().is_empty()) {
            assert_eq!(
                self.value(flag.name()),
                Some(flag.value().bits()),
                "{}{}",
                self.prefix,
                flag.name()
            );
        }
        self
    }

    /// Checks a field of several bits: the member `mask` is its mask, and each of its numbers has the
    /// name of the member with this number, or is `Unknown` if there is none. `start` and `end` are the
    /// prefix and suffix of the members' names.
    fn field<T: std::fmt::Debug>(
        mut self,
        bits: u32,
        mask: &str,
        (start, end): (&str, &str),
        get: impl Fn(u32) -> T,
        with: impl Fn(T) -> u32,
    ) -> Self {
        assert_eq!(self.value(mask), Some(bits), "{mask}");
        for number in 0..=bits >> bits.trailing_zeros() {
            let value = number << bits.trailing_zeros();
            let name = format!("{:?}", get(value | !bits));
            assert_eq!(with(get(value)), value, "{name}");
            if name.starts_with("Unknown") {
                let others: Vec<_> = self
                    .left
                    .iter()
                    .filter(|member| self.number(member) == i64::from(value))
                    .filter(|member| member[self.prefix.len()..].starts_with(start))
                    .filter(|_| !start.is_empty())
                    .collect();
                assert!(others.is_empty(), "{name}: {others:?}");
            } else {
                let native = format!("{start}{name}{end}");
                assert_eq!(self.value(&native), Some(value), "{native}");
            }
        }
        self
    }

    fn number(&self, name: &str) -> i64 {
        let member = self.members.iter().find(|(member, _)| *member == name);
        member.expect("a member").1
    }

    /// Checks that only these members are left, which are not attributes.
    fn leaves(self, rest: &[&str]) {
        assert_eq!(self.left, rest.iter().copied().collect());
    }
}

/// Calls [`Native::field`] with the getter and the setter of a type.
macro_rules! field {
    ($native:expr, $type:ident::$mask:ident, $native_mask:literal, $around:expr, $get:ident, $with:ident) => {
        $native.field(
            $type::$mask.bits(),
            $native_mask,
            $around,
            |bits| $type::from_bits_retain(bits).$get(),
            |value| $type::empty().$with(value).bits(),
        )
    };
}

#[test]
fn types() {
    let native = Native::of("CorTypeAttr", "td").flags::<TypeAttributes>();
    let native = field!(
        native,
        TypeAttributes::VISIBILITY_MASK,
        "VisibilityMask",
        ("", ""),
        visibility,
        with_visibility
    );
    let native = field!(
        native,
        TypeAttributes::LAYOUT_MASK,
        "LayoutMask",
        ("", "Layout"),
        layout,
        with_layout
    );
    let mut native = field!(
        native,
        TypeAttributes::STRING_FORMAT_MASK,
        "StringFormatMask",
        ("", "Class"),
        string_format,
        with_string_format
    );
    assert_eq!(
        native.value("CustomFormatMask"),
        Some(TypeAttributes::CUSTOM_FORMAT_MASK.bits())
    );
    // Zero where `tdInterface` is not set.
    assert_eq!(native.value("Class"), Some(0));
    native.leaves(&["tdClassSemanticsMask", "tdReservedMask"]);
}

#[test]
fn methods() {
    let native = Native::of("CorMethodAttr", "md").flags::<MethodAttributes>();
    let mut native = field!(
        native,
        MethodAttributes::MEMBER_ACCESS_MASK,
        "MemberAccessMask",
        ("", ""),
        access,
        with_access
    );
    // Zero where `mdNewSlot` is not set.
    assert_eq!(native.value("ReuseSlot"), Some(0));
    native.leaves(&["mdReservedMask", "mdVtableLayoutMask"]);
}

#[test]
fn implementations() {
    // Newer than the headers of the definitions.
    const ASYNC: u32 = 0x2000;
    assert_eq!(MethodImplAttributes::ASYNC.bits(), ASYNC);
    let mut native = Native::of("CorMethodImpl", "mi");
    for flag in MethodImplAttributes::FLAGS {
        let bits = flag.value().bits();
        if !flag.name().is_empty() && bits != ASYNC {
            assert_eq!(native.value(flag.name()), Some(bits), "{}", flag.name());
        }
    }
    let mut native = field!(
        native,
        MethodImplAttributes::CODE_TYPE_MASK,
        "CodeTypeMask",
        ("", ""),
        code_type,
        with_code_type
    );
    // Zero where `miUnmanaged` is not set.
    assert_eq!(native.value("Managed"), Some(0));
    native.leaves(&["miManagedMask", "miMaxMethodImplVal", "miUserMask"]);
}

#[test]
fn fields() {
    let native = Native::of("CorFieldAttr", "fd").flags::<FieldAttributes>();
    let native = field!(
        native,
        FieldAttributes::FIELD_ACCESS_MASK,
        "FieldAccessMask",
        ("", ""),
        access,
        with_access
    );
    native.leaves(&["fdReservedMask"]);
}

#[test]
fn members_have_what_methods_and_fields_have() {
    let native = Native::of("CorMethodAttr", "md").flags::<MemberAttributes>();
    let native = field!(
        native,
        MemberAttributes::MEMBER_ACCESS_MASK,
        "MemberAccessMask",
        ("", ""),
        access,
        with_access
    );
    drop(native);
    let native = Native::of("CorFieldAttr", "fd").flags::<MemberAttributes>();
    let native = field!(
        native,
        MemberAttributes::MEMBER_ACCESS_MASK,
        "FieldAccessMask",
        ("", ""),
        access,
        with_access
    );
    drop(native);
}

#[test]
fn parameters_properties_and_events() {
    Native::of("CorParamAttr", "pd")
        .flags::<ParamAttributes>()
        .leaves(&["pdReservedMask", "pdUnused"]);
    Native::of("CorPropertyAttr", "pr")
        .flags::<PropertyAttributes>()
        .leaves(&["prReservedMask", "prUnused"]);
    Native::of("CorEventAttr", "ev")
        .flags::<EventAttributes>()
        .leaves(&["evReservedMask"]);
    Native::of("CorMethodSemanticsAttr", "ms")
        .flags::<MethodSemanticsAttributes>()
        .leaves(&[]);
}

#[test]
fn native_functions() {
    let native = Native::of("CorPinvokeMap", "pm").flags::<PInvokeAttributes>();
    let native = field!(
        native,
        PInvokeAttributes::CHAR_SET_MASK,
        "CharSetMask",
        ("CharSet", ""),
        char_set,
        with_char_set
    );
    let native = field!(
        native,
        PInvokeAttributes::BEST_FIT_MASK,
        "BestFitMask",
        ("BestFit", ""),
        best_fit,
        with_best_fit
    );
    let native = field!(
        native,
        PInvokeAttributes::CALL_CONV_MASK,
        "CallConvMask",
        ("CallConv", ""),
        call_conv,
        with_call_conv
    );
    let native = field!(
        native,
        PInvokeAttributes::THROW_ON_UNMAPPABLE_CHAR_MASK,
        "ThrowOnUnmappableCharMask",
        ("ThrowOnUnmappableChar", ""),
        throw_on_unmappable_char,
        with_throw_on_unmappable_char
    );
    native.leaves(&["pmMaxValue"]);
}

#[test]
fn assemblies() {
    let native = Native::of("CorAssemblyFlags", "af").flags::<AssemblyFlags>();
    let native = field!(
        native,
        AssemblyFlags::PA_MASK,
        "PA_Mask",
        ("PA_", ""),
        processor_architecture,
        with_processor_architecture
    );
    let native = field!(
        native,
        AssemblyFlags::CONTENT_TYPE_MASK,
        "ContentType_Mask",
        ("ContentType_", ""),
        content_type,
        with_content_type
    );
    native.leaves(&["afDebuggableAttributeMask", "afPA_FullMask", "afPA_Shift"]);

    let mut native = Native::of("CorFileFlags", "ff").flags::<FileAttributes>();
    assert_eq!(native.value("ContainsMetaData"), Some(0));
    native.leaves(&[]);

    let native = Native::of("CorManifestResourceFlags", "mr").flags::<ManifestResourceAttributes>();
    let native = field!(
        native,
        ManifestResourceAttributes::VISIBILITY_MASK,
        "VisibilityMask",
        ("", ""),
        visibility,
        with_visibility
    );
    native.leaves(&[]);
}

#[test]
fn security_declarations() {
    let mut native = Native::of("CorDeclSecurity", "dcl");
    for number in 0..=15 {
        let action = SecurityAction::from_number(number);
        assert_eq!(action.number(), number);
        let name = match action {
            SecurityAction::Nil => "ActionNil".to_owned(),
            action => format!("{action:?}"),
        };
        assert_eq!(native.value(&name), Some(number), "{name}");
    }
    assert_eq!(SecurityAction::from_number(16), SecurityAction::Unknown(16));
    native.leaves(&["dclActionMask", "dclMaximumValue"]);
}

#[test]
fn generic_parameters() {
    let native = Native::of("CorGenericParamAttr", "gp").flags::<GenericParamAttributes>();
    let mut native = field!(
        native,
        GenericParamAttributes::VARIANCE_MASK,
        "VarianceMask",
        ("", ""),
        variance,
        with_variance
    );
    // Zero where no constraint is set.
    assert_eq!(native.value("NoSpecialConstraint"), Some(0));
    native.leaves(&["gpSpecialConstraintMask"]);
}
