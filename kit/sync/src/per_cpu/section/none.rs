//! Where there are no restartable sequences there is no [`Area`], and nobody comes here.

use super::{Area, Ended, Form, Slots};
use super::{AtomicPtr, AtomicU64};
use std::ptr::NonNull;

pub(crate) unsafe fn add<F: Form>(area: Area, _: Slots<AtomicU64>, _: u64) -> Ended<()> {
    match area {}
}

pub(crate) unsafe fn push<F: Form, N>(
    area: Area,
    _: Slots<AtomicPtr<N>>,
    _: NonNull<N>,
) -> Ended<()> {
    match area {}
}

pub(crate) unsafe fn pop<F: Form, N>(
    area: Area,
    _: Slots<AtomicPtr<N>>,
) -> Ended<Option<NonNull<N>>> {
    match area {}
}

pub(crate) unsafe fn compare_and_store<F: Form>(
    area: Area,
    _: Slots<AtomicU64>,
    _: u32,
    _: u64,
    _: u64,
) -> Ended<bool> {
    match area {}
}
