//! DNS cookies (RFC 7873) with interoperable server cookies (RFC 9018).
//!
//! A client that sends a cookie gets it back with a server cookie, which says that the client was
//! reached at its address before: nobody who forges an address learns it. Nothing is kept for a
//! client; the server cookie is a keyed hash of what is known anyhow. Cookies are never demanded, as
//! the device knows nothing of them; whoever has one is spared by the rate limit.

use std::fmt;
use std::hash::Hasher as _;
use std::net::IpAddr;

use siphasher::sip::SipHasher24;

/// Code of the option (RFC 7873 section 8).
pub const COOKIE: u16 = 10;

/// Length of a client cookie (RFC 7873 section 4).
pub const CLIENT_LENGTH: usize = 8;

/// Length of the server cookies made here (RFC 9018 section 4).
const SERVER_LENGTH: usize = 16;

/// Length of the option's data in a reply.
pub const REPLY_LENGTH: usize = CLIENT_LENGTH + SERVER_LENGTH;

/// How long a server cookie holds, seconds (RFC 9018 section 4.3).
const LIFE: u32 = 3600;

/// How far ahead its time may be, as clocks differ, seconds (RFC 9018 section 4.3).
const AHEAD: u32 = 300;

/// The age from which it is replaced by a new one, seconds (RFC 9018 section 4.3).
const RENEWAL: u32 = 1800;

/// The cookie of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie<'a> {
    /// What the client made.
    client: [u8; CLIENT_LENGTH],
    /// What it has from us, or takes to be from us; empty at first.
    server: &'a [u8],
}

/// What only this server knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret([u8; 16]);

/// What is to be made of the cookie of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The server cookie is ours, for this client, and not too old.
    pub is_valid: bool,
    /// The data of the option in the reply.
    pub reply: [u8; REPLY_LENGTH],
}

impl<'a> Cookie<'a> {
    /// Reads the data of an option; `None` if it is malformed (RFC 7873 section 5.2.2).
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<Self> {
        let (client, server) = data.split_first_chunk::<CLIENT_LENGTH>()?;
        let is_sound = server.is_empty() || (8..=32).contains(&server.len());
        is_sound.then_some(Cookie { client: *client, server })
    }

    /// Whether the client has a server cookie already.
    #[must_use]
    pub const fn has_server_part(&self) -> bool {
        !self.server.is_empty()
    }
}

impl Secret {
    /// A secret that nobody can guess, for as long as the program runs.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn from_system() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(bytes))
    }

    /// A secret that is known, for tests.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Secret(bytes)
    }

    /// Looks at a cookie. `now` is the time of day, seconds since 1970-01-01 00:00:00 UTC.
    #[must_use]
    pub fn judge(self, cookie: Cookie<'_>, client: IpAddr, now: u64) -> Judgement {
        // Times are compared as serial numbers of 32 bits (RFC 9018 section 4.3).
        let now = u32::try_from(now & u64::from(u32::MAX)).unwrap_or_default();
        let age = self.age(cookie, client, now);
        let mut reply = [0; REPLY_LENGTH];
        reply[..CLIENT_LENGTH].copy_from_slice(&cookie.client);
        let server = &mut reply[CLIENT_LENGTH..];
        match age {
            Some(age) if age < RENEWAL => server.copy_from_slice(cookie.server),
            // Ahead of us: it stays as it is.
            Some(age) if age > LIFE => server.copy_from_slice(cookie.server),
            Some(_) | None => {
                let mut head = [1, 0, 0, 0, 0, 0, 0, 0];
                head[4..].copy_from_slice(&now.to_be_bytes());
                server[..8].copy_from_slice(&head);
                server[8..].copy_from_slice(&self.hash(&cookie.client, head, client));
            }
        }
        Judgement { is_valid: age.is_some(), reply }
    }

    /// The age of a server cookie that counts; one that is ahead has an age near the largest number.
    fn age(self, cookie: Cookie<'_>, client: IpAddr, now: u32) -> Option<u32> {
        let (head, hash) = cookie.server.split_first_chunk::<8>()?;
        let [1, _, _, _, time @ ..] = *head else { return None };
        let age = now.wrapping_sub(u32::from_be_bytes(time));
        let is_fresh = age <= LIFE || age >= AHEAD.wrapping_neg();
        // The hash is no password: who measures how long it takes to compare learns a hash for its
        // own address, which any question tells it.
        (is_fresh && hash == self.hash(&cookie.client, *head, client)).then_some(age)
    }

    /// The hash of RFC 9018 section 4.4. The reserved bytes count as they are.
    fn hash(self, client_cookie: &[u8], head: [u8; 8], client: IpAddr) -> [u8; 8] {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(client_cookie);
        hasher.write(&head);
        match client.to_canonical() {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
        hasher.finish().to_le_bytes()
    }
}

impl fmt::Debug for Secret {
    /// Without the secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const LENGTH: usize>(hex: &str) -> [u8; LENGTH] {
        let digits: Vec<u8> = hex
            .chars()
            .filter_map(|digit| digit.to_digit(16))
            .map(|digit| u8::try_from(digit).unwrap())
            .collect();
        assert_eq!(digits.len(), 2 * LENGTH, "{hex}");
        std::array::from_fn(|place| digits[2 * place] << 4 | digits[2 * place + 1])
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// The secret of RFC 9018 appendix A.
    fn secret() -> Secret {
        Secret::new(bytes("e5e973e5a6b2a43f48e7dc849e37bfcf"))
    }

    #[test]
    fn a_new_client_gets_the_cookie_of_the_rfc() {
        let client = bytes::<8>("2464c4abcf10c957");
        let judgement =
            secret().judge(Cookie::read(&client).unwrap(), ip("198.51.100.100"), 1_559_731_985);
        assert!(!judgement.is_valid);
        assert_eq!(judgement.reply, bytes("2464c4abcf10c957 010000005cf79f11 1f8130c3eee29480"));
    }

    #[test]
    fn an_old_cookie_is_renewed_and_reserved_bytes_count() {
        // RFC 9018 appendix A.3: another server set the reserved bytes.
        let old = bytes::<24>("fc93fc62807ddb86 01abcdef5cf78f71 a314227b6679ebf5");
        let cookie = Cookie::read(&old).unwrap();
        let client = ip("203.0.113.203");
        let judgement = secret().judge(cookie, client, 1_559_727_985 + u64::from(RENEWAL) + 1);
        assert!(judgement.is_valid);
        assert_eq!(judgement.reply[..12], bytes::<12>("fc93fc62807ddb86 01000000"));
        let judgement = secret().judge(cookie, client, 1_559_734_700);
        assert!(!judgement.is_valid, "it is older than an hour");
        assert_eq!(judgement.reply, bytes("fc93fc62807ddb86 010000005cf7a9ac f73a7810aca2381e"));
    }

    #[test]
    fn a_cookie_holds_for_an_hour_at_one_address() {
        let client = ip("2001:db8:220:1:59de:d0f4:8769:82b8");
        let start = 1_600_000_000;
        let given = secret().judge(Cookie::read(b"12345678").unwrap(), client, start).reply;
        let cookie = Cookie::read(&given).unwrap();
        let at = |now| secret().judge(cookie, client, now);
        for now in [start, start + 1799, start - 300] {
            assert_eq!(at(now), Judgement { is_valid: true, reply: given }, "{now}");
        }
        for now in [start + 1800, start + 3600] {
            assert!(at(now).is_valid, "{now}");
            assert_ne!(at(now).reply, given, "{now}");
        }
        for now in [start + 3601, start - 301, 0] {
            assert!(!at(now).is_valid, "{now}");
        }
        assert!(!secret().judge(cookie, ip("2001:db8::1"), start).is_valid, "another client");
        assert!(!Secret::new([1; 16]).judge(cookie, client, start).is_valid, "another secret");
        let mut forged = given;
        forged[23] ^= 1;
        assert!(!secret().judge(Cookie::read(&forged).unwrap(), client, start).is_valid);
        let mut other_version = given;
        other_version[8] = 2;
        assert!(!secret().judge(Cookie::read(&other_version).unwrap(), client, start).is_valid);
    }

    #[test]
    fn a_mapped_address_is_the_address() {
        let cookie = Cookie::read(b"12345678").unwrap();
        let judged = |client| secret().judge(cookie, ip(client), 0);
        assert_eq!(judged("::ffff:192.0.2.1"), judged("192.0.2.1"));
    }

    #[test]
    fn lengths_are_those_of_the_rfc() {
        for length in 0..=64 {
            let data = vec![7; length];
            let is_sound = length == 8 || (16..=40).contains(&length);
            assert_eq!(Cookie::read(&data).is_some(), is_sound, "{length}");
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Secret::new([7; 16])), "Secret");
    }
}
