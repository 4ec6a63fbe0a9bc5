// Lists the capacities that a String goes through and counts what the allocator is asked for: see
// capacities.cpp. Ends with 1 if the model does not hold.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

const VOLUME: usize = 100_000_000;

static ASKED_BYTES: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: everything is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED_BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ASKED_BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn main() -> ExitCode {
    // No list grows meanwhile: it would ask for memory as well.
    let mut capacities = [0; 64];
    let mut count = 0;
    let before = ASKED_BYTES.load(Ordering::Relaxed);
    let mut text = String::new();
    while text.len() <= VOLUME {
        text.push('a');
        if text.capacity() != capacities[count] {
            count += 1;
            capacities[count] = text.capacity();
        }
    }
    let asked = ASKED_BYTES.load(Ordering::Relaxed) - before;
    let listed: Vec<_> = capacities[..=count].iter().map(usize::to_string).collect();
    println!("{}", listed.join(" "));
    let factor = capacities[count] as f64 / capacities[count - 1] as f64;
    let (model, found) = (factor / (factor - 1.0), asked as f64 / capacities[count] as f64);
    let holds = found < model * 1.001 && found > model * 0.95;
    println!(
        "String: factor {factor:.3}, asked for {found:.3} of the last capacity; the model has \
         {model:.3}{}",
        if holds { "" } else { ": THAT IS NOT SO" }
    );
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
