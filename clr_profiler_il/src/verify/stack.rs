use super::kind::Kind;

/// No values.
const EMPTY: u32 = u32::MAX;

/// A stack at one position. Stacks share common values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    top: u32,
    pub(super) depth: u32,
}

impl Stack {
    pub(super) const EMPTY: Self = Self {
        top: EMPTY,
        depth: 0,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    kind: Kind,
    below: u32,
}

/// The values of all stacks of a body. The memory grows with the number of pushed values, not with
/// the number of positions that have them on the stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    slots: Vec<Slot>,
}

/// The difference of two stacks that cannot be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// The index of the value, counted from the top.
    pub(super) from_top: u32,
    pub(super) kind: Kind,
    pub(super) other: Kind,
}

impl Values {
    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    #[must_use]
    pub(super) fn push(&mut self, stack: Stack, kind: Kind) -> Stack {
        let top = self.slots.len() as u32;
        self.slots.push(Slot {
            kind,
            below: stack.top,
        });
        Stack {
            top,
            depth: stack.depth.saturating_add(1),
        }
    }

    /// The topmost value and the stack below it.
    pub(super) fn pop(&self, stack: Stack) -> Option<(Kind, Stack)> {
        let slot = self.slots.get(stack.top as usize)?;
        let below = Stack {
            top: slot.below,
            depth: stack.depth.saturating_sub(1),
        };
        Some((slot.kind, below))
    }

    /// The join of two stacks of the same depth.
    pub(super) fn join(&mut self, one: Stack, other: Stack) -> Result<Stack, Clash> {
        // From the top down to their common part.
        let mut joined = Vec::new();
        let (mut left, mut right) = (one, other);
        let (mut is_left, mut is_right) = (true, true);
        while left.top != right.top
            && let (Some((kind, under)), Some((other, beside))) = (self.pop(left), self.pop(right))
        {
            let both = kind.join(other).ok_or(Clash {
                from_top: joined.len() as u32,
                kind,
                other,
            })?;
            is_left &= both == kind;
            is_right &= both == other;
            joined.push(both);
            (left, right) = (under, beside);
        }
        if is_left {
            return Ok(one);
        }
        if is_right {
            return Ok(other);
        }
        let mut stack = left;
        for &kind in joined.iter().rev() {
            stack = self.push(stack, kind);
        }
        Ok(stack)
    }
}
