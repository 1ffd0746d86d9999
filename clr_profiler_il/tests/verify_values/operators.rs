//! Operators, branches, and joins.

use super::*;

#[test]
fn operators() {
    check(
        "float and int32 cannot be combined",
        |f| {
            f.ldarg(FLOAT).ldc_i4(1).conv_r8().add().pop().ret();
        },
        |f| {
            f.ldarg(FLOAT).ldc_i4(1).add().pop().ret();
        },
    );
    check(
        "int64 and int32 cannot be combined",
        |f| {
            f.ldarg(NATIVE).ldc_i4(1).mul().pop().ret();
        },
        |f| {
            f.ldarg(LONG).ldc_i4(1).mul().pop().ret();
        },
    );
    check(
        "managed pointer and managed pointer cannot be combined",
        |f| {
            f.ldarg(BY_REF).ldarg(BY_REF).sub().pop().ret();
        },
        |f| {
            f.ldarg(BY_REF).ldarg(BY_REF).add().pop().ret();
        },
    );
    check(
        "float and float cannot be combined",
        |f| {
            f.ldarg(FLOAT).ldarg(FLOAT).rem().pop().ret();
        },
        |f| {
            f.ldarg(FLOAT).ldarg(FLOAT).xor().pop().ret();
        },
    );
    check(
        "int64 and int64 cannot be combined",
        |f| {
            f.ldarg(LONG).ldarg(INT).shl().pop().ret();
        },
        |f| {
            f.ldarg(LONG).ldarg(LONG).shl().pop().ret();
        },
    );
    check(
        "object and object cannot be combined",
        |f| {
            f.ldarg(OBJECT).ldnull().cgt_un().pop().ret();
        },
        |f| {
            f.ldarg(OBJECT).ldnull().cgt().pop().ret();
        },
    );
    check(
        "value of 0x02000002 and value of 0x02000002 cannot be combined",
        |f| {
            f.ldarg(GENERIC).ldarg(GENERIC).ceq().pop().ret();
        },
        |f| {
            f.ldarg(STRUCT).ldarg(STRUCT).ceq().pop().ret();
        },
    );
    check(
        "value of !!0 and value of !!0 cannot be combined",
        |f| {
            f.ldarg(GENERIC).ldarg(GENERIC).ceq().pop().ret();
        },
        |f| {
            f.ldarg(GENERIC).ldarg(GENERIC).add().pop().ret();
        },
    );
    check(
        "operand 1 is float, not an integer",
        |f| {
            f.ldarg(FLOAT).neg().pop().ret();
        },
        |f| {
            f.ldarg(FLOAT).not().pop().ret();
        },
    );
    check(
        "operand 1 is value of 0x02000002, not a number",
        |f| {
            f.ldarg(BY_REF).conv_u().pop().ret();
        },
        |f| {
            f.ldarg(STRUCT).conv_u().pop().ret();
        },
    );
    check(
        "operand 1 is int32, not float",
        |f| {
            f.ldarg(FLOAT).ckfinite().pop().ret();
        },
        |f| {
            f.ldarg(INT).ckfinite().pop().ret();
        },
    );
}

#[test]
fn branches() {
    check(
        "operand 1 is float, not an integer, an object or an address",
        |f| {
            let end = f.label();
            f.ldarg(OBJECT).brtrue(end).mark(end).ret();
        },
        |f| {
            let end = f.label();
            f.ldarg(FLOAT).brtrue(end).mark(end).ret();
        },
    );
    check(
        "operand 1 is int64, not int32 or native int",
        |f| {
            let end = f.label();
            f.ldarg(ENUM).switch(&[end]).mark(end).ret();
        },
        |f| {
            let end = f.label();
            f.ldarg(LONG).switch(&[end]).mark(end).ret();
        },
    );
    check(
        "object and int32 cannot be combined",
        |f| {
            let end = f.label();
            f.ldarg(OBJECT).ldnull().beq(end).mark(end).ret();
        },
        |f| {
            let end = f.label();
            f.ldarg(OBJECT).ldc_i4(0).beq(end).mark(end).ret();
        },
    );
}

#[test]
fn joins() {
    check(
        "control arrives with int32 as value 2 on the stack, on another path with object",
        |f| {
            let (other, end) = (f.label(), f.label());
            f.ldnull().ldarg(INT).brtrue(other);
            f.ldarg(INT).br(end);
            f.mark(other).ldarg(NATIVE);
            f.mark(end).pop().pop().ret();
        },
        |f| {
            let (other, end) = (f.label(), f.label());
            f.ldnull().ldarg(INT).brtrue(other);
            f.ldarg(OBJECT).br(end);
            f.mark(other).ldarg(INT);
            f.mark(end).pop().pop().ret();
        },
    );
    check(
        "control arrives with 1 values on the stack, on another path with 0",
        |f| {
            let again = f.label();
            f.mark(again).ldarg(INT).brtrue(again).ret();
        },
        |f| {
            let again = f.label();
            f.mark(again).ldnull().ldarg(INT).brtrue(again);
            f.pop().ret();
        },
    );
    // The result of combining a native integer with an `int32` is visible after the join, whichever
    // path is first.
    check(
        "native int and int64 cannot be combined",
        |f| {
            let (again, out) = (f.label(), f.label());
            f.ldc_i4(0).mark(again).ldarg(INT).brtrue(out);
            f.ldarg(NATIVE).add().br(again);
            f.mark(out).ldarg(INT).add().pop().ret();
        },
        |f| {
            let (again, out) = (f.label(), f.label());
            f.ldc_i4(0).mark(again).ldarg(INT).brtrue(out);
            f.ldarg(NATIVE).add().br(again);
            f.mark(out).ldarg(LONG).add().pop().ret();
        },
    );
    // All objects are of one kind, whatever their type.
    let (_, violations) = verify(&TypeSig::String, |f| {
        let (other, end) = (f.label(), f.label());
        f.ldarg(INT).brtrue(other);
        f.newobj(method(6)).br(end);
        f.mark(other).ldstr("text");
        f.mark(end).ret();
    });
    assert_eq!(violations, []);
}
