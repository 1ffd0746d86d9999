//! The report for browsers: a page with all files, and a page for each of them. It needs no network and no script.

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use super::folders::common_folder;
use super::markup::escaped;
use crate::coverage::{Coverage, FileCoverage, Share, Shares};

const STYLE: &str = include_str!("style.css");

/// The colours of lines.
const LEGEND: &str = "<p class=\"legend\"><span class=\"hit\">covered</span> <span class=\"partly\">some branches are not \
                      covered</span> <span class=\"missed\">not covered</span></p>\n";

const SOURCE_HEAD: &str = "<thead><tr><th class=\"number\">line</th><th class=\"number\">hits</th>\
                           <th class=\"number\">branches</th><th>source</th></tr></thead>\n";

/// The number of outcomes on a line up to which all are shown at once; more would make the row higher than the window.
const SHOWN: usize = 8;

/// Writes the pages into a folder, which is made if it is missing.
///
/// # Errors
///
/// If a page cannot be written.
pub fn html(coverage: &Coverage, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let root = common_folder(coverage.files.keys());
    let mut rows = String::new();
    for (number, (path, file)) in coverage.files.iter().enumerate() {
        let page = format!("{number}.html");
        let name = path.strip_prefix(root).unwrap_or(path);
        // Writing to a string cannot fail.
        let _ = write_row(&mut rows, Some(&page), name, file.shares());
        fs::write(folder.join(&page), file_page(path, file))?;
    }
    remove_others(folder, coverage.files.len());
    let mut assemblies = String::new();
    for (name, shares) in coverage.assemblies() {
        let _ = write_row(&mut assemblies, None, name, shares);
    }
    let _ = write_row(&mut assemblies, None, "all", coverage.shares());
    let content = format!(
        "<h1>Coverage</h1>\n{}\n<h2>Files</h2>\n<p>in <code>{}</code></p>\n{}",
        table("assembly", &assemblies),
        escaped(root),
        table("file", &rows)
    );
    fs::write(folder.join("index.html"), page("Coverage", &content))
}

/// Removes the pages of an earlier report that had more files.
fn remove_others(folder: &Path, first: usize) {
    for number in first.. {
        let path = folder.join(format!("{number}.html"));
        let is_ours = fs::read_to_string(&path).is_ok_and(|text| text.contains(SOURCE_HEAD));
        if !is_ours || fs::remove_file(&path).is_err() {
            return;
        }
    }
}

fn page(title: &str, content: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{content}</body>\n</html>\n",
        escaped(title)
    )
}

fn table(first: &str, rows: &str) -> String {
    format!(
        "<table class=\"totals\">\n<thead><tr><th>{first}</th><th colspan=\"3\">lines</th><th colspan=\"2\">branches</th>\
         <th colspan=\"2\">methods</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
}

fn write_row(
    text: &mut String,
    link: Option<&str>,
    name: &str,
    shares: Shares,
) -> std::fmt::Result {
    let name = escaped(name);
    match link {
        Some(link) => write!(text, "<tr><td><a href=\"{link}\">{name}</a></td>")?,
        None => write!(text, "<tr><td>{name}</td>")?,
    }
    write!(
        text,
        "<td><meter min=\"0\" max=\"1\" low=\"0.5\" high=\"0.8\" optimum=\"1\" value=\"{:.3}\"></meter></td>",
        shares.lines.rate()
    )?;
    for share in [shares.lines, shares.branches, shares.methods] {
        write!(
            text,
            "<td class=\"number\">{} %</td><td class=\"number\">{}/{}</td>",
            share.percent(),
            share.covered,
            share.all
        )?;
    }
    writeln!(text, "</tr>")
}

/// The page of a file: its source with the hits of lines, or these alone if the source is not there.
fn file_page(path: &str, file: &FileCoverage) -> String {
    let source = fs::read(path).ok();
    let source = source.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut rows = String::new();
    match &source {
        Some(source) => {
            for (line, text) in (1..).zip(source.trim_start_matches('\u{feff}').lines()) {
                write_line(&mut rows, file, line, text);
            }
        }
        None => {
            for line in file.lines.keys() {
                write_line(&mut rows, file, *line, "");
            }
        }
    }
    let mut summary = String::new();
    // Writing to a string cannot fail.
    let _ = write_row(&mut summary, None, path, file.shares());
    let missing = match source {
        Some(_) => "",
        None => "<p>The source is not at this path; the lines are shown without it.</p>\n",
    };
    let content = format!(
        "<p><a href=\"index.html\">all files</a></p>\n<h1>{}</h1>\n{}{missing}{LEGEND}<table class=\"source\">\n{SOURCE_HEAD}<tbody>\n{rows}</tbody>\n</table>\n",
        escaped(path.rsplit(['/', '\\']).next().unwrap_or(path)),
        table("file", &summary),
    );
    page(path, &content)
}

fn write_line(rows: &mut String, file: &FileCoverage, line: u32, text: &str) {
    let hits = file.lines.get(&line);
    let branches = Share::of(file.branches_at(line).flatten().copied());
    let class = match hits {
        None => "",
        Some(0) => " class=\"missed\" title=\"not covered\"",
        Some(_) if branches.covered < branches.all => {
            " class=\"partly\" title=\"some branches are not covered\""
        }
        Some(_) => " class=\"hit\" title=\"covered\"",
    };
    let hits = hits.map(u64::to_string).unwrap_or_default();
    let outcomes = match branches.all {
        0 => String::new(),
        all => {
            let marks: Vec<String> = file.branches_at(line).map(|of| marks(of)).collect();
            let (share, marks) = (format!("{}/{all}", branches.covered), marks.join(" "));
            match all > SHOWN {
                true => format!("<details><summary>{share}</summary>{marks}</details>"),
                false => format!("{share} {marks}"),
            }
        }
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        rows,
        "<tr id=\"L{line}\"{class}><td class=\"number\">{line}</td><td class=\"number\">{hits}</td>\
         <td class=\"number\">{outcomes}</td><td><pre>{}</pre></td></tr>",
        escaped(text)
    );
}

/// The outcomes of a branch: the targets of its jump, then the code that follows.
fn marks(outcomes: &[u64]) -> String {
    let marks: Vec<&str> = outcomes
        .iter()
        .map(|hits| if *hits > 0 { "+" } else { "-" })
        .collect();
    let marks = format!("[{}]", marks.join(" "));
    // Marks are wrapped between branches.
    match outcomes.len() > SHOWN {
        true => marks,
        false => format!("<span>{marks}</span>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::report::tests::sample;

    #[test]
    fn pages_of_an_earlier_report_are_removed() {
        let folder = std::env::temp_dir().join(format!("coverage-pages-{}", std::process::id()));
        let mut coverage = sample();
        html(&coverage, &folder).unwrap();
        let count = coverage.files.len();
        let last = |number: usize| folder.join(format!("{number}.html"));
        assert!(last(count - 1).exists());
        fs::write(last(count), "of somebody else").unwrap();
        coverage.files.pop_last();
        html(&coverage, &folder).unwrap();
        let exist = [count - 2, count - 1, count].map(|number| last(number).exists());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(exist, [true, false, true]);
    }

    #[test]
    fn many_outcomes_of_a_line_are_folded() {
        let mut coverage = sample();
        let file = coverage.files.get_mut("/shop/src/A.cs").unwrap();
        let row = |file: &FileCoverage| {
            let mut rows = String::new();
            write_line(&mut rows, file, 3, "");
            rows
        };
        let before = row(file);
        assert!(
            before.contains("<span>[") && !before.contains("<details>"),
            "{before}"
        );
        *file.branches.values_mut().next().unwrap() = vec![0; SHOWN + 1];
        let after = row(file);
        let folded = format!("<summary>0/{}</summary>[- -", SHOWN + 1);
        assert!(after.contains(&folded), "{after}");
    }

    #[test]
    fn lines_have_their_state() {
        let coverage = sample();
        let page = file_page("/shop/src/A.cs", &coverage.files["/shop/src/A.cs"]);
        for part in [
            "<tr id=\"L3\" class=\"partly\" title=\"some branches are not covered\">",
            "<tr id=\"L4\" class=\"missed\"",
            "<tr id=\"L5\" class=\"hit\"",
            "The source is not at this path",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
