//! F-RTO, and timestamps of retransmissions.

use super::*;

#[test]
fn f_rto_processes_the_first_and_the_last_acknowledgement_of_a_deaf_window() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::FRto, [4.0, 1.0]);
    let ack = |next| Ack {
        subflow: A,
        next,
        echo: at(0),
        report: None,
    };
    windows.sender.handle(at(100), &ack(1), || 0.0);
    assert_eq!(windows.sender.state(A).acknowledged, MSS);
    windows.send();
    let deaf = || panic!("nothing is drawn in a deaf window");
    for next in 2..=5 {
        windows.sender.handle(at(100), &ack(next), deaf);
    }
    assert_eq!(windows.sender.state(A).acknowledged, MSS, "window: 4.25");
    windows.sender.handle(at(100), &ack(5), deaf);
    assert_eq!(windows.sender.state(A).acknowledged, 5 * MSS);
}

#[test]
fn f_rto_window_of_one_discards_nothing() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::FRto, [1.0, 1.0]);
    let ack = |next| Ack {
        subflow: A,
        next,
        echo: at(0),
        report: None,
    };
    windows.sender.handle(at(100), &ack(0), || 0.0);
    windows.sender.handle(at(100), &ack(1), || 0.5);
    assert_eq!(windows.sender.state(A).acknowledged, MSS);
}

#[test]
fn f_rto_first_acknowledgement_after_a_full_windows_timeout_leads_to_step_four() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::FRto, [10.0, 1.0]);
    windows.time_out();
    windows.send();
    assert_eq!(windows.cwnd(A), 5.0);
    windows.ack(A, 3);
    assert_eq!(windows.cwnd(A), 5.2);
    // Until the next timeout, each duplicate grows the window, whatever advances.
    windows.ack(A, 3);
    assert_eq!(windows.cwnd(A), 5.2 + 1.0 / 5.2);
    windows.ack(A, 4);
    let before = windows.cwnd(A);
    windows.ack(A, 4);
    assert_eq!(windows.cwnd(A), before + 1.0 / before);
    // Those of the other subflow, too.
    let before = windows.cwnd(B);
    windows.ack(B, 0);
    assert_eq!(windows.cwnd(B), before + 1.0, "slow start");
}

#[test]
fn f_rto_sets_the_window_to_three_at_a_duplicate_in_step_three() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::FRto, [10.0, 1.0]);
    windows.time_out();
    windows.send();
    windows.sender.set(A, 12.0, 2.0 * MSS as f64, at(100));
    windows.ack(A, 3);
    windows.ack(A, 3);
    let step_four = 3.0 + 1.0 / 3.0;
    assert_eq!(windows.cwnd(A), step_four);
    windows.ack(A, 3);
    assert_eq!(windows.cwnd(A), step_four + 1.0 / step_four);
}

#[test]
fn f_rto_later_timeouts_lead_to_step_four() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::FRto, [10.0, 1.0]);
    windows.time_out();
    windows.send();
    windows.ack(A, 1);
    windows.time_out();
    windows.send();
    windows.sender.set(A, 12.0, 2.0 * MSS as f64, at(100));
    windows.ack(A, 3);
    let before = windows.cwnd(A);
    windows.ack(A, 3);
    assert_eq!(windows.cwnd(A), before + 1.0 / before);
}

#[test]
fn eifel_repeats_the_timestamp_of_the_first_retransmission() {
    let mut windows = Windows::new(Coupling::Uncoupled, Policy::Eifel, [10.0, 1.0]);
    windows.time_out();
    let first = windows.now;
    assert_eq!(windows.send()[0].stamp, at(first));
    windows.time_out();
    assert!(windows.now > first);
    assert_eq!(windows.send()[0].stamp, at(first));
}
