//! The pages that rustdoc generates for the public items: the only list of them that is not handwritten.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// The crates whose users rely on these promises.
pub(crate) const CRATES: [&str; 6] = [
    "clr_profiler",
    "clr_profiler_il",
    "clr_metadata",
    "clr_profiler_tools",
    "clr_profiler_launcher",
    "clr_profiler_test",
];

/// The crates whose public items are listed in `docs/public-api` with their signatures.
pub(crate) const PUBLISHED: [&str; 7] = [
    "clr_profiler_macros",
    "clr_profiler_il",
    "clr_metadata",
    "clr_profiler",
    "clr_profiler_launcher",
    "clr_profiler_test",
    "clr_profiler_tools",
];

/// The crate of which only the names of public items are listed: its own tests compare their definitions with those of
/// the native headers.
pub(crate) const NATIVE: &str = "clr_profiler_sys";

/// The page of a public item.
pub(crate) struct Page {
    /// Its path in the crate, such as `heap::Dominators`.
    pub(crate) path: String,
    /// `struct`, `enum`, `union`, `trait` or another kind.
    pub(crate) kind: String,
    html: String,
}

impl Page {
    /// The texts of the headings of this size: declarations of methods (4) and of implementations (3).
    pub(crate) fn headings(&self, size: u32) -> Vec<String> {
        headings(&self.html, size)
    }

    /// The declaration of the item itself.
    pub(crate) fn declaration(&self) -> String {
        let declaration = self.html.split("<pre class=\"rust item-decl\">").nth(1);
        text(
            declaration
                .and_then(|rest| rest.split("</pre>").next())
                .unwrap_or_default(),
        )
    }
}

/// Parts of a page that follow the members of the item itself.
const AFTER_MEMBERS: [&str; 5] = [
    "<h2 id=\"trait-implementations\"",
    "<h2 id=\"synthetic-implementations\"",
    "<h2 id=\"deref-methods",
    "<h2 id=\"foreign-impls\"",
    "<h2 id=\"implementors\"",
];

impl Page {
    /// Whether the item is defined in a crate of the workspace, instead of exported from another one.
    pub(crate) fn is_of_workspace(&self) -> bool {
        let source = self.html.split("<a class=\"src\" href=\"").nth(1);
        source.is_some_and(|link| {
            link.trim_start_matches("../")
                .starts_with("src/clr_profiler")
        })
    }

    /// The signatures of the methods, constants and types of the item itself.
    pub(crate) fn members(&self) -> Vec<String> {
        let end = AFTER_MEMBERS
            .iter()
            .filter_map(|heading| self.html.find(heading))
            .min()
            .unwrap_or(self.html.len());
        headings(&self.html[..end], 4)
    }

    /// The fields of a struct, and the variants of an enumeration with their fields: path and declaration.
    pub(crate) fn fields(&self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        for piece in self.html.split(" id=\"").skip(1) {
            let id = piece.split('"').next().unwrap_or_default();
            let (owner, tag) = match id.split('.').collect::<Vec<_>>()[..] {
                ["structfield", _] => (String::new(), "code"),
                ["variant", variant, "field", _] => (format!("{variant}::"), "code"),
                ["variant", _] => (String::new(), "h3"),
                _ => continue,
            };
            let inside = piece
                .split_once(&format!("<{tag}"))
                .map(|(_, inside)| inside);
            let inside = inside.and_then(|inside| inside.split(&format!("</{tag}>")).next());
            let inside = inside.and_then(|inside| Some(inside.split_once('>')?.1));
            fields.push((owner, text(inside.unwrap_or_default())));
        }
        fields
    }

    /// The traits that the item implements, without those that the compiler or another trait gives to it.
    pub(crate) fn implemented(&self) -> Vec<String> {
        let list = self
            .html
            .split("<div id=\"trait-implementations-list\">")
            .nth(1);
        let list = list.and_then(|list| list.split("<h2 id=\"").next());
        headings(list.unwrap_or_default(), 3)
    }
}

/// The texts of the headings of this size.
fn headings(html: &str, size: u32) -> Vec<String> {
    let (begin, end) = (
        format!("<h{size} class=\"code-header\">"),
        format!("</h{size}>"),
    );
    let pieces = html.split(&begin).skip(1);
    pieces
        .map(|piece| text(piece.split(&end).next().unwrap_or(piece)))
        .collect()
}

/// Text without tags, on one line.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut pieces = html.split('<');
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    let text = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
        ("&#39;", "'"),
        ("&quot;", "\""),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The pages of all public items of a crate, in the order of their paths, each once.
pub(crate) fn of(name: &str) -> Vec<Page> {
    let mut pages = all(name);
    // A token of the IL crate is in the prelude, too.
    pages.retain(|page| !page.path.starts_with("prelude::"));
    pages
}

/// The re-exports of items whose page is in another module, a line for each.
pub(crate) fn exported_again(name: &str) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let pages = all(name);
    for page in &pages {
        if let Some(item) = page.path.strip_prefix("prelude::") {
            lines.insert(format!("prelude: {item}"));
        }
        let (module, _) = page.path.rsplit_once("::").unwrap_or_default();
        let index = documentation().join(name).join(module.replace("::", "/"));
        let index = fs::read_to_string(index.join("index.html")).unwrap();
        for piece in index.split("<dt id=\"reexport.").skip(1) {
            let code = piece.split_once("<code>").map(|(_, code)| code);
            let code = code.and_then(|code| code.split("</code>").next());
            let export = text(code.unwrap_or_default());
            let module = if module.is_empty() { name } else { module };
            lines.insert(format!("{module}: {}", export.trim_end_matches(';')));
        }
    }
    lines
}

fn all(name: &str) -> Vec<Page> {
    let folder = documentation().join(name);
    let list = fs::read_to_string(folder.join("all.html")).unwrap();
    let mut files: Vec<&str> = list
        .split("<li><a href=\"")
        .skip(1)
        .filter_map(|piece| piece.split('"').next())
        .filter(|link| !link.starts_with('#') && link.ends_with(".html"))
        .filter(|link| !link.ends_with("index.html"))
        .collect();
    files.sort_unstable();
    files.dedup();
    let page = |file: &&str| {
        let (module, item) = file.rsplit_once('/').unwrap_or(("", file));
        let (kind, rest) = item.split_once('.').unwrap();
        let item = rest.strip_suffix(".html").unwrap();
        let module = module.replace('/', "::");
        Page {
            path: [&module, item]
                .map(str::to_owned)
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("::"),
            kind: kind.to_owned(),
            html: fs::read_to_string(folder.join(file)).unwrap(),
        }
    };
    let mut pages: Vec<Page> = files.iter().map(page).collect();
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    pages
}

/// The folder of the documentation, generated on first use.
fn documentation() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        // One after the other, each after its dependencies: a page links to those of other crates if they exist.
        for name in [NATIVE].into_iter().chain(PUBLISHED) {
            let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
            cargo.args(["doc", "--no-deps", "--all-features", "-p", name]);
            let made = cargo
                .arg("--target-dir")
                .arg(target)
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .unwrap();
            assert!(
                made.status.success(),
                "{}",
                String::from_utf8_lossy(&made.stderr)
            );
        }
        target.join("doc")
    })
}

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
}

/// Compares a committed file with the expected text, or writes it if `PUBLIC_ITEMS=write` is set.
pub(crate) fn compare(file: &str, expected: &str) {
    let path = workspace().join(file);
    if env::var_os("PUBLIC_ITEMS").is_some_and(|value| value == "write") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, expected).unwrap();
        return;
    }
    let committed = fs::read_to_string(path).unwrap();
    for (line, (is, should_be)) in committed.lines().zip(expected.lines()).enumerate() {
        assert_eq!(
            is,
            should_be,
            "{file}, line {}: PUBLIC_ITEMS=write writes it",
            line + 1
        );
    }
    assert_eq!(committed, expected, "{file}: PUBLIC_ITEMS=write writes it");
}
