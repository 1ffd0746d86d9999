//! Sequences of words.

use crate::text::Word;

/// A sequence of words, such as `come|comes|came to`: words are separated by spaces, alternatives
/// of one word by bars, and `...` stands for up to eight words of the same sentence.
#[derive(Debug)]
pub struct Pattern {
    items: Vec<Item>,
}

#[derive(Debug)]
enum Item {
    OneOf(Vec<String>),
    Some,
}

impl Pattern {
    /// Parses a pattern.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let item = |item| match item {
            "..." => Item::Some,
            words => Item::OneOf(words.split('|').map(str::to_owned).collect()),
        };
        Self {
            items: text.split(' ').map(item).collect(),
        }
    }

    /// The number of words that the match at the beginning of `words` covers.
    #[must_use]
    pub fn length_at(&self, words: &[Word]) -> Option<usize> {
        length(&self.items, words)
    }
}

fn length(items: &[Item], words: &[Word]) -> Option<usize> {
    let Some((item, items)) = items.split_first() else {
        return Some(0);
    };
    match item {
        Item::OneOf(alternatives) => {
            let here = alternatives.contains(&words.first()?.text);
            here.then(|| length(items, &words[1..]).map(|it| it + 1))?
        }
        Item::Some => {
            let ends = |it: &Word| matches!(&*it.text, "." | "?" | "!");
            let most = words.iter().take(8).take_while(|it| !ends(it)).count();
            (0..=most).find_map(|skipped| Some(skipped + length(items, &words[skipped..])?))
        }
    }
}
