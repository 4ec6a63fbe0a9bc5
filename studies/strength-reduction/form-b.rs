//! Form B in Rust.

mod frame;

use frame::Form;
use tiebreak_abi::{contestant, kernel};

kernel! {
    fn compute(data: &mut [f64]) {
        const A: f64 = 1.1;
        const B: f64 = 2.2;
        const C: f64 = 3.3;
        const A2: f64 = A + A;
        let mut z = A + B;
        let mut y = C;
        let mut i = 0;
        while i < data.len() {
            data[i] = y;
            y += z;
            z += A2;
            i += 1;
        }
    }
}

contestant!(Form);
