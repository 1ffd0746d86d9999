use super::insert::check;
use super::{EditError, Labels, NotInstrumentable, Side};
use crate::body::{EncodeBuffers, Layout, MethodBody};
use crate::flat::Flat;
use crate::fragment::Fragment;
use crate::opcode::Opcode;

/// The new offset of an instruction of the decoded body, or of code inserted before it.
#[doc(alias = "COR_IL_MAP")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OffsetPair {
    /// The offset of the instruction in the decoded code.
    pub old: u32,
    /// The offset of the instruction, or of the inserted code, in the code to be encoded.
    pub new: u32,
    /// Whether `new` is the instruction itself, not inserted code that leads to it.
    #[doc(alias = "fAccurate")]
    pub is_exact: bool,
}

impl OffsetPair {
    /// Composes the maps of two successive edits, each sorted by new offset. Insertions of the
    /// first edit are omitted.
    #[must_use]
    pub fn composed(first: &[Self], second: &[Self]) -> Vec<Self> {
        let entries = second.iter().filter_map(|pair| {
            // The first of several pairs with one new offset represents them.
            let index = first.partition_point(|own| own.new < pair.old);
            let own = first.get(index).filter(|own| own.new == pair.old)?;
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
    /// Inserts code before all other code. Branches back to the first instruction do not run it
    /// again, and it is outside of the regions that begin there.
    ///
    /// # Errors
    ///
    /// If the fragment has unplaced labels.
    pub fn prologue(&mut self, fragment: &Fragment) -> Result<(), EditError> {
        check(fragment, &[])?;
        let before = self.added_stack;
        let flat = self.code.unread_flat();
        if flat.is_some_and(|flat| flat.plan_prologue(&fragment.code)) {
            let left = u32::try_from(fragment.stack_change()).unwrap_or(0);
            self.added_stack.left = before.left.saturating_add(left);
            self.added_stack.at_entry = before.at_entry.max(fragment.stack_need());
            return Ok(());
        }
        self.code.settle();
        // The end, if there are no instructions.
        let first = self.code.first();
        self.insert_checked(first, (Labels::Stay, Side::WithPrevious), fragment, &[]);
        // The stack is empty here, so the need is not added to the declared depth.
        self.added_stack.above = before.above;
        self.added_stack.at_entry = before.at_entry.max(fragment.stack_need());
        Ok(())
    }

    /// Inserts code before every existing `ret`, so that it runs on every path to it. It finds the
    /// return value, if any, on the stack and must leave it there.
    ///
    /// # Errors
    ///
    /// If the method leaves by a tail call or `jmp`, or the fragment has unplaced labels. The body
    /// is then unchanged.
    pub fn before_ret(&mut self, fragment: &Fragment) -> Result<(), EditError> {
        check(fragment, &[])?;
        let flat = self.code.unread_flat();
        if let Some(count) = flat.and_then(|flat| flat.plan_epilogue(&fragment.code)) {
            if count > 0 {
                let left = u32::try_from(fragment.stack_change()).unwrap_or(0);
                let added = &mut self.added_stack;
                added.left = added.left.saturating_add(left);
                added.above = added.above.max(fragment.stack_need());
            }
            return Ok(());
        }
        self.code.settle();
        let mut rets = std::mem::take(&mut self.scratch);
        let returns = self.find_rets(&mut rets);
        if returns.is_ok() {
            let left = self.added_stack.left;
            for &ret in &rets {
                self.insert_checked(ret, (Labels::Move, Side::WithNext), fragment, &[]);
                // Every path passes only one of them.
                let change = u32::try_from(fragment.stack_change()).unwrap_or(0);
                self.added_stack.left = left.saturating_add(change);
            }
        }
        self.scratch = rets;
        returns
    }

    /// Finds all `ret` instructions. Fails if the method can leave other than by them or an
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
        // A `ret` may be visited twice.
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

    /// Removes the prefix `tail.` from all calls, so that they return to this method.
    ///
    /// The method then keeps its stack frame while the callee runs: deep recursion through tail
    /// calls overflows the stack.
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
                // Keeps the order of the other prefixes after it.
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

    /// The new offsets of the instructions of the decoded body, by old offset. Removed instructions
    /// are omitted; a replaced one maps to the start of its replacement.
    #[must_use]
    pub fn offset_map(&self) -> Vec<OffsetPair> {
        let mut map = self.instrumented_code_map();
        map.retain(|pair| pair.is_exact);
        map.sort_by_key(|pair| pair.old);
        map
    }

    /// The map that debuggers and stack traces need to find source lines, by new offset.
    ///
    /// Inserted code gets the line of the instruction that it leads to: the JIT maps compiled code
    /// by statement, and a statement that starts in inserted code continues after it, not before
    /// it.
    #[must_use]
    #[doc(alias = "SetILInstrumentedCodeMap")]
    pub fn instrumented_code_map(&self) -> Vec<OffsetPair> {
        if let Some(flat) = self.code.flat()
            && flat.write(&mut Vec::new())
        {
            return flat_map(flat);
        }
        let mut layout = Layout::default();
        layout.compute(&self.code);
        self.map_in(&layout)
    }

    /// The [`instrumented_code_map`](Self::instrumented_code_map) of a body that was just encoded with
    /// these buffers, which know the offsets. If it was not, or was changed since, the offsets are
    /// meaningless.
    #[must_use]
    pub fn encoded_code_map(&self, buffers: &EncodeBuffers) -> Vec<OffsetPair> {
        if let Some(flat) = self.code.flat()
            && buffers.is_flat
        {
            return flat_map(flat);
        }
        self.map_in(&buffers.layout)
    }

    fn map_in(&self, layout: &Layout) -> Vec<OffsetPair> {
        // Each inexact entry has at least one inserted instruction, each exact one a decoded one.
        let mut map = Vec::with_capacity(self.code.nodes.len());
        // The start of inserted code that leads here.
        let mut inserted = None;
        let mut segment = 0;
        for instruction in self.instructions() {
            let (id, node) = (instruction.id.0, instruction.node);
            let new = layout.next_offset(&self.code, &mut segment, id, node);
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

/// The map of flat code.
fn flat_map(flat: &Flat) -> Vec<OffsetPair> {
    let mut map = Vec::with_capacity(flat.count());
    flat.each_offset(|old, new, is_exact| map.push(OffsetPair { old, new, is_exact }));
    map
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
        // Five bytes are inserted before all code, and three before the second instruction.
        let first = map(&[(0, 0, false), (0, 5, true), (2, 7, true)]);
        let second = map(&[
            (0, 0, true),
            (1, 1, true),
            (5, 5, true),
            (7, 7, false),
            (7, 10, true),
        ]);
        // The inserted code is not the instruction that it leads to.
        assert_eq!(
            OffsetPair::composed(&first, &second),
            map(&[(0, 0, false), (0, 5, true), (2, 7, false), (2, 10, true)])
        );
        assert_eq!(OffsetPair::composed(&[], &second), []);
    }
}
