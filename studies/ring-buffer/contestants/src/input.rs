//! The input, and what is made of it: what `task.h` says of both.

/// What a run does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// One thread writes; what is full is declared read.
    Push,
    /// One thread writes, another reads.
    Pairs,
}

/// The input.
pub struct Input {
    pub task: Task,
    pub size: u64,
    pub first: u64,
    pub step: u64,
}

impl Input {
    /// Nothing if the input is not one of this study.
    pub fn read(input: &[u8]) -> Option<Input> {
        let mut words = input.chunks_exact(8).filter_map(|word| word.try_into().ok());
        let task = match words.next().map(u64::from_le_bytes)? {
            0 => Task::Push,
            1 => Task::Pairs,
            _ => return None,
        };
        let [size, first, step] = [words.next()?, words.next()?, words.next()?];
        let [size, first, step] = [size, first, step].map(u64::from_le_bytes);
        Some(Input { task, size, first, step })
    }
}

/// A sum that depends on the order: of all items, and of all sums so far (Fletcher's).
#[derive(Clone, Copy, Default)]
pub struct Sum {
    items: u64,
    sums: u64,
}

impl Sum {
    #[inline(always)]
    pub fn add(&mut self, item: u64) {
        self.items = self.items.wrapping_add(item);
        self.sums = self.sums.wrapping_add(self.items);
    }

    pub fn value(self) -> u64 {
        self.sums
    }
}
