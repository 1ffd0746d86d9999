//! Lines and outcomes of a program without anything that the compiler changes.

use super::truth::is_measured_as_marked;

#[test]
fn each_line_and_outcome_is_as_counted_by_hand() {
    is_measured_as_marked("Lines", include_str!("Lines.cs"), |_| {});
}
