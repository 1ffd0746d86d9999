//! The words that the text of this repository avoids. Each rule is one row.

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// One word; `counts.txt` and the exceptions name the rule by it.
    pub name: &'static str,
    /// See [`Pattern`](crate::pattern::Pattern).
    pub forbidden: &'static [&'static str],
    /// Matches within a match of one of these are allowed.
    pub allowed: &'static [&'static str],
    /// Whether the rule is for statements alone.
    pub not_in_questions: bool,
    /// The advice in the message of a failure.
    pub say: &'static str,
    /// A sentence that breaks the rule.
    pub wrong: &'static str,
    /// A sentence that does not.
    pub right: &'static str,
}

const ANY: Rule = Rule {
    name: "",
    forbidden: &[],
    allowed: &[],
    not_in_questions: false,
    say: "",
    wrong: "",
    right: "",
};

/// All rules.
pub const RULES: &[Rule] = &[
    Rule {
        name: "what",
        forbidden: &["what"],
        allowed: &[
            "ask|asks|asked|say|says|said|saying|tell|tells|told|see|know|knows|known what",
            "decide|decides|decided|decides|show|shows|explain|explains|describe|describes what",
            "determine|determines|depend|depends|depending on? what",
            "say|says|said|tell|tells|told|know|knows|show|shows|decide|decides ... and|or what",
            "what to",
            "what happens|happened",
            "what it|they|he|she like|likes|want|wants",
            "about what",
            "matter|matters what",
            "so what",
        ],
        not_in_questions: true,
        say: "a noun (\"the additions\" for \"what is added\"), or \"the ... that ...\"",
        wrong: "Returns what the runtime answers.",
        right: "What now? The row says what it needs. Returns the error of the native call.",
    },
    Rule {
        name: "stands",
        forbidden: &["stand|stands|stood|standing"],
        allowed: &["stand|stands|stood|standing for", "stand in", "stand alone"],
        say: "\"is\", \"follows\", \"is next to\", \"precedes\"",
        wrong: "The prefix stands before the call.",
        right: "The prefix precedes the call. `T` stands for a type.",
        ..ANY
    },
    Rule {
        name: "lies",
        forbidden: &["lie|lies|lay|lain|lying"],
        allowed: &["lay out", "lay it|them out"],
        say: "\"is\", \"is in\", \"is contiguous\"",
        wrong: "The value lies in a boxed object.",
        right: "The value is in a boxed object.",
        ..ANY
    },
    Rule {
        name: "behind",
        forbidden: &["behind"],
        say: "\"after\", \"following\", \"at the end of\"; of pointers \"that it refers to\"",
        wrong: "The index behind this one.",
        right: "The index after this one.",
        ..ANY
    },
    Rule {
        name: "beside",
        forbidden: &["beside", "besides"],
        say: "\"next to\", \"with\", \"in addition to\", \"apart from\", \"also\"",
        wrong: "There is no configuration beside it.",
        right: "There is no configuration next to it.",
        ..ANY
    },
    Rule {
        name: "comes-to",
        forbidden: &["come|comes|came|coming to"],
        say: "the verb itself, \"reaches\", \"ends up in\"",
        wrong: "It comes to lie before the handler.",
        right: "It precedes the handler.",
        ..ANY
    },
    Rule {
        name: "goes-on",
        forbidden: &["go|goes|going|gone|went on"],
        say: "\"continues\", \"is resumed\", \"propagates\"",
        wrong: "The panic goes on.",
        right: "The panic propagates.",
        ..ANY
    },
    Rule {
        name: "owner",
        forbidden: &[
            "is|are|was|be|been somebody's|someone's|nobody's|anybody's|anyone's|everybody's",
            "nobody's secrets",
        ],
        say: "\"owns\", \"owner\"",
        wrong: "The reference is nobody's.",
        right: "The reference has no owner.",
        ..ANY
    },
    Rule {
        name: "into",
        forbidden: &["belong|belongs|belonged into"],
        say: "\"belongs in\"",
        wrong: "A comment belongs into the code.",
        right: "A comment belongs in the code.",
        ..ANY
    },
    Rule {
        name: "for",
        forbidden: &[
            ", for it|they|we|he|she|there|this|that|these|those|nothing|nobody is|are|was|were",
            ", for it|they|we|he|she|there|this|that|nothing|nobody has|have|had|can|cannot|must|may",
            ", for it|they|we|he|she|there|this|that|nothing|nobody does|do|did|will|would|else",
            ", for otherwise|then",
        ],
        say: "\"because\"",
        wrong: "The id is refused, for it is stale.",
        right: "The id is refused because it is stale. Nothing, for those who are in a hurry.",
        ..ANY
    },
    Rule {
        name: "any-more",
        forbidden: &["any more"],
        allowed: &["any more than"],
        say: "\"no longer\"",
        wrong: "Nobody reads it any more.",
        right: "It is no longer read.",
        ..ANY
    },
    Rule {
        name: "look",
        forbidden: &[
            "a|each|every|one|first|last|next|previous|per|between|no|many|few|two|three look|looks",
            "number of looks",
        ],
        allowed: &["a|first|last look at", "each|one looks at"],
        say: "\"sample\"; of the time between two, \"sampling interval\"",
        wrong: "Counts each look.",
        right: "Counts each sample. It looks at the stack.",
        ..ANY
    },
    Rule {
        name: "cut",
        forbidden: &["is|are|was|were|be|been|being cut", "cut short|off"],
        say: "\"truncated\"",
        wrong: "The name is cut.",
        right: "The name is truncated.",
        ..ANY
    },
    Rule {
        name: "own-il",
        forbidden: &["other|own il", "method's|methods' own body|bodies"],
        say: "\"original IL\", \"rewritten IL\", \"rejitted IL\"",
        wrong: "The method runs its own IL again.",
        right: "The method runs its original IL again.",
        ..ANY
    },
    Rule {
        name: "hand-on",
        forbidden: &[
            "hand|hands|handed|handing on",
            "hand|hands|handed|handing it|them|this on",
        ],
        say: "\"forward\", \"pass on\"",
        wrong: "It hands on the callback.",
        right: "It forwards the callback.",
        ..ANY
    },
    Rule {
        name: "be-had",
        forbidden: &["be had"],
        say: "\"available\", \"known\"; of a name that is not: \"placeholder\"",
        wrong: "The name cannot be had.",
        right: "The name is not available.",
        ..ANY
    },
    Rule {
        name: "retired",
        forbidden: &["is|are|was|be|been|have|has retired"],
        say: "\"disabled\"",
        wrong: "The profiler is retired after three panics.",
        right: "The profiler is disabled after three panics.",
        ..ANY
    },
    Rule {
        name: "gc",
        forbidden: &[
            "steady",
            "be elsewhere",
            "object|objects|it|they moved elsewhere",
        ],
        allowed: &["steady rate"],
        say: "\"may trigger a GC\", \"ids of objects are invalid\"",
        wrong: "Objects may be elsewhere afterwards.",
        right: "The call may trigger a GC.",
        ..ANY
    },
    Rule {
        name: "elt",
        forbidden: &[
            "method|methods|call|calls begin|begins and end|ends",
            "beginnings and ends",
        ],
        say: "\"enter/leave/tailcall hook\", \"enters and leaves\"",
        wrong: "The hook is called when methods begin and end.",
        right: "The enter and leave hooks are called.",
        ..ANY
    },
    Rule {
        name: "else",
        forbidden: &[",|;|. else"],
        say: "\"otherwise\"",
        wrong: "0 is the default, else a power of two.",
        right: "0 is the default, otherwise a power of two. Nobody else.",
        ..ANY
    },
    Rule {
        name: "switch",
        forbidden: &[
            "switch|switches of modes|mode",
            "change|changes of mode|modes",
        ],
        say: "\"GC transition\"",
        wrong: "The switch of modes costs time.",
        right: "The GC transition costs time.",
        ..ANY
    },
];

#[cfg(test)]
mod tests {
    use crate::text::{Language, texts};
    use crate::violations;

    use super::RULES;

    #[test]
    fn each_rule_tells_wrong_from_right() {
        for rule in RULES {
            let broken = |text: &str| {
                let found = violations(&texts(text, Language::Markdown));
                found.iter().any(|it| it.rule.name == rule.name)
            };
            assert!(broken(rule.wrong), "{}", rule.wrong);
            assert!(!broken(rule.right), "{}", rule.right);
            assert!(!rule.say.is_empty());
        }
    }
}
