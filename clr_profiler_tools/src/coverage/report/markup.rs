//! Text in XML and HTML.

/// Replaces the characters that have a meaning in markup, and those that XML does not allow.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.chars() {
        match one {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push('\t'),
            one if one.is_control() || matches!(one, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            one => out.push(one),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_generic_types_are_escaped() {
        assert_eq!(
            escaped("List<T> & \"x\"\u{1}"),
            "List&lt;T&gt; &amp; &quot;x&quot;\u{fffd}"
        );
    }
}
