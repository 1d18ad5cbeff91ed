//! The client of real DNS servers behind, against servers that follow a script: what is lost, late,
//! forged or cut.

use std::time::Duration;

use adxemu::behind::live::{LONGEST, PATIENCE, Query, TRIES};
use adxemu::behind::reply::Reply;
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::RecordType;

use super::scripted::{Server, Stage, answer, code, cut, is_closed, play, write};

fn query() -> Query {
    Query::own(b"\x03www\x07example\x03com\x00", RecordType::A)
}

/// Plays a script with one server.
async fn with_one(
    script: impl FnOnce(&Server, &Stage) + Send + 'static,
) -> (Option<Reply>, Duration) {
    play(vec![Server::new()], &query(), |stage| script(&stage.servers[0], stage)).await
}

/// How many addresses a reply without error has.
fn count(reply: Option<Reply>) -> usize {
    let reply = reply.unwrap();
    assert_eq!(reply.code, ResponseCode::NoError);
    reply.answers.len()
}

#[tokio::test(start_paused = true)]
async fn a_lost_question_is_asked_again_from_another_port_with_another_id() {
    let (reply, took) = with_one(|server, stage| {
        let lost = server.asked();
        stage.wait(PATIENCE);
        let again = server.asked();
        assert_eq!(again.message[2..], lost.message[2..], "the same question");
        assert_ne!((&again.message[..2], again.from), (&lost.message[..2], lost.from));
        server.send(&answer(&again.message, 2), again.from);
    })
    .await;
    assert_eq!((count(reply), took), (2, PATIENCE));
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_counts_as_long_as_there_is_patience() {
    let almost = PATIENCE.checked_sub(Duration::from_millis(1)).unwrap();
    let (reply, took) = with_one(move |server, stage| {
        let asked = server.asked();
        stage.wait(almost);
        server.is_not_asked();
        server.send(&answer(&asked.message, 2), asked.from);
    })
    .await;
    assert_eq!((count(reply), took), (2, almost));
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up_after_three_tries() {
    let (reply, took) = with_one(|server, stage| {
        for _ in 0..TRIES {
            server.asked();
            stage.wait(PATIENCE);
        }
        server.is_not_asked();
    })
    .await;
    assert_eq!((reply, took), (None, 3 * PATIENCE));
}

#[tokio::test(start_paused = true)]
async fn the_next_server_is_asked_where_one_is_silent_or_absent() {
    let servers = vec![Server::new(), Server::absent(), Server::new()];
    let (reply, took) = play(servers, &query(), |stage| {
        stage.servers[0].asked();
        stage.wait(PATIENCE);
        // The system says that nobody listens on the second one: that takes no time.
        let asked = stage.servers[2].asked();
        stage.servers[2].send(&answer(&asked.message, 3), asked.from);
        stage.servers[0].is_not_asked();
    })
    .await;
    assert_eq!((count(reply), took), (3, PATIENCE));
}

#[tokio::test(start_paused = true)]
async fn however_many_are_silent_there_is_an_end() {
    let servers = (0..9).map(|_| Server::new()).collect();
    let (reply, took) = play(servers, &query(), |stage| {
        for server in &stage.servers[..6] {
            server.asked();
            stage.wait(PATIENCE);
        }
        stage.servers[6].asked();
        stage.wait(LONGEST.checked_sub(6 * PATIENCE).unwrap());
        stage.servers[7].is_not_asked();
    })
    .await;
    assert_eq!((reply, took), (None, LONGEST));
}

#[tokio::test(start_paused = true)]
async fn what_answers_another_question_is_passed_over() {
    let (reply, took) = with_one(|server, _| {
        let asked = server.asked();
        let good = answer(&asked.message, 2);
        let changed = |at: usize, bits: u8| {
            let mut message = good.clone();
            message[at] ^= bits;
            message
        };
        let (id, name, record_type, class) = (1, 13, 12 + 17 + 1, 12 + 17 + 3);
        for wrong in [
            changed(id, 0xff),
            changed(name, 0x01),
            changed(record_type, 0x01),
            changed(class, 0x02),
            // A question, another opcode, no question at all, something cut off, nothing.
            changed(2, 0x80),
            changed(2, 0x10),
            changed(5, 0x01),
            good[..good.len() - 1].to_vec(),
            good[..11].to_vec(),
            Vec::new(),
        ] {
            server.send(&wrong, asked.from);
        }
        server.send(&good, asked.from);
    })
    .await;
    assert_eq!((count(reply), took), (2, Duration::ZERO), "the first try hears the answer");
}

#[tokio::test(start_paused = true)]
async fn wrong_answers_do_not_lengthen_a_try() {
    let (reply, took) = with_one(|server, stage| {
        let asked = server.asked();
        let mut wrong = answer(&asked.message, 2);
        wrong[0] ^= 0xff;
        for _ in 0..3 {
            server.send(&wrong, asked.from);
            stage.wait(PATIENCE / 3);
        }
        let again = server.asked();
        server.send(&answer(&again.message, 2), again.from);
    })
    .await;
    assert_eq!((count(reply), took), (2, PATIENCE));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_elsewhere_is_not_heard() {
    let (reply, _) = with_one(|server, _| {
        let asked = server.asked();
        // The right id and question, but from another port.
        Server::new().send(&answer(&asked.message, 5), asked.from);
        server.send(&answer(&asked.message, 2), asked.from);
    })
    .await;
    assert_eq!(count(reply), 2);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_fetched_over_tcp() {
    let (reply, took) = with_one(|server, _| {
        let asked = server.asked();
        server.send(&cut(&asked.message), asked.from);
        let (mut stream, message) = server.asked_over_tcp();
        assert_eq!(message[2..], asked.message[2..], "the same question");
        let whole = answer(&message, 40);
        // An answer to something else comes first, and the right one in pieces.
        let mut wrong = whole.clone();
        wrong[0] ^= 0xff;
        write(&mut stream, &wrong);
        write(&mut stream, &whole);
        is_closed(&mut stream);
    })
    .await;
    assert_eq!((count(reply), took), (40, Duration::ZERO));
}

/// What may go wrong with the connection, each followed by a second try that goes well.
#[tokio::test(start_paused = true)]
async fn a_connection_that_fails_is_followed_by_the_next_try() {
    type Failure = fn(&mut Stage, &[u8]);
    let failures: [(Failure, Duration); 5] = [
        (
            // Cut there too: there is nothing beyond TCP.
            |stage, _| {
                let (mut stream, message) = stage.servers[0].asked_over_tcp();
                write(&mut stream, &cut(&message));
            },
            Duration::ZERO,
        ),
        (
            // The connection ends within the answer.
            |stage, _| {
                let (mut stream, message) = stage.servers[0].asked_over_tcp();
                let whole = super::world::prefixed(&answer(&message, 40));
                std::io::Write::write_all(&mut stream, &whole[..100]).unwrap();
            },
            Duration::ZERO,
        ),
        (
            // It ends without one.
            |stage, _| drop(stage.servers[0].asked_over_tcp()),
            Duration::ZERO,
        ),
        (
            // Nothing comes.
            |stage, _| {
                let (mut stream, _) = stage.servers[0].asked_over_tcp();
                stage.wait(PATIENCE);
                is_closed(&mut stream);
            },
            PATIENCE,
        ),
        (
            // It never ends.
            |stage, _| {
                let (mut stream, message) = stage.servers[0].asked_over_tcp();
                let mut wrong = answer(&message, 40);
                wrong[0] ^= 0xff;
                for _ in 0..3 {
                    write(&mut stream, &wrong);
                    stage.wait(PATIENCE / 3);
                }
                is_closed(&mut stream);
            },
            PATIENCE,
        ),
    ];
    for (failure, duration) in failures {
        let (reply, took) = play(vec![Server::new()], &query(), move |stage| {
            let asked = stage.servers[0].asked();
            stage.servers[0].send(&cut(&asked.message), asked.from);
            failure(stage, &asked.message);
            let again = stage.servers[0].asked();
            stage.servers[0].send(&answer(&again.message, 2), again.from);
        })
        .await;
        assert_eq!((count(reply), took), (2, duration));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tcp_gives_nothing_that_does_not_fit() {
    let mut server = Server::new();
    server.tcp = None;
    let (reply, took) = play(vec![server], &query(), |stage| {
        for _ in 0..TRIES {
            let asked = stage.servers[0].asked();
            stage.servers[0].send(&cut(&asked.message), asked.from);
        }
    })
    .await;
    assert_eq!((reply, took), (None, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_an_answer() {
    for (number, expected) in [
        (2, ResponseCode::ServFail),
        (3, ResponseCode::NXDomain),
        (4, ResponseCode::NotImp),
        (5, ResponseCode::Refused),
    ] {
        let (reply, took) = with_one(move |server, _| {
            let asked = server.asked();
            server.send(&code(&asked.message, number), asked.from);
        })
        .await;
        assert_eq!((reply.unwrap().code, took), (expected, Duration::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_from_before_edns_is_asked_without_it() {
    for number in [1, 4] {
        let query = Query { edns: true, ..query() };
        let (reply, _) = play(vec![Server::new()], &query, move |stage| {
            let server = &stage.servers[0];
            let asked = server.asked();
            assert_eq!(asked.message[11], 1, "an OPT record");
            server.send(&code(&asked.message, number), asked.from);
            let again = server.asked();
            assert_eq!(again.message[11], 0);
            server.send(&answer(&again.message, 2), again.from);
        })
        .await;
        assert_eq!(count(reply), 2);
    }
}
