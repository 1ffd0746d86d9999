//! Texts with wildcards, and lists with items that match any number of values.

/// The text of a segment; `*` matches any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob {
    /// The literals between the wildcards; at least one, which may be empty.
    parts: Vec<String>,
}

impl Glob {
    pub(super) fn new(parts: Vec<String>) -> Self {
        Self { parts }
    }

    pub(super) fn any() -> Self {
        Self::new(vec![String::new(), String::new()])
    }

    /// Whether it is `*`.
    pub(super) fn is_any(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().all(String::is_empty)
    }

    /// The text, if there is no wildcard.
    pub(super) fn literal(&self) -> Option<&str> {
        match &*self.parts {
            [whole] => Some(whole),
            _ => None,
        }
    }

    /// The text before the first wildcard.
    pub(super) fn prefix(&self) -> &str {
        self.parts.first().map_or("", String::as_str)
    }

    /// The text after the last wildcard.
    pub(super) fn suffix(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = &*self.parts else {
            return self.prefix() == text;
        };
        let Some(text) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some(mut text) = text.strip_suffix(last.as_str()) else {
            return false;
        };
        for part in middle {
            match text.split_once(part.as_str()) {
                Some((_, rest)) => text = rest,
                None => return false,
            }
        }
        true
    }
}

/// Whether a list of items matches a list of values. `is_any` tells the items that match any number of
/// values, of those that `takes` accepts; `matches` compares another item with the value of this index.
pub(super) fn list_matches<I, V, E>(
    items: &[I],
    values: &[V],
    is_any: impl Fn(&I) -> bool,
    takes: impl Fn(&V) -> bool,
    mut matches: impl FnMut(&I, usize) -> Result<bool, E>,
) -> Result<bool, E> {
    let (mut item, mut value) = (0, 0);
    // The last item for any number, and the end of its values.
    let mut any: Option<(usize, usize)> = None;
    loop {
        match items.get(item) {
            None if value == values.len() => return Ok(true),
            Some(one) if is_any(one) => {
                any = Some((item, value));
                item += 1;
                continue;
            }
            Some(one) if value < values.len() && matches(one, value)? => {
                item += 1;
                value += 1;
                continue;
            }
            _ => {}
        }
        // The last item for any number takes one value more. An earlier one would gain nothing by it.
        match any {
            Some((at, end)) if values.get(end).is_some_and(&takes) => {
                any = Some((at, end + 1));
                (item, value) = (at + 1, end + 1);
            }
            _ => return Ok(false),
        }
    }
}
