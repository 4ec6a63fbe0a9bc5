//! What is added: see oracle.c.

use crate::Counter;
use tiebreak_abi::launder;

pub struct Amounts<'w> {
    has_work: bool,
    bytes: &'w [u8],
    sum: u64,
}

impl<'w> Amounts<'w> {
    pub fn new(input: &'w [u8]) -> Amounts<'w> {
        let (first, bytes) = input.split_first().unwrap_or((&0, &[]));
        Amounts { has_work: *first != 0, bytes, sum: 0 }
    }

    /// Adds each amount; gives their sum.
    #[inline(always)]
    pub fn add_all<C: Counter>(&mut self, count: &C, own: &C::Own) -> u64 {
        let mut sum = 0;
        let mut hash = 0_u64;
        if self.has_work {
            for &byte in launder(self.bytes) {
                hash ^= u64::from(byte);
                for _ in 0..5 {
                    hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                }
                one(count, own, hash >> 56);
                sum += hash >> 56;
            }
        } else {
            for &byte in launder(self.bytes) {
                one(count, own, u64::from(byte));
                sum += u64::from(byte);
            }
        }
        self.sum = sum;
        sum
    }

    pub fn sum(&self) -> u64 {
        self.sum
    }
}

/// Adds; and the compiler may not put two additions into one.
#[inline(always)]
fn one<C: Counter>(count: &C, own: &C::Own, amount: u64) {
    count.add(own, amount);
    launder(std::ptr::null::<u8>());
}
