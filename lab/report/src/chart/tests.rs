use super::*;
use crate::svg;

const LOOK: Look = Look { width: 48, color: false, unicode: false };

fn scale(label: &str, is_log: bool, from_zero: bool) -> Scale {
    Scale { label: label.to_owned(), is_log, from_zero, write: |value| format!("{value}") }
}

fn chart(x: Scale, y: Scale, curves: &[(&str, &[(f64, f64)])]) -> Chart {
    let curves = curves.iter().map(|(name, points)| (*name, points.to_vec()));
    Chart::new("a title", [x, y], curves)
}

#[test]
fn a_chart_in_letters() {
    let up: &[(f64, f64)] = &[(1.0, 10.0), (2.0, 20.0), (4.0, 30.0)];
    let flat: &[(f64, f64)] = &[(1.0, 20.0), (4.0, 20.0)];
    let mut chart = chart(
        scale("threads", true, false),
        scale("GB/s", false, true),
        &[("read", up), ("fill", flat)],
    );
    chart.marks = vec![(2.0, "cores".to_owned())];
    insta::assert_snapshot!(chart.text(&LOOK));
}

#[test]
fn nothing_is_drawn_of_nothing() {
    let empty = chart(scale("x", false, false), scale("y", false, true), &[("none", &[])]);
    assert_eq!(empty.text(&LOOK), "");
    assert!(svg::charts(&[empty]).starts_with("<svg"));
    let one = chart(scale("x", true, false), scale("y", true, false), &[("one", &[(3.0, 7.0)])]);
    assert!(one.text(&LOOK).contains('o'));
    let odd = [(f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 0.0)];
    let odd = chart(scale("x", true, false), scale("y", true, false), &[("odd", &odd)]);
    let _ = (odd.text(&LOOK), svg::charts(&[odd]));
}

#[test]
fn ticks_are_round_and_few() {
    let check = |low: f64, high: f64, is_log: bool, most: usize, expected: &[f64]| {
        let span = Span { low, high, is_log };
        let binary = is_log && is_binary(low);
        assert_eq!(round_values(span, most, binary), expected, "{low} to {high}");
    };
    check(0.0, 42.0, false, 6, &[0.0, 10.0, 20.0, 30.0, 40.0]);
    check(0.7, 220.0, true, 10, &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
    check(0.7, 220.0, true, 4, &[1.0, 10.0, 100.0]);
    check(4096.0, 65536.0, true, 8, &[4096.0, 8192.0, 16384.0, 32768.0, 65536.0]);
    check(4096.0, 65536.0, true, 3, &[4096.0, 16384.0, 65536.0]);
    check(5.0, 5.0, false, 6, &[5.0]);
    assert!(is_binary(6144.0) && !is_binary(5000.0));
}
