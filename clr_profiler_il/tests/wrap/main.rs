//! Wrapping: a wrapped method has the effects of the original, with the new code around them.

mod constructors;
mod generated;
mod machine;
mod parts;
mod refusals;
mod shapes;
mod tokens;
