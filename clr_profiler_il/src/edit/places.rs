//! Insertions at many places of a decoded body at once.

use super::insert::check;
use super::{EditError, Labels};
use crate::body::MethodBody;
use crate::fragment::Fragment;

/// A place next to an instruction of the decoded code, by its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Before the instruction, in its regions, and on the way of branches to it.
    Before(u32),
    /// After the instruction, in its regions, and not on the way of branches to the next one.
    After(u32),
}

impl Place {
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
    /// use clr_profiler_il::edit::Place;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // `ldarg.0; brfalse.s IL_0004; nop; ret`
    /// let mut body = MethodBody::decode(&[0x16, 0x02, 0x2c, 0x01, 0x00, 0x2a])?;
    /// let places = [Place::Before(4), Place::After(1)];
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
    /// If the decoded code has no instruction at one of the offsets, it was removed, or a fragment has unplaced labels. Code at earlier places is
    /// then inserted.
    pub fn insert_at(
        &mut self,
        places: &[Place],
        mut write: impl FnMut(usize, &mut Fragment),
    ) -> Result<(), EditError> {
        let mut order: Vec<(Place, usize)> = places.iter().copied().zip(0..).collect();
        // An instruction's end comes before the next instruction, and so do their places.
        order.sort_unstable_by_key(|(place, _)| (place.offset(), matches!(place, Place::After(_))));
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
                Place::Before(_) => self.insert_before(id, Labels::Move, &fragment)?,
                Place::After(_) => self.insert_after(id, Labels::Stay, &fragment)?,
            };
        }
        Ok(())
    }

    /// Plans all insertions; `false` if that needs nodes.
    fn plan(
        &mut self,
        order: &[(Place, usize)],
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
                Place::Before(offset) => Some(*offset),
                Place::After(offset) => flat.offset_after(*offset),
            };
            let is_after = matches!(place, Place::After(_));
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
