//! t
use barrierd::kernel::Kernel;
fn main() {
    let k = Kernel::attach(2).unwrap();
    let _t = barrierd::bpf::system::enable_times().unwrap();
    println!("{:?} missing {:?}", k.tracepoints().collect::<Vec<_>>(), k.missing);
    for _ in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(300));
        for s in k.slots() {
            print!("{} {} {}; ", s.state().stamp_ns(), s.state().is_idle(), s.count());
        }
        println!();
    }
    for (n, r) in k.runs().unwrap() {
        println!("{n} {r:?} {} ns", r.total_ns as f64 / r.count as f64);
    }
}
