//! The English of a file: its comments and string literals, or its prose.

/// A word or a punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lower case. Code in backticks is the one word `` ` ``.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
}

/// A run of text: consecutive comment lines, a string literal, or a paragraph.
#[derive(Debug, Default)]
pub struct Text {
    /// In order.
    pub words: Vec<Word>,
}

impl Text {
    /// Whether the sentence of a word ends with a question mark.
    #[must_use]
    pub fn in_question(&self, word: usize) -> bool {
        let mut rest = self.words[word..].iter().map(|word| word.text.as_str());
        rest.find(|it| matches!(*it, "." | "?" | "!" | ";")) == Some("?")
    }
}

/// The languages that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// `.rs`
    Rust,
    /// `.cs`; also `.c` and `.il`, with the same comments.
    CSharp,
    /// `.md`
    Markdown,
    /// `.toml`, shell scripts: comments begin with `#`.
    Hash,
}

/// The texts of a file.
#[must_use]
pub fn texts(source: &str, language: Language) -> Vec<Text> {
    let mut lines = match language {
        Language::Rust | Language::CSharp => code(source, language),
        Language::Markdown => source.lines().zip(1..).map(prose_line).collect(),
        Language::Hash => source.lines().zip(1..).filter_map(hash_comment).collect(),
    };
    drop_blocks_of_code(&mut lines);
    paragraphs(&lines)
}

/// A line of text and its number. Texts of different kinds are never joined.
#[derive(Debug)]
struct Line {
    text: String,
    number: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Comment,
    /// With the line where the literal begins.
    Literal(usize),
    Prose,
}

fn prose_line((text, number): (&str, usize)) -> Line {
    Line {
        text: text.to_owned(),
        number,
        kind: Kind::Prose,
    }
}

fn hash_comment((text, number): (&str, usize)) -> Option<Line> {
    let at = match text.trim_start().strip_prefix('#') {
        Some(_) => text.find('#')?,
        None => text.find(" # ")? + 1,
    };
    Some(Line {
        text: text[at + 1..].to_owned(),
        number,
        kind: Kind::Comment,
    })
}

/// The comments and string literals of Rust or C#.
fn code(source: &str, language: Language) -> Vec<Line> {
    let mut scanner = Scanner {
        rest: source,
        number: 1,
        lines: Vec::new(),
    };
    let mut before = ' ';
    while let Some(next) = scanner.rest.chars().next() {
        let rest = scanner.rest;
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            let text = rest[..end].trim_start_matches('/');
            let text = text.strip_prefix('!').unwrap_or(text);
            scanner.add(text, Kind::Comment);
            scanner.skip(end);
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            let text = rest[2..end].trim_end_matches("*/");
            scanner.add(text, Kind::Comment);
            scanner.skip(end);
        } else if let Some((start, end, skip)) = literal(rest, before, language) {
            let kind = Kind::Literal(scanner.number);
            scanner.add(&rest[start..end], kind);
            scanner.skip(skip);
        } else if next == '\'' {
            scanner.skip(character(rest));
        } else {
            scanner.skip(next.len_utf8());
        }
        before = next;
    }
    scanner.lines
}

struct Scanner<'a> {
    rest: &'a str,
    number: usize,
    lines: Vec<Line>,
}

impl Scanner<'_> {
    fn add(&mut self, text: &str, kind: Kind) {
        for (line, number) in text.split('\n').zip(self.number..) {
            self.lines.push(Line {
                text: line.to_owned(),
                number,
                kind,
            });
        }
    }

    fn skip(&mut self, length: usize) {
        self.number += self.rest[..length].matches('\n').count();
        self.rest = &self.rest[length..];
    }
}

/// Where the text of a string literal begins and ends, and where the literal ends.
fn literal(rest: &str, before: char, language: Language) -> Option<(usize, usize, usize)> {
    let until = |start: usize, end: &str| {
        let length = rest[start..].find(end).unwrap_or(rest.len() - start);
        let end = (start + length + end.len()).min(rest.len());
        Some((start, start + length, end))
    };
    let in_word = before.is_alphanumeric() || before == '_';
    match language {
        Language::Rust if !in_word && rest.starts_with('r') => {
            let hashes = rest[1..].chars().take_while(|it| *it == '#').count();
            if rest[1 + hashes..].starts_with('"') {
                return until(2 + hashes, &format!("\"{}", "#".repeat(hashes)));
            }
        }
        Language::CSharp if rest.starts_with("\"\"\"") => return until(3, "\"\"\""),
        Language::CSharp if rest.starts_with("@\"") => return until(2, "\""),
        _ => {}
    }
    if !rest.starts_with('"') {
        return None;
    }
    let mut escaped = false;
    for (at, next) in rest.char_indices().skip(1) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some((1, at, at + 1)),
            _ => {}
        }
    }
    Some((1, rest.len(), rest.len()))
}

/// The length of a character literal, or of the apostrophe of a lifetime.
fn character(rest: &str) -> usize {
    if rest[1..].starts_with('\\') {
        return rest[3..].find('\'').map_or(rest.len(), |end| end + 4);
    }
    let mut chars = rest.char_indices().skip(2);
    match chars.next() {
        Some((at, '\'')) => at + 1,
        _ => 1,
    }
}

/// In fenced blocks only `//` comments are English.
fn drop_blocks_of_code(lines: &mut [Line]) {
    let mut fence = None;
    let mut last = 0;
    for line in lines {
        if matches!(line.kind, Kind::Literal(_)) {
            continue;
        }
        if line.kind == Kind::Comment && line.number != last + 1 {
            fence = None;
        }
        last = line.number;
        let text = line.text.trim_start();
        let marks = text.chars().take_while(|it| *it == '`').count();
        if marks >= 3 && fence.is_none_or(|open| marks >= open) {
            fence = if fence.is_none() { Some(marks) } else { None };
            line.text.clear();
        } else if fence.is_some() {
            line.text = match text.split_once("// ") {
                Some((_, comment)) => comment.to_owned(),
                None => String::new(),
            };
        }
    }
}

/// Joins lines that follow each other.
fn paragraphs(lines: &[Line]) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    let mut last: Option<&Line> = None;
    let mut in_code = false;
    for line in lines {
        let trimmed = line.text.trim_start();
        let begins = trimmed.starts_with(['#', '|']) || trimmed.starts_with("- ");
        let after_title = last.is_some_and(|it| it.text.trim_start().starts_with('#'));
        let follows = last.is_some_and(|it| it.kind == line.kind && it.number + 1 == line.number);
        if !follows || begins || after_title || trimmed.is_empty() {
            texts.push(Text::default());
            in_code = false;
        }
        let text = texts.last_mut().unwrap();
        words_of(line, text, &mut in_code);
        last = Some(line);
    }
    texts.retain(|text| !text.words.is_empty());
    texts
}

/// Adds the words of a line. Code in backticks may continue in the next line.
fn words_of(line: &Line, text: &mut Text, in_code: &mut bool) {
    let number = line.number;
    let mut add = |word: &str| {
        text.words.push(Word {
            text: word.to_lowercase(),
            line: number,
        });
    };
    let mut unescaped = line.text.replace("\\n", " ").replace("\\\"", "\"");
    if matches!(line.kind, Kind::Literal(_)) {
        unescaped = without_arguments(&unescaped);
    }
    for (index, part) in unescaped.split('`').enumerate() {
        if index > 0 {
            *in_code = !*in_code;
            if *in_code {
                add("`");
            }
        }
        if *in_code {
            continue;
        }
        for chunk in without_targets(part).split_whitespace() {
            let mut chunk = chunk;
            let opening = |it: char| "([{\"*_<".contains(it);
            while let Some(first) = chunk.chars().next().filter(|it| opening(*it)) {
                if "([{".contains(first) {
                    add(&first.to_string());
                }
                chunk = &chunk[first.len_utf8()..];
            }
            let word = chunk.trim_end_matches(|it: char| ")]}\"*_>,;:.?!".contains(it));
            if !word.is_empty() {
                add(word);
            }
            for mark in chunk[word.len()..].chars() {
                if !"\"*_>".contains(mark) {
                    add(&mark.to_string());
                }
            }
        }
    }
}

/// The text of a literal without the arguments of `format!`.
fn without_arguments(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        result.push_str(before);
        rest = after.split_once('}').map_or("", |it| it.1);
    }
    result + rest
}

/// The text without the targets of links.
fn without_targets(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        result.push_str(&rest[..=at]);
        rest = &rest[at..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::{Language, texts};

    /// The texts, with the lines of their first words.
    fn read(source: &str, language: Language) -> Vec<(usize, String)> {
        let texts = texts(source, language);
        let text = |text: &super::Text| {
            let words: Vec<&str> = text.words.iter().map(|it| &*it.text).collect();
            (text.words[0].line, words.join(" "))
        };
        texts.iter().map(text).collect()
    }

    fn all(texts: &[(usize, &str)]) -> Vec<(usize, String)> {
        texts.iter().map(|it| (it.0, it.1.to_owned())).collect()
    }

    #[test]
    fn comments_and_literals_of_rust() {
        let source = r##"
            /// The first `of
            /// two` lines.
            fn it<'a>(x: &'a str) -> char { '"' } // And (one) here.
            const A: &str = r#"a "raw" one"#; /* A block. */
            const B: &str = "an \"escaped\" \
                one";
            //! ```
            //! code(); // English
            //! ```
        "##;
        assert_eq!(
            read(source, Language::Rust),
            all(&[
                (2, "the first ` lines . and ( one ) here ."),
                (5, "a raw one"),
                (5, "a block ."),
                (6, "an escaped \\ one"),
                (9, "english"),
            ])
        );
    }

    #[test]
    fn paragraphs_of_markdown() {
        let source =
            "# A title\nA [link](to/what.md) and\n`code`.\n\n```sh\nls # code\n```\n- Item.\n";
        assert_eq!(
            read(source, Language::Markdown),
            all(&[(1, "# a title"), (2, "a [ link ] and ` ."), (8, "- item ."),])
        );
    }

    #[test]
    fn comments_with_hashes() {
        let source = "#!/bin/sh\n# Why\n# so.\na=$# # This.\n";
        let found = read(source, Language::Hash);
        assert_eq!(found, all(&[(1, "!/bin/sh why so . this .")]));
    }
}
