use std::sync::Arc;

use super::OffsetPair;

/// The offsets of a method's original instructions in a body that was made of it by one or several
/// edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffsetMapping {
    /// The offsets are unchanged.
    #[default]
    Identity,
    /// The offsets according to the map.
    Mapped(Arc<[OffsetPair]>),
    /// The offsets must not be published.
    Hidden,
}

impl OffsetMapping {
    /// The map; empty if there is nothing to publish.
    #[must_use]
    pub fn map(&self) -> Vec<OffsetPair> {
        match self {
            Self::Mapped(map) => map.to_vec(),
            Self::Identity | Self::Hidden => Vec::new(),
        }
    }

    /// The map of a body that was made of this one by another edit with the given map.
    #[must_use]
    pub fn then(&self, map: Vec<OffsetPair>) -> Vec<OffsetPair> {
        match self {
            Self::Identity => map,
            Self::Hidden => Vec::new(),
            Self::Mapped(before) => OffsetPair::composed(before, &map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_goes_back_to_the_methods_own_body_unless_that_is_hidden() {
        let pair = |old, new| OffsetPair {
            old,
            new,
            is_exact: true,
        };
        let [first, second] = [vec![pair(0, 5)], vec![pair(5, 9)]];
        let both = OffsetPair::composed(&first, &second);
        assert_eq!(both, [pair(0, 9)]);
        let mapped = OffsetMapping::Mapped(first.clone().into());
        for (offsets, own, after) in [
            (OffsetMapping::Identity, &[][..], &second),
            (mapped, &first, &both),
            (OffsetMapping::Hidden, &[], &Vec::new()),
        ] {
            assert_eq!(offsets.map(), own);
            assert_eq!(&offsets.then(second.clone()), after);
        }
    }
}
