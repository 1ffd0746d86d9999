use super::table::for_each_opcode;
use super::{FlowControl, OperandKind, ValueKind};

/// Declares [`Opcode`] and the methods that look up its row.
macro_rules! opcodes {
    (@kinds var) => { None };
    (@kinds [$($kind:ident),*]) => { Some(&[$(ValueKind::$kind),*]) };
    (@long $variant:ident []) => { (Opcode::$variant, None) };
    (@long $variant:ident [$long:ident]) => { (Opcode::$long, None) };
    (@long $variant:ident [$long:ident $implied:literal]) => { (Opcode::$long, Some($implied)) };
    ($($variant:ident $code:literal $name:literal $operand:ident $pops:tt => $pushes:tt $flow:ident $form:tt $method:tt;)*) => {
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

        // Tables, because a `match` of this length is not inlined.
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

            /// The code: one byte below `0x100`, otherwise two bytes starting with `0xfe`.
            #[must_use]
            #[inline]
            pub const fn code(self) -> u16 {
                const CODES: &[u16] = &[$($code),*];
                CODES[self as usize]
            }

            /// The mnemonic, such as `ldarg.0`. Prefixes end in a dot.
            #[must_use]
            #[inline]
            pub const fn mnemonic(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The kind of the operand.
            #[must_use]
            #[inline]
            pub const fn operand_kind(self) -> OperandKind {
                const KINDS: &[OperandKind] = &[$(OperandKind::$operand),*];
                KINDS[self as usize]
            }

            /// The kinds of the popped values, the deepest first; `None` if a signature decides.
            #[must_use]
            #[inline]
            pub const fn pops(self) -> Option<&'static [ValueKind]> {
                match self {
                    $(Self::$variant => opcodes!(@kinds $pops),)*
                }
            }

            /// The kinds of the pushed values; `None` if a signature decides.
            #[must_use]
            #[inline]
            pub const fn pushes(self) -> Option<&'static [ValueKind]> {
                match self {
                    $(Self::$variant => opcodes!(@kinds $pushes),)*
                }
            }

            /// The transfer of control after the instruction.
            #[must_use]
            #[inline]
            pub const fn flow_control(self) -> FlowControl {
                const FLOW_CONTROLS: &[FlowControl] = &[$(FlowControl::$flow),*];
                FLOW_CONTROLS[self as usize]
            }

            /// The longest form, and the operand that this one implies: for `ldc.i4.m1`, `ldc.i4`
            /// and -1; for `br.s`, `br`. An opcode with one form is its own longest form.
            #[inline]
            pub(super) const fn longest(self) -> (Self, Option<i8>) {
                const LONGEST: &[(Opcode, Option<i8>)] = &[$(opcodes!(@long $variant $form)),*];
                LONGEST[self as usize]
            }
        }
    };
}

for_each_opcode!(opcodes);
