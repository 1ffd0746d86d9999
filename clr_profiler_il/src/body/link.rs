use super::error::{BodyError, BodyErrorKind};
use super::instructions::distance;
use crate::code::{Code, Label, unpack_range};
use crate::opcode::Opcode;

/// Replaces the distances of branches and the offsets of switches of freshly decoded code by
/// labels.
pub(super) fn link(code: &mut Code, origin: usize) -> Result<(), BodyError> {
    // Linking does not change the list.
    let jumps = std::mem::take(&mut code.original.jumps);
    let linked = jumps
        .iter()
        .try_for_each(|&index| link_branch(code, origin, index));
    code.original.jumps = jumps;
    linked
}

#[inline]
fn link_branch(code: &mut Code, origin: usize, index: u32) -> Result<(), BodyError> {
    let Some(node) = code.node(index) else {
        return Ok(());
    };
    let (opcode, operand, start) = (node.opcode, node.operand, origin + node.offset as usize);
    if opcode.is_exit() {
        return Ok(());
    }
    if opcode == Opcode::Switch {
        return link_switch(code, start, operand);
    }
    let end = code.offset(index + 1);
    let (distance, size) = distance(operand);
    let target = end as i64 + distance;
    match u32::try_from(target) {
        Ok(offset) if (offset as usize) < code.original.size => {
            let label = label(code, start, offset)?;
            if let Some(node) = code.nodes.slot_mut(index as usize) {
                node.operand = u64::from(label.index);
            }
            Ok(())
        }
        _ => {
            let kind = BodyErrorKind::TargetOutside { target };
            Err(BodyError::new(origin + end - size, kind))
        }
    }
}

#[inline(never)]
fn link_switch(code: &mut Code, at: usize, operand: u64) -> Result<(), BodyError> {
    let (start, count) = unpack_range(operand);
    for entry in start..start + count {
        let Some(&Label { index: offset, .. }) = code.switches.get(entry) else {
            break;
        };
        let label = label(code, at, offset)?;
        if let Some(entry) = code.switches.get_mut(entry) {
            *entry = label;
        }
    }
    Ok(())
}

/// The label for a target of the branch at this offset of the body.
#[inline]
fn label(code: &mut Code, branch: usize, target: u32) -> Result<Label, BodyError> {
    match node_at_offset(code, target) {
        Some(at) => Ok(code.branch_label(at)),
        None => Err(BodyError::new(
            branch,
            BodyErrorKind::TargetInside { target },
        )),
    }
}

/// The node of the instruction at an offset of the freshly decoded code.
#[inline]
pub(super) fn node_at_offset(code: &Code, offset: u32) -> Option<u32> {
    // Elsewhere the list has leftovers of another body.
    let node = *code.original.starts.get(offset as usize)?;
    let begins =
        code.original.contains(node) && code.node(node).is_some_and(|node| node.offset == offset);
    begins.then_some(node)
}
