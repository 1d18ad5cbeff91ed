//! The check of a web server: a request, the return code of the answer, and what is in it.

use std::net::IpAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{shown, words};
use crate::model::check_rules::HttpRequest;

/// The most that is read of an answer before its body begins, bytes.
const MOST_HEAD: usize = 16 * 1024;

/// The most that is read of its body, bytes, where texts are looked for.
const MOST_BODY: usize = 64 * 1024;

/// The most lines of a head.
const MOST_HEADERS: usize = 128;

/// How a line break is typed within the request.
const TYPED_BREAK: &str = "\\r\\n";

/// Sends the request and looks at the answer.
pub(super) async fn ask(
    stream: &mut TcpStream,
    address: IpAddr,
    request: &HttpRequest,
) -> Result<(), String> {
    let text = request_text(&request.request, address);
    stream.write_all(text.as_bytes()).await.map_err(|error| words(&error))?;
    let mut answer = Vec::new();
    let head = loop {
        if let Some(head) = read_head(&answer)? {
            break head;
        }
        if answer.len() >= MOST_HEAD {
            return Err("the head of its answer does not end".to_owned());
        }
        if read_more(stream, &mut answer).await? == 0 {
            return Err("closed before it answered".to_owned());
        }
    };
    if !request.status_codes.iter().any(|(low, high)| (*low..=*high).contains(&head.code)) {
        return Err(format!("answered {}", head.code));
    }
    let Some(matches) = &request.matches else { return Ok(()) };
    let mut body = answer.split_off(head.length);
    // An answer to HEAD has none, whatever it says.
    let is_head = request.request.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("head"));
    let wanted = if is_head { 0 } else { head.body_length.unwrap_or(MOST_BODY).min(MOST_BODY) };
    while body.len() < wanted && read_more(stream, &mut body).await? > 0 {}
    body.truncate(wanted);
    if matches.is_good(&body) { Ok(()) } else { Err("its content does not match".to_owned()) }
}

/// The request as it is sent. What is typed is method and path; a version and further lines may
/// follow, separated by `\r\n`.
fn request_text(typed: &str, address: IpAddr) -> String {
    let typed = typed.replace(TYPED_BREAK, "\r\n");
    let (line, further) = typed.split_once("\r\n").unwrap_or((&typed, ""));
    let line = line.trim();
    let version = if line.contains(" HTTP/") { "" } else { " HTTP/1.0" };
    let mut text = format!("{line}{version}\r\n");
    let mut has_host = false;
    for header in further.split("\r\n").map(str::trim).filter(|header| !header.is_empty()) {
        has_host |= header.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("host:"));
        text += header;
        text += "\r\n";
    }
    if !has_host {
        let host = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        for part in ["Host: ", &host, "\r\n"] {
            text += part;
        }
    }
    text + "User-Agent: adxemu\r\nConnection: close\r\n\r\n"
}

/// What the head of an answer says.
struct Head {
    code: u16,
    /// Its length, bytes.
    length: usize,
    /// That of the body, if it says so.
    body_length: Option<usize>,
}

fn read_head(answer: &[u8]) -> Result<Option<Head>, String> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(answer) {
        Ok(httparse::Status::Partial) => Ok(None),
        Ok(httparse::Status::Complete(length)) => {
            let body_length = response
                .headers
                .iter()
                .find(|header| header.name.eq_ignore_ascii_case("content-length"))
                .and_then(|header| str::from_utf8(header.value).ok()?.trim().parse().ok());
            Ok(Some(Head { code: response.code.unwrap_or(0), length, body_length }))
        }
        Err(_) => Err(format!("does not speak HTTP: {}", shown(answer))),
    }
}

async fn read_more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Result<usize, String> {
    let mut piece = [0; 4096];
    let length = stream.read(&mut piece).await.map_err(|error| words(&error))?;
    bytes.extend_from_slice(&piece[..length]);
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(typed: &str) -> String {
        request_text(typed, "192.0.2.1".parse().unwrap())
    }

    #[test]
    fn a_request_is_sent_whole() {
        let end = "User-Agent: adxemu\r\nConnection: close\r\n\r\n";
        assert_eq!(text("HEAD /"), format!("HEAD / HTTP/1.0\r\nHost: 192.0.2.1\r\n{end}"));
        assert_eq!(
            text("GET /status.html HTTP/1.1\\r\\nHost: www.example.com"),
            format!("GET /status.html HTTP/1.1\r\nHost: www.example.com\r\n{end}")
        );
        let six = request_text("GET /", "2001:db8::1".parse().unwrap());
        assert!(six.contains("\r\nHost: [2001:db8::1]\r\n"));
    }

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 12\r\n\r\nbody";
        for length in 0..answer.len() - 4 {
            assert!(read_head(&answer[..length]).unwrap().is_none(), "{length}");
        }
        let head = read_head(answer).unwrap().unwrap();
        assert_eq!((head.code, head.length, head.body_length), (404, 46, Some(12)));
        let error = read_head(b"220 mail.example.com ESMTP\r\n").err().unwrap();
        assert_eq!(error, "does not speak HTTP: 220 mail.example.com ESMTP");
    }
}
