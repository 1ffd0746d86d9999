//! What a profiler adds to the metadata of a module is what it reads there afterwards.

use clr_profiler_tests::Scenario;

#[test]
fn what_was_added_is_read_back() {
    let scenario = Scenario::new("Metadata").profiler("WritesMetadata");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        let facts = [
            "type Added.Thing 0x100001",
            "field Text Some(String(\"fünf\")) true",
            "method Say true true",
            "cut true",
            "parameter times Some(I4(3))",
            "property Said 0x200 true true",
            "generic TAdded",
            "assembly Some.Library 3.9 [1, 2, 3, 4, 5, 6, 7, 8]",
            "type reference true",
            "composed true",
            "member Do true",
            "instance [String] true",
            "text [65, 55296, 0, 66]",
            "empty \"\"",
            "locals [7, 1, 8]",
            "saved true true",
            "read again true",
        ];
        let logged: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(logged, facts);
    });
}
