use super::{AnyName, Callee, FieldName, Fragment, SignatureName, StringName, TypeName};
use crate::instruction::Label;
use crate::opcode::Opcode;

/// Makes methods that append one instruction each.
///
/// ```text
/// ldfld Ldfld "ldfld" (field: impl Into<FieldName>) => field_instruction;
/// ```
///
/// becomes `pub fn ldfld(&mut self, field: impl Into<FieldName>) -> &mut Self`.
macro_rules! instructions {
    ($($method:ident $opcode:ident $name:literal ($($argument:ident: $type:ty)?) => $append:ident;)*) => {
        /// One method for each instruction.
        impl Fragment {
            $(
                #[doc = concat!("Appends `", $name, "`.")]
                pub fn $method(&mut self $(, $argument: $type)?) -> &mut Self {
                    self.$append(Opcode::$opcode $(, $argument.into())?)
                }
            )*
        }
    };
}

instructions! {
    nop Nop "nop" () => simple;
    break_ Break "break" () => simple;
    ldnull Ldnull "ldnull" () => simple;
    dup Dup "dup" () => simple;
    pop Pop "pop" () => simple;
    ret Ret "ret" () => simple;
    ldind_i1 LdindI1 "ldind.i1" () => simple;
    ldind_u1 LdindU1 "ldind.u1" () => simple;
    ldind_i2 LdindI2 "ldind.i2" () => simple;
    ldind_u2 LdindU2 "ldind.u2" () => simple;
    ldind_i4 LdindI4 "ldind.i4" () => simple;
    ldind_u4 LdindU4 "ldind.u4" () => simple;
    ldind_i8 LdindI8 "ldind.i8" () => simple;
    ldind_i LdindI "ldind.i" () => simple;
    ldind_r4 LdindR4 "ldind.r4" () => simple;
    ldind_r8 LdindR8 "ldind.r8" () => simple;
    ldind_ref LdindRef "ldind.ref" () => simple;
    stind_ref StindRef "stind.ref" () => simple;
    stind_i1 StindI1 "stind.i1" () => simple;
    stind_i2 StindI2 "stind.i2" () => simple;
    stind_i4 StindI4 "stind.i4" () => simple;
    stind_i8 StindI8 "stind.i8" () => simple;
    stind_r4 StindR4 "stind.r4" () => simple;
    stind_r8 StindR8 "stind.r8" () => simple;
    add Add "add" () => simple;
    sub Sub "sub" () => simple;
    mul Mul "mul" () => simple;
    div Div "div" () => simple;
    div_un DivUn "div.un" () => simple;
    rem Rem "rem" () => simple;
    rem_un RemUn "rem.un" () => simple;
    and And "and" () => simple;
    or Or "or" () => simple;
    xor Xor "xor" () => simple;
    shl Shl "shl" () => simple;
    shr Shr "shr" () => simple;
    shr_un ShrUn "shr.un" () => simple;
    neg Neg "neg" () => simple;
    not Not "not" () => simple;
    conv_i1 ConvI1 "conv.i1" () => simple;
    conv_i2 ConvI2 "conv.i2" () => simple;
    conv_i4 ConvI4 "conv.i4" () => simple;
    conv_i8 ConvI8 "conv.i8" () => simple;
    conv_r4 ConvR4 "conv.r4" () => simple;
    conv_r8 ConvR8 "conv.r8" () => simple;
    conv_u4 ConvU4 "conv.u4" () => simple;
    conv_u8 ConvU8 "conv.u8" () => simple;
    conv_r_un ConvRUn "conv.r.un" () => simple;
    throw Throw "throw" () => simple;
    conv_ovf_i1_un ConvOvfI1Un "conv.ovf.i1.un" () => simple;
    conv_ovf_i2_un ConvOvfI2Un "conv.ovf.i2.un" () => simple;
    conv_ovf_i4_un ConvOvfI4Un "conv.ovf.i4.un" () => simple;
    conv_ovf_i8_un ConvOvfI8Un "conv.ovf.i8.un" () => simple;
    conv_ovf_u1_un ConvOvfU1Un "conv.ovf.u1.un" () => simple;
    conv_ovf_u2_un ConvOvfU2Un "conv.ovf.u2.un" () => simple;
    conv_ovf_u4_un ConvOvfU4Un "conv.ovf.u4.un" () => simple;
    conv_ovf_u8_un ConvOvfU8Un "conv.ovf.u8.un" () => simple;
    conv_ovf_i_un ConvOvfIUn "conv.ovf.i.un" () => simple;
    conv_ovf_u_un ConvOvfUUn "conv.ovf.u.un" () => simple;
    ldlen Ldlen "ldlen" () => simple;
    ldelem_i1 LdelemI1 "ldelem.i1" () => simple;
    ldelem_u1 LdelemU1 "ldelem.u1" () => simple;
    ldelem_i2 LdelemI2 "ldelem.i2" () => simple;
    ldelem_u2 LdelemU2 "ldelem.u2" () => simple;
    ldelem_i4 LdelemI4 "ldelem.i4" () => simple;
    ldelem_u4 LdelemU4 "ldelem.u4" () => simple;
    ldelem_i8 LdelemI8 "ldelem.i8" () => simple;
    ldelem_i LdelemI "ldelem.i" () => simple;
    ldelem_r4 LdelemR4 "ldelem.r4" () => simple;
    ldelem_r8 LdelemR8 "ldelem.r8" () => simple;
    ldelem_ref LdelemRef "ldelem.ref" () => simple;
    stelem_i StelemI "stelem.i" () => simple;
    stelem_i1 StelemI1 "stelem.i1" () => simple;
    stelem_i2 StelemI2 "stelem.i2" () => simple;
    stelem_i4 StelemI4 "stelem.i4" () => simple;
    stelem_i8 StelemI8 "stelem.i8" () => simple;
    stelem_r4 StelemR4 "stelem.r4" () => simple;
    stelem_r8 StelemR8 "stelem.r8" () => simple;
    stelem_ref StelemRef "stelem.ref" () => simple;
    conv_ovf_i1 ConvOvfI1 "conv.ovf.i1" () => simple;
    conv_ovf_u1 ConvOvfU1 "conv.ovf.u1" () => simple;
    conv_ovf_i2 ConvOvfI2 "conv.ovf.i2" () => simple;
    conv_ovf_u2 ConvOvfU2 "conv.ovf.u2" () => simple;
    conv_ovf_i4 ConvOvfI4 "conv.ovf.i4" () => simple;
    conv_ovf_u4 ConvOvfU4 "conv.ovf.u4" () => simple;
    conv_ovf_i8 ConvOvfI8 "conv.ovf.i8" () => simple;
    conv_ovf_u8 ConvOvfU8 "conv.ovf.u8" () => simple;
    ckfinite Ckfinite "ckfinite" () => simple;
    conv_u2 ConvU2 "conv.u2" () => simple;
    conv_u1 ConvU1 "conv.u1" () => simple;
    conv_i ConvI "conv.i" () => simple;
    conv_ovf_i ConvOvfI "conv.ovf.i" () => simple;
    conv_ovf_u ConvOvfU "conv.ovf.u" () => simple;
    add_ovf AddOvf "add.ovf" () => simple;
    add_ovf_un AddOvfUn "add.ovf.un" () => simple;
    mul_ovf MulOvf "mul.ovf" () => simple;
    mul_ovf_un MulOvfUn "mul.ovf.un" () => simple;
    sub_ovf SubOvf "sub.ovf" () => simple;
    sub_ovf_un SubOvfUn "sub.ovf.un" () => simple;
    endfinally Endfinally "endfinally" () => simple;
    stind_i StindI "stind.i" () => simple;
    conv_u ConvU "conv.u" () => simple;
    arglist Arglist "arglist" () => simple;
    ceq Ceq "ceq" () => simple;
    cgt Cgt "cgt" () => simple;
    cgt_un CgtUn "cgt.un" () => simple;
    clt Clt "clt" () => simple;
    clt_un CltUn "clt.un" () => simple;
    localloc Localloc "localloc" () => simple;
    endfilter Endfilter "endfilter" () => simple;
    cpblk Cpblk "cpblk" () => simple;
    initblk Initblk "initblk" () => simple;
    rethrow Rethrow "rethrow" () => simple;
    refanytype Refanytype "refanytype" () => simple;

    br Br "br" (target: Label) => branch;
    brfalse Brfalse "brfalse" (target: Label) => branch;
    brtrue Brtrue "brtrue" (target: Label) => branch;
    beq Beq "beq" (target: Label) => branch;
    bge Bge "bge" (target: Label) => branch;
    bgt Bgt "bgt" (target: Label) => branch;
    ble Ble "ble" (target: Label) => branch;
    blt Blt "blt" (target: Label) => branch;
    bne_un BneUn "bne.un" (target: Label) => branch;
    bge_un BgeUn "bge.un" (target: Label) => branch;
    bgt_un BgtUn "bgt.un" (target: Label) => branch;
    ble_un BleUn "ble.un" (target: Label) => branch;
    blt_un BltUn "blt.un" (target: Label) => branch;
    leave Leave "leave" (target: Label) => branch;

    ldarg Ldarg "ldarg" (number: u16) => variable;
    ldarga Ldarga "ldarga" (number: u16) => variable;
    starg Starg "starg" (number: u16) => variable;
    ldloc Ldloc "ldloc" (number: u16) => variable;
    ldloca Ldloca "ldloca" (number: u16) => variable;
    stloc Stloc "stloc" (number: u16) => variable;

    jmp Jmp "jmp" (method: impl Into<Callee>) => method;
    call Call "call" (method: impl Into<Callee>) => method;
    callvirt Callvirt "callvirt" (method: impl Into<Callee>) => method;
    newobj Newobj "newobj" (method: impl Into<Callee>) => method;
    ldftn Ldftn "ldftn" (method: impl Into<Callee>) => method;
    ldvirtftn Ldvirtftn "ldvirtftn" (method: impl Into<Callee>) => method;

    ldfld Ldfld "ldfld" (field: impl Into<FieldName>) => field;
    ldflda Ldflda "ldflda" (field: impl Into<FieldName>) => field;
    stfld Stfld "stfld" (field: impl Into<FieldName>) => field;
    ldsfld Ldsfld "ldsfld" (field: impl Into<FieldName>) => field;
    ldsflda Ldsflda "ldsflda" (field: impl Into<FieldName>) => field;
    stsfld Stsfld "stsfld" (field: impl Into<FieldName>) => field;

    cpobj Cpobj "cpobj" (name: impl Into<TypeName>) => typed;
    ldobj Ldobj "ldobj" (name: impl Into<TypeName>) => typed;
    castclass Castclass "castclass" (name: impl Into<TypeName>) => typed;
    isinst Isinst "isinst" (name: impl Into<TypeName>) => typed;
    unbox Unbox "unbox" (name: impl Into<TypeName>) => typed;
    stobj Stobj "stobj" (name: impl Into<TypeName>) => typed;
    box_ Box "box" (name: impl Into<TypeName>) => typed;
    newarr Newarr "newarr" (name: impl Into<TypeName>) => typed;
    ldelema Ldelema "ldelema" (name: impl Into<TypeName>) => typed;
    ldelem Ldelem "ldelem" (name: impl Into<TypeName>) => typed;
    stelem Stelem "stelem" (name: impl Into<TypeName>) => typed;
    unbox_any UnboxAny "unbox.any" (name: impl Into<TypeName>) => typed;
    refanyval Refanyval "refanyval" (name: impl Into<TypeName>) => typed;
    mkrefany Mkrefany "mkrefany" (name: impl Into<TypeName>) => typed;
    initobj Initobj "initobj" (name: impl Into<TypeName>) => typed;
    sizeof Sizeof "sizeof" (name: impl Into<TypeName>) => typed;

    ldtoken Ldtoken "ldtoken" (name: impl Into<AnyName>) => any;
    ldstr Ldstr "ldstr" (text: impl Into<StringName>) => string;
    calli Calli "calli" (signature: impl Into<SignatureName>) => indirect;
}
