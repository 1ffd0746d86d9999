use std::sync::Arc;

use super::OffsetPair;

/// Where the instructions of a method's own body are in one that was made of it, by one edit or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// In the same places.
    #[default]
    Same,
    /// In the places that the map tells.
    Mapped(Arc<[OffsetPair]>),
    /// Nobody may know.
    Hidden,
}

impl Origins {
    /// As a map; empty where nothing is to be said.
    #[must_use]
    pub fn map(&self) -> Vec<OffsetPair> {
        match self {
            Self::Mapped(map) => map.to_vec(),
            Self::Same | Self::Hidden => Vec::new(),
        }
    }

    /// The map of a body that was made of the one that these are the origins of, by the map between
    /// the two.
    #[must_use]
    pub fn followed_by(&self, map: Vec<OffsetPair>) -> Vec<OffsetPair> {
        match self {
            Self::Same => map,
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
        let mapped = Origins::Mapped(first.clone().into());
        for (origins, own, after) in [
            (Origins::Same, &[][..], &second),
            (mapped, &first, &both),
            (Origins::Hidden, &[], &Vec::new()),
        ] {
            assert_eq!(origins.map(), own);
            assert_eq!(&origins.followed_by(second.clone()), after);
        }
    }
}
