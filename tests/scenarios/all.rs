//! The tests of all scenarios in one program, because a program runs its tests at the same time, and cargo runs one
//! program after the other.

include!(concat!(env!("OUT_DIR"), "/tests.rs"));
