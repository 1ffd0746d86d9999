//! `#[wraps(Interface::Method ..)]`: what is known of a native method, behind a function's documentation.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

/// Adds to the attributes of the item, in front of which all of its documentation stands.
pub(crate) fn expand(native: TokenStream, item: TokenStream) -> TokenStream {
    // Interface, two colons, method.
    let method = native.clone().into_iter().nth(3).map(|it| it.to_string());
    let mut attributes = TokenStream::new();
    let mut rest = item.into_iter().peekable();
    while let Some(TokenTree::Punct(hash)) = rest.peek()
        && hash.as_char() == '#'
    {
        attributes.extend(rest.by_ref().take(2));
    }
    let rest: TokenStream = rest.collect();
    quote! {
        #attributes
        #[doc = ""]
        #[doc = wrapped!(#native)]
        #[doc(alias = #method)]
        #rest
    }
}
