use clr_profiler_il::pattern::{MethodPattern, MethodPatterns, PatternErrorKind as Kind};

#[test]
fn each_violation_has_its_column() {
    let table = [
        ("", 1, Kind::Empty),
        ("  ", 3, Kind::Empty),
        ("-A.B", 1, Kind::Exclusion),
        ("Sell", 1, Kind::NoType),
        (".ctor", 1, Kind::Unexpected('.')),
        ("*", 1, Kind::LoneWildcard),
        ("Shop!*", 6, Kind::LoneWildcard),
        ("Shop!", 6, Kind::NoName),
        ("!A.B", 1, Kind::NoName),
        ("public", 1, Kind::NoType),
        ("public ", 8, Kind::NoName),
        ("public private A.B", 8, Kind::SecondAccess),
        ("A.", 3, Kind::NoName),
        ("A..B", 2, Kind::SpecialName),
        ("A..ctor.B", 2, Kind::SpecialName),
        ("A.B(C..ctor)", 6, Kind::SpecialName),
        ("A.B+C", 6, Kind::NoMethod),
        ("A.+B.C", 3, Kind::Unexpected('+')),
        ("A/B.C", 2, Kind::Separator),
        ("A::B", 2, Kind::Separator),
        ("A.B::C", 4, Kind::Separator),
        ("A.B**.C", 4, Kind::PartialSegment),
        ("A.**B.C", 3, Kind::PartialSegment),
        ("A.B***", 4, Kind::PartialSegment),
        ("Shop!Shop.Store.Sell(string", 28, Kind::Missing(')')),
        ("A.B(int,", 9, Kind::NoName),
        ("A.B(int,)", 9, Kind::Unexpected(')')),
        ("A.B(int string)", 9, Kind::Unexpected('s')),
        ("A.B(int[)", 9, Kind::Unexpected(')')),
        ("A.B(int[", 9, Kind::Missing(']')),
        ("A.B<T.C", 8, Kind::Missing('>')),
        ("A.B<>.C", 5, Kind::Unexpected('>')),
        ("A.B<T><U>.C", 7, Kind::SecondArguments),
        ("A.B`.C", 5, Kind::Arity),
        ("A.B`99999.C", 5, Kind::Arity),
        ("A.<Main.C", 3, Kind::Missing('>')),
        ("A.'b.C", 3, Kind::Missing('\'')),
        ("A.'b\\", 3, Kind::Missing('\'')),
        ("A.B()C", 6, Kind::Unexpected('C')),
        ("A.B C", 5, Kind::Unexpected('C')),
        ("A.B:", 5, Kind::NoName),
        ("A.B : I,", 9, Kind::NoName),
        ("A.B(string?)", 11, Kind::Nullable),
        ("A.B(int??)", 9, Kind::Nullable),
        ("A.B(*?)", 6, Kind::Nullable),
        ("[Shop]Shop.Store.Sell", 1, Kind::AssemblyInBrackets),
        ("[A] [Shop]Shop.Store.Sell", 5, Kind::AssemblyInBrackets),
        ("[return: A] B.C", 2, Kind::AttributeTarget),
        ("[type: A B.C", 10, Kind::Unexpected('B')),
        ("[A", 3, Kind::Missing(']')),
        ("[] A.B", 2, Kind::Unexpected(']')),
        ("[A] ", 5, Kind::NoName),
        ("A.B; C.D", 4, Kind::Unexpected(';')),
        ("A.B # no comment", 5, Kind::Unexpected('#')),
        ("Ä!Ö.Ü(", 7, Kind::NoName),
    ];
    for (text, column, kind) in table {
        let error = MethodPattern::parse(text).expect_err(text);
        assert_eq!((error.column(), error.kind()), (column, kind), "{text}");
        assert_eq!(error.line(), 1);
        assert_eq!(error.to_string(), format!("column {column}: {kind}"));
    }
    let deep = format!("A.B({}int{})", "C<".repeat(40), ">".repeat(40));
    assert_eq!(
        MethodPattern::parse(&deep).unwrap_err().kind(),
        Kind::TooDeep
    );
}

#[test]
fn a_list_has_lines() {
    let table = [
        ("A.B\n-\n", 2, 2, Kind::Empty),
        ("# all\nA.B; C", 2, 6, Kind::NoType),
        ("A.B(\n)", 1, 5, Kind::NoName),
        ("A.'b\n'.C", 1, 3, Kind::Missing('\'')),
        ("A.B;; C.<x;>", 1, 9, Kind::Missing('>')),
        ("ok.A\r\nC::D\r\n", 2, 2, Kind::Separator),
    ];
    for (text, line, column, kind) in table {
        let error = MethodPatterns::parse(text).expect_err(text);
        let found = (error.line(), error.column(), error.kind());
        assert_eq!(found, (line, column, kind), "{text:?}");
        let message = format!("line {line}, column {column}: {kind}");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_list_is_read() {
    let text = "# the shop\n Shop!**  ; -**.ToString() # not these\r\n\n;- Shop!A.B\n";
    let patterns = MethodPatterns::parse(text).unwrap();
    let texts: Vec<String> = patterns
        .patterns()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(texts, ["Shop!**", "-**.ToString()", "- Shop!A.B"]);
    let excluded: Vec<bool> = patterns
        .patterns()
        .iter()
        .map(MethodPattern::is_exclusion)
        .collect();
    assert_eq!(excluded, [false, true, true]);
    assert!(patterns.matches_assembly("Shop") && !patterns.matches_assembly("Other"));
    assert!(patterns.names_assembly("Shop") && !patterns.names_assembly("Other"));
    // A pattern without an assembly matches all of them, and names none; an exclusion does neither.
    for (text, matches, names) in [
        ("**", true, false),
        ("Sh*p!**; **", true, true),
        ("Sh*p!**", true, true),
        ("Other!**; -Shop!**", false, false),
    ] {
        let patterns = MethodPatterns::parse(text).unwrap();
        assert_eq!(patterns.matches_assembly("Shop"), matches, "{text}");
        assert_eq!(patterns.names_assembly("Shop"), names, "{text}");
    }
    assert!(!patterns.is_empty());
    assert!(MethodPatterns::parse(" # nothing\n").unwrap().is_empty());
    assert!(MethodPatterns::parse("-A.B").unwrap().is_empty());
}
