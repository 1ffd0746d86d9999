//! The functions of a method.

use crate::ids::FunctionId;

/// The functions of a method, of which most have one: in memory of their own only if there are several.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Functions {
    #[default]
    None,
    One(FunctionId),
    Several(Vec<FunctionId>),
}

impl Functions {
    pub(super) fn all(&self) -> &[FunctionId] {
        match self {
            Self::None => &[],
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }

    pub(super) fn add(&mut self, function: FunctionId) {
        match self {
            Self::None => *self = Self::One(function),
            _ if self.all().contains(&function) => {}
            Self::One(one) => *self = Self::Several(vec![*one, function]),
            Self::Several(all) => all.push(function),
        }
    }

    pub(super) fn remove(&mut self, functions: &[FunctionId]) {
        match self {
            Self::One(one) if functions.contains(one) => *self = Self::None,
            Self::None | Self::One(_) => {}
            Self::Several(all) => all.retain(|one| !functions.contains(one)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_there_once() {
        let [first, second] = [8, 16].map(FunctionId::from_runtime);
        let mut functions = Functions::default();
        for (added, expected) in [
            (first, &[first][..]),
            (first, &[first]),
            (second, &[first, second]),
            (second, &[first, second]),
        ] {
            functions.add(added);
            assert_eq!(functions.all(), expected);
        }
        functions.remove(&[first]);
        assert_eq!(functions.all(), [second]);
        functions.remove(&[first, second]);
        assert_eq!(functions.all(), []);
        let mut functions = Functions::One(first);
        functions.remove(&[second]);
        assert_eq!(functions.all(), [first]);
        functions.remove(&[first]);
        assert_eq!(functions, Functions::None);
    }
}
