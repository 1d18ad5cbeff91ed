//! The check of servers that speak first: how they greet.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{shown, words};
use crate::model::check_rules::Greeting;

/// The most that is read of a greeting, bytes.
const MOST: usize = 512;

/// Waits for the greeting and takes leave.
pub(super) async fn listen(stream: &mut TcpStream, greeting: Greeting) -> Result<(), String> {
    let mut said = Vec::with_capacity(MOST);
    let mut piece = [0; MOST];
    loop {
        let room = MOST - said.len();
        let length = stream.read(&mut piece[..room]).await.map_err(|error| words(&error))?;
        if length == 0 {
            return Err("closed before it greeted".to_owned());
        }
        said.extend_from_slice(&piece[..length]);
        if greeting == Greeting::Telnet || said.contains(&b'\n') || said.len() >= MOST {
            break;
        }
    }
    if !beginnings(greeting).iter().any(|beginning| said.starts_with(beginning)) {
        return Err(format!("greeted with {}", shown(&said)));
    }
    // Whether it hears that does not matter.
    let _ = stream.write_all(farewell(greeting)).await;
    Ok(())
}

/// How a server that works may begin.
fn beginnings(greeting: Greeting) -> &'static [&'static [u8]] {
    match greeting {
        Greeting::Ftp | Greeting::Smtp => &[b"220"],
        Greeting::Pop3 => &[b"+OK"],
        Greeting::Imap4 => &[b"* OK", b"* PREAUTH"],
        Greeting::Nntp => &[b"200", b"201"],
        Greeting::Telnet => &[b""],
    }
}

fn farewell(greeting: Greeting) -> &'static [u8] {
    match greeting {
        Greeting::Ftp | Greeting::Smtp | Greeting::Pop3 | Greeting::Nntp => b"QUIT\r\n",
        Greeting::Imap4 => b"a LOGOUT\r\n",
        Greeting::Telnet => b"",
    }
}
