//! [`Extensions`]: the values that components store for a runtime.

use std::any::Any;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;

/// A value that can be stored. The handle is used on all threads, and within code that catches panics.
pub(crate) trait Extension:
    Any + fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe
{
}

impl<T: Any + fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe> Extension for T {}

/// At most one value of each type, found by its type, so that the handle does not depend on the types.
///
/// A list, because there are few. Values are never removed, so that using one needs no lock.
#[derive(Default)]
pub(super) struct Extensions {
    value: OnceLock<Box<dyn Extension>>,
    next: OnceLock<Box<Self>>,
}

impl Extensions {
    /// The value of this type, which is created on the first call.
    pub(super) fn get<T: Extension + Default>(&self) -> &T {
        let mut extension = self;
        loop {
            let value = extension.value.get_or_init(|| Box::new(T::default()));
            let value: &dyn Any = &**value;
            if let Some(value) = value.downcast_ref() {
                return value;
            }
            extension = extension.next.get_or_init(Box::default);
        }
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut extensions = Some(self);
        let values = std::iter::from_fn(|| {
            let extension = extensions?;
            extensions = extension.next.get().map(|next| &**next);
            extension.value.get()
        });
        f.debug_list().entries(values).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn each_type_has_one_value() {
        let extensions = Extensions::default();
        extensions.get::<AtomicU32>().store(7, Ordering::Relaxed);
        assert_eq!(extensions.get::<String>(), "");
        assert_eq!(format!("{extensions:?}"), "[7, \"\"]");
        assert_eq!(extensions.get::<AtomicU32>().load(Ordering::Relaxed), 7);
    }
}
