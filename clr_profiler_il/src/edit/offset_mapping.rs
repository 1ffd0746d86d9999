use std::sync::Arc;

use super::OffsetPair;

/// Where the instructions of a method's own body are in one that was made of it, by one edit or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OffsetMapping {
    /// In the same places.
    #[default]
    Identity,
    /// In the places that the map tells.
    Mapped(Arc<[OffsetPair]>),
    /// Nobody may know.
    Hidden,
}

impl OffsetMapping {
    /// As a map; empty where nothing is to be said.
    #[must_use]
    pub fn map(&self) -> Vec<OffsetPair> {
        match self {
            Self::Mapped(map) => map.to_vec(),
            Self::Identity | Self::Hidden => Vec::new(),
        }
    }

    /// The map of a body that was made of the one that these are the offsets of, by the map between
    /// the two.
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
