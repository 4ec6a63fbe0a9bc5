//! Which strategy is chosen, and that each that can be had works.

use super::*;

#[test]
fn the_process_keeps_its_choice() {
    let barrier = Barrier::process();
    assert_eq!(barrier, Barrier::process());
    assert_eq!(barrier.strategy(), Barrier::choice().active);
    assert_eq!(size_of::<Barrier>(), 1);
}

/// Fences of loom work inside of its models only.
#[cfg(not(loom))]
#[test]
fn each_strategy_works_or_says_why_not() {
    for strategy in Strategy::ALL {
        match Barrier::with(strategy) {
            Ok(barrier) => {
                barrier.light();
                barrier.heavy();
                barrier.begin().wait();
                let soon = std::time::Instant::now() + std::time::Duration::from_secs(10);
                assert!(barrier.begin().wait_until(soon));
                println!("{strategy}: works");
            }
            Err(refused) => {
                assert_ne!(strategy, Strategy::SeqCst);
                println!("{refused}");
            }
        }
    }
}

#[test]
fn under_a_model_nothing_but_fences_is_offered() {
    let is_model = cfg!(any(loom, miri));
    if is_model {
        assert_eq!(Barrier::process(), Barrier::seq_cst());
    } else {
        println!("not under a model: {}", Barrier::choice());
    }
}

#[test]
fn a_place_gives_its_strategy_back() {
    for (place, strategy) in Strategy::ALL.into_iter().enumerate() {
        assert_eq!(strategy as usize, place);
        assert_eq!(Strategy::from_place(place as u8), Some(strategy));
    }
    assert_eq!(Strategy::from_place(Strategy::ALL.len() as u8), None);
    assert_eq!(Strategy::from_place(u8::MAX), None);
}

#[test]
fn names_are_different() {
    let mut names = Strategy::ALL.map(Strategy::name);
    names.sort_unstable();
    assert!(names.is_sorted_by(|one, other| one < other), "{names:?}");
}

const EPERM: Reason = Reason::Errno { call: "membarrier(QUERY)", errno: libc::EPERM };

fn choose_from(ready: &[Strategy]) -> Choice {
    choose(|strategy| if ready.contains(&strategy) { Ok(()) } else { Err(EPERM) })
}

#[test]
fn the_best_that_is_ready_is_chosen_and_the_better_ones_are_named() {
    for (place, strategy) in Strategy::ALL.into_iter().enumerate() {
        let choice = choose_from(&[Strategy::SeqCst, strategy]);
        assert_eq!(choice.active, strategy);
        let refused: Vec<_> = choice.refused.iter().map(|refused| refused.strategy).collect();
        assert_eq!(refused, Strategy::ALL[..place]);
    }
}

#[test]
fn nothing_ready_means_fences() {
    assert_eq!(choose_from(&[]).active, Strategy::SeqCst);
}

#[test]
fn it_is_printed_on_one_line() {
    let print = |ready: Strategy, reason: Reason| {
        let prepare = |one| if one == ready { Ok(()) } else { Err(reason) };
        choose(prepare).to_string()
    };
    assert_eq!(print(Strategy::PrivateExpedited, EPERM), "barrier: membarrier-private-expedited");
    assert_eq!(
        print(Strategy::Mprotect, Reason::NotOffered),
        "barrier: mprotect; refused: \
         membarrier-private-expedited: this kernel does not offer it, \
         membarrier-global-expedited: this kernel does not offer it"
    );
    let with_errno = print(Strategy::SeqCst, EPERM);
    // How the library words an error is its own affair: Miri's differs.
    let error = std::io::Error::from_raw_os_error(libc::EPERM);
    assert!(with_errno.contains(&format!("membarrier(QUERY): {error}")), "{with_errno}");
    assert_eq!(with_errno.lines().count(), 1);
}

#[test]
fn threads_that_choose_at_once_agree() {
    let addresses: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| core::ptr::from_ref(Barrier::choice()).addr())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(addresses.iter().all(|address| *address == addresses[0]));
}
