//! Short forms of instructions and their long forms.

use super::{Opcode, OperandKind};

/// The shorter forms of an instruction.
#[derive(Clone, Copy)]
struct Shorter {
    /// The form with a shorter operand; otherwise the longest form.
    short: Opcode,
    /// The forms with an implied operand, by the operand from -1 on.
    implied: [Option<Opcode>; 10],
}

/// Indexed by the longest form.
const SHORTER: &[Shorter] = &shorter();

#[expect(clippy::indexing_slicing, reason = "run by the compiler alone")]
const fn shorter() -> [Shorter; Opcode::ALL.len()] {
    let mut all = [Shorter {
        short: Opcode::Nop,
        implied: [None; 10],
    }; Opcode::ALL.len()];
    let mut index = 0;
    while index < all.len() {
        all[index].short = Opcode::ALL[index];
        index += 1;
    }
    index = 0;
    while index < all.len() {
        let opcode = Opcode::ALL[index];
        let (longest, implied) = opcode.longest();
        match implied {
            Some(operand) => {
                all[longest as usize].implied[(operand + 1) as usize] = Some(opcode);
            }
            None if longest as u8 != opcode as u8 => all[longest as usize].short = opcode,
            None => {}
        }
        index += 1;
    }
    all
}

#[expect(
    clippy::indexing_slicing,
    reason = "an opcode's number is below the number of opcodes; -1 to 8 are ten operands"
)]
impl Opcode {
    const fn shorter(self) -> &'static Shorter {
        &SHORTER[self.longest().0 as usize]
    }

    /// The shortest form for an operand of `ldc.i4` or of an instruction on an argument or local.
    pub(crate) const fn shortest(self, operand: i32) -> Self {
        let Shorter { short, implied } = self.shorter();
        if let -1..=8 = operand
            && let Some(opcode) = implied[(operand + 1) as usize]
        {
            return opcode;
        }
        let fits = match short.operand_kind() {
            OperandKind::ShortVariable => 0 <= operand && operand <= 0xff,
            OperandKind::Int8 => -0x80 <= operand && operand <= 0x7f,
            _ => false,
        };
        if fits { *short } else { self.longest().0 }
    }

    /// Whether opcodes of this operand kind have forms that imply an operand.
    pub(super) const fn has_implied_forms(self) -> bool {
        self.shorter().implied[1].is_some()
    }

    /// The form of a branch with a distance of four bytes; any other opcode is returned unchanged.
    ///
    /// ```
    /// use clr_profiler_il::opcode::Opcode;
    ///
    /// assert_eq!(Opcode::BgeUnS.long_form(), Opcode::BgeUn);
    /// assert_eq!(Opcode::Add.long_form(), Opcode::Add);
    /// ```
    #[must_use]
    #[inline]
    pub const fn long_form(self) -> Self {
        match self.operand_kind() {
            OperandKind::ShortTarget => self.longest().0,
            _ => self,
        }
    }

    /// The form of a branch with a distance of one byte; any other opcode is returned unchanged.
    #[must_use]
    #[inline]
    pub const fn short_form(self) -> Self {
        match self.operand_kind() {
            OperandKind::Target => self.shorter().short,
            _ => self,
        }
    }

    /// The shortest equivalent opcode for this argument or local: for `ldarg`, 2 gives `ldarg.2`
    /// and 200 gives `ldarg.s`. An opcode without such an operand is returned unchanged.
    #[must_use]
    pub const fn for_variable(self, number: u16) -> Self {
        match self.operand_kind() {
            OperandKind::ShortVariable | OperandKind::Variable => self.shortest(number as i32),
            _ => self,
        }
    }

    /// The index of the argument in the opcode or its operand, if it has one.
    pub(crate) const fn argument(self, operand: u64) -> Option<u16> {
        match self.longest() {
            (Self::Ldarg | Self::Ldarga | Self::Starg, implied) => Some(number(implied, operand)),
            _ => None,
        }
    }

    /// The index of the local in the opcode or its operand, if it has one.
    pub(crate) const fn local(self, operand: u64) -> Option<u16> {
        match self.longest() {
            (Self::Ldloc | Self::Ldloca | Self::Stloc, implied) => Some(number(implied, operand)),
            _ => None,
        }
    }

    /// The number that an `ldc.i4` of any form loads.
    pub(crate) const fn int32(self, operand: u64) -> Option<i32> {
        match self.longest() {
            (Self::LdcI4, Some(implied)) => Some(implied as i32),
            (Self::LdcI4, None) => Some(match self {
                Self::LdcI4S => operand as i8 as i32,
                _ => operand as i32,
            }),
            _ => None,
        }
    }
}

const fn number(implied: Option<i8>, operand: u64) -> u16 {
    match implied {
        Some(implied) => implied as u16,
        None => operand as u16,
    }
}
