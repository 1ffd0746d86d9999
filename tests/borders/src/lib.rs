//! Profilers that go to the borders.
