//! `IMetaDataImport2`.

use super::enumerate::MetadataIter;
use super::handle::{Metadata, Sealed};
use crate::error::Result;
use crate::native::read_text;
use clr_profiler_il::token::{GenericParam, Token};

/// A generic parameter of a type or a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenericParamProps {
    /// Its place in the list of parameters, from 0.
    pub number: u32,
    /// Its attributes: `CorGenericParamAttr`, ECMA-335 II.23.1.7.
    pub attributes: u32,
    /// The type or method that has it.
    pub owner: Token,
    /// Its name, such as `TKey`.
    pub name: String,
}

/// What `IMetaDataImport2` offers: generics.
///
/// All of it may be called from every callback that is not during a collection.
#[doc(alias = "IMetaDataImport2")]
pub trait MetadataImport2: Sealed {
    /// The generic parameters of a type or a method.
    ///
    /// Wraps `IMetaDataImport2::EnumGenericParams`.
    ///
    /// # Errors
    ///
    /// What the metadata answers, as an item.
    #[doc(alias = "EnumGenericParams")]
    fn generic_params(&self, owner: Token) -> MetadataIter<'_, GenericParam> {
        MetadataIter::new(
            self.import(),
            "IMetaDataImport2::EnumGenericParams",
            move |import, native, buffer, capacity, given| {
                native_call!(
                    import,
                    IMetaDataImport2::EnumGenericParams(
                        native,
                        owner.raw(),
                        buffer,
                        capacity,
                        given
                    )
                )
            },
        )
    }

    /// Name and place of a generic parameter.
    ///
    /// Wraps `IMetaDataImport2::GetGenericParamProps`.
    ///
    /// # Errors
    ///
    /// `CLDB_E_RECORD_NOTFOUND` where there is no such parameter.
    #[doc(alias = "GetGenericParamProps")]
    fn generic_param_props(&self, parameter: GenericParam) -> Result<GenericParamProps> {
        let (mut number, mut attributes, mut owner, mut reserved) = (0, 0, 0, 0);
        let import = self.import();
        let name = read_text(|capacity, length, buffer| {
            native_call!(
                import,
                IMetaDataImport2::GetGenericParamProps(
                    parameter.raw(),
                    &mut number,
                    &mut attributes,
                    &mut owner,
                    &mut reserved,
                    buffer,
                    capacity,
                    length,
                )
            )
        })?;
        Ok(GenericParamProps {
            number,
            attributes,
            owner: Token::new(owner),
            name,
        })
    }
}

impl MetadataImport2 for Metadata<'_> {}
