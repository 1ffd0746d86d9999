//! Insertions at many places of a decoded body at once.

use super::insert::check;
use super::{EditError, Labels};
use crate::body::MethodBody;
use crate::fragment::Fragment;

/// A place next to an instruction of the decoded code, by its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AtOffset {
    /// Before the instruction, in its regions, and on the way of branches to it.
    Before(u32),
    /// After the instruction, in its regions, and not on the way of branches to the next one.
    After(u32),
}

impl AtOffset {
    const fn offset(self) -> u32 {
        match self {
            Self::Before(offset) | Self::After(offset) => offset,
        }
    }
}

impl MethodBody {
    /// Inserts code at several places: `write` appends that of the place with an index to the fragment, which is empty.
    ///
    /// The same as [`insert_before`](Self::insert_before) with [`Labels::Move`] and [`insert_after`](Self::insert_after) with
    /// [`Labels::Stay`] for each place in the order of the code, and several times faster if the body was
    /// [decoded lazily](Self::decode_lazily_into), nothing has edited it, and the code has neither tokens, branches nor prefixes.
    /// A place must not be named twice, and `write` has to write the same each time: it may be called again.
    ///
    /// ```
    /// use clr_profiler_il::body::MethodBody;
    /// use clr_profiler_il::edit::AtOffset;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `ldarg.0; brfalse.s IL_0004; nop; ret`
    /// let mut body = MethodBody::decode(&[0x16, 0x02, 0x2c, 0x01, 0x00, 0x2a])?;
    /// let places = [AtOffset::Before(4), AtOffset::After(1)];
    /// body.insert_at(&places, |index, code| {
    ///     code.ldc_i4(index as i32).pop();
    /// })?;
    /// let text = "\
    /// IL_0000:  ldarg.0
    /// IL_0001:  brfalse.s  IL_0006
    /// IL_0003:  ldc.i4.1
    /// IL_0004:  pop
    /// IL_0005:  nop
    /// IL_0006:  ldc.i4.0
    /// IL_0007:  pop
    /// IL_0008:  ret
    /// ";
    /// assert!(body.to_string().ends_with(text));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the decoded code has no instruction at one of the offsets, it was removed, or a fragment has unplaced labels. Code at
    /// earlier places is then inserted.
    pub fn insert_at(
        &mut self,
        places: &[AtOffset],
        mut write: impl FnMut(usize, &mut Fragment),
    ) -> Result<(), EditError> {
        let mut order: Vec<(AtOffset, usize)> = places.iter().copied().zip(0..).collect();
        // An instruction's end comes before the next instruction, and so do their places.
        order.sort_unstable_by_key(|(place, _)| {
            (place.offset(), matches!(place, AtOffset::After(_)))
        });
        let mut fragment = Fragment::new();
        if self.plan(&order, &mut write, &mut fragment) {
            return Ok(());
        }
        self.code.settle();
        for (place, index) in order {
            let id = self.instruction_at(place.offset());
            let id = id.ok_or(EditError::NoInstruction(place.offset()))?;
            fragment.clear();
            write(index, &mut fragment);
            match place {
                AtOffset::Before(_) => self.insert_before(id, Labels::Move, &fragment)?,
                AtOffset::After(_) => self.insert_after(id, Labels::Stay, &fragment)?,
            };
        }
        Ok(())
    }

    /// Plans all insertions; `false` if that needs nodes.
    fn plan(
        &mut self,
        order: &[(AtOffset, usize)],
        write: &mut impl FnMut(usize, &mut Fragment),
        fragment: &mut Fragment,
    ) -> bool {
        let Some(flat) = self.code.unread_flat().filter(|flat| !flat.has_marks()) else {
            return false;
        };
        let mut added = self.added_stack;
        for (place, index) in order {
            fragment.clear();
            write(*index, fragment);
            let at = match place {
                AtOffset::Before(offset) => Some(*offset),
                AtOffset::After(offset) => flat.offset_after(*offset),
            };
            let is_after = matches!(place, AtOffset::After(_));
            let is_planned = check(fragment, &[]).is_ok()
                && !fragment.is_empty()
                && at.is_some_and(|at| flat.plan_mark(at, is_after, &fragment.code));
            if !is_planned {
                flat.drop_marks();
                return false;
            }
            let left = u32::try_from(fragment.stack_change()).unwrap_or(0);
            added.left = added.left.saturating_add(left);
            added.above = added.above.max(fragment.stack_need());
        }
        let is_placed = flat.place_marks();
        match is_placed {
            true => self.added_stack = added,
            false => flat.drop_marks(),
        }
        is_placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::Flat;

    const NOP: u8 = 0x00;

    /// A branch over so many instructions, another one back, and a table of both ways, between bounds of a handler.
    fn body(between: u8) -> Vec<u8> {
        // ldarg.0; brfalse.s; nop...; ldarg.0; brtrue.s (back); leave.s; (finally) endfinally; ret
        let mut code = vec![0x02, 0x2c, between];
        code.extend(std::iter::repeat_n(NOP, usize::from(between)));
        code.extend([0x02, 0x2d, (between + 3).wrapping_neg()]);
        let leave = code.len() as u8;
        code.extend([0xde, 0x01, 0xdc, 0x2a]);
        // A large header: more sections, a stack of 8.
        let mut bytes = vec![0x0b, 0x30, 8, 0, code.len() as u8, 0, 0, 0, 0, 0, 0, 0];
        let size = code.len();
        bytes.append(&mut code);
        bytes.resize(bytes.len() + (4 - size % 4) % 4, 0);
        let end = leave + 2;
        bytes.extend([1, 16, 0, 0, 2, 0, 0, 0, end, end, 0, 1, 0, 0, 0, 0]);
        bytes
    }

    fn encoded(body: &MethodBody) -> Vec<u8> {
        let mut out = Vec::new();
        body.encode(&mut crate::symbol::NoTokens, &mut out).unwrap();
        out
    }

    #[test]
    fn branches_become_long_as_with_nodes() {
        let mut long = 0;
        for between in 60..=120 {
            let bytes = body(between);
            for step in [3, 7, 19, 41] {
                let mut lazy = MethodBody::new();
                lazy.decode_lazily_into(&bytes).unwrap();
                let mut eager = MethodBody::decode(&bytes).unwrap();
                let ids: Vec<_> = eager
                    .instructions()
                    .map(|one| (one.id(), one.original_offset().unwrap()))
                    .collect();
                let write = |index: usize, code: &mut Fragment| {
                    code.ldc_i4(index as i32).pop();
                };
                let chosen = ids.iter().step_by(step);
                let is_after =
                    |offset: u32| offset % 2 == 1 && offset as usize + 30 < bytes.len() - 30;
                let places: Vec<AtOffset> = chosen
                    .clone()
                    .map(|&(_, offset)| match is_after(offset) {
                        true => AtOffset::After(offset),
                        false => AtOffset::Before(offset),
                    })
                    .collect();
                lazy.insert_at(&places, write).unwrap();
                assert!(lazy.code.flat().is_some_and(Flat::has_marks));
                for (index, &(id, offset)) in chosen.enumerate() {
                    let mut code = Fragment::new();
                    write(index, &mut code);
                    match is_after(offset) {
                        true => eager.insert_after(id, Labels::Stay, &code).unwrap(),
                        false => eager.insert_before(id, Labels::Move, &code).unwrap(),
                    };
                }
                let same = encoded(&eager);
                assert_eq!(encoded(&lazy), same, "{between} {step}");
                long += usize::from(same.contains(&0x39));
            }
        }
        // Both forms were met.
        assert!((1..244).contains(&long), "{long}");
    }

    #[test]
    fn offsets_within_instructions_are_refused() {
        // ldc.i4.s 5; pop; ret
        let bytes = [0x12, 0x1f, 5, 0x26, 0x2a];
        for at in [
            AtOffset::After(1),
            AtOffset::Before(1),
            AtOffset::After(9),
            AtOffset::After(u32::MAX),
        ] {
            let mut body = MethodBody::new();
            body.decode_lazily_into(&bytes).unwrap();
            let refused = body.insert_at(&[at], |_, code| {
                code.nop();
            });
            assert_eq!(refused, Err(EditError::NoInstruction(at.offset())));
        }
    }
}
