//! Response rate limiting (`--rate-limit`, off unless asked for).
//!
//! Whoever forges the address of a victim makes a DNS server send to it. So each network of clients
//! has an account for each kind of reply, which grows by so many replies a second and never beyond
//! those of one second; every reply takes one. Replies for which nothing is left are dropped, but
//! every second one is sent without records and with TC, so that a real client comes again over
//! TCP, where nobody can forge an address. A flood that goes on makes debts of up to
//! `WINDOW` seconds, so it gets nothing until it has been gone for that long. This is the scheme
//! of other servers ("DNS RRL"); limiters for other purposes know no replies that are cut.
//!
//! All accounts together take a fixed room. A new one takes the place of the one that was not used
//! for the longest time among eight, so an attacker with many addresses gains no memory.

use std::hash::Hasher as _;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use siphasher::sip::SipHasher13;

use crate::clock::Moment;
use crate::dns::name;
use crate::dns::question::HEADER_LENGTH;

/// How long a flood must be gone, seconds.
const WINDOW: i64 = 15;

/// Accounts, and how many of them a key may use.
const ACCOUNTS: usize = 1 << 16;
const WAYS: usize = 8;

/// What the limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Replies of one kind a second to one network of clients.
    pub per_second: NonZeroU32,
    /// Of the replies over the limit each one whose number this divides is cut instead of dropped: 1
    /// cuts all, 0 none.
    pub slip: u8,
}

/// What becomes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is sent.
    Send,
    /// It is sent without records and with TC.
    Cut,
    /// It is not sent.
    Drop,
}

/// The accounts.
#[derive(Debug)]
pub struct Limiter {
    limit: RateLimit,
    /// Unknown to clients, so that they cannot aim at the accounts of others.
    key: [u8; 16],
    sets: Box<[Mutex<[Account; WAYS]>]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Whose it is; 0: nobody's.
    owner: u64,
    /// When it was used last, milliseconds.
    used: u64,
    /// Thousandths of replies.
    balance: i64,
    /// Replies over the limit.
    over: u8,
}

impl Limiter {
    /// Accounts that all are full. `key` is unknown to clients.
    #[must_use]
    pub fn new(limit: RateLimit, key: [u8; 16]) -> Self {
        let sets = (0..ACCOUNTS / WAYS).map(|_| Mutex::default()).collect();
        Limiter { limit, key, sets }
    }

    /// What becomes of this reply over UDP.
    pub fn judge(&self, client: IpAddr, reply: &[u8], now: Moment) -> Verdict {
        let owner = self.owner(client, reply);
        // The low bits choose the set; the rest tells its accounts apart.
        let set = &self.sets[usize::try_from(owner).unwrap_or(usize::MAX) % self.sets.len()];
        let mut accounts = set.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now.as_millis();
        let per_second = i64::from(self.limit.per_second.get());
        let known = accounts.iter().position(|account| account.owner == owner);
        let place = known.unwrap_or_else(|| {
            let idle = (0..WAYS).min_by_key(|&place| accounts[place].used).unwrap_or(0);
            accounts[idle] = Account { owner, used: now, balance: 1000 * per_second, over: 0 };
            idle
        });
        let account = &mut accounts[place];
        let elapsed = i64::try_from(now.saturating_sub(account.used)).unwrap_or(i64::MAX);
        account.used = account.used.max(now);
        let earned = elapsed.saturating_mul(per_second);
        let balance = account.balance.saturating_add(earned).min(1000 * per_second) - 1000;
        account.balance = balance.max(-1000 * per_second * WINDOW);
        if balance >= 0 {
            account.over = 0;
            return Verdict::Send;
        }
        account.over = account.over.wrapping_add(1);
        if self.limit.slip != 0 && account.over.is_multiple_of(self.limit.slip) {
            account.over = 0;
            Verdict::Cut
        } else {
            Verdict::Drop
        }
    }

    /// Whose account a reply is taken from: of a network of clients, and of a name with its type if
    /// the reply has records, else of the return code alone, since names that do not exist are as
    /// many as an attacker likes.
    fn owner(&self, client: IpAddr, reply: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        match client.to_canonical() {
            IpAddr::V4(address) => hasher.write(&address.octets()[..3]),
            IpAddr::V6(address) => hasher.write(&address.octets()[..7]),
        }
        if let Some((header, body)) = reply.split_first_chunk::<HEADER_LENGTH>() {
            let has_records = header[6] != 0 || header[7] != 0;
            hasher.write_u8(header[3] & 0x0f);
            hasher.write_u8(has_records.into());
            if has_records {
                let length = name::uncompressed_length(body).map_or(0, |length| length + 4);
                hasher.write(&body[..length.min(body.len())].to_ascii_lowercase());
            }
        }
        hasher.finish().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn limiter(per_second: u32, slip: u8) -> Limiter {
        Limiter::new(RateLimit { per_second: NonZeroU32::new(per_second).unwrap(), slip }, [7; 16])
    }

    /// A reply for this label: so many answers, this code.
    fn reply(label: &str, answers: u8, code: u8) -> Vec<u8> {
        let mut bytes = vec![0, 1, 0x84, code, 0, 1, 0, answers, 0, 0, 0, 0];
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.bytes());
        bytes.extend([0, 0, 1, 0, 1]);
        bytes
    }

    fn verdicts(limiter: &Limiter, count: usize, at: u64) -> Vec<Verdict> {
        let now = Moment::from_millis(at);
        (0..count).map(|_| limiter.judge(CLIENT, &reply("www", 1, 0), now)).collect()
    }

    #[test]
    fn what_is_over_the_limit_is_dropped_and_every_second_one_cut() {
        use Verdict::{Cut, Drop, Send};
        let limiter = limiter(3, 2);
        assert_eq!(verdicts(&limiter, 7, 0), [Send, Send, Send, Drop, Cut, Drop, Cut]);
    }

    #[test]
    fn a_client_below_the_limit_never_notices() {
        let limiter = limiter(5, 2);
        for moment in 0..1000 {
            assert_eq!(verdicts(&limiter, 1, moment * 200), [Verdict::Send]);
        }
    }

    #[test]
    fn a_flood_is_forgiven_after_the_window() {
        let limiter = limiter(10, 0);
        verdicts(&limiter, 1000, 0);
        assert_eq!(verdicts(&limiter, 1, 14_900), [Verdict::Drop]);
        assert_eq!(verdicts(&limiter, 1, 15_200), [Verdict::Send]);
        assert_eq!(verdicts(&limiter, 11, 60_000)[9..], [Verdict::Send, Verdict::Drop]);
    }

    #[test]
    fn slip_says_how_many_are_cut() {
        for (slip, expected) in [(0, 0), (1, 100), (2, 50), (5, 20)] {
            let limiter = limiter(1, slip);
            let cut = verdicts(&limiter, 101, 0).into_iter().filter(|one| *one == Verdict::Cut);
            assert_eq!(cut.count(), expected, "{slip}");
        }
    }

    #[test]
    fn accounts_are_those_of_networks_names_and_codes() {
        let limiter = limiter(1, 0);
        let ask = |client: &str, reply: &[u8]| {
            limiter.judge(client.parse().unwrap(), reply, Moment::ZERO) == Verdict::Send
        };
        assert!(ask("192.0.2.1", &reply("www", 1, 0)));
        assert!(!ask("192.0.2.200", &reply("WWW", 2, 0)), "same network, same name");
        assert!(!ask("::ffff:192.0.2.3", &reply("www", 1, 0)));
        assert!(ask("192.0.3.1", &reply("www", 1, 0)));
        assert!(ask("192.0.2.1", &reply("ftp", 1, 0)));
        assert!(ask("192.0.2.1", &reply("a", 0, 5)));
        assert!(!ask("192.0.2.1", &reply("b", 0, 5)), "names without records share one");
        assert!(ask("192.0.2.1", &reply("b", 0, 3)));
        assert!(ask("2001:db8:0:100::1", &reply("www", 1, 0)));
        assert!(!ask("2001:db8:0:1ff::1", &reply("www", 1, 0)), "the same /56");
        assert!(ask("2001:db8:0:200::1", &reply("www", 1, 0)));
        assert!(ask("198.51.100.1", b"short"), "anything can be judged");
    }

    #[test]
    fn many_clients_take_no_more_room() {
        let limiter = limiter(1, 0);
        for number in 0..200_000_u32 {
            let client = IpAddr::V4(std::net::Ipv4Addr::from_bits(number << 8));
            let now = Moment::from_millis(number.into());
            assert_eq!(limiter.judge(client, &reply("www", 1, 0), now), Verdict::Send);
        }
        assert_eq!(limiter.sets.len() * WAYS, ACCOUNTS);
    }
}
