//! Hostile text: an error, in bounded time and memory; a text that parses prints as text that is
//! parsed to the same.

mod handlers;

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use handlers::handlers;
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn hostile_text_is_refused_in_time() {
    let many = 200_000;
    for text in [
        "(".repeat(many),
        "switch ".to_owned() + &"(".repeat(many),
        "call void A::B(".to_owned() + &"class A<".repeat(many),
        "'".repeat(many),
        "newarr ".to_owned() + &"'".repeat(many + 1),
        "a:".repeat(many),
        "ldstr \"".to_owned() + &"\\".repeat(many),
        "volatile.\n".repeat(many),
        "\n(\n".repeat(many),
        "br label 4294967295".to_owned(),
    ] {
        assert!(
            text.parse::<MethodBody>().is_err(),
            "{}",
            &text[..20.min(text.len())]
        );
        assert!(text.parse::<Fragment>().is_err());
    }
    // Long valid texts.
    assert!(body(&"/".repeat(many)).is_empty());
    let branches: String = (0..many)
        .map(|index| format!("a{index}: br a{}\n", many - 1 - index))
        .collect();
    assert_eq!(body(&branches).len(), many);
    let labels: String = (0..many).map(|index| format!("b{index}:\n")).collect();
    assert_eq!(body(&format!("{labels}ret")).len(), 1);
}

/// Lines that a parser probably gets far into.
fn likely_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "nop\n",
        "ret\n",
        "a: ",
        "b: ",
        "br a\n",
        "brtrue.s b\n",
        "switch (",
        "a",
        ",",
        ")",
        "\n",
        " ",
        "ldc.i4 ",
        "ldc.r8 ",
        "ldstr ",
        "\"",
        "\\u{",
        "}",
        "'",
        "1",
        "-",
        "0x01000001",
        "call ",
        "void ",
        "[A]B",
        "::",
        "C",
        "(",
        "ldtoken ",
        "class ",
        "<",
        ">",
        "int",
        "volatile. ",
        "constrained. ",
        "!0 ",
        ".try a to b ",
        "finally ",
        "handler a to b\n",
        "catch ",
        "filter a ",
        ".locals ",
        "init ",
        ".local [0] ",
        ".maxstack 8\n",
        "//",
        "label 0",
        "calli ",
        "ldarg ",
        "NaN(",
        ".",
        "é",
    ]);
    vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

fn read_or_refuse(text: &str) {
    if let Ok(body) = text.parse::<MethodBody>() {
        let printed = body.to_string();
        let again: MethodBody = printed
            .parse()
            .unwrap_or_else(|error| panic!("{text:?} {printed} {error}"));
        assert_eq!(again.to_string(), printed, "{text:?}");
    }
    if let Ok(fragment) = text.parse::<Fragment>() {
        let printed = fragment.to_string();
        assert_eq!(
            printed.parse().as_ref(),
            Ok(&fragment),
            "{text:?} {printed}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_or_refuse(&text);
    }

    #[test]
    fn likely_text_is_read_or_refused(text in likely_text()) {
        read_or_refuse(&text);
    }

    #[test]
    fn damaged_text_is_read_or_refused(at in any::<prop::sample::Index>(), piece in likely_text()) {
        let text = handlers().to_string();
        let at = at.index(text.len());
        read_or_refuse(&text[..at]);
        read_or_refuse(&text[at..]);
        read_or_refuse(&format!("{}{piece}{}", &text[..at], &text[at..]));
    }

    #[test]
    fn any_string_there_and_back(text in any::<String>()) {
        let mut fragment = Fragment::new();
        fragment.ldstr(text.as_str());
        prop_assert_eq!(fragment.to_string().parse(), Ok(fragment));
    }
}

fn body(text: &str) -> MethodBody {
    text.parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_deepest_types_need_little_stack() {
    let read = || {
        let deepest = ["class A<", "delegate*<", "method void *("].map(|open| {
            let close = if open.ends_with('(') { ")" } else { ">" };
            format!("{}int{}", open.repeat(127), close.repeat(127))
        });
        for text in deepest {
            let method = format!("ldtoken void A::B<{text}>({text})");
            let printed = method.parse::<Fragment>().unwrap().to_string();
            assert!(printed.ends_with(&format!("{}\n", &method["ldtoken ".len()..])));
            let deeper = format!("ldtoken void A::B({text}[])");
            assert!(deeper.parse::<Fragment>().is_err());
        }
    };
    // Without optimization, frames are several times as large.
    let size = if cfg!(debug_assertions) { 1024 } else { 128 } * 1024;
    let thread = std::thread::Builder::new().stack_size(size).spawn(read);
    thread.unwrap().join().unwrap();
}
