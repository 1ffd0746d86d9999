//! Variables, fields, elements, addresses, and boxing.

use super::*;

#[test]
fn variables_and_returns() {
    check(
        "operand 1 is managed pointer, not object",
        |f| {
            f.ldarg(OBJECT).stloc(OBJECT).ret();
        },
        |f| {
            f.ldarg(BY_REF).stloc(OBJECT).ret();
        },
    );
    check(
        "operand 1 is value of 0x02000002, not value of 0x02000003",
        |f| {
            f.ldarg(OTHER).stloc(OTHER).ret();
        },
        |f| {
            f.ldarg(STRUCT).stloc(OTHER).ret();
        },
    );
    check(
        "operand 1 is object, not value of !!0",
        |f| {
            f.ldarg(OBJECT).unbox_any(type_def(7)).starg(GENERIC).ret();
        },
        |f| {
            f.ldarg(OBJECT).starg(GENERIC).ret();
        },
    );
    check(
        "there is no argument 11",
        |f| {
            f.ldarg(10).pop().ret();
        },
        |f| {
            f.ldarg(11).pop().ret();
        },
    );
    check(
        "there is no local 11",
        |f| {
            f.ldloc(10).pop().ret();
        },
        |f| {
            f.ldloc(11).pop().ret();
        },
    );
    pair(
        "operand 1 is int64, not int32",
        TypeSig::Bool,
        |f| {
            f.ldarg(ENUM).ret();
        },
        |f| {
            f.ldarg(LONG).ret();
        },
    );
    pair(
        "1 values are taken from a stack of 0",
        TypeSig::Object,
        |f| {
            f.ldnull().ret();
        },
        |f| {
            f.ret();
        },
    );
    check(
        "1 values are left on the stack, which must be empty",
        |f| {
            f.ret();
        },
        |f| {
            f.ldnull().ret();
        },
    );
}

#[test]
fn fields_elements_and_addresses() {
    check(
        "operand 1 is int32, not object",
        |f| {
            f.ldarg(OBJECT).ldfld(field(1)).pop().ret();
        },
        |f| {
            f.ldarg(INT).ldfld(field(1)).pop().ret();
        },
    );
    check(
        "operand 1 is value of 0x02000003, not an object or an address",
        |f| {
            f.ldarg(STRUCT).ldfld(field(2)).pop();
            f.ldarga(STRUCT).ldfld(field(2)).pop();
            f.ldarg(NATIVE).ldflda(field(2)).pop().ret();
        },
        |f| {
            f.ldarg(OTHER).ldfld(field(2)).pop().ret();
        },
    );
    check(
        "operand 1 is value of 0x02000002, not an address",
        |f| {
            f.ldarga(STRUCT).ldnull().stfld(field(2)).ret();
        },
        |f| {
            f.ldarg(STRUCT).ldnull().stfld(field(2)).ret();
        },
    );
    check(
        "operand 2 is object, not int32",
        |f| {
            f.ldarg(OBJECT).ldarg(ENUM).stfld(field(1)).ret();
        },
        |f| {
            f.ldarg(OBJECT).ldnull().stfld(field(1)).ret();
        },
    );
    check(
        "operand 1 is int32, not int64",
        |f| {
            f.ldarg(LONG).stsfld(field(3)).ret();
        },
        |f| {
            f.ldarg(INT).stsfld(field(3)).ret();
        },
    );
    check(
        "operand 1 is object, not an address",
        |f| {
            f.ldarg(NATIVE).ldind_i4().pop().ret();
        },
        |f| {
            f.ldarg(OBJECT).ldind_i4().pop().ret();
        },
    );
    check(
        "operand 2 is int64, not int32",
        |f| {
            f.ldarg(BY_REF).ldarg(INT).stind_i4().ret();
        },
        |f| {
            f.ldarg(BY_REF).ldarg(LONG).stind_i4().ret();
        },
    );
    check(
        "operand 2 is native int, not object",
        |f| {
            f.ldarg(BY_REF).ldarg(OBJECT).stind_ref().ret();
        },
        |f| {
            f.ldarg(BY_REF).ldarg(NATIVE).stind_ref().ret();
        },
    );
    check(
        "operand 2 is float, not int32 or native int",
        |f| {
            f.ldarg(OBJECT).ldarg(NATIVE).ldelem_u1().pop().ret();
        },
        |f| {
            f.ldarg(OBJECT).ldarg(FLOAT).ldelem_u1().pop().ret();
        },
    );
    check(
        "operand 3 is value of 0x02000002, not value of 0x02000003",
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldarg(OTHER);
            f.stelem(other_structure()).ret();
        },
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldarg(STRUCT);
            f.stelem(other_structure()).ret();
        },
    );
    check(
        "operand 1 is object, not int32 or native int",
        |f| {
            f.ldarg(INT).newarr(class()).pop().ret();
        },
        |f| {
            f.ldarg(OBJECT).newarr(class()).pop().ret();
        },
    );
}

#[test]
fn values_and_objects() {
    check(
        "operand 1 is object, not value of 0x02000002",
        |f| {
            f.ldarg(STRUCT).box_(structure()).call(method(1)).ret();
        },
        |f| {
            f.ldarg(OBJECT).box_(structure()).call(method(1)).ret();
        },
    );
    check(
        "operand 1 is value of 0x02000002, not object",
        |f| {
            f.ldarg(OBJECT).unbox_any(structure()).stloc(STRUCT).ret();
        },
        |f| {
            f.ldarg(STRUCT).unbox_any(structure()).stloc(STRUCT).ret();
        },
    );
    check(
        "operand 2 is int64, not value of 0x02000002",
        |f| {
            f.ldloca(STRUCT).ldarg(STRUCT).stobj(structure()).ret();
        },
        |f| {
            f.ldloca(STRUCT).ldarg(LONG).stobj(structure()).ret();
        },
    );
    check(
        "operand 1 is object, not value of a structure",
        |f| {
            f.ldarg(BY_REF).mkrefany(type_def(8));
            f.refanyval(type_def(8)).pop().ret();
        },
        |f| {
            f.ldarg(OBJECT).refanyval(type_def(8)).pop().ret();
        },
    );
    check(
        "operand 1 is value of a structure, not object",
        |f| {
            f.ldtoken(class()).stloc(STRUCT).ret();
        },
        |f| {
            f.ldtoken(class()).call(method(1)).ret();
        },
    );
    check(
        "operand 1 is int32, not object",
        |f| {
            f.newobj(method(6)).throw();
        },
        |f| {
            f.ldc_i4(1).throw();
        },
    );
    check(
        "operand 1 is value of !!0, not object",
        |f| {
            f.ldarg(GENERIC).box_(type_def(7)).isinst(class()).pop();
            f.ret();
        },
        |f| {
            f.ldarg(GENERIC).isinst(class()).pop().ret();
        },
    );
}

#[test]
fn blocks_and_results() {
    check(
        "operand 2 is object, not an address",
        |f| {
            f.ldarg(BY_REF).ldarg(NATIVE).ldarg(INT).cpblk().ret();
        },
        |f| {
            f.ldarg(BY_REF).ldarg(OBJECT).ldarg(INT).cpblk().ret();
        },
    );
    check(
        "operand 2 is float, not native int",
        |f| {
            f.ldarg(BY_REF).ldarg(NATIVE).stind_i().ret();
        },
        |f| {
            f.ldarg(BY_REF).ldarg(FLOAT).stind_i().ret();
        },
    );
    check(
        "operand 3 is int64, not int32",
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldarg(INT).stelem_i1().ret();
        },
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldarg(LONG).stelem_i1().ret();
        },
    );
    check(
        "operand 3 is object, not native int",
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldarg(NATIVE).stelem_i().ret();
        },
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldarg(OBJECT).stelem_i().ret();
        },
    );
    check(
        "operand 1 is object, not int32",
        |f| {
            f.ldarg(OBJECT).isinst(class()).stloc(OBJECT).ret();
        },
        |f| {
            f.ldarg(OBJECT).isinst(class()).stloc(INT).ret();
        },
    );
    check(
        "operand 1 is managed pointer, not int32",
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldelema(class());
            f.stloc(BY_REF).ret();
        },
        |f| {
            f.ldarg(OBJECT).ldc_i4(0).ldelema(class());
            f.stloc(INT).ret();
        },
    );
    check(
        "operand 1 is native int, not int64",
        |f| {
            f.ldc_i4(8).localloc().stloc(BY_REF).ret();
        },
        |f| {
            f.ldc_i4(8).localloc().stloc(LONG).ret();
        },
    );
}
