//! Form A in Rust.

mod frame;

use frame::Form;
use tiebreak_abi::{contestant, kernel};

kernel! {
    fn compute(data: &mut [f64]) {
        const A: f64 = 1.1;
        const B: f64 = 2.2;
        const C: f64 = 3.3;
        let mut i = 0;
        while i < data.len() {
            let x = f64::from(i as i32);
            data[i] = A * x * x + B * x + C;
            i += 1;
        }
    }
}

contestant!(Form);
