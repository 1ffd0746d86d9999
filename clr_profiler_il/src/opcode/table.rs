use super::{Flow, OperandKind, ValueKind};

/// Makes [`Opcode`] and its methods from the table.
///
/// ```text
/// Stfld = 0x7d, "stfld", Field, [Object, Any] => [], Next;
/// ```
///
/// becomes the variant `Stfld`, and one arm in each of `from_code`, `code`, `mnemonic`,
/// `operand_kind`, `pops` (deepest first), `pushes` and `flow`. Instead of a list, `var` says that
/// a signature decides.
macro_rules! opcodes {
    (@kinds var) => { None };
    (@kinds [$($kind:ident),*]) => { Some(&[$(ValueKind::$kind),*]) };
    ($($variant:ident = $code:literal, $name:literal, $operand:ident, $pops:tt => $pushes:tt, $flow:ident;)*) => {
        /// An instruction or prefix of IL (ECMA-335 III).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Opcode {
            $(
                #[doc = concat!("`", $name, "`, ", stringify!($code), ".")]
                $variant,
            )*
        }

        /// The opcodes of one byte.
        const ONE_BYTE: [Option<Opcode>; 256] = by_second_byte(0);
        /// The opcodes of two bytes, by the second.
        const TWO_BYTES: [Option<Opcode>; 256] = by_second_byte(0xfe);

        #[expect(clippy::indexing_slicing, reason = "run by the compiler alone")]
        const fn by_second_byte(first: u16) -> [Option<Opcode>; 256] {
            let mut table = [None; 256];
            $(
                if $code >> 8 == first {
                    table[($code & 0xff) as usize] = Some(Opcode::$variant);
                }
            )*
            table
        }

        // Tables, since a `match` of this length is not inlined.
        #[expect(
            clippy::indexing_slicing,
            reason = "an opcode's number is below the number of opcodes, a byte below 256"
        )]
        impl Opcode {
            /// All opcodes, by code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The opcode with this code: one byte, or `0xfe` and a second byte.
            #[must_use]
            #[inline]
            pub const fn from_code(code: u16) -> Option<Self> {
                match code >> 8 {
                    0 => ONE_BYTE[(code & 0xff) as usize],
                    0xfe => TWO_BYTES[(code & 0xff) as usize],
                    _ => None,
                }
            }

            /// The code: below `0x100` in one byte, else in two with `0xfe` first.
            #[must_use]
            #[inline]
            pub const fn code(self) -> u16 {
                const CODES: &[u16] = &[$($code),*];
                CODES[self as usize]
            }

            /// The name in text, such as `ldarg.0`. Prefixes end in a dot.
            #[must_use]
            #[inline]
            pub const fn mnemonic(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What stands behind the opcode.
            #[must_use]
            #[inline]
            pub const fn operand_kind(self) -> OperandKind {
                const KINDS: &[OperandKind] = &[$(OperandKind::$operand),*];
                KINDS[self as usize]
            }

            /// What it pops, the deepest value first; `None` if a signature decides.
            #[must_use]
            #[inline]
            pub const fn pops(self) -> Option<&'static [ValueKind]> {
                match self {
                    $(Self::$variant => opcodes!(@kinds $pops),)*
                }
            }

            /// What it pushes; `None` if a signature decides.
            #[must_use]
            #[inline]
            pub const fn pushes(self) -> Option<&'static [ValueKind]> {
                match self {
                    $(Self::$variant => opcodes!(@kinds $pushes),)*
                }
            }

            /// Where control goes next.
            #[must_use]
            #[inline]
            pub const fn flow(self) -> Flow {
                const FLOWS: &[Flow] = &[$(Flow::$flow),*];
                FLOWS[self as usize]
            }
        }
    };
}

opcodes! {
    Nop = 0x00, "nop", None, [] => [], Next;
    Break = 0x01, "break", None, [] => [], Break;
    Ldarg0 = 0x02, "ldarg.0", None, [] => [Any], Next;
    Ldarg1 = 0x03, "ldarg.1", None, [] => [Any], Next;
    Ldarg2 = 0x04, "ldarg.2", None, [] => [Any], Next;
    Ldarg3 = 0x05, "ldarg.3", None, [] => [Any], Next;
    Ldloc0 = 0x06, "ldloc.0", None, [] => [Any], Next;
    Ldloc1 = 0x07, "ldloc.1", None, [] => [Any], Next;
    Ldloc2 = 0x08, "ldloc.2", None, [] => [Any], Next;
    Ldloc3 = 0x09, "ldloc.3", None, [] => [Any], Next;
    Stloc0 = 0x0a, "stloc.0", None, [Any] => [], Next;
    Stloc1 = 0x0b, "stloc.1", None, [Any] => [], Next;
    Stloc2 = 0x0c, "stloc.2", None, [Any] => [], Next;
    Stloc3 = 0x0d, "stloc.3", None, [Any] => [], Next;
    LdargS = 0x0e, "ldarg.s", ShortVariable, [] => [Any], Next;
    LdargaS = 0x0f, "ldarga.s", ShortVariable, [] => [Int], Next;
    StargS = 0x10, "starg.s", ShortVariable, [Any] => [], Next;
    LdlocS = 0x11, "ldloc.s", ShortVariable, [] => [Any], Next;
    LdlocaS = 0x12, "ldloca.s", ShortVariable, [] => [Int], Next;
    StlocS = 0x13, "stloc.s", ShortVariable, [Any] => [], Next;
    Ldnull = 0x14, "ldnull", None, [] => [Object], Next;
    LdcI4M1 = 0x15, "ldc.i4.m1", None, [] => [Int], Next;
    LdcI40 = 0x16, "ldc.i4.0", None, [] => [Int], Next;
    LdcI41 = 0x17, "ldc.i4.1", None, [] => [Int], Next;
    LdcI42 = 0x18, "ldc.i4.2", None, [] => [Int], Next;
    LdcI43 = 0x19, "ldc.i4.3", None, [] => [Int], Next;
    LdcI44 = 0x1a, "ldc.i4.4", None, [] => [Int], Next;
    LdcI45 = 0x1b, "ldc.i4.5", None, [] => [Int], Next;
    LdcI46 = 0x1c, "ldc.i4.6", None, [] => [Int], Next;
    LdcI47 = 0x1d, "ldc.i4.7", None, [] => [Int], Next;
    LdcI48 = 0x1e, "ldc.i4.8", None, [] => [Int], Next;
    LdcI4S = 0x1f, "ldc.i4.s", Int8, [] => [Int], Next;
    LdcI4 = 0x20, "ldc.i4", Int32, [] => [Int], Next;
    LdcI8 = 0x21, "ldc.i8", Int64, [] => [Int64], Next;
    LdcR4 = 0x22, "ldc.r4", Float32, [] => [Float32], Next;
    LdcR8 = 0x23, "ldc.r8", Float64, [] => [Float64], Next;
    Dup = 0x25, "dup", None, [Any] => [Any, Any], Next;
    Pop = 0x26, "pop", None, [Any] => [], Next;
    Jmp = 0x27, "jmp", Method, [] => [], Call;
    Call = 0x28, "call", Method, var => var, Call;
    Calli = 0x29, "calli", Signature, var => var, Call;
    Ret = 0x2a, "ret", None, var => [], Return;
    BrS = 0x2b, "br.s", ShortTarget, [] => [], Branch;
    BrfalseS = 0x2c, "brfalse.s", ShortTarget, [Int] => [], ConditionalBranch;
    BrtrueS = 0x2d, "brtrue.s", ShortTarget, [Int] => [], ConditionalBranch;
    BeqS = 0x2e, "beq.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BgeS = 0x2f, "bge.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BgtS = 0x30, "bgt.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BleS = 0x31, "ble.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BltS = 0x32, "blt.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BneUnS = 0x33, "bne.un.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BgeUnS = 0x34, "bge.un.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BgtUnS = 0x35, "bgt.un.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BleUnS = 0x36, "ble.un.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    BltUnS = 0x37, "blt.un.s", ShortTarget, [Any, Any] => [], ConditionalBranch;
    Br = 0x38, "br", Target, [] => [], Branch;
    Brfalse = 0x39, "brfalse", Target, [Int] => [], ConditionalBranch;
    Brtrue = 0x3a, "brtrue", Target, [Int] => [], ConditionalBranch;
    Beq = 0x3b, "beq", Target, [Any, Any] => [], ConditionalBranch;
    Bge = 0x3c, "bge", Target, [Any, Any] => [], ConditionalBranch;
    Bgt = 0x3d, "bgt", Target, [Any, Any] => [], ConditionalBranch;
    Ble = 0x3e, "ble", Target, [Any, Any] => [], ConditionalBranch;
    Blt = 0x3f, "blt", Target, [Any, Any] => [], ConditionalBranch;
    BneUn = 0x40, "bne.un", Target, [Any, Any] => [], ConditionalBranch;
    BgeUn = 0x41, "bge.un", Target, [Any, Any] => [], ConditionalBranch;
    BgtUn = 0x42, "bgt.un", Target, [Any, Any] => [], ConditionalBranch;
    BleUn = 0x43, "ble.un", Target, [Any, Any] => [], ConditionalBranch;
    BltUn = 0x44, "blt.un", Target, [Any, Any] => [], ConditionalBranch;
    Switch = 0x45, "switch", Switch, [Int] => [], ConditionalBranch;
    LdindI1 = 0x46, "ldind.i1", None, [Int] => [Int], Next;
    LdindU1 = 0x47, "ldind.u1", None, [Int] => [Int], Next;
    LdindI2 = 0x48, "ldind.i2", None, [Int] => [Int], Next;
    LdindU2 = 0x49, "ldind.u2", None, [Int] => [Int], Next;
    LdindI4 = 0x4a, "ldind.i4", None, [Int] => [Int], Next;
    LdindU4 = 0x4b, "ldind.u4", None, [Int] => [Int], Next;
    LdindI8 = 0x4c, "ldind.i8", None, [Int] => [Int64], Next;
    LdindI = 0x4d, "ldind.i", None, [Int] => [Int], Next;
    LdindR4 = 0x4e, "ldind.r4", None, [Int] => [Float32], Next;
    LdindR8 = 0x4f, "ldind.r8", None, [Int] => [Float64], Next;
    LdindRef = 0x50, "ldind.ref", None, [Int] => [Object], Next;
    StindRef = 0x51, "stind.ref", None, [Int, Int] => [], Next;
    StindI1 = 0x52, "stind.i1", None, [Int, Int] => [], Next;
    StindI2 = 0x53, "stind.i2", None, [Int, Int] => [], Next;
    StindI4 = 0x54, "stind.i4", None, [Int, Int] => [], Next;
    StindI8 = 0x55, "stind.i8", None, [Int, Int64] => [], Next;
    StindR4 = 0x56, "stind.r4", None, [Int, Float32] => [], Next;
    StindR8 = 0x57, "stind.r8", None, [Int, Float64] => [], Next;
    Add = 0x58, "add", None, [Any, Any] => [Any], Next;
    Sub = 0x59, "sub", None, [Any, Any] => [Any], Next;
    Mul = 0x5a, "mul", None, [Any, Any] => [Any], Next;
    Div = 0x5b, "div", None, [Any, Any] => [Any], Next;
    DivUn = 0x5c, "div.un", None, [Any, Any] => [Any], Next;
    Rem = 0x5d, "rem", None, [Any, Any] => [Any], Next;
    RemUn = 0x5e, "rem.un", None, [Any, Any] => [Any], Next;
    And = 0x5f, "and", None, [Any, Any] => [Any], Next;
    Or = 0x60, "or", None, [Any, Any] => [Any], Next;
    Xor = 0x61, "xor", None, [Any, Any] => [Any], Next;
    Shl = 0x62, "shl", None, [Any, Any] => [Any], Next;
    Shr = 0x63, "shr", None, [Any, Any] => [Any], Next;
    ShrUn = 0x64, "shr.un", None, [Any, Any] => [Any], Next;
    Neg = 0x65, "neg", None, [Any] => [Any], Next;
    Not = 0x66, "not", None, [Any] => [Any], Next;
    ConvI1 = 0x67, "conv.i1", None, [Any] => [Int], Next;
    ConvI2 = 0x68, "conv.i2", None, [Any] => [Int], Next;
    ConvI4 = 0x69, "conv.i4", None, [Any] => [Int], Next;
    ConvI8 = 0x6a, "conv.i8", None, [Any] => [Int64], Next;
    ConvR4 = 0x6b, "conv.r4", None, [Any] => [Float32], Next;
    ConvR8 = 0x6c, "conv.r8", None, [Any] => [Float64], Next;
    ConvU4 = 0x6d, "conv.u4", None, [Any] => [Int], Next;
    ConvU8 = 0x6e, "conv.u8", None, [Any] => [Int64], Next;
    Callvirt = 0x6f, "callvirt", Method, var => var, Call;
    Cpobj = 0x70, "cpobj", Type, [Int, Int] => [], Next;
    Ldobj = 0x71, "ldobj", Type, [Int] => [Any], Next;
    Ldstr = 0x72, "ldstr", String, [] => [Object], Next;
    Newobj = 0x73, "newobj", Method, var => [Object], Call;
    Castclass = 0x74, "castclass", Type, [Object] => [Object], Next;
    Isinst = 0x75, "isinst", Type, [Object] => [Int], Next;
    ConvRUn = 0x76, "conv.r.un", None, [Any] => [Float64], Next;
    Unbox = 0x79, "unbox", Type, [Object] => [Int], Next;
    Throw = 0x7a, "throw", None, [Object] => [], Throw;
    Ldfld = 0x7b, "ldfld", Field, [Object] => [Any], Next;
    Ldflda = 0x7c, "ldflda", Field, [Object] => [Int], Next;
    Stfld = 0x7d, "stfld", Field, [Object, Any] => [], Next;
    Ldsfld = 0x7e, "ldsfld", Field, [] => [Any], Next;
    Ldsflda = 0x7f, "ldsflda", Field, [] => [Int], Next;
    Stsfld = 0x80, "stsfld", Field, [Any] => [], Next;
    Stobj = 0x81, "stobj", Type, [Int, Any] => [], Next;
    ConvOvfI1Un = 0x82, "conv.ovf.i1.un", None, [Any] => [Int], Next;
    ConvOvfI2Un = 0x83, "conv.ovf.i2.un", None, [Any] => [Int], Next;
    ConvOvfI4Un = 0x84, "conv.ovf.i4.un", None, [Any] => [Int], Next;
    ConvOvfI8Un = 0x85, "conv.ovf.i8.un", None, [Any] => [Int64], Next;
    ConvOvfU1Un = 0x86, "conv.ovf.u1.un", None, [Any] => [Int], Next;
    ConvOvfU2Un = 0x87, "conv.ovf.u2.un", None, [Any] => [Int], Next;
    ConvOvfU4Un = 0x88, "conv.ovf.u4.un", None, [Any] => [Int], Next;
    ConvOvfU8Un = 0x89, "conv.ovf.u8.un", None, [Any] => [Int64], Next;
    ConvOvfIUn = 0x8a, "conv.ovf.i.un", None, [Any] => [Int], Next;
    ConvOvfUUn = 0x8b, "conv.ovf.u.un", None, [Any] => [Int], Next;
    Box = 0x8c, "box", Type, [Any] => [Object], Next;
    Newarr = 0x8d, "newarr", Type, [Int] => [Object], Next;
    Ldlen = 0x8e, "ldlen", None, [Object] => [Int], Next;
    Ldelema = 0x8f, "ldelema", Type, [Object, Int] => [Int], Next;
    LdelemI1 = 0x90, "ldelem.i1", None, [Object, Int] => [Int], Next;
    LdelemU1 = 0x91, "ldelem.u1", None, [Object, Int] => [Int], Next;
    LdelemI2 = 0x92, "ldelem.i2", None, [Object, Int] => [Int], Next;
    LdelemU2 = 0x93, "ldelem.u2", None, [Object, Int] => [Int], Next;
    LdelemI4 = 0x94, "ldelem.i4", None, [Object, Int] => [Int], Next;
    LdelemU4 = 0x95, "ldelem.u4", None, [Object, Int] => [Int], Next;
    LdelemI8 = 0x96, "ldelem.i8", None, [Object, Int] => [Int64], Next;
    LdelemI = 0x97, "ldelem.i", None, [Object, Int] => [Int], Next;
    LdelemR4 = 0x98, "ldelem.r4", None, [Object, Int] => [Float32], Next;
    LdelemR8 = 0x99, "ldelem.r8", None, [Object, Int] => [Float64], Next;
    LdelemRef = 0x9a, "ldelem.ref", None, [Object, Int] => [Object], Next;
    StelemI = 0x9b, "stelem.i", None, [Object, Int, Int] => [], Next;
    StelemI1 = 0x9c, "stelem.i1", None, [Object, Int, Int] => [], Next;
    StelemI2 = 0x9d, "stelem.i2", None, [Object, Int, Int] => [], Next;
    StelemI4 = 0x9e, "stelem.i4", None, [Object, Int, Int] => [], Next;
    StelemI8 = 0x9f, "stelem.i8", None, [Object, Int, Int64] => [], Next;
    StelemR4 = 0xa0, "stelem.r4", None, [Object, Int, Float32] => [], Next;
    StelemR8 = 0xa1, "stelem.r8", None, [Object, Int, Float64] => [], Next;
    StelemRef = 0xa2, "stelem.ref", None, [Object, Int, Object] => [], Next;
    Ldelem = 0xa3, "ldelem", Type, [Object, Int] => [Any], Next;
    Stelem = 0xa4, "stelem", Type, [Object, Int, Any] => [], Next;
    UnboxAny = 0xa5, "unbox.any", Type, [Object] => [Any], Next;
    ConvOvfI1 = 0xb3, "conv.ovf.i1", None, [Any] => [Int], Next;
    ConvOvfU1 = 0xb4, "conv.ovf.u1", None, [Any] => [Int], Next;
    ConvOvfI2 = 0xb5, "conv.ovf.i2", None, [Any] => [Int], Next;
    ConvOvfU2 = 0xb6, "conv.ovf.u2", None, [Any] => [Int], Next;
    ConvOvfI4 = 0xb7, "conv.ovf.i4", None, [Any] => [Int], Next;
    ConvOvfU4 = 0xb8, "conv.ovf.u4", None, [Any] => [Int], Next;
    ConvOvfI8 = 0xb9, "conv.ovf.i8", None, [Any] => [Int64], Next;
    ConvOvfU8 = 0xba, "conv.ovf.u8", None, [Any] => [Int64], Next;
    Refanyval = 0xc2, "refanyval", Type, [Any] => [Int], Next;
    Ckfinite = 0xc3, "ckfinite", None, [Any] => [Float64], Next;
    Mkrefany = 0xc6, "mkrefany", Type, [Int] => [Any], Next;
    Ldtoken = 0xd0, "ldtoken", AnyToken, [] => [Int], Next;
    ConvU2 = 0xd1, "conv.u2", None, [Any] => [Int], Next;
    ConvU1 = 0xd2, "conv.u1", None, [Any] => [Int], Next;
    ConvI = 0xd3, "conv.i", None, [Any] => [Int], Next;
    ConvOvfI = 0xd4, "conv.ovf.i", None, [Any] => [Int], Next;
    ConvOvfU = 0xd5, "conv.ovf.u", None, [Any] => [Int], Next;
    AddOvf = 0xd6, "add.ovf", None, [Any, Any] => [Any], Next;
    AddOvfUn = 0xd7, "add.ovf.un", None, [Any, Any] => [Any], Next;
    MulOvf = 0xd8, "mul.ovf", None, [Any, Any] => [Any], Next;
    MulOvfUn = 0xd9, "mul.ovf.un", None, [Any, Any] => [Any], Next;
    SubOvf = 0xda, "sub.ovf", None, [Any, Any] => [Any], Next;
    SubOvfUn = 0xdb, "sub.ovf.un", None, [Any, Any] => [Any], Next;
    Endfinally = 0xdc, "endfinally", None, [] => [], Return;
    Leave = 0xdd, "leave", Target, [] => [], Branch;
    LeaveS = 0xde, "leave.s", ShortTarget, [] => [], Branch;
    StindI = 0xdf, "stind.i", None, [Int, Int] => [], Next;
    ConvU = 0xe0, "conv.u", None, [Any] => [Int], Next;
    Arglist = 0xfe00, "arglist", None, [] => [Int], Next;
    Ceq = 0xfe01, "ceq", None, [Any, Any] => [Int], Next;
    Cgt = 0xfe02, "cgt", None, [Any, Any] => [Int], Next;
    CgtUn = 0xfe03, "cgt.un", None, [Any, Any] => [Int], Next;
    Clt = 0xfe04, "clt", None, [Any, Any] => [Int], Next;
    CltUn = 0xfe05, "clt.un", None, [Any, Any] => [Int], Next;
    Ldftn = 0xfe06, "ldftn", Method, [] => [Int], Next;
    Ldvirtftn = 0xfe07, "ldvirtftn", Method, [Object] => [Int], Next;
    Ldarg = 0xfe09, "ldarg", Variable, [] => [Any], Next;
    Ldarga = 0xfe0a, "ldarga", Variable, [] => [Int], Next;
    Starg = 0xfe0b, "starg", Variable, [Any] => [], Next;
    Ldloc = 0xfe0c, "ldloc", Variable, [] => [Any], Next;
    Ldloca = 0xfe0d, "ldloca", Variable, [] => [Int], Next;
    Stloc = 0xfe0e, "stloc", Variable, [Any] => [], Next;
    Localloc = 0xfe0f, "localloc", None, [Int] => [Int], Next;
    Endfilter = 0xfe11, "endfilter", None, [Int] => [], Return;
    Unaligned = 0xfe12, "unaligned.", Int8, [] => [], Prefix;
    Volatile = 0xfe13, "volatile.", None, [] => [], Prefix;
    Tail = 0xfe14, "tail.", None, [] => [], Prefix;
    Initobj = 0xfe15, "initobj", Type, [Int] => [], Next;
    Constrained = 0xfe16, "constrained.", Type, [] => [], Prefix;
    Cpblk = 0xfe17, "cpblk", None, [Int, Int, Int] => [], Next;
    Initblk = 0xfe18, "initblk", None, [Int, Int, Int] => [], Next;
    No = 0xfe19, "no.", Int8, [] => [], Prefix;
    Rethrow = 0xfe1a, "rethrow", None, [] => [], Throw;
    Sizeof = 0xfe1c, "sizeof", Type, [] => [Int], Next;
    Refanytype = 0xfe1d, "refanytype", None, [Any] => [Int], Next;
    Readonly = 0xfe1e, "readonly.", None, [] => [], Prefix;
}
