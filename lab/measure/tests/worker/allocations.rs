//! Nothing is allocated from the first call of a unit to the last.

use super::study::*;
use tiebreak_core::verdict::Fault;

/// Counts what the C library is asked for.
const COUNTING: &str = r#"
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
unsigned long test_allocations;
void *malloc(size_t n) { test_allocations++; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { test_allocations++; return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { test_allocations++; return __libc_realloc(p, n); }
void free(void *p) { test_allocations++; __libc_free(p); }
"#;

/// Adds to the checksum whatever was asked for since the first call.
const WATCHING: Source<'static> = Source {
    before: "extern unsigned long test_allocations __attribute__((weak)); \
             static unsigned long first; static int is_set;",
    run: "if (!&test_allocations) abort(); \
          if (!is_set) { is_set = 1; first = test_allocations; } \
          sum += test_allocations - first;",
    ..RIGHT
};

fn study(source: Source<'_>) -> Study {
    let study = Study::new(&[source, RIGHT]);
    let counting = compile(study.path(), "counting", COUNTING, &["-shared"]);
    study.with_variable("LD_PRELOAD", &counting)
}

#[test]
fn the_worker_allocates_nothing_between_calls() {
    study(WATCHING).run().unwrap();
    let mut each = study(WATCHING);
    each.functions().times_each_call = true;
    each.run().unwrap();
    // So that the counting is known to count.
    let after = "void *volatile some = malloc(10); free(some);";
    let (contestant, fault) = fault_of(study(Source { after, ..WATCHING }).run());
    assert!(contestant == 0 && matches!(fault, Fault::WrongAnswer { .. }), "{fault:?}");
}
