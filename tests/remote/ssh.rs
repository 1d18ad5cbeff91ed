//! SSH over a socket, with a client of the same library.

use std::fmt::Write as _;
use std::sync::Arc;

use russh::client::{self, Handle};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg, Preferred, cipher, kex, mac};

use adxemu::remote::{Algorithms, Limits};

use super::at_home::{ACCOUNTS, Home};

/// A client that trusts every server.
struct Trusting;

impl client::Handler for Trusting {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        _key: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

async fn connect(home: &Home, config: client::Config) -> Result<Handle<Trusting>, russh::Error> {
    client::connect(Arc::new(config), home.ssh, Trusting).await
}

async fn logged_in(home: &Home, name: &str, password: &str) -> Handle<Trusting> {
    let mut handle = connect(home, client::Config::default()).await.unwrap();
    assert!(handle.authenticate_password(name, password).await.unwrap().success());
    handle
}

/// What comes until the text is there.
async fn waits_for(channel: &mut Channel<client::Msg>, text: &str) -> String {
    let mut shown = String::new();
    while !shown.contains(text) {
        match channel.wait().await {
            Some(ChannelMsg::Data { data }) => shown += std::str::from_utf8(&data).unwrap(),
            Some(_) => {}
            None => panic!("waited for {text:?}; there is\n{shown}"),
        }
    }
    shown
}

/// All output and the exit status.
async fn rest(channel: &mut Channel<client::Msg>) -> (String, Option<u32>) {
    let (mut shown, mut status) = (String::new(), None);
    while let Some(message) = channel.wait().await {
        match message {
            ChannelMsg::Data { data } => shown += std::str::from_utf8(&data).unwrap(),
            ChannelMsg::ExitStatus { exit_status } => status = Some(exit_status),
            _ => {}
        }
    }
    (shown, status)
}

async fn shell(handle: &Handle<Trusting>) -> Channel<client::Msg> {
    let channel = handle.channel_open_session().await.unwrap();
    channel.request_pty(true, "xterm", 80, 24, 0, 0, &[]).await.unwrap();
    channel.request_shell(true).await.unwrap();
    channel
}

#[test]
fn a_session_from_beginning_to_end() {
    let home = Home::start(ACCOUNTS);
    home.runtime.block_on(async {
        let handle = logged_in(&home, "admin", "one").await;
        let mut channel = shell(&handle).await;
        assert_eq!(waits_for(&mut channel, ">").await, "SSH@ServerIronADX>");
        channel.data_bytes("show who\r").await.unwrap();
        let who = waits_for(&mut channel, "5      closed\r\nSSH@").await;
        assert!(who.contains(" 1      established, client ip address 127.0.0.1, user is admin"));
        channel.data_bytes("exit\r").await.unwrap();
        let (shown, status) = rest(&mut channel).await;
        assert!(shown.ends_with("exit\r\n"), "{shown}");
        assert_eq!(status, Some(0));
    });
}

#[test]
fn a_command_without_a_terminal() {
    let home = Home::start(&format!("{ACCOUNTS}aaa authentication login privilege-mode\n"));
    home.runtime.block_on(async {
        let handle = logged_in(&home, "admin", "one").await;
        let mut channel = handle.channel_open_session().await.unwrap();
        channel.exec(true, "show running-config").await.unwrap();
        let (shown, status) = rest(&mut channel).await;
        assert!(shown.starts_with("!Building configuration...\n"), "{shown}");
        assert!(shown.contains("\nend\n") && !shown.contains("--More--"));
        assert_eq!(status, Some(0));
        let mut channel = handle.channel_open_session().await.unwrap();
        channel
            .exec(true, "configure terminal\ngslb site x\nend\nshow run | include site")
            .await
            .unwrap();
        assert_eq!(rest(&mut channel).await, ("gslb site x\n".to_owned(), Some(0)));
    });
}

#[test]
fn who_may_come_in() {
    let home = Home::start(ACCOUNTS);
    home.runtime.block_on(async {
        let mut handle = connect(&home, client::Config::default()).await.unwrap();
        assert!(!handle.authenticate_none("admin").await.unwrap().success());
        assert!(!handle.authenticate_password("admin", "two").await.unwrap().success());
        assert!(!handle.authenticate_password("nobody", "one").await.unwrap().success());
        assert!(handle.authenticate_password("admin", "one").await.unwrap().success());
        let mut handle = connect(&home, client::Config::default()).await.unwrap();
        // Behind the third wrong password the right one comes too late.
        for password in ["two", "two", "two", "one"] {
            let refused = handle.authenticate_password("admin", password).await;
            assert!(!refused.is_ok_and(|answer| answer.success()));
        }
        assert!(handle.channel_open_session().await.is_err());
    });
    let log = home.responder.appliance.log.since(0);
    let texts: Vec<&str> = log.iter().map(|one| one.text.as_str()).collect();
    let from = "from src IP 127.0.0.1, src MAC 0000.0000.0000";
    for expected in [
        format!("Security: SSH access by user admin {from} rejected, 1 attempt(s)"),
        format!("Security: SSH access by user nobody {from} rejected, 2 attempt(s)"),
    ] {
        assert!(texts.contains(&expected.as_str()), "{texts:?}");
    }
    let open = Home::start("");
    open.runtime.block_on(async {
        let mut handle = connect(&open, client::Config::default()).await.unwrap();
        assert!(handle.authenticate_none("anybody").await.unwrap().success());
    });
}

#[test]
fn several_sessions_on_one_connection_and_a_limit() {
    let home = Home::start("");
    home.runtime.block_on(async {
        let handle = logged_in(&home, "anybody", "").await;
        let mut channels = Vec::new();
        for _ in 0..8 {
            let mut channel = shell(&handle).await;
            waits_for(&mut channel, ">").await;
            channels.push(channel);
        }
        assert!(handle.channel_open_session().await.is_err());
        assert_eq!(home.responder.appliance.sessions.list().len(), 8);
        channels[3].data_bytes("exit\r").await.unwrap();
        rest(&mut channels[3]).await;
        channels[4].data_bytes("enable\rkill ssh\r").await.unwrap();
        for channel in &mut channels {
            rest(channel).await;
        }
        assert!(home.responder.appliance.sessions.list().is_empty());
    });
}

#[test]
fn sessions_end_when_nothing_is_typed() {
    let home = Home::start("ip ssh idle-time 1\n");
    home.runtime.block_on(async {
        let handle = logged_in(&home, "anybody", "").await;
        let mut channel = shell(&handle).await;
        waits_for(&mut channel, ">").await;
        home.waits(60);
        assert_eq!(rest(&mut channel).await.1, Some(0));
    });
}

#[test]
fn the_end_of_input_ends_a_session() {
    let home = Home::start("");
    home.runtime.block_on(async {
        let handle = logged_in(&home, "anybody", "").await;
        let mut channel = handle.channel_open_session().await.unwrap();
        channel.request_shell(true).await.unwrap();
        channel.data_bytes("enable\nshow clock\n").await.unwrap();
        channel.eof().await.unwrap();
        let (shown, status) = rest(&mut channel).await;
        assert!(shown.contains("SSH@ServerIronADX#show clock\r\n"), "{shown}");
        assert_eq!(status, Some(0));
    });
}

#[test]
fn a_paste_in_one_write() {
    let home = Home::start("enable skip-page-display\n");
    home.runtime.block_on(async {
        let handle = logged_in(&home, "anybody", "").await;
        let mut channel = shell(&handle).await;
        let mut paste = String::from("enable\nconf t\n");
        for number in 0..1000 {
            writeln!(paste, "gslb site s{number}\n weight {}", number % 100).unwrap();
        }
        paste += "end\nshow running-config | include weight\nexit\nexit\n";
        channel.data_bytes(paste).await.unwrap();
        let (shown, _) = rest(&mut channel).await;
        let (_, listed) = shown.split_once("include weight\r\n").unwrap();
        assert_eq!(listed.matches(" weight ").count(), 990, "weight 0 is not printed");
    });
}

#[test]
fn old_algorithms_are_offered_only_if_asked_for() {
    let old = || client::Config {
        preferred: Preferred {
            kex: vec![kex::DH_G1_SHA1].into(),
            cipher: vec![cipher::AES_128_CBC].into(),
            mac: vec![mac::HMAC_SHA1].into(),
            ..Preferred::DEFAULT
        },
        ..client::Config::default()
    };
    let home = Home::start("");
    home.runtime.block_on(async {
        assert!(connect(&home, old()).await.is_err());
    });
    let home = Home::with("", Limits::default(), Algorithms::Legacy);
    home.runtime.block_on(async {
        let mut handle = connect(&home, old()).await.unwrap();
        assert!(handle.authenticate_none("anybody").await.unwrap().success());
        let mut channel = shell(&handle).await;
        waits_for(&mut channel, "SSH@ServerIronADX>").await;
    });
}
