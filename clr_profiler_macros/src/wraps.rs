//! `#[wraps(Interface::Method ..)]`: documents the facts of a native method.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// Inserts the documentation of the native method before the first section and the first example of
/// the item's own.
pub(crate) fn expand(native: TokenStream, item: TokenStream) -> TokenStream {
    // Interface, two colons, method.
    let method = native.clone().into_iter().nth(3).map(|it| it.to_string());
    let (mut first, mut last) = (TokenStream::new(), TokenStream::new());
    let mut rest = item.into_iter().peekable();
    while matches!(rest.peek(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#') {
        let attribute: TokenStream = rest.by_ref().take(2).collect();
        let text = attribute.to_string();
        if !last.is_empty() || ["\" # ", "\" ```"].iter().any(|begin| text.contains(begin)) {
            last.extend(attribute);
        } else {
            first.extend(attribute);
        }
    }
    quote! {
        #first
        #[doc = ""]
        #[doc = wrapped!(#native)]
        #[doc(alias = #method)]
        #[doc = ""]
        #last
        #(#rest)*
    }
}
