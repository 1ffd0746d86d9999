//! Wrapping: what a wrapped method does is what it did before, with the new code around it.

mod constructors;
mod generated;
mod machine;
mod parts;
mod refusals;
mod shapes;
mod tokens;
