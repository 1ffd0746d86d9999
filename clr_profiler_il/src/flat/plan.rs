use super::Flat;
use crate::code::{Code, PADDING};
use crate::opcode::{Opcode, OperandLayout};
use crate::symbol::Symbol;

/// Code that is planned to be inserted, or none.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    code: Code,
    /// The encoded code, followed by at least [`PADDING`] bytes; the operands of symbols are their indexes.
    bytes: Vec<u8>,
    /// The size of the encoded code; 0 if nothing is planned.
    size: u32,
    /// The offsets after the operands of symbols, and the symbols.
    symbols: Vec<(u32, u32)>,
}

impl Default for Planned {
    fn default() -> Self {
        Self {
            code: Code::new(),
            bytes: Vec::new(),
            size: 0,
            symbols: Vec::new(),
        }
    }
}

impl Planned {
    pub(super) const fn clear(&mut self) {
        self.size = 0;
    }

    pub(super) const fn size(&self) -> u32 {
        self.size
    }

    /// The encoded code and the bytes after it.
    pub(super) fn padded(&self) -> &[u8] {
        &self.bytes
    }

    /// The symbols, with the offsets after their operands.
    pub(super) fn symbolic(&self) -> impl Iterator<Item = (usize, &Symbol)> {
        let symbols = match self.size {
            0 => &[],
            _ => &*self.symbols,
        };
        let symbols = symbols.iter();
        symbols.filter_map(|&(end, index)| Some((end as usize, self.code.symbol(index)?)))
    }

    /// The code, unless nothing is planned.
    pub(super) const fn code(&self) -> Option<&Code> {
        match self.size {
            0 => None,
            _ => Some(&self.code),
        }
    }

    /// Plans code, which is straight and not empty.
    fn set(&mut self, code: &Code) {
        self.code.copy_straight(code);
        self.symbols.clear();
        let mut at = 0;
        for node in code.nodes.iter().skip(1) {
            for prefix in code.prefixes_of(node) {
                let encoding = prefix.opcode.encoding();
                let word = u64::from(encoding.code) | u64::from(prefix.value) << encoding.shift;
                at = self.push(at, word.into(), encoding.length);
                if prefix.symbolic {
                    self.symbols.push((at as u32, prefix.value));
                }
            }
            let encoding = node.opcode.encoding();
            let word = u128::from(encoding.code) | u128::from(node.operand) << encoding.shift;
            at = self.push(at, word, encoding.length);
            if node.symbolic {
                self.symbols.push((at as u32, node.operand as u32));
            }
        }
        self.size = at as u32;
    }

    /// Writes a word of which some bytes count, and returns the offset after these.
    #[inline]
    fn push(&mut self, at: usize, word: u128, length: u8) -> usize {
        if self.bytes.len() < at + PADDING * 2 {
            self.bytes.resize((at + PADDING * 2).next_power_of_two(), 0);
        }
        let rest = self.bytes.get_mut(at..);
        if let Some(slot) = rest.and_then(|rest| rest.first_chunk_mut()) {
            *slot = word.to_le_bytes();
        }
        at + usize::from(length)
    }
}

impl Flat {
    /// Plans code before all other code; `false` if that needs nodes.
    pub(crate) fn plan_prologue(&mut self, code: &Code) -> bool {
        if code.nodes.len() < 2 {
            return true;
        }
        if self.prologue.size > 0 || self.has_marks() || !is_straight(code) {
            return false;
        }
        self.is_epilogue_first = self.epilogue.size > 0;
        self.prologue.set(code);
        true
    }

    /// Plans code before every `ret`, and returns how often it will be inserted; `None` if that
    /// needs nodes.
    pub(crate) fn plan_epilogue(&mut self, code: &Code) -> Option<usize> {
        if code.nodes.len() < 2 || self.rets.is_empty() {
            return Some(0);
        }
        if self.epilogue.size > 0 || self.has_marks() || !is_straight(code) {
            return None;
        }
        self.epilogue.set(code);
        Some(self.rets.len())
    }

    /// The planned code, each piece once.
    pub(crate) fn planned(&self) -> impl Iterator<Item = &Code> {
        [&self.prologue, &self.epilogue]
            .into_iter()
            .filter_map(Planned::code)
    }

    /// Inserts the planned code into the nodes of the code that was read. `node_at` finds the node
    /// at an offset.
    pub(crate) fn insert_planned(
        &self,
        code: &mut Code,
        node_at: impl Fn(&Code, u32) -> Option<u32>,
    ) {
        self.insert_marks(code, &node_at);
        if !self.is_epilogue_first {
            self.insert_prologue(code);
        }
        if let Some(epilogue) = self.epilogue.code() {
            for &ret in &self.rets {
                let Some(ret) = node_at(code, ret) else {
                    continue;
                };
                // As an insertion that branches and regions at the `ret` include.
                if let Some(spliced) = code.splice(ret, epilogue) {
                    code.move_labels(ret, spliced.first, |index, _| index < spliced.labels);
                }
            }
        }
        if self.is_epilogue_first {
            self.insert_prologue(code);
        }
    }

    fn insert_prologue(&self, code: &mut Code) {
        if let Some(prologue) = self.prologue.code() {
            code.splice(code.first(), prologue);
        }
    }
}

/// Whether code has no branches, regions or ends, so that control runs through all of it.
fn is_straight(code: &Code) -> bool {
    let is_straight = |opcode: Opcode| {
        let layout = opcode.encoding().layout;
        !opcode.ends_block() && matches!(layout, OperandLayout::Short | OperandLayout::Long)
    };
    let mut nodes = code.nodes.iter().skip(1);
    let mut prefixes = code.prefixes.iter();
    code.labels.is_empty()
        && code.clauses.is_empty()
        && nodes.all(|node| is_straight(node.opcode))
        && prefixes.all(|prefix| prefix.opcode != Opcode::Tail)
}
