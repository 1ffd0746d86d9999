use super::super::ArrayShape;
use super::{MAX_NUMBER, TypeParser};
use crate::lexer::TextError;

/// The range of lower bounds.
const LOWER_BOUNDS: (i64, i64) = (-0x1000_0000, 0x0fff_ffff);

impl TypeParser<'_, '_> {
    /// `None` if no bounds follow, but the name of an assembly or a list of types; `Some(None)` for
    /// a vector.
    pub(super) fn shape(&mut self) -> Result<Option<Option<ArrayShape>>, TextError> {
        self.cursor.eat("[");
        let bounds = matches!(
            self.cursor.peek(),
            Some(']' | ',' | '*' | '-' | '.' | '0'..='9')
        );
        if !bounds && self.cursor.peek_word() != "rank" {
            return Ok(None);
        }
        if self.cursor.eat("]") {
            return Ok(Some(None));
        }
        let mut shape = ArrayShape::unbounded(0);
        loop {
            self.dimension(&mut shape)?;
            shape.rank = shape.rank.saturating_add(1);
            if !self.cursor.eat(",") {
                break;
            }
        }
        if self.cursor.eat_word("rank") {
            let start = self.cursor.at();
            let rank = self.cursor.unsigned(MAX_NUMBER, "a number of dimensions")? as u32;
            let bounded = shape.sizes.len().max(shape.lower_bounds.len());
            if rank == 0 || bounded > rank as usize {
                self.cursor.go_to(start);
                return Err(self.cursor.expected("as many dimensions as have bounds"));
            }
            shape.rank = rank;
        }
        self.cursor
            .expect("]", "`]` after the bounds of an array")?;
        Ok(Some(Some(shape)))
    }

    /// `4`, `1...`, `1...4`, `*` or nothing.
    fn dimension(&mut self, shape: &mut ArrayShape) -> Result<(), TextError> {
        const EXPECTED: &str = "a bound, given to all dimensions before this one too";
        let start = self.cursor.at();
        let (mut lowest, mut size) = (None, None);
        if matches!(self.cursor.peek(), Some('-' | '0'..='9')) {
            let number = self.cursor.signed((i64::MIN, i64::MAX), "a bound")?;
            if self.cursor.eat("...") {
                lowest = Some(number);
                if matches!(self.cursor.peek(), Some('-' | '0'..='9')) {
                    let highest = self.cursor.signed((i64::MIN, i64::MAX), "a bound")?;
                    size = Some(i128::from(highest) - i128::from(number) + 1);
                }
            } else {
                size = Some(i128::from(number));
            }
        } else if !self.cursor.eat("*") {
            self.cursor.eat("...");
        }
        let dimension = shape.rank as usize;
        let fits = lowest.is_none_or(|lowest| {
            (LOWER_BOUNDS.0..=LOWER_BOUNDS.1).contains(&lowest)
                && shape.lower_bounds.len() == dimension
        }) && size.is_none_or(|size| {
            (0..=i128::from(MAX_NUMBER)).contains(&size) && shape.sizes.len() == dimension
        });
        if !fits {
            self.cursor.go_to(start);
            return Err(self.cursor.expected(EXPECTED));
        }
        shape
            .lower_bounds
            .extend(lowest.map(|lowest| lowest as i32));
        shape.sizes.extend(size.map(|size| size as u32));
        Ok(())
    }
}
