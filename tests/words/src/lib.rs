//! Checks the English of comments, documentation, messages and the guide.
//!
//! [`text`] extracts the English of a file, [`rules`] says which words it must not contain, and
//! [`exceptions`] lists the lines that may contain them. The test `words` applies them to the
//! whole repository and compares the counts with `counts.txt`.

pub mod exceptions;
pub mod pattern;
pub mod rules;
pub mod text;
pub mod tree;

use pattern::Pattern;
use rules::Rule;
use text::Text;

/// A passage that breaks a rule.
#[derive(Debug)]
pub struct Violation {
    /// The rule.
    pub rule: &'static Rule,
    /// The line of its first word, counted from 1.
    pub line: usize,
}

/// The violations in the text of one file.
#[must_use]
pub fn violations(texts: &[Text]) -> Vec<Violation> {
    let mut found = Vec::new();
    for rule in rules::RULES {
        let forbidden: Vec<Pattern> = rule.forbidden.iter().map(|it| Pattern::new(it)).collect();
        let allowed: Vec<Pattern> = rule.allowed.iter().map(|it| Pattern::new(it)).collect();
        for text in texts {
            let forbidden = spans(&forbidden, text);
            if forbidden.is_empty() {
                continue;
            }
            let allowed = spans(&allowed, text);
            for (first, end) in forbidden {
                let covered = allowed.iter().any(|it| it.0 <= first && end <= it.1);
                let question = rule.not_in_questions && text.in_question(first);
                if !covered && !question {
                    let line = text.words[first].line;
                    found.push(Violation { rule, line });
                }
            }
        }
    }
    found
}

/// The first word of each match, and the end of the match.
fn spans(patterns: &[Pattern], text: &Text) -> Vec<(usize, usize)> {
    let starts = 0..text.words.len();
    starts
        .flat_map(|start| {
            let lengths = patterns
                .iter()
                .filter_map(move |it| it.length_at(&text.words[start..]));
            lengths.max().map(|length| (start, start + length))
        })
        .collect()
}
