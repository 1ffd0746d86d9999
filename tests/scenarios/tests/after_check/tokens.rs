//! Tokens for faults: of members that are missing, and of others than those that the code means.

use clr_profiler::il::signature::{
    LocalsSig, MemberRefSig, MethodSig, StandAloneSig as StandAlone, TypeSig,
};
use clr_profiler::il::token::{MemberRef, MethodDef, StandAloneSig, Token};
use clr_profiler::metadata::{AssemblyRefProps, Metadata, MetadataWriter};
use clr_profiler::prelude::*;

/// Makes and chooses tokens of one module.
pub(super) struct Tokens<'a> {
    pub(super) metadata: Metadata<'a>,
    pub(super) writer: MetadataWriter<'a>,
    pub(super) random: Random,
}

/// Numbers in no order, the same for each seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Self(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0xD134_2543_DE82_EF95));
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }
}

impl Tokens<'_> {
    /// The parent, name and signature of a method or field; none of an instance of a generic method.
    fn member(&self, token: u32) -> Result<Option<(Token, String, Vec<u8>)>> {
        let token = Token::new(token);
        if let Ok(member) = MemberRef::try_from(token) {
            let props = self.metadata.member_ref_props(member)?;
            return Ok(Some((props.parent, props.name, props.signature_blob)));
        }
        if let Ok(method) = MethodDef::try_from(token) {
            let props = self.metadata.method_props(method)?;
            return Ok(Some((props.class.into(), props.name, props.signature_blob)));
        }
        let Ok(field) = token.try_into() else {
            return Ok(None);
        };
        let props = self.metadata.field_props(field)?;
        Ok(Some((props.class.into(), props.name, props.signature_blob)))
    }

    fn reference(&self, parent: Token, name: &str, signature: &[u8]) -> Result<u32> {
        let member = self.writer.define_member_ref(parent, name, signature)?;
        Ok(Token::from(member).raw())
    }

    /// The member under a name that its type does not have.
    pub(super) fn renamed(&self, token: u32) -> Result<Option<u32>> {
        let Some((parent, name, signature)) = self.member(token)? else {
            return Ok(None);
        };
        // A constructor of another name would be another fault.
        if name.starts_with('.') {
            return Ok(None);
        }
        let name = format!("{name}Missing");
        Ok(Some(self.reference(parent, &name, &signature)?))
    }

    /// A type that the core library does not have.
    pub(super) fn missing_type(&self) -> Result<u32> {
        let mut references = self.metadata.assembly_refs()?;
        let Some(first) = references.next() else {
            return Err(Error::other("no reference to an assembly"));
        };
        let missing = self
            .writer
            .define_type_ref_by_name(first?, "System.Missing")?;
        Ok(Token::from(missing).raw())
    }

    /// A type of an assembly that does not exist.
    pub(super) fn type_of_missing_assembly(&self) -> Result<u32> {
        let assembly = AssemblyRefProps {
            name: "Missing".to_owned(),
            ..AssemblyRefProps::default()
        };
        let assembly = self.writer.define_assembly_ref(&assembly)?;
        let missing = self
            .writer
            .define_type_ref_by_name(assembly, "Missing.Type")?;
        Ok(Token::from(missing).raw())
    }

    /// The method in such a type.
    pub(super) fn in_missing_assembly(&self, token: u32) -> Result<Option<u32>> {
        let Some((_, name, signature)) = self.member(token)? else {
            return Ok(None);
        };
        let parent = Token::new(self.type_of_missing_assembly()?);
        Ok(Some(self.reference(parent, &name, &signature)?))
    }

    /// The method with another signature.
    fn changed(&self, token: u32, change: fn(&mut MethodSig)) -> Result<Option<u32>> {
        let Some((parent, name, signature)) = self.member(token)? else {
            return Ok(None);
        };
        let Ok(MemberRefSig::Method(mut signature)) = MemberRefSig::parse(&signature) else {
            return Ok(None);
        };
        change(&mut signature);
        let member = MemberRefSig::Method(signature);
        let member = self.writer.define_member_ref(parent, &name, &member)?;
        Ok(Some(Token::from(member).raw()))
    }

    pub(super) fn with_parameter(&self, token: u32) -> Result<Option<u32>> {
        self.changed(token, |signature| signature.params.push(TypeSig::R8))
    }

    pub(super) fn with_return_type(&self, token: u32) -> Result<Option<u32>> {
        self.changed(token, |signature| {
            signature.return_type = match signature.return_type {
                TypeSig::I8 => TypeSig::Object,
                _ => TypeSig::I8,
            };
        })
    }

    /// A method that the module defines.
    pub(super) fn other_method(&mut self, token: u32) -> Option<u32> {
        self.other(0x06, token, |metadata, token| {
            MethodDef::try_from(token).is_ok_and(|method| metadata.method_props(method).is_ok())
        })
    }

    /// A field that the module defines.
    pub(super) fn other_field(&mut self, token: u32) -> Option<u32> {
        self.other(0x04, token, |metadata, token| {
            let field = token.try_into();
            field.is_ok_and(|field| metadata.field_props(field).is_ok())
        })
    }

    fn other(
        &mut self,
        table: u32,
        token: u32,
        is: fn(&Metadata<'_>, Token) -> bool,
    ) -> Option<u32> {
        let exists = |row: &u32| is(&self.metadata, Token::new(table << 24 | row));
        let rows = (1..).take_while(exists).count();
        let other = table << 24 | (1 + self.random.below(rows) as u32);
        (rows > 0 && other != token).then_some(other)
    }

    pub(super) fn calli_with_parameter(&self, token: u32) -> Result<Option<u32>> {
        let Ok(token) = StandAloneSig::try_from(Token::new(token)) else {
            return Ok(None);
        };
        let signature = self.metadata.sig_from_token(token)?;
        let Ok(StandAlone::Method(mut signature)) = StandAlone::parse(&signature) else {
            return Ok(None);
        };
        signature.params.push(TypeSig::R8);
        let token = self.writer.token_from_sig(&StandAlone::Method(signature))?;
        Ok(Some(Token::from(token).raw()))
    }

    /// As many locals, all of which are integers or, if they were, objects.
    pub(super) fn other_locals(&self, token: Option<u32>) -> Result<Option<u32>> {
        let token = token.and_then(|token| StandAloneSig::try_from(Token::new(token)).ok());
        let Some(token) = token else {
            return Ok(None);
        };
        let signature = self.metadata.sig_from_token(token)?;
        let Ok(StandAlone::Locals(locals)) = StandAlone::parse(&signature) else {
            return Ok(None);
        };
        let other = |local: &TypeSig| match local {
            TypeSig::I4 => TypeSig::Object,
            _ => TypeSig::I4,
        };
        let locals = locals.locals.iter().map(other).collect();
        let locals = StandAlone::Locals(LocalsSig { locals });
        let token = self.writer.token_from_sig(&locals)?;
        Ok(Some(Token::from(token).raw()))
    }
}
