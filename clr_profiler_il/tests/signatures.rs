//! Tables: each form of signature as bytes, as a value and as text.

use clr_profiler_il::signature::{
    ArrayShape, CallingConvention, FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig,
    NameStyle, PropertySig, SignatureErrorKind, StandAloneSig, TokenNames, TypeNames, TypeSig,
    TypeSpecSig,
};
use clr_profiler_il::token::{Token, TypeToken};

fn token(raw: u32) -> TypeToken {
    TypeToken::try_from(Token::new(raw)).unwrap()
}

/// Names TypeRef 1 to 3 and TypeDef 1.
struct Names;

impl TypeNames for Names {
    fn type_name(&self, token: TypeToken, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
        out.write_str(match token.raw() {
            0x0100_0001 => "List",
            0x0100_0002 => "Dictionary",
            0x0100_0003 => "IsVolatile",
            0x0200_0001 => "Point",
            _ => "?",
        })
    }

    fn type_parameter(&self, index: u32, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
        write!(out, "T{index}")
    }
}

fn boxed(of: TypeSig) -> Box<TypeSig> {
    Box::new(of)
}

fn list_of(arguments: Vec<TypeSig>) -> TypeSig {
    TypeSig::GenericInstance {
        is_value_type: false,
        definition: token(0x0100_0001),
        arguments,
    }
}

fn array(element: TypeSig, rank: u32, sizes: &[u32], lower_bounds: &[i32]) -> TypeSig {
    let shape = ArrayShape {
        rank,
        sizes: sizes.to_vec(),
        lower_bounds: lower_bounds.to_vec(),
    };
    TypeSig::Array {
        element: boxed(element),
        shape: Box::new(shape),
    }
}

fn volatile(required: bool, inner: TypeSig) -> TypeSig {
    TypeSig::Modified {
        required,
        modifier: token(0x0100_0003),
        inner: boxed(inner),
    }
}

fn check_type(bytes: &[u8], type_sig: TypeSig, text: &str) {
    let spec = TypeSpecSig { type_sig };
    assert_eq!(TypeSpecSig::parse(bytes), Ok(spec.clone()), "{text}");
    assert_eq!(spec.to_bytes().as_deref(), Ok(bytes), "{text}");
    assert_eq!(spec.display(&Names).to_string(), text);
    assert_eq!(spec.type_sig.display(&Names).to_string(), text);
}

fn check_method(bytes: &[u8], method: MethodSig, text: &str) {
    assert_eq!(MethodSig::parse(bytes), Ok(method.clone()), "{text}");
    assert_eq!(method.to_bytes().as_deref(), Ok(bytes), "{text}");
    assert_eq!(method.display(&Names).to_string(), text);
    let member = MemberRefSig::Method(method.clone());
    assert_eq!(MemberRefSig::parse(bytes), Ok(member.clone()));
    assert_eq!(member.to_bytes().as_deref(), Ok(bytes));
    let alone = StandAloneSig::Method(method);
    assert_eq!(StandAloneSig::parse(bytes), Ok(alone.clone()));
    assert_eq!(alone.to_bytes().as_deref(), Ok(bytes));
    assert_eq!(
        alone.display(&Names).to_string(),
        member.display(&Names).to_string()
    );
}

#[test]
fn every_primitive() {
    let table = [
        (0x01, TypeSig::Void, "void", "System.Void"),
        (0x02, TypeSig::Bool, "bool", "System.Boolean"),
        (0x03, TypeSig::Char, "char", "System.Char"),
        (0x04, TypeSig::I1, "sbyte", "System.SByte"),
        (0x05, TypeSig::U1, "byte", "System.Byte"),
        (0x06, TypeSig::I2, "short", "System.Int16"),
        (0x07, TypeSig::U2, "ushort", "System.UInt16"),
        (0x08, TypeSig::I4, "int", "System.Int32"),
        (0x09, TypeSig::U4, "uint", "System.UInt32"),
        (0x0a, TypeSig::I8, "long", "System.Int64"),
        (0x0b, TypeSig::U8, "ulong", "System.UInt64"),
        (0x0c, TypeSig::R4, "float", "System.Single"),
        (0x0d, TypeSig::R8, "double", "System.Double"),
        (0x0e, TypeSig::String, "string", "System.String"),
        (
            0x16,
            TypeSig::TypedReference,
            "typedref",
            "System.TypedReference",
        ),
        (0x18, TypeSig::NativeInt, "nint", "System.IntPtr"),
        (0x19, TypeSig::NativeUint, "nuint", "System.UIntPtr"),
        (0x1c, TypeSig::Object, "object", "System.Object"),
    ];
    for (byte, type_sig, keyword, full) in table {
        let text = type_sig
            .display(&TokenNames)
            .style(NameStyle::Full)
            .to_string();
        assert_eq!(text, full);
        check_type(&[byte], type_sig, keyword);
    }
}

#[test]
fn every_other_element_type() {
    let point = token(0x0200_0001);
    check_type(&[0x12, 0x05], TypeSig::Class(token(0x0100_0001)), "List");
    check_type(&[0x11, 0x04], TypeSig::ValueType(point), "Point");
    check_type(&[0x13, 0x01], TypeSig::Var(1), "T1");
    check_type(&[0x1e, 0x80, 0x80], TypeSig::MVar(0x80), "!!128");
    check_type(
        &[0x0f, 0x01],
        TypeSig::Pointer(boxed(TypeSig::Void)),
        "void*",
    );
    check_type(&[0x10, 0x08], TypeSig::ByRef(boxed(TypeSig::I4)), "int&");
    check_type(
        &[0x1d, 0x0e],
        TypeSig::SzArray(boxed(TypeSig::String)),
        "string[]",
    );
    check_type(
        &[0x45, 0x10, 0x05],
        TypeSig::Pinned(boxed(TypeSig::ByRef(boxed(TypeSig::U1)))),
        "byte& pinned",
    );
    check_type(
        &[0x1f, 0x0d, 0x08],
        volatile(true, TypeSig::I4),
        "int modreq(IsVolatile)",
    );
    check_type(
        &[0x20, 0x0d, 0x08],
        volatile(false, TypeSig::I4),
        "int modopt(IsVolatile)",
    );
    check_type(
        &[0x15, 0x12, 0x05, 0x01, 0x08],
        list_of(vec![TypeSig::I4]),
        "List<int>",
    );
    let pair = TypeSig::GenericInstance {
        is_value_type: true,
        definition: point,
        arguments: vec![TypeSig::Var(0), TypeSig::MVar(0)],
    };
    check_type(
        &[0x15, 0x11, 0x04, 0x02, 0x13, 0x00, 0x1e, 0x00],
        pair,
        "Point<T0, !!0>",
    );
    check_type(
        &[0x1b, 0x00, 0x01, 0x01, 0x08],
        TypeSig::FunctionPointer(Box::new(MethodSig::new(TypeSig::Void, vec![TypeSig::I4]))),
        "delegate*<int, void>",
    );
}

#[test]
fn generics_nest() {
    let dictionary = TypeSig::GenericInstance {
        is_value_type: false,
        definition: token(0x0100_0002),
        arguments: vec![
            TypeSig::String,
            list_of(vec![TypeSig::SzArray(boxed(list_of(vec![TypeSig::MVar(
                0,
            )])))]),
        ],
    };
    let bytes = [
        0x15, 0x12, 0x09, 0x02, 0x0e, 0x15, 0x12, 0x05, 0x01, 0x1d, 0x15, 0x12, 0x05, 0x01, 0x1e,
        0x00,
    ];
    check_type(&bytes, dictionary, "Dictionary<string, List<List<!!0>[]>>");
}

#[test]
fn arrays_with_and_without_bounds() {
    let table: &[(&[u8], TypeSig, &str)] = &[
        (
            &[0x14, 0x08, 1, 0, 0],
            array(TypeSig::I4, 1, &[], &[]),
            "int[*]",
        ),
        (
            &[0x14, 0x08, 2, 0, 0],
            array(TypeSig::I4, 2, &[], &[]),
            "int[,]",
        ),
        (
            &[0x14, 0x08, 2, 0, 2, 0, 0],
            array(TypeSig::I4, 2, &[], &[0, 0]),
            "int[,]",
        ),
        (
            &[0x14, 0x08, 1, 1, 3, 0],
            array(TypeSig::I4, 1, &[3], &[]),
            "int[0...2]",
        ),
        (
            &[0x14, 0x08, 1, 1, 4, 1, 2],
            array(TypeSig::I4, 1, &[4], &[1]),
            "int[1...4]",
        ),
        (
            &[0x14, 0x08, 3, 1, 5, 2, 0x7b, 0x80, 0x01],
            array(TypeSig::I4, 3, &[5], &[-3, -8192]),
            "int[-3...1,-8192...,]",
        ),
        (
            &[0x14, 0x08, 1, 1, 0xdf, 0xff, 0xff, 0xff, 1, 0xc0, 0, 0, 1],
            array(TypeSig::I4, 1, &[0x1fff_ffff], &[-0x1000_0000]),
            "int[-268435456...268435454]",
        ),
        (
            &[0x14, 0x08, 0xdf, 0xff, 0xff, 0xff, 0, 0],
            array(TypeSig::I4, 0x1fff_ffff, &[], &[]),
            "int[rank 536870911]",
        ),
        (
            &[0x1d, 0x14, 0x08, 2, 0, 0],
            TypeSig::SzArray(boxed(array(TypeSig::I4, 2, &[], &[]))),
            "int[,][]",
        ),
    ];
    for (bytes, type_sig, text) in table {
        check_type(bytes, type_sig.clone(), text);
    }
    assert_eq!(
        array(TypeSig::I4, 2, &[], &[]),
        TypeSig::Array {
            element: boxed(TypeSig::I4),
            shape: Box::new(ArrayShape::unbounded(2)),
        }
    );
}

#[test]
fn every_calling_convention() {
    let table = [
        (0x00, CallingConvention::Default, "", ""),
        (
            0x01,
            CallingConvention::C,
            "unmanaged[Cdecl] ",
            " unmanaged[Cdecl]",
        ),
        (
            0x02,
            CallingConvention::StdCall,
            "unmanaged[Stdcall] ",
            " unmanaged[Stdcall]",
        ),
        (
            0x03,
            CallingConvention::ThisCall,
            "unmanaged[Thiscall] ",
            " unmanaged[Thiscall]",
        ),
        (
            0x04,
            CallingConvention::FastCall,
            "unmanaged[Fastcall] ",
            " unmanaged[Fastcall]",
        ),
        (0x05, CallingConvention::VarArg, "vararg ", " vararg"),
        (
            0x09,
            CallingConvention::Unmanaged,
            "unmanaged ",
            " unmanaged",
        ),
        (
            0x0b,
            CallingConvention::NativeVarArg,
            "unmanaged vararg ",
            " unmanaged vararg",
        ),
    ];
    for (code, convention, before, in_pointer) in table {
        let managed = matches!(code, 0x00 | 0x05);
        assert_eq!(convention.is_unmanaged(), !managed);
        for flags in 0..8_u8 {
            let [generic, has_this, explicit_this] = [1, 2, 4].map(|bit| flags & bit != 0);
            let mut method = MethodSig::new(TypeSig::I4, vec![TypeSig::I8]);
            method.convention = convention;
            method.has_this = has_this;
            method.explicit_this = explicit_this;
            method.generic_parameter_count = u32::from(generic) * 3;
            let mut bytes = vec![code | flags << 4];
            bytes.extend(generic.then_some(3));
            bytes.extend([0x01, 0x08, 0x0a]);
            let this = if has_this { "instance " } else { "" };
            let explicit = if explicit_this { "explicit " } else { "" };
            let count = if generic { "<[3]>" } else { "" };
            let text = format!("{this}{explicit}{before}int {count}(long)");
            check_method(&bytes, method.clone(), &text);
            assert_eq!(
                method.argument_count(),
                1 + usize::from(has_this && !explicit_this)
            );

            let pointer = TypeSig::FunctionPointer(Box::new(method));
            let this = if has_this { " instance" } else { "" };
            let explicit = if explicit_this { " explicit" } else { "" };
            let text = format!("delegate*{this}{explicit}{in_pointer}{count}<long, int>");
            assert_eq!(pointer.display(&Names).to_string(), text);
        }
    }
    for code in [0x06, 0x07, 0x08, 0x0a, 0x0c, 0x0d, 0x0e, 0x0f, 0x80] {
        let error = MethodSig::parse(&[code, 0x00, 0x01]).unwrap_err();
        let wrong = SignatureErrorKind::WrongSignatureKind {
            expected: "method",
            found: code,
        };
        assert_eq!((error.kind(), error.offset()), (wrong, 0));
    }
}

#[test]
fn further_arguments_follow_a_sentinel() {
    let mut method = MethodSig::new(
        TypeSig::Void,
        vec![TypeSig::String, TypeSig::I4, TypeSig::I8],
    );
    method.convention = CallingConvention::VarArg;
    method.sentinel = Some(1);
    let bytes = [0x05, 0x03, 0x01, 0x0e, 0x41, 0x08, 0x0a];
    check_method(
        &bytes,
        method.clone(),
        "vararg void (string, ..., int, long)",
    );

    method.sentinel = Some(0);
    let bytes = [0x05, 0x03, 0x01, 0x41, 0x0e, 0x08, 0x0a];
    check_method(
        &bytes,
        method.clone(),
        "vararg void (..., string, int, long)",
    );

    method.convention = CallingConvention::C;
    assert_eq!(
        MethodSig::parse(&method.to_bytes().unwrap()),
        Ok(method.clone())
    );

    method.convention = CallingConvention::Default;
    let unexpected = SignatureErrorKind::UnexpectedSentinel;
    assert_eq!(method.to_bytes().unwrap_err().kind(), unexpected);
    method.convention = CallingConvention::VarArg;
    method.sentinel = Some(3);
    let at_end = SignatureErrorKind::SentinelAtEnd {
        position: 3,
        parameters: 3,
    };
    assert_eq!(method.to_bytes().unwrap_err().kind(), at_end);
}

#[test]
fn a_function_pointer_leaves_the_sentinel_of_its_method() {
    // A vararg method that takes a vararg function pointer, and one variable argument.
    let bytes = [0x05, 0x02, 0x01, 0x1b, 0x05, 0x00, 0x01, 0x41, 0x08];
    let mut inner = MethodSig::new(TypeSig::Void, vec![]);
    inner.convention = CallingConvention::VarArg;
    let pointer = TypeSig::FunctionPointer(Box::new(inner));
    let mut method = MethodSig::new(TypeSig::Void, vec![pointer, TypeSig::I4]);
    method.convention = CallingConvention::VarArg;
    method.sentinel = Some(1);
    check_method(
        &bytes,
        method,
        "vararg void (delegate* vararg<void>, ..., int)",
    );
}

#[test]
fn modifiers_stand_in_return_type_and_parameters() {
    let bytes = [
        0x20, 0x02, 0x20, 0x0d, 0x01, 0x1f, 0x0d, 0x10, 0x08, 0x10, 0x20, 0x0d, 0x0e,
    ];
    let method = MethodSig::instance(
        volatile(false, TypeSig::Void),
        vec![
            volatile(true, TypeSig::ByRef(boxed(TypeSig::I4))),
            TypeSig::ByRef(boxed(volatile(false, TypeSig::String))),
        ],
    );
    assert!(method.return_type.is_void());
    assert!(method.params.iter().all(TypeSig::is_by_ref));
    let text = "instance void modopt(IsVolatile) (int& modreq(IsVolatile), \
                string modopt(IsVolatile)&)";
    check_method(&bytes, method, text);
}

#[test]
fn fields() {
    let bytes = [0x06, 0x1f, 0x0d, 0x08];
    let field = FieldSig {
        field_type: volatile(true, TypeSig::I4),
    };
    assert_eq!(FieldSig::parse(&bytes), Ok(field.clone()));
    assert_eq!(field.to_bytes().as_deref(), Ok(&bytes[..]));
    assert_eq!(field.display(&Names).to_string(), "int modreq(IsVolatile)");
    let member = MemberRefSig::Field(field.clone());
    assert_eq!(MemberRefSig::parse(&bytes), Ok(member.clone()));
    assert_eq!(member.to_bytes().as_deref(), Ok(&bytes[..]));
    assert_eq!(member.display(&Names).to_string(), "int modreq(IsVolatile)");
    let alone = StandAloneSig::Field(field);
    assert_eq!(StandAloneSig::parse(&bytes), Ok(alone.clone()));
    assert_eq!(alone.to_bytes().as_deref(), Ok(&bytes[..]));
}

#[test]
fn properties() {
    let table: &[(&[u8], bool, &[TypeSig], &str)] = &[
        (&[0x08, 0x00, 0x08], false, &[], "int"),
        (&[0x28, 0x00, 0x08], true, &[], "instance int"),
        (
            &[0x28, 0x02, 0x08, 0x0e, 0x1c],
            true,
            &[TypeSig::String, TypeSig::Object],
            "instance int [string, object]",
        ),
    ];
    for &(bytes, has_this, params, text) in table {
        let params = params.to_vec();
        let property = PropertySig {
            has_this,
            property_type: TypeSig::I4,
            params,
        };
        assert_eq!(PropertySig::parse(bytes), Ok(property.clone()));
        assert_eq!(property.to_bytes().as_deref(), Ok(bytes));
        assert_eq!(property.display(&Names).to_string(), text);
    }
}

#[test]
fn locals_keep_their_number_and_grow() {
    let bytes = [0x07, 0x03, 0x45, 0x10, 0x08, 0x16, 0x1f, 0x0d, 0x45, 0x1c];
    let locals = LocalsSig {
        locals: vec![
            TypeSig::Pinned(boxed(TypeSig::ByRef(boxed(TypeSig::I4)))),
            TypeSig::TypedReference,
            volatile(true, TypeSig::Pinned(boxed(TypeSig::Object))),
        ],
    };
    assert_eq!(LocalsSig::parse(&bytes), Ok(locals.clone()));
    assert_eq!(locals.to_bytes().as_deref(), Ok(&bytes[..]));
    let pinned: Vec<bool> = locals.locals.iter().map(TypeSig::is_pinned).collect();
    assert_eq!(pinned, [true, false, true]);
    let text = "([0] int& pinned, [1] typedref, [2] object pinned modreq(IsVolatile))";
    assert_eq!(locals.display(&Names).to_string(), text);
    assert_eq!(
        StandAloneSig::parse(&bytes),
        Ok(StandAloneSig::Locals(locals.clone()))
    );
    assert_eq!(
        StandAloneSig::Locals(locals.clone()).to_bytes().as_deref(),
        Ok(&bytes[..])
    );

    assert_eq!(LocalsSig::parse(&[0x07, 0x00]), Ok(LocalsSig::default()));
    assert_eq!(
        LocalsSig::default().to_bytes().as_deref(),
        Ok(&[0x07, 0x00][..])
    );

    // The count's width changes between 127 and 128.
    let mut many = LocalsSig {
        locals: vec![TypeSig::I4; 127],
    };
    assert_eq!(many.to_bytes().unwrap().len(), 2 + 127);
    assert_eq!(many.push(TypeSig::String), Ok(127));
    assert_eq!(many.to_bytes().unwrap().len(), 3 + 128);
    assert_eq!(LocalsSig::parse(&many.to_bytes().unwrap()), Ok(many));
}

#[test]
fn method_specifications() {
    let bytes = [0x0a, 0x02, 0x08, 0x13, 0x00];
    let spec = MethodSpecSig {
        arguments: vec![TypeSig::I4, TypeSig::Var(0)],
    };
    assert_eq!(MethodSpecSig::parse(&bytes), Ok(spec.clone()));
    assert_eq!(spec.to_bytes().as_deref(), Ok(&bytes[..]));
    assert_eq!(spec.display(&Names).to_string(), "<int, T0>");
    let filled = spec.substitute(&[TypeSig::String], &[]);
    assert_eq!(filled.display(&Names).to_string(), "<int, string>");
}

#[test]
fn generic_parameters_are_replaced() {
    let inside = |of: TypeSig| {
        let mut callback = MethodSig::new(of.clone(), vec![of.clone()]);
        callback.convention = CallingConvention::Unmanaged;
        MethodSig::instance(
            list_of(vec![of.clone()]),
            vec![
                TypeSig::Pointer(boxed(of.clone())),
                TypeSig::ByRef(boxed(of.clone())),
                TypeSig::SzArray(boxed(of.clone())),
                TypeSig::Pinned(boxed(of.clone())),
                array(of.clone(), 2, &[1], &[-1]),
                volatile(true, of.clone()),
                TypeSig::FunctionPointer(Box::new(callback)),
                of,
            ],
        )
    };
    let open = inside(TypeSig::Var(1));
    assert_eq!(
        open.substitute(&[TypeSig::I4, TypeSig::R8], &[]),
        inside(TypeSig::R8)
    );
    assert_eq!(
        open.substitute(&[TypeSig::I4], &[TypeSig::I4, TypeSig::I8]),
        open
    );
    let open = inside(TypeSig::MVar(0));
    assert_eq!(
        open.substitute(&[], &[TypeSig::Var(7)]),
        inside(TypeSig::Var(7))
    );
    // Substituted arguments are not substituted again.
    let swapped = TypeSig::Var(0).substitute(&[TypeSig::MVar(0)], &[TypeSig::Var(0)]);
    assert_eq!(swapped, TypeSig::MVar(0));
    assert_eq!(
        TypeSig::Var(u32::MAX).substitute(&[TypeSig::I4], &[]),
        TypeSig::Var(u32::MAX)
    );

    let field = FieldSig {
        field_type: TypeSig::Var(0),
    };
    assert_eq!(field.substitute(&[TypeSig::I4]).field_type, TypeSig::I4);
    let locals = LocalsSig {
        locals: vec![TypeSig::Var(0), TypeSig::MVar(0)],
    };
    let filled = locals.substitute(&[TypeSig::I4], &[TypeSig::I8]);
    assert_eq!(filled.locals, [TypeSig::I4, TypeSig::I8]);
}

#[test]
fn the_style_reaches_every_part() {
    let method = MethodSig::instance(
        TypeSig::Void,
        vec![
            list_of(vec![TypeSig::I4]),
            TypeSig::SzArray(boxed(TypeSig::Object)),
        ],
    );
    let names: &dyn TypeNames = &Names;
    let full = method.display(names).style(NameStyle::Full);
    assert_eq!(
        full.to_string(),
        "instance System.Void (List<System.Int32>, System.Object[])"
    );
    let parameters = method.display_parameters(names);
    assert_eq!(format!("{parameters}"), "(List<int>, object[])");
    assert_eq!(
        format!("{parameters:?}"),
        "SignatureDisplay((List<int>, object[]))"
    );
    let tokens = method.display_parameters(&TokenNames).to_string();
    assert_eq!(tokens, "(0x01000001<int>, object[])");
}
