//! Callees, `this` and arguments.

use super::*;

#[test]
fn arguments_of_calls() {
    check(
        "operand 1 is int32, not object",
        |f| {
            f.ldarg(OBJECT).call(method(1)).ret();
        },
        |f| {
            f.ldarg(INT).call(method(1)).ret();
        },
    );
    check(
        "operand 2 is int32, not int64",
        |f| {
            f.ldarg(ENUM).ldarg(LONG).call(method(2)).pop().ret();
        },
        |f| {
            f.ldarg(INT).ldc_i4(1).call(method(2)).pop().ret();
        },
    );
    check(
        "2 values are taken from a stack of 1",
        |f| {
            f.ldarg(INT).ldarg(LONG).call(method(2)).pop().ret();
        },
        |f| {
            f.ldarg(LONG).call(method(2)).pop().ret();
        },
    );
    check(
        "a call of an unknown method",
        |f| {
            f.call(MethodSymbol::new("A", "B", "void ()")).ret();
        },
        |f| {
            f.call(method(99)).ret();
        },
    );
    // After the declared arguments.
    check(
        "operand 2 is object, not float",
        |f| {
            f.ldarg(INT).ldarg(FLOAT);
            f.call(MemberRef::from_row(1).unwrap()).ret();
        },
        |f| {
            f.ldarg(INT).ldarg(OBJECT);
            f.call(MemberRef::from_row(1).unwrap()).ret();
        },
    );
    // A returned structure has the kind of that structure.
    pair(
        "operand 1 is value of 0x02000003, not value of 0x02000002",
        value(structure()),
        |f| {
            f.call(method(7)).ret();
        },
        |f| {
            f.ldarg(OTHER).ret();
        },
    );
}

#[test]
fn what_is_called_on_what() {
    check(
        "operand 1 is managed pointer, not object",
        |f| {
            f.ldarg(OBJECT).ldc_i4(1).callvirt(method(3)).ret();
        },
        |f| {
            f.ldarg(BY_REF).ldc_i4(1).callvirt(method(3)).ret();
        },
    );
    check(
        "operand 1 is value of 0x02000002, not an address",
        |f| {
            f.ldarga(STRUCT).call(method(4)).ret();
        },
        |f| {
            f.ldarg(STRUCT).call(method(4)).ret();
        },
    );
    check(
        "operand 1 is object, not an address",
        |f| {
            f.ldarga(GENERIC).ldc_i4(1);
            f.constrained(type_def(7)).callvirt(method(3)).ret();
        },
        |f| {
            f.ldarg(OBJECT).ldc_i4(1);
            f.constrained(type_def(7)).callvirt(method(3)).ret();
        },
    );
    check(
        "operand 1 is value of 0x02000002, not object",
        |f| {
            f.newobj(method(6)).call(method(1)).ret();
        },
        |f| {
            f.ldc_i4(1).newobj(method(5)).call(method(1)).ret();
        },
    );
}

#[test]
fn indirect_calls() {
    check(
        "operand 2 is object, not native int",
        |f| {
            f.ldarg(INT).ldftn(MethodDef::from_row(1).unwrap());
            f.calli(StandAloneSig::from_row(1).unwrap()).pop().ret();
        },
        |f| {
            f.ldarg(INT).ldarg(OBJECT);
            f.calli(StandAloneSig::from_row(1).unwrap()).pop().ret();
        },
    );
    // `this` is one of the parameters.
    check(
        "operand 1 is int32, not object",
        |f| {
            f.ldarg(OBJECT).ldarg(INT).ldarg(NATIVE);
            f.calli(StandAloneSig::from_row(2).unwrap()).ret();
        },
        |f| {
            f.ldarg(INT).ldarg(INT).ldarg(NATIVE);
            f.calli(StandAloneSig::from_row(2).unwrap()).ret();
        },
    );
}
