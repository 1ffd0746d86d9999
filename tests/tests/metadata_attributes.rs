//! The values of custom attributes are those of the source.

use clr_profiler_tests::Scenario;

#[test]
fn attributes_have_the_values_of_the_source() {
    let scenario = Scenario::new("Attributes").profiler("ReadsAttributes");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let logged: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(logged, FACTS);
    });
}

const FACTS: &[&str] = &[
    "Full: String(Some(\"schön\"))",
    "Full: I4(-7)",
    "Full: Enum { enum_type: Token(TypeDef(0x02000004)), value: U1(200) }",
    "Full Property Loud: Bool(true)",
    "Full Field Weight: R8(0.5)",
    "Full Property Colours: Array(Some([Enum { enum_type: Name(\"Shop.Colour\"), value: U1(1) }]))",
    "Full Property Anything: Boxed(Enum { enum_type: Name(\"Shop.Outer+Size\"), value: I8(1099511627776) })",
    "Full 3 4",
    "Listed: Type(Some(\"Shop.Full\"))",
    "Listed: Array(Some([Enum { enum_type: Token(TypeDef(0x0200000c)), value: I8(1099511627776) }]))",
    "Listed: Array(Some([Boxed(Char(120)), Boxed(String(None)), Boxed(Type(Some(\"System.Int32, System.Runtime, Version=4.2.2.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a\"))), Boxed(U8(5))]))",
    "Listed 3 0",
    "Dated: Metadata::attribute: Shop.LabelAttribute has a value of the enumeration System.DayOfWeek, which is of another module: say of which type it is with `attribute_with`",
    "Bare 0 0",
    "Program: none",
    "asked for [\"System.DayOfWeek\", \"System.DayOfWeek\"]",
    "dated true",
    "day I4(5)",
    "obsolete Some(0)",
];
