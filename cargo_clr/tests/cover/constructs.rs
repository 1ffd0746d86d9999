//! Lines of everything of which the compiler makes other code than the source has.

use super::truth::is_measured_as_marked;

#[test]
fn generated_code_counts_for_the_source_that_it_is_made_of() {
    is_measured_as_marked("Constructs", include_str!("Constructs.cs"), |tracefile| {
        // Under the methods of the source.
        for name in [
            "Program.Lambdas(int[])",
            "Program.Iterate(int)",
            "Asynchronous.Yields(bool)",
        ] {
            let line = tracefile.lines().find(|line| {
                line.starts_with("FNDA:1,") && line.ends_with(&format!("Constructs.{name}"))
            });
            assert!(line.is_some(), "{name}: {tracefile}");
        }
        let generated = tracefile
            .lines()
            .find(|line| line.starts_with("FN:") && line.contains('>'));
        assert_eq!(generated, None);
    });
}
