//! The pages that rustdoc generates for the public items: the only list of them that is not handwritten.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

/// The crates whose users rely on these promises.
pub(crate) const CRATES: [&str; 4] = [
    "clr_profiler",
    "clr_profiler_il",
    "clr_profiler_tools",
    "clr_profiler_launcher",
];

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
        let (begin, end) = (
            format!("<h{size} class=\"code-header\">"),
            format!("</h{size}>"),
        );
        let pieces = self.html.split(&begin).skip(1);
        pieces
            .map(|piece| text(piece.split(&end).next().unwrap_or(piece)))
            .collect()
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

/// The pages of all public items of a crate, in the order of their paths.
pub(crate) fn of(name: &str) -> Vec<Page> {
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
    // A token of the IL crate is in the prelude, too.
    pages.retain(|page| !page.path.starts_with("prelude::"));
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    pages
}

/// The folder of the documentation, generated on first use.
fn documentation() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["doc", "--no-deps", "--target-dir"]).arg(target);
        for name in CRATES {
            cargo.args(["-p", name]);
        }
        let made = cargo
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
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
