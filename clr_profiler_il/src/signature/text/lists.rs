use super::super::{
    CallingConvention, FieldSig, LocalsSig, MAX_LOCALS, MemberRefSig, PropertySig, StandAloneSig,
    TypeSig,
};
use super::TypeParser;
use crate::lexer::TextError;

impl TypeParser<'_, '_> {
    /// A method, or a field, which is just a type.
    pub(super) fn member(&mut self) -> Result<MemberRefSig, TextError> {
        let start = *self.cursor;
        let of = self.type_sig();
        if let Ok(field_type) = of
            && self.cursor.is_at_end()
        {
            return Ok(MemberRefSig::Field(FieldSig { field_type }));
        }
        *self.cursor = start;
        self.method_sig().map(MemberRefSig::Method)
    }

    pub(super) fn stand_alone(&mut self) -> Result<StandAloneSig, TextError> {
        if self.cursor.follows("(") {
            return self.locals_sig().map(StandAloneSig::Locals);
        }
        self.member().map(|member| match member {
            MemberRefSig::Method(method) => StandAloneSig::Method(method),
            MemberRefSig::Field(field) => StandAloneSig::Field(field),
        })
    }

    pub(super) fn property_sig(&mut self) -> Result<PropertySig, TextError> {
        let has_this = self.cursor.eat_word("instance");
        let property_type = self.type_sig()?;
        let mut params = Vec::new();
        for brackets in [["[", "]"], ["(", ")"]] {
            let [open, _] = brackets;
            if self.cursor.follows(open) {
                let list = self.nested_params(CallingConvention::Default, brackets)?;
                params = list.of.0;
                break;
            }
        }
        Ok(PropertySig {
            has_this,
            property_type,
            params,
        })
    }

    /// `([0] int, [1] string)`; the numbers are optional.
    pub(crate) fn locals_sig(&mut self) -> Result<LocalsSig, TextError> {
        self.cursor.expect("(", "`(` and the types of locals")?;
        let mut locals = Vec::new();
        if self.cursor.eat(")") {
            return Ok(LocalsSig { locals });
        }
        loop {
            if locals.len() == MAX_LOCALS {
                return Err(self.cursor.expected("no more locals than 65534"));
            }
            self.local_number(locals.len())?;
            locals.push(self.local()?);
            if !self.cursor.eat(",") {
                self.cursor.expect(")", "`,` or `)` after a local")?;
                return Ok(LocalsSig { locals });
            }
        }
    }

    /// The type of a local, and optionally its name, which is discarded.
    pub(crate) fn local(&mut self) -> Result<TypeSig, TextError> {
        let local = self.type_sig()?;
        if !self.cursor.peek_word().is_empty() || self.cursor.follows("'") {
            self.cursor.name("the name of a local")?;
        }
        Ok(local)
    }

    /// `[2]` before the local with this number.
    pub(crate) fn local_number(&mut self, number: usize) -> Result<(), TextError> {
        const EXPECTED: &str = "the number of the local, counted from 0";
        self.cursor.skip();
        let start = self.cursor.at();
        if self.cursor.eat("[") {
            let given = self.cursor.unsigned(MAX_LOCALS as u64, EXPECTED)?;
            if given != number as u64 {
                self.cursor.go_to(start);
                return Err(self.cursor.expected(EXPECTED));
            }
            self.cursor.expect("]", "`]` after the number of a local")?;
        }
        Ok(())
    }
}
