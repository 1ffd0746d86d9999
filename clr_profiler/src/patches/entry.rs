//! The functions that IL calls.
//!
//! The argument for its `unsafe` code: the IL of [`code`](super::code) alone calls these functions; it passes the address of
//! a [`Site`] that lives as long as the library, and that of a local that has as many words as the site says.

use std::ptr::NonNull;

use super::frame::Frame;
use super::hook;
use super::site::Site;
use super::slot::Stage;

/// The site and the frame of a call.
///
/// # Safety
///
/// As of the module. The frame is not used after the function that IL has called.
#[inline(always)]
unsafe fn passed<'a>(site: i64, frame: *mut u64) -> Option<(&'a Site, Frame<'a>)> {
    let site = NonNull::new(site as usize as *mut Site)?;
    let first = NonNull::new(frame)?;
    // SAFETY: the IL has the address of a site, which is never freed or changed.
    let site: &Site = unsafe { site.as_ref() };
    // SAFETY: the IL passes a local with so many words; it is not accessed until the function returns.
    let frame = unsafe { Frame::new(first, site.layout.words) };
    Some((site, frame))
}

/// A row: the function that calls the closure of a stage.
macro_rules! stages {
    ($($name:ident $stage:ident;)*) => {$(
        pub(super) extern "C" fn $name(site: i64, frame: *mut u64) -> i64 {
            // SAFETY: IL of this crate alone calls it, with these arguments.
            let Some((site, frame)) = (unsafe { passed(site, frame) }) else {
                return 0;
            };
            match site.hooks.of(Stage::$stage) {
                Some(hook) => hook.run(site, frame).cast_signed(),
                None => 0,
            }
        }
    )*};
}

stages! {
    before Before;
    after After;
    exception Exception;
}

/// Frees the state of a call that ends by an exception.
pub(super) extern "C" fn abandoned(site: i64, frame: *mut u64) -> i64 {
    // SAFETY: IL of this crate alone calls it, with these arguments.
    if let Some((site, frame)) = unsafe { passed(site, frame) } {
        hook::abandon(site, frame);
    }
    0
}
