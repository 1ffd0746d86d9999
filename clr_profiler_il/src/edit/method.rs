use super::insert::check;
use super::{EditError, Labels, NotInstrumentable, Side};
use crate::body::{Layout, MethodBody};
use crate::fragment::Fragment;
use crate::opcode::Opcode;

/// Where an instruction of the decoded body stands now, or code that was inserted before it.
#[doc(alias = "COR_IL_MAP")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OffsetPair {
    /// The offset of the instruction in the code that was decoded.
    pub old: u32,
    /// Its offset in the code that will be encoded, or that of the inserted code.
    pub new: u32,
    /// Whether the instruction stands there, not inserted code that leads to it.
    #[doc(alias = "fAccurate")]
    pub is_exact: bool,
}

impl OffsetPair {
    /// The map of a body that was edited twice, by the map of the first edit and that of the second,
    /// each in the order of new offsets. What the first has inserted is left out.
    #[must_use]
    pub fn composed(first: &[Self], second: &[Self]) -> Vec<Self> {
        let entries = second.iter().filter_map(|pair| {
            // Of several pairs with one new offset, the first stands for it.
            let place = first.partition_point(|own| own.new < pair.old);
            let own = first.get(place).filter(|own| own.new == pair.old)?;
            Some(Self {
                old: own.old,
                new: pair.new,
                is_exact: own.is_exact && pair.is_exact,
            })
        });
        entries.collect()
    }
}

impl MethodBody {
    /// Puts code before everything. Branches back to the first instruction do not run it again, and
    /// it lies in no region that begins there.
    ///
    /// # Errors
    ///
    /// If the fragment has labels without a place.
    pub fn prologue(&mut self, fragment: &Fragment) -> Result<(), EditError> {
        check(fragment, &[])?;
        let before = self.added_stack;
        // Without any instruction this is the end.
        let first = self.code.first();
        self.insert_checked(first, (Labels::Stay, Side::WithPrevious), fragment, &[]);
        // The stack is empty here: what is needed need not be added to what is declared.
        self.added_stack.above = before.above;
        self.added_stack.at_entry = before.at_entry.max(fragment.stack_need());
        Ok(())
    }

    /// Puts code before every `ret` that is there now, so that it runs whichever way control
    /// reaches it. It finds the value to return on the stack, if there is one, and must leave it.
    ///
    /// # Errors
    ///
    /// If the method leaves by a tail call or `jmp`, or the fragment has labels without a place.
    /// The body is then unchanged.
    pub fn before_ret(&mut self, fragment: &Fragment) -> Result<(), EditError> {
        check(fragment, &[])?;
        let mut rets = std::mem::take(&mut self.scratch);
        let returns = self.find_rets(&mut rets);
        if returns.is_ok() {
            let left = self.added_stack.left;
            for &ret in &rets {
                self.insert_checked(ret, (Labels::Move, Side::WithNext), fragment, &[]);
                // A path leads through one of them only.
                let change = u32::try_from(fragment.stack_change()).unwrap_or(0);
                self.added_stack.left = left.saturating_add(change);
            }
        }
        self.scratch = rets;
        returns
    }

    /// Finds all `ret` instructions; an error if the method leaves otherwise than by them or an
    /// exception.
    fn find_rets(&self, rets: &mut Vec<u32>) -> Result<(), EditError> {
        rets.clear();
        let mut jmp = false;
        self.code.each_exit(|index, node| {
            if node.removed {
                return;
            }
            if node.opcode == Opcode::Ret {
                rets.push(index);
            } else {
                jmp = true;
            }
        });
        // One may be told twice.
        if !rets.is_sorted_by(|one, next| one < next) {
            rets.sort_unstable();
            rets.dedup();
        }
        // Most methods have neither.
        let mut prefixes = self.code.prefixes.iter();
        if !jmp && prefixes.all(|prefix| prefix.opcode != Opcode::Tail) {
            return Ok(());
        }
        let refuse = |reason| Err(EditError::NotInstrumentable(reason));
        for instruction in self.instructions() {
            if instruction.opcode() == Opcode::Jmp {
                return refuse(NotInstrumentable::Jmp(instruction.id()));
            }
            let prefixes = self.code.prefixes_of(instruction.node);
            if prefixes.iter().any(|prefix| prefix.opcode == Opcode::Tail) {
                return refuse(NotInstrumentable::TailCall(instruction.id()));
            }
        }
        Ok(())
    }

    /// Takes the prefix `tail.` from all calls, so that they return to this method.
    ///
    /// The method then needs its stack frame for as long as the callee runs: deep recursion through
    /// tail calls overflows the stack.
    pub fn strip_tail_calls(&mut self) {
        for index in 1..self.code.nodes.len() as u32 {
            let Some(&node) = self.code.node(index).filter(|node| node.prefix_count > 0) else {
                continue;
            };
            let start = node.first_prefix as usize;
            let count = usize::from(node.prefix_count);
            let Some(prefixes) = self.code.prefixes.get_mut(start..start + count) else {
                continue;
            };
            if let Some(at) = prefixes
                .iter()
                .position(|prefix| prefix.opcode == Opcode::Tail)
            {
                // The others keep their order after it.
                if let Some(before) = prefixes.get_mut(..=at) {
                    before.rotate_right(1);
                }
                if let Some(node) = self.code.node_mut(index) {
                    node.first_prefix += 1;
                    node.prefix_count -= 1;
                }
            }
        }
    }

    /// Where the instructions of the decoded body stand now, by their old offsets. Removed ones are
    /// left out; one that was replaced is where its replacement begins.
    #[must_use]
    pub fn offset_map(&self) -> Vec<OffsetPair> {
        let mut map = self.instrumented_code_map();
        map.retain(|pair| pair.is_exact);
        map.sort_by_key(|pair| pair.old);
        map
    }

    /// What debuggers and stack traces need to find the lines of the source, by new offsets.
    ///
    /// InsertedRange code has the line of the instruction that it leads to: compiled code is told apart by
    /// statements, and one that begins in inserted code goes on behind it, not before it.
    #[must_use]
    #[doc(alias = "SetILInstrumentedCodeMap")]
    pub fn instrumented_code_map(&self) -> Vec<OffsetPair> {
        let mut layout = Layout::default();
        layout.compute(&self.code);
        let mut map = Vec::with_capacity(self.len());
        // Where inserted code begins that leads here.
        let mut inserted = None;
        for instruction in self.instructions() {
            let new = layout.offset(&self.code, instruction.id.0);
            let Some(old) = instruction.original_offset() else {
                inserted = match instruction.opcode().ends_block() {
                    true => None,
                    false => inserted.or(Some(new)),
                };
                continue;
            };
            let pair = |new, is_exact| OffsetPair { old, new, is_exact };
            map.extend(inserted.take().map(|new| pair(new, false)));
            map.push(pair(new, true));
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_follow_from_edit_to_edit() {
        let map = |pairs: &[(u32, u32, bool)]| -> Vec<OffsetPair> {
            let pairs = pairs.iter();
            pairs
                .map(|&(old, new, is_exact)| OffsetPair { old, new, is_exact })
                .collect()
        };
        // Five bytes are put before all, and three before the second instruction.
        let first = map(&[(0, 0, false), (0, 5, true), (2, 7, true)]);
        let second = map(&[
            (0, 0, true),
            (1, 1, true),
            (5, 5, true),
            (7, 7, false),
            (7, 10, true),
        ]);
        // What was inserted is not the instruction that it leads to.
        assert_eq!(
            OffsetPair::composed(&first, &second),
            map(&[(0, 0, false), (0, 5, true), (2, 7, false), (2, 10, true)])
        );
        assert_eq!(OffsetPair::composed(&[], &second), []);
    }
}
