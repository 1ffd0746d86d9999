use clr_profiler_il::attributes::MemberAccess;
use clr_profiler_il::pattern::{MethodPattern, MethodPatterns};

use crate::facts::{Facts, strings};

fn matches(text: &str, facts: &Facts) -> bool {
    let pattern = MethodPattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    pattern.matches(facts).unwrap()
}

fn check(facts: &Facts, table: &[(&str, bool)]) {
    for (text, expected) in table {
        assert_eq!(matches(text, facts), *expected, "{text}: {facts:?}");
    }
}

#[test]
fn names_and_wildcards() {
    check(
        &Facts::new("Shop", "Shop.Stock.Store", "Sell"),
        &[
            ("Shop.Stock.Store.Sell", true),
            ("Shop!Shop.Stock.Store.Sell", true),
            ("Sh*!Shop.Stock.Store.Sell", true),
            ("'Shop'!Shop.'Stock'.Store.'Sell'", true),
            ("Shop.'Stock.Store'.Sell", true),
            ("Other!Shop.Stock.Store.Sell", false),
            ("shop.Stock.Store.Sell", false),
            ("Shop.Stock.Store.S*l", true),
            ("Shop.Stock.*.*", true),
            ("Shop.*.Store.Sell", true),
            ("Shop.*.Sell", false),
            ("*.Sell", false),
            ("**.Sell", true),
            ("**", true),
            ("Shop!**", true),
            ("Shop.**", true),
            ("Shop.**.Sell", true),
            ("Shop.**.Store.Sell", true),
            ("Shop.Stock.**.Store.Sell", true),
            ("Shop.Stock.Store.**.Sell", true),
            ("Shop.Stock.Store.**", true),
            ("**.Stock.**.Sell", true),
            ("**.Store.**.Stock.**", false),
            ("Sho.**", false),
            ("Shop.Stock+Store.Sell", false),
            ("Shop.Stock.Store.Sell()", true),
            ("Shop.Stock.Store..ctor", false),
            ("public Shop.Stock.Store.Sell", true),
        ],
    );
}

#[test]
fn nested_types_and_global_ones() {
    check(
        &Facts::new("Shop", "Shop.Store+Line+Part", "Add"),
        &[
            ("Shop.Store+Line+Part.Add", true),
            ("Shop.Store+*+Part.Add", true),
            ("Shop.Store+*.Add", false),
            ("Shop.Store+**.Add", true),
            ("Shop.Store.**", true),
            ("Shop.*.*", false),
            ("**+Part.Add", true),
            ("**.Part.Add", false),
            ("**+Line+Part.Add", true),
            ("Shop.'Store+Line'+Part.Add", true),
        ],
    );
    check(
        &Facts::new("Shop", "Program", "Main"),
        &[
            ("Program.Main", true),
            ("*.Main", true),
            ("**.Program.Main", true),
            ("**+Program.Main", false),
        ],
    );
}

#[test]
fn special_methods() {
    check(
        &Facts::new("Shop", "Shop.Store", ".ctor"),
        &[
            ("Shop.Store..ctor", true),
            ("Shop.Store..ctor()", true),
            ("Shop.Store..cctor", false),
            ("Shop.Store.*ctor", true),
            ("Shop.Store.*", true),
            ("**..ctor", true),
        ],
    );
    let explicit = Facts::new("Shop", "Shop.Store", "System.IDisposable.Dispose");
    check(
        &explicit,
        &[
            ("Shop.Store.'System.IDisposable.Dispose'", true),
            ("Shop.Store.*Dispose", true),
            ("Shop.Store.*.*", false),
            ("Shop.Store.System.IDisposable.Dispose", false),
        ],
    );
    check(
        &Facts::new("Shop", "Shop.Store", "get_Count"),
        &[("Shop.Store.get_Count", true), ("Shop.Store.get_*", true)],
    );
}

#[test]
fn names_of_the_compiler() {
    let lambda = Facts::new("Shop", "Shop.Program+<>c__DisplayClass0_0", "<Run>b__0");
    check(
        &lambda,
        &[
            ("Shop.Program+<>c__DisplayClass0_0.<Run>b__0", true),
            ("Shop.Program+<>c*.<Run>*", true),
            ("Shop.Program+<*>*.<*>*", true),
            ("Shop.Program+'<>c__DisplayClass0_0'.'<Run>b__0'", true),
            ("Shop.Program+*.*", false),
            ("Shop.Program+*.<Run>*", false),
            ("Shop.**", false),
            ("**.<Run>*", false),
            ("Shop.**+<*>*.<*>*", true),
            ("generated Shop.**", true),
            ("generated Shop.Program+*.*", true),
            ("generated Other.**", false),
        ],
    );
    check(
        &Facts::new("Shop", "Program", "<Main>$"),
        &[
            ("Program.<Main>$", true),
            ("**", true),
            ("generated **", false),
            ("Program.*", true),
        ],
    );
    check(
        &Facts::new("Shop", "<Module>", ".cctor"),
        &[
            ("<Module>..cctor", true),
            ("**", false),
            ("generated **", true),
            ("*.*", false),
        ],
    );
    check(
        &Facts::new(
            "Shop",
            "Shop.Store",
            "<System.IDisposable.Dispose>g__Free|3_0",
        ),
        &[
            ("Shop.Store.<System.IDisposable.Dispose>g__Free|3_0", true),
            ("Shop.Store.<*>g__*", true),
            ("Shop.Store.<Sell>g__*", false),
        ],
    );
    check(
        &Facts::new("Shop", "<>f__AnonymousType0`2", "get_A"),
        &[
            ("<>f__AnonymousType0<*, *>.get_A", true),
            ("<>f__AnonymousType0`2.get_A", true),
        ],
    );
    // The wildcards of an exclusion match them, too.
    let list = MethodPatterns::parse("generated **; -Shop.**").unwrap();
    assert_eq!(list.matches(&lambda), Ok(false));
    let list = MethodPatterns::parse("generated **; -Other.**").unwrap();
    assert_eq!(list.matches(&lambda), Ok(true));
}

#[test]
fn accessibility() {
    use MemberAccess as Access;
    let words = [
        ("public", Access::Public),
        ("internal", Access::Assembly),
        ("protected", Access::Family),
        ("private", Access::Private),
        ("protected internal", Access::FamOrAssem),
        ("private protected", Access::FamAndAssem),
    ];
    for (_, access) in words {
        let facts = Facts::new("A", "B", "C").with(|it| it.access = access);
        for (word, wanted) in words {
            assert_eq!(
                matches(&format!("{word} B.C"), &facts),
                access == wanted,
                "{word}"
            );
        }
    }
    // Words of the syntax are names where no space follows them, or in quotes.
    let facts = Facts::new("public", "public", "generated");
    check(
        &facts,
        &[
            ("public!public.generated", true),
            ("public 'public'.generated", true),
        ],
    );
}

#[test]
fn parameters() {
    let facts =
        |texts: &[&str]| Facts::new("Shop", "S", "M").with(|it| it.parameters = strings(texts));
    const LIST: &str = "System.Collections.Generic.List";
    check(
        &facts(&["string", &format!("{LIST}<int[]>"), "int&"]),
        &[
            ("S.M", true),
            ("S.M(*, *, *)", true),
            ("S.M(*, *)", false),
            ("S.M()", false),
            ("S.M(**)", true),
            ("S.M(string, **)", true),
            ("S.M(**, int&)", true),
            ("S.M(**, ref int)", true),
            ("S.M( ** , out System.Int32 )", true),
            ("S.M(**, int)", false),
            ("S.M(System.String, **)", true),
            ("S.M(System.*, **)", true),
            ("S.M(*, System.Collections.Generic.List<int[]>, *)", true),
            ("S.M(*, System.Collections.Generic.List<*>, *)", true),
            ("S.M(*, System.Collections.Generic.List<long[]>, *)", false),
            ("S.M(*, System.Collections.Generic.List`1, *)", true),
            ("S.M(*, System.Collections.Generic.List`2, *)", false),
            ("S.M(*, System.Collections.Generic.List, *)", true),
            ("S.M(*, **.List<*[]>, *)", true),
            ("S.M(*, **.List<*[,]>, *)", false),
            ("S.M(**, **.List<**>, **)", true),
            ("S.M(*, List<*>, *)", false),
        ],
    );
    check(
        &facts(&[
            "void*",
            "Shop.Point*",
            "System.Nullable<int>",
            "int& modreq(System.Runtime.InteropServices.InAttribute)",
        ]),
        &[
            ("S.M(void*, Shop.Point *, int?, in int)", true),
            ("S.M(*, Shop.Point*, *, *)", false),
            ("S.M(*, *, System.Nullable<*>, *)", true),
            ("S.M(*, *, long?, *)", false),
            ("S.M(int*, **)", false),
        ],
    );
    check(
        &facts(&["Shop.Points"]),
        &[
            ("S.M(Shop.Point*)", true),
            ("S.M(Shop.Point *)", false),
            ("S.M(decimal)", false),
        ],
    );
    check(
        &facts(&["delegate*<int, void>", "int[1...4]"]),
        &[("S.M(*, *)", true), ("S.M(delegate, *)", false)],
    );
}

#[test]
fn generic_methods_and_instances() {
    let definition = Facts::new("Shop", "Shop.Cart`1+Line", "Map").with(|it| {
        it.parameters = strings(&["T", "System.Func<T, U[]>"]);
        it.generic_parameters = [strings(&["T"]), strings(&["U"])];
    });
    let everywhere = [
        ("Shop.Cart+Line.Map", true),
        ("Shop.Cart<*>+Line.Map", true),
        ("Shop.Cart`1+Line.Map", true),
        ("Shop.Cart`2+Line.Map", false),
        ("Shop.Cart<*, *>+Line.Map", false),
        ("Shop.Cart<**>+Line.Map", true),
        ("Shop.Cart<T>+Line.Map<U>", true),
        ("Shop.Cart<X>+Line.Map<U>", false),
        ("Shop.Cart<T>+Line.Map<T>", false),
        ("Shop.Cart+Line.Map<*>", true),
        ("Shop.Cart+Line.Map`1", true),
        ("Shop.Cart+Line.Map<*, *>", false),
        ("Shop.**.Map(T, System.Func<T, U[]>)", true),
        ("Shop.**.Map(T, System.Func<**>)", true),
    ];
    let of_instance = [
        "Shop.Cart<int>+Line.Map",
        "Shop.Cart<System.Int32>+Line.Map<Shop.Item>",
        "Shop.Cart+Line.Map<**.Item>",
        "**.Map(int, System.Func<int, Shop.Item[]>)",
    ];
    check(&definition, &everywhere);
    check(&definition, &of_instance.map(|text| (text, false)));
    let instance =
        definition.with(|it| it.generic_arguments = [strings(&["int"]), strings(&["Shop.Item"])]);
    check(&instance, &everywhere);
    check(&instance, &of_instance.map(|text| (text, true)));
    check(
        &instance,
        &[
            ("Shop.Cart<long>+Line.Map", false),
            ("**.Map(long, **)", false),
        ],
    );
}

#[test]
fn attributes_and_bases() {
    let facts = Facts::new("Shop", "Shop.Store", "Sell").with(|it| {
        it.attributes = [
            strings(&["Shop.TracedAttribute"]),
            strings(&["System.ObsoleteAttribute", "Shop.Kind"]),
            strings(&["Shop.Marks"]),
        ];
        it.bases = strings(&["Shop.Place<string>", "object"]);
        it.interfaces = strings(&["System.IDisposable"]);
    });
    check(
        &facts,
        &[
            ("[Shop.Traced] **", true),
            ("[method: Shop.TracedAttribute] **", true),
            ("[**.Traced] **", true),
            ("[Traced] **", false),
            ("[System.Obsolete] **", false),
            ("[type: System.Obsolete] **", true),
            ("[type:System.Obsolete][Shop.Traced] public Shop!**", true),
            ("[type: System.Obsolete] [type: Shop.Kind] **", true),
            ("[assembly: Shop.*] **", true),
            ("[assembly: Shop.Kind] **", false),
            ("** : Shop.Place<string>", true),
            ("** : Shop.Place<*>", true),
            ("** : Shop.Place", true),
            ("** : Shop.Place<int>", false),
            ("** : System.IDisposable", true),
            ("**:System.IDisposable,Shop.Place", true),
            ("** : System.IDisposable, Shop.Other", false),
            ("** : object", true),
            ("Shop.Store.Sell() : System.*", true),
        ],
    );
}

#[test]
fn dear_facts_are_asked_last_and_once() {
    let facts = Facts::new("Shop", "Shop.Store", "Sell").with(|it| {
        it.parameters = strings(&["int"]);
        it.attributes[0] = strings(&["Shop.Traced"]);
    });
    let asked = |text: &str| {
        let list = MethodPatterns::parse(text).unwrap();
        list.matches(&facts).unwrap();
        facts.asked.take()
    };
    let all = "[Shop.Traced] public Shop!Shop.Store.Sell(int) : I";
    assert_eq!(
        asked(all),
        [
            "assembly",
            "access",
            "parameters",
            "attributes",
            "bases",
            "interfaces"
        ]
    );
    assert_eq!(
        asked("[Shop.Traced] private Shop!Shop.Store.Sell(int) : I"),
        ["assembly", "access"]
    );
    assert_eq!(
        asked("[Shop.Traced] public Other!Shop.Store.Sell(int) : I"),
        ["assembly"]
    );
    assert_eq!(
        asked("[Shop.Traced] public Shop!Shop.Store.Buy(int) : I"),
        [""; 0]
    );
    assert_eq!(asked("[Shop.Other] **.Sell : I"), ["attributes"]);
    assert_eq!(
        asked("[Shop.Traced] **.Sell; [Shop.Other] Shop.**; [**] **"),
        ["attributes"]
    );
    // Without an inclusion, no exclusion is evaluated.
    assert_eq!(asked("A.B; -[Shop.Traced] **"), [""; 0]);
}

#[test]
fn a_fact_that_fails_is_an_error() {
    let facts = Facts::new("Shop", "S", "M").with(|it| it.parameters = strings(&["!"]));
    let pattern = MethodPattern::parse("S.M(int)").unwrap();
    assert_eq!(pattern.matches(&facts), Err("not this fact"));
    let list: MethodPatterns = [pattern].into_iter().collect();
    assert_eq!(list.matches(&facts), Err("not this fact"));
    assert_eq!(list.unmatched().count(), 1);
    assert!(!matches("S.N(int)", &facts));
}
