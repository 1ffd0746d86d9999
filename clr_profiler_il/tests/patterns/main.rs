//! Patterns for methods: the methods that they match, their errors, and lists against single patterns.

mod errors;
mod facts;
mod lists;
mod matching;
