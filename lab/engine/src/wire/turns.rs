//! Turns of races: one client at a time has the machine.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue of those who want the machine. Whoever comes first has it first.
#[derive(Debug, Default)]
pub struct Turns {
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// The number of the next one who comes.
    next: u64,
    /// The number of the one who has the machine, or will have it.
    served: u64,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits until the machine is free.
    pub fn take(&self) -> Turn<'_> {
        self.wait(self.queue());
        Turn(self)
    }

    /// Waits behind all who wait now.
    fn wait(&self, mut queue: MutexGuard<'_, Queue>) {
        let number = queue.next;
        queue.next += 1;
        while queue.served != number {
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self) {
        self.next(&mut self.queue());
    }

    fn next(&self, queue: &mut Queue) {
        queue.served += 1;
        self.moved.notify_all();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Lets all others who wait now have a turn first.
    pub fn pass(&mut self) {
        // Who ends a turn first and queues up then may find the others before it a second time.
        let mut queue = self.0.queue();
        self.0.next(&mut queue);
        self.0.wait(queue);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Waits until somebody waits.
    fn wait_for_another(turns: &Turns) {
        let is_alone = |queue: &Queue| queue.next < queue.served + 2;
        while is_alone(&turns.queue()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn turns_alternate() {
        let turns = Turns::default();
        let (sender, taken) = channel();
        let mut mine = turns.take();
        mine.pass();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut other = turns.take();
                sender.send("other").unwrap();
                other.pass();
                sender.send("other again").unwrap();
            });
            wait_for_another(&turns);
            assert!(taken.try_recv().is_err());
            mine.pass();
            assert_eq!(taken.try_recv(), Ok("other"));
            wait_for_another(&turns);
            drop(mine);
            assert_eq!(taken.recv(), Ok("other again"));
        });
    }
}
