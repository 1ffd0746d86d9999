//! The fragment builder: a method for every opcode.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::{Opcode, OperandKind};
use clr_profiler_il::symbol::NoTokens;
use clr_profiler_il::token::{MethodDef, Token, TypeRef};

fn one(build: impl FnOnce(&mut Fragment)) -> Fragment {
    let mut fragment = Fragment::new();
    build(&mut fragment);
    fragment
}

#[test]
fn every_method_of_the_builder() {
    /// Appends an instruction of every opcode whose form a fragment can hold.
    fn all() -> Fragment {
        let mut f = Fragment::new();
        let here = f.label();
        let (method, field, name) = (MethodDef::NIL, Token::new(0x0400_0001), TypeRef::NIL);
        f.mark(here);
        f.nop()
            .break_()
            .ldarg(0)
            .ldarg(1)
            .ldarg(2)
            .ldarg(3)
            .ldloc(0)
            .ldloc(1)
            .ldloc(2)
            .ldloc(3);
        f.stloc(0)
            .stloc(1)
            .stloc(2)
            .stloc(3)
            .ldarg(4)
            .ldarga(0)
            .starg(255)
            .ldloc(255)
            .ldloca(255);
        f.stloc(4)
            .ldarg(256)
            .ldarga(256)
            .starg(256)
            .ldloc(65534)
            .ldloca(256)
            .stloc(256)
            .ldnull();
        for value in [
            -1,
            0,
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            127,
            -128,
            128,
            -129,
            i32::MIN,
        ] {
            f.ldc_i4(value);
        }
        f.ldc_i8(-2)
            .ldc_r4(f32::NAN)
            .ldc_r8(-0.0)
            .dup()
            .pop()
            .jmp(method)
            .call(method);
        f.calli(Token::new(0x1100_0001))
            .br(here)
            .brfalse(here)
            .brtrue(here)
            .beq(here)
            .bge(here);
        f.bgt(here)
            .ble(here)
            .blt(here)
            .bne_un(here)
            .bge_un(here)
            .bgt_un(here)
            .ble_un(here);
        f.blt_un(here)
            .leave(here)
            .switch(&[here, here])
            .ldind_i1()
            .ldind_u1()
            .ldind_i2();
        f.ldind_u2()
            .ldind_i4()
            .ldind_u4()
            .ldind_i8()
            .ldind_i()
            .ldind_r4()
            .ldind_r8()
            .ldind_ref();
        f.stind_ref()
            .stind_i1()
            .stind_i2()
            .stind_i4()
            .stind_i8()
            .stind_r4()
            .stind_r8()
            .stind_i();
        f.add()
            .sub()
            .mul()
            .div()
            .div_un()
            .rem()
            .rem_un()
            .and()
            .or()
            .xor()
            .shl()
            .shr()
            .shr_un();
        f.neg()
            .not()
            .conv_i1()
            .conv_i2()
            .conv_i4()
            .conv_i8()
            .conv_r4()
            .conv_r8()
            .conv_u4();
        f.conv_u8()
            .callvirt(method)
            .cpobj(name)
            .ldobj(name)
            .ldstr(Token::new(0x7000_0001))
            .newobj(method);
        f.castclass(name)
            .isinst(name)
            .conv_r_un()
            .unbox(name)
            .throw()
            .ldfld(field)
            .ldflda(field);
        f.stfld(field)
            .ldsfld(field)
            .ldsflda(field)
            .stsfld(field)
            .stobj(name)
            .conv_ovf_i1_un();
        f.conv_ovf_i2_un()
            .conv_ovf_i4_un()
            .conv_ovf_i8_un()
            .conv_ovf_u1_un()
            .conv_ovf_u2_un();
        f.conv_ovf_u4_un()
            .conv_ovf_u8_un()
            .conv_ovf_i_un()
            .conv_ovf_u_un()
            .box_(name);
        f.newarr(name)
            .ldlen()
            .ldelema(name)
            .ldelem_i1()
            .ldelem_u1()
            .ldelem_i2()
            .ldelem_u2();
        f.ldelem_i4()
            .ldelem_u4()
            .ldelem_i8()
            .ldelem_i()
            .ldelem_r4()
            .ldelem_r8()
            .ldelem_ref();
        f.stelem_i()
            .stelem_i1()
            .stelem_i2()
            .stelem_i4()
            .stelem_i8()
            .stelem_r4()
            .stelem_r8();
        f.stelem_ref()
            .ldelem(name)
            .stelem(name)
            .unbox_any(name)
            .conv_ovf_i1()
            .conv_ovf_u1();
        f.conv_ovf_i2()
            .conv_ovf_u2()
            .conv_ovf_i4()
            .conv_ovf_u4()
            .conv_ovf_i8()
            .conv_ovf_u8();
        f.refanyval(name)
            .ckfinite()
            .mkrefany(name)
            .ldtoken(name)
            .conv_u2()
            .conv_u1()
            .conv_i();
        f.conv_ovf_i()
            .conv_ovf_u()
            .add_ovf()
            .add_ovf_un()
            .mul_ovf()
            .mul_ovf_un()
            .sub_ovf();
        f.sub_ovf_un()
            .endfinally()
            .conv_u()
            .arglist()
            .ceq()
            .cgt()
            .cgt_un()
            .clt()
            .clt_un();
        f.ldftn(method)
            .ldvirtftn(method)
            .localloc()
            .endfilter()
            .initobj(name)
            .cpblk()
            .initblk();
        f.rethrow().sizeof(name).refanytype().ret();
        f.constrained(name)
            .tail()
            .callvirt(method)
            .readonly()
            .ldelema(name)
            .volatile();
        f.unaligned(1).ldobj(name).no(7).castclass(name);
        f
    }
    let fragment = all();
    assert_eq!(fragment, all());
    assert_eq!(fragment, fragment.clone());
    assert_ne!(
        fragment,
        one(|f| {
            f.append(&all()).nop();
        })
    );
    // Equal, wherever the labels of the copy come from.
    assert_eq!(
        fragment,
        one(|f| {
            f.append(&all());
        })
    );
    let mut body = MethodBody::new();
    body.append(&fragment).unwrap();
    let mut out = Vec::new();
    body.encode(&mut NoTokens, &mut out).unwrap();
    let again = MethodBody::decode(&out).unwrap();
    let mut twice = Vec::new();
    again.encode(&mut NoTokens, &mut twice).unwrap();
    assert_eq!(out, twice);
    let opcodes: Vec<_> = again.instructions().map(|one| one.opcode()).collect();
    for &opcode in Opcode::ALL {
        let short = opcode.operand_kind() == OperandKind::ShortTarget;
        let there = opcodes.contains(&opcode) || opcode.is_prefix() || short;
        assert!(there, "{opcode}");
    }
    let prefixes: usize = again.instructions().map(|one| one.prefixes().count()).sum();
    assert_eq!(prefixes, 6);
}
