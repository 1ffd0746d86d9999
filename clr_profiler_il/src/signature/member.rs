use super::{MethodSig, SignatureError, TypeSig, method::HAS_THIS, reader::Reader, writer::Writer};

pub(super) const FIELD: u8 = 0x06;
const PROPERTY: u8 = 0x08;

/// The signature of a field (ECMA-335 II.23.2.4).
///
/// ```
/// use clr_profiler_il::signature::{FieldSig, TypeSig};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// assert_eq!(FieldSig::parse(&[0x06, 0x08])?.field_type, TypeSig::I4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldSig {
    /// The field's type, with its modifiers, such as `modreq(IsVolatile)`.
    pub field_type: TypeSig,
}

impl FieldSig {
    /// Substitutes the generic parameters in the field's type; see [`TypeSig::substitute`].
    #[must_use]
    pub fn substitute(&self, type_arguments: &[TypeSig]) -> Self {
        Self {
            field_type: self.field_type.substitute(type_arguments, &[]),
        }
    }
}

/// The signature of a property (ECMA-335 II.23.2.5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PropertySig {
    /// Whether it is an instance property.
    pub has_this: bool,
    /// The property's type.
    pub property_type: TypeSig,
    /// The types of an indexer's parameters; empty for other properties.
    pub params: Vec<TypeSig>,
}

/// The signature of a member reference: of a method or of a field (ECMA-335 II.22.25).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemberRefSig {
    /// The reference is to a method.
    Method(MethodSig),
    /// The reference is to a field.
    Field(FieldSig),
}

impl Reader<'_> {
    pub(super) fn field_sig(&mut self) -> Result<FieldSig, SignatureError> {
        self.header(FIELD, "field")?;
        Ok(FieldSig {
            field_type: self.type_sig()?,
        })
    }

    pub(super) fn property_sig(&mut self) -> Result<PropertySig, SignatureError> {
        let has_this = self.peek()? == PROPERTY | HAS_THIS;
        let header = if has_this {
            PROPERTY | HAS_THIS
        } else {
            PROPERTY
        };
        self.header(header, "property")?;
        let count = self.count(1)?;
        let property_type = self.type_sig()?;
        Ok(PropertySig {
            has_this,
            property_type,
            params: self.types(count)?,
        })
    }

    pub(super) fn member_ref_sig(&mut self) -> Result<MemberRefSig, SignatureError> {
        match self.peek()? {
            FIELD => self.field_sig().map(MemberRefSig::Field),
            _ => self
                .method_sig_of_kind("method or field")
                .map(MemberRefSig::Method),
        }
    }
}

impl Writer<'_> {
    pub(super) fn field_sig(&mut self, field: &FieldSig) -> Result<(), SignatureError> {
        self.byte(FIELD);
        self.type_sig(&field.field_type)
    }

    pub(super) fn property_sig(&mut self, property: &PropertySig) -> Result<(), SignatureError> {
        self.byte(if property.has_this {
            PROPERTY | HAS_THIS
        } else {
            PROPERTY
        });
        self.count(property.params.len())?;
        self.type_sig(&property.property_type)?;
        self.types(&property.params)
    }

    pub(super) fn member_ref_sig(&mut self, member: &MemberRefSig) -> Result<(), SignatureError> {
        match member {
            MemberRefSig::Method(method) => self.method_sig(method),
            MemberRefSig::Field(field) => self.field_sig(field),
        }
    }
}
