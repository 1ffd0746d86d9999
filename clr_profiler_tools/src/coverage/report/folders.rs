//! The folders of source files.

use std::collections::BTreeMap;

/// The folder in which all of these files are, with a separator at its end; empty if there is none.
pub(super) fn common_folder<'a>(paths: impl IntoIterator<Item = &'a String>) -> &'a str {
    let mut paths = paths.into_iter();
    let Some(first) = paths.next() else {
        return "";
    };
    let mut common = first.len();
    for path in paths {
        let alike = first.bytes().zip(path.bytes());
        common = common.min(alike.take_while(|(one, other)| one == other).count());
    }
    let end = first.as_bytes()[..common]
        .iter()
        .rposition(|byte| is_separator(*byte));
    // A separator is one byte, so the text ends with a whole character.
    &first[..end.map_or(0, |end| end + 1)]
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// The common folder of the files below each root.
pub(super) struct Folders<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Folders<'a> {
    pub(super) fn of(paths: impl IntoIterator<Item = &'a String>) -> Self {
        let mut roots: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        for path in paths {
            roots.entry(root(path)).or_default().push(path);
        }
        let folders = roots.into_iter().map(|(root, paths)| {
            let folder = common_folder(paths);
            (root, folder)
        });
        Self(folders.collect())
    }

    /// Those that are not empty.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> {
        let folders = self.0.values().copied();
        folders.filter(|folder| !folder.is_empty())
    }

    /// A file's path from its folder on.
    pub(super) fn below<'p>(&self, path: &'p str) -> &'p str {
        let folder = self.0.get(root(path)).copied().unwrap_or_default();
        path.strip_prefix(folder).unwrap_or(path)
    }
}

/// `/`, a drive as `C:\\`, the `/_/` of deterministic builds, or nothing for a relative path.
fn root(path: &str) -> &str {
    let length = match path.as_bytes() {
        [b'/', b'_', b'/', ..] => 3,
        [_, b':', separator, ..] if is_separator(*separator) => 3,
        [separator, ..] if is_separator(*separator) => 1,
        _ => 0,
    };
    path.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|&path| path.to_owned()).collect()
    }

    #[test]
    fn the_common_folder_ends_with_a_separator() {
        for (paths, folder) in [
            (&["/shop/src/A.cs", "/shop/src/B.cs"][..], "/shop/src/"),
            (&["/shop/src/A.cs", "/shop/src2/C.cs"], "/shop/"),
            (&["C:\\shop\\A.cs", "C:\\shop\\B.cs"], "C:\\shop\\"),
            (&["/shop/src/A.cs", "D.cs"], ""),
            (&[], ""),
        ] {
            assert_eq!(common_folder(&owned(paths)), folder, "{paths:?}");
        }
    }

    #[test]
    fn each_root_has_its_folder() {
        let paths = owned(&[
            "/_/src/A.cs",
            "/_/src/deep/B.cs",
            "/home/shop/C.cs",
            "C:\\shop\\D.cs",
            "E.cs",
        ]);
        let folders = Folders::of(&paths);
        let all: Vec<&str> = folders.iter().collect();
        assert_eq!(all, ["/home/shop/", "/_/src/", "C:\\shop\\"]);
        let below: Vec<&str> = paths.iter().map(|path| folders.below(path)).collect();
        assert_eq!(below, ["A.cs", "deep/B.cs", "C.cs", "D.cs", "E.cs"]);
    }
}
