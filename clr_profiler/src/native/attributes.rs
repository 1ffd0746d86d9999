//! Conversion of metadata attributes.

use crate::native::{arguments, results};
use clr_profiler_il::attributes::{
    AssemblyFlags, AssemblyHashAlgorithm, CallConv, EventAttributes, FieldAttributes,
    FileAttributes, GenericParamAttributes, ManifestResourceAttributes, MemberAttributes,
    MethodAttributes, MethodImplAttributes, MethodSemanticsAttributes, PInvokeAttributes,
    ParamAttributes, PropertyAttributes, SecurityAction, TypeAttributes,
};

/// The value that leaves attributes unchanged; `None` is converted to it.
const KEEP: u32 = u32::MAX;

macro_rules! attributes {
    ($($name:ident)*) => {$(
        arguments! {
            $name => u32 = |attributes, _| Ok(attributes.bits());
            Option<$name> => u32 = |attributes, _| {
                Ok(attributes.map_or(KEEP, |attributes| attributes.bits()))
            };
        }
        results! { u32 => $name = |bits, _| Ok(Self::from_bits_retain(bits)); }
    )*};
}

attributes! {
    AssemblyFlags EventAttributes FieldAttributes FileAttributes GenericParamAttributes
    ManifestResourceAttributes MemberAttributes MethodAttributes MethodImplAttributes
    MethodSemanticsAttributes PInvokeAttributes ParamAttributes PropertyAttributes TypeAttributes
}

arguments! {
    SecurityAction => u32 = |action, _| Ok(action.number());
    /// `None` means any action.
    Option<SecurityAction> => u32 = |action, _| Ok(action.map_or(0, SecurityAction::number));
}

results! {
    u32 => AssemblyHashAlgorithm = |number, _| Ok(Self::from_number(number));
    u32 => SecurityAction = |number, _| Ok(Self::from_number(number));
    u32 => CallConv = |bits, _| Ok(PInvokeAttributes::from_bits_retain(bits).call_conv());
}
