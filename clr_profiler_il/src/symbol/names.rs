use crate::token::Token;

/// The names of tokens and the source lines of IL offsets, for readers of listings, diffs and messages.
///
/// An embedder implements it over the metadata of the module, and a PDB. Text with names is not parsed again.
///
/// ```
/// use clr_profiler_il::body::MethodBody;
/// use clr_profiler_il::symbol::Names;
/// use clr_profiler_il::token::Token;
///
/// struct Shop;
///
/// impl Names for Shop {
///     fn name(&self, token: Token) -> Option<String> {
///         (token.raw() == 0x0a00_0001).then(|| "Shop.Cart.Add(string)".to_owned())
///     }
///
///     fn source(&self, il_offset: u32) -> Option<String> {
///         (il_offset == 0).then(|| "Cart.cs:41".to_owned())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // `ldarg.0; ldarg.1; call 0x0a000001; ret`
/// let body = MethodBody::decode(&[0x22, 0x02, 0x03, 0x28, 1, 0, 0, 0x0a, 0x2a])?;
/// assert_eq!(
///     body.named(&Shop).to_string(),
///     "\
/// .maxstack 8
/// // Cart.cs:41
/// IL_0000:  ldarg.0
/// IL_0001:  ldarg.1
/// IL_0002:  call       Shop.Cart.Add(string)
/// IL_0007:  ret
/// "
/// );
/// # Ok(())
/// # }
/// ```
pub trait Names {
    /// The name of the type, method or field, or the text of the string or signature, that a token of the module refers to.
    /// `None` if it has none: the token is printed.
    fn name(&self, token: Token) -> Option<String>;

    /// The source of the instruction at an offset of the decoded body. `None` if none begins there.
    fn source(&self, il_offset: u32) -> Option<String> {
        let _ = il_offset;
        None
    }
}
