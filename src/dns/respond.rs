//! One message answered, from bytes to bytes, and counted.

use std::net::IpAddr;
use std::sync::Arc;

use hickory_proto::op::ResponseCode;
use tokio::sync::OwnedSemaphorePermit;

use crate::appliance::Appliance;
use crate::behind::live::{self, Query};
use crate::behind::reply::Reply;
use crate::counters::Counters;
use crate::dns::answer::{self, Answer, Errand, Origin, Plan, View};
use crate::dns::cookie::{Judgement, REPLY_LENGTH, Secret};
use crate::dns::encode::{self, Transport};
use crate::dns::question::{self, MIN_PAYLOAD, Question, Request, Verdict};
use crate::dns::rate::RateLimit;
use crate::dns::relay;
use crate::grammar::link::Message;
use crate::model::snapshot::Snapshot;

/// What the program's options say about answering.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// The address in a client-subnet option takes the client's place (`--client-subnet`).
    pub client_subnet: bool,
    /// Negative answers carry an SOA record (`--strict-dns`).
    pub strict_dns: bool,
    /// What server cookies are made with (RFC 7873); without it none are given.
    pub cookies: Option<Secret>,
    /// How many replies over UDP a network of clients gets (`--rate-limit`); without it all.
    pub rate_limit: Option<RateLimit>,
}

/// An appliance and the way it answers: what a socket needs.
#[derive(Debug)]
pub struct Responder {
    /// The appliance that answers.
    pub appliance: Arc<Appliance>,
    /// How it answers.
    pub settings: Settings,
}

impl Responder {
    /// Answers one message; see [`respond`].
    pub fn respond(
        &self,
        message: &[u8],
        client: IpAddr,
        transport: Transport,
        out: &mut Vec<u8>,
    ) -> bool {
        respond(&self.appliance, self.settings, message, client, transport, out)
    }

    /// The same without holding up the runtime while a real DNS server behind is asked.
    pub async fn answer(
        &self,
        message: &[u8],
        client: IpAddr,
        transport: Transport,
        out: &mut Vec<u8>,
    ) -> bool {
        match begin(&self.appliance, self.settings, message, client, transport, out) {
            Begun::Done(is_answered) => is_answered,
            Begun::Later(deferred) => self.complete(*deferred, out).await,
        }
    }

    /// Asks the real DNS server behind and answers the question that waits for it.
    pub async fn complete(&self, deferred: Deferred, out: &mut Vec<u8>) -> bool {
        let reply = live::ask(&self.appliance.gate, &deferred.servers, &deferred.query).await;
        deferred.finish(&self.appliance, self.settings, reply, out)
    }
}

/// What has become of a message.
#[derive(Debug)]
pub enum Begun {
    /// It is answered, or not (`false`).
    Done(bool),
    /// The answer depends on a real DNS server behind.
    Later(Box<Deferred>),
}

/// A question that waits for a real DNS server behind.
#[derive(Debug)]
pub struct Deferred {
    message: Vec<u8>,
    client: IpAddr,
    transport: Transport,
    errand: Errand,
    servers: Vec<(IpAddr, u16)>,
    query: Query,
    /// Leave to be under way.
    _permit: OwnedSemaphorePermit,
}

impl Deferred {
    /// The message that is to be answered.
    #[must_use]
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Answers with what the server said; `None`: it said nothing, and the client gets nothing.
    fn finish(
        self,
        appliance: &Appliance,
        settings: Settings,
        said: Option<Reply>,
        out: &mut Vec<u8>,
    ) -> bool {
        appliance.note_server_behind(said.is_some());
        let Verdict::Ask(request, question) = question::read(&self.message, settings.client_subnet)
        else {
            return false;
        };
        let asker = Asker {
            appliance,
            settings,
            client: client_of(&request, self.client),
            transport: self.transport,
        };
        let answer = said.map(|said| asker.take_reply(&request, &question, self.errand, said));
        let cookie = judge(appliance, settings, &request, self.client).map(|judged| judged.reply);
        reply(appliance, &request, cookie, self.transport, answer.as_ref(), out)
    }
}

/// Answers one message: writes the reply over what `out` holds and says whether there is one.
///
/// Takes any bytes. The snapshot is loaded once, so an answer never mixes two configurations.
/// Memory beyond `out` is bounded by the addresses of one host, or by the reply of the DNS server
/// behind.
pub fn respond(
    appliance: &Appliance,
    settings: Settings,
    message: &[u8],
    client: IpAddr,
    transport: Transport,
    out: &mut Vec<u8>,
) -> bool {
    match begin(appliance, settings, message, client, transport, out) {
        Begun::Done(is_answered) => is_answered,
        Begun::Later(deferred) => {
            let (servers, query) = (deferred.servers.clone(), deferred.query.clone());
            let said = appliance.upstream.ask_and_wait(&appliance.gate, servers, query);
            deferred.finish(appliance, settings, said, out)
        }
    }
}

/// Answers one message as [`respond`] does, unless a real DNS server behind has to be asked.
pub fn begin(
    appliance: &Appliance,
    settings: Settings,
    message: &[u8],
    client: IpAddr,
    transport: Transport,
    out: &mut Vec<u8>,
) -> Begun {
    let counters = &appliance.counters;
    let (request, answer) = match question::read(message, settings.client_subnet) {
        Verdict::Drop => {
            Counters::count(&counters.dropped);
            return Begun::Done(false);
        }
        Verdict::Reject(request, code) => (request, Some(Answer::of_code(code, Origin::Rejected))),
        Verdict::Ask(request, question) => {
            let asker =
                Asker { appliance, settings, client: client_of(&request, client), transport };
            let answer = match asker.ask(&request, &question) {
                Asked::Answer(answer) => Some(*answer),
                Asked::Nobody => None,
                Asked::Real { errand, servers } => {
                    let Some(permit) = appliance.upstream.admit() else {
                        Counters::count(&counters.dropped);
                        return Begun::Done(false);
                    };
                    count_question(counters, transport);
                    let query = Query {
                        name: question.name().to_vec(),
                        record_type: question.record_type,
                        recursion_desired: request.recursion_desired,
                        edns: request.edns.is_some(),
                    };
                    return Begun::Later(Box::new(Deferred {
                        message: message.to_vec(),
                        client,
                        transport,
                        errand,
                        servers,
                        query,
                        _permit: permit,
                    }));
                }
            };
            (request, answer)
        }
        Verdict::AskCookie(request) => {
            let judgement = judge(appliance, settings, &request, client);
            let code = code_for_cookie(&request, judgement);
            (request, Some(Answer::of_code(code, Origin::Rejected)))
        }
    };
    let cookie = judge(appliance, settings, &request, client).map(|judgement| judgement.reply);
    count_question(counters, transport);
    Begun::Done(reply(appliance, &request, cookie, transport, answer.as_ref(), out))
}

fn count_question(counters: &Counters, transport: Transport) {
    Counters::count(&counters.questions);
    if transport == Transport::Tcp {
        Counters::count(&counters.questions_over_tcp);
    }
}

/// Writes an answer over what `out` holds and counts it; says whether there is one.
fn reply(
    appliance: &Appliance,
    request: &Request<'_>,
    cookie: Option<[u8; REPLY_LENGTH]>,
    transport: Transport,
    answer: Option<&Answer>,
    out: &mut Vec<u8>,
) -> bool {
    let counters = &appliance.counters;
    let limit = encode::limit(request, transport);
    let encoded =
        answer.map(|answer| (answer, encode::encode(request, answer, cookie, limit, out)));
    match encoded {
        Some((answer, Ok(is_truncated))) => {
            count_reply(counters, answer, is_truncated);
            if answer.origin == Origin::NoServerBehind {
                let text = || appliance.grammar.message(Message::NoServerBehind, &[]);
                appliance.log.say_once("no server behind", text);
            }
            true
        }
        None | Some((_, Err(_))) => {
            Counters::count(&counters.dropped);
            out.clear();
            false
        }
    }
}

/// What a question came to.
enum Asked {
    Answer(Box<Answer>),
    /// There is nobody to answer it, or nobody may.
    Nobody,
    /// One of these real servers must be asked.
    Real {
        errand: Errand,
        servers: Vec<(IpAddr, u16)>,
    },
}

/// Who asks, and whom.
struct Asker<'a> {
    appliance: &'a Appliance,
    settings: Settings,
    /// As the policy sees it.
    client: IpAddr,
    transport: Transport,
}

impl Asker<'_> {
    fn ask(&self, request: &Request<'_>, question: &Question<'_>) -> Asked {
        let appliance = self.appliance;
        let snapshot = appliance.current();
        let errand = match answer::answer(&self.view(&snapshot, request), question) {
            Plan::Answer(answer) => return Asked::Answer(Box::new(answer)),
            Plan::Drop => return Asked::Nobody,
            Plan::NobodyThere => {
                appliance.note_server_behind(false);
                return Asked::Nobody;
            }
            Plan::Relay(errand) => errand,
        };
        Counters::count(&appliance.counters.forwarded);
        if errand.intercepted {
            Counters::count(&appliance.counters.intercept_redirects);
        }
        let (name, record_type) = (question.name(), question.record_type);
        let emulated = &appliance.states.dns_server;
        let servers = appliance.upstream.servers(&appliance.gate, &snapshot, &appliance.states);
        let said = if servers.is_empty() {
            emulated.answer_with(&snapshot, name, record_type)
        } else if let Some(said) = emulated.answer(name, record_type) {
            // What was typed comes before the live network (emulated-world 1).
            said
        } else {
            return Asked::Real { errand, servers };
        };
        appliance.note_server_behind(true);
        Asked::Answer(Box::new(self.take_reply(request, question, errand, said)))
    }

    /// What the client gets of a reply of the DNS server behind.
    fn take_reply(
        &self,
        request: &Request<'_>,
        question: &Question<'_>,
        errand: Errand,
        reply: Reply,
    ) -> Answer {
        if !errand.by_policy {
            return Answer::relayed(reply);
        }
        let find = |snapshot: &Snapshot| {
            relay::balanced(snapshot, question.name(), question.record_type, &reply)
        };
        let mut snapshot = self.appliance.current();
        let Some(mut found) = find(&snapshot) else { return Answer::relayed(reply) };
        let host = &snapshot.hosts[found.host.index()];
        if self.appliance.learn_in_passing(&host.domain_name, &found.addresses, found.ttl) {
            snapshot = self.appliance.current();
            match find(&snapshot) {
                Some(again) => found = again,
                None => return Answer::relayed(reply),
            }
        }
        relay::apply(&self.view(&snapshot, request), &found, reply)
    }

    fn view<'s>(&'s self, snapshot: &'s Snapshot, request: &Request<'_>) -> View<'s> {
        View {
            snapshot,
            states: &self.appliance.states,
            strict: self.settings.strict_dns,
            takes_large_replies: self.transport == Transport::Tcp
                || request.edns.is_some_and(|edns| edns.payload > MIN_PAYLOAD),
            client: self.client,
            now: self.appliance.clock.now(),
        }
    }
}

/// Answers a question that comes without a message, as over TCP; `None`: there is no reply.
pub(crate) fn answer_question(
    appliance: &Appliance,
    settings: Settings,
    client: IpAddr,
    question: &Question<'_>,
) -> Option<Answer> {
    let request = Request {
        id: 0,
        opcode: 0,
        recursion_desired: true,
        question: Some(*question),
        edns: None,
    };
    let asker = Asker { appliance, settings, client, transport: Transport::Tcp };
    match asker.ask(&request, question) {
        Asked::Answer(answer) => Some(*answer),
        // Who asks without a message does not wait for the network either.
        Asked::Nobody | Asked::Real { .. } => None,
    }
}

/// The cookie of a message, if it has one and cookies are given.
fn judge(
    appliance: &Appliance,
    settings: Settings,
    request: &Request<'_>,
    client: IpAddr,
) -> Option<Judgement> {
    let (secret, cookie) = settings.cookies.zip(request.cookie())?;
    Some(secret.judge(cookie, client, appliance.clock.wall_seconds()))
}

/// The code for a message that holds nothing but a cookie (RFC 7873 section 5.4).
fn code_for_cookie(request: &Request<'_>, judgement: Option<Judgement>) -> ResponseCode {
    match judgement {
        None => ResponseCode::FormErr,
        Some(judgement) if judgement.is_valid => ResponseCode::NoError,
        Some(_) if request.cookie().is_some_and(|cookie| cookie.has_server_part()) => {
            ResponseCode::BADCOOKIE
        }
        Some(_) => ResponseCode::NoError,
    }
}

/// Whether a message proves that its sender is where it seems to be.
pub(super) fn is_known(responder: &Responder, message: &[u8], client: IpAddr) -> bool {
    let Responder { appliance, settings } = responder;
    let request = match question::read(message, settings.client_subnet) {
        Verdict::Ask(request, _) | Verdict::AskCookie(request) => request,
        Verdict::Drop | Verdict::Reject(..) => return false,
    };
    judge(appliance, *settings, &request, client).is_some_and(|judgement| judgement.is_valid)
}

/// A reply without records and with TC in place of `reply`, which was made for `message`.
pub(super) fn cut(
    responder: &Responder,
    message: &[u8],
    client: IpAddr,
    reply: &[u8],
    out: &mut Vec<u8>,
) -> bool {
    let Responder { appliance, settings } = responder;
    let request = match question::read(message, settings.client_subnet) {
        Verdict::Ask(request, _) | Verdict::AskCookie(request) | Verdict::Reject(request, _) => {
            request
        }
        Verdict::Drop => return false,
    };
    let code = reply.get(3).map_or(0, |byte| byte & 0x0f);
    // Of the answer only the code is left.
    let answer = Answer::of_code(ResponseCode::from_low(code), Origin::Policy);
    let cookie = judge(appliance, *settings, &request, client).map(|judgement| judgement.reply);
    let limit = encode::limit(&request, Transport::Udp);
    let is_encoded = encode::encode(&request, &answer, cookie, limit, out).is_ok();
    // AA as in the reply that it stands for, and TC.
    if let (Some(flags), Some(old)) = (out.get_mut(2), reply.get(2)) {
        *flags |= 0x02 | (old & 0x04);
    }
    is_encoded
}

/// Who asks, as the policy sees it: the subnet that the message names, else its sender.
fn client_of(request: &Request<'_>, sender: IpAddr) -> IpAddr {
    let named = request.client_subnet().and_then(|subnet| subnet.network);
    // On a socket for both families IPv4 clients have mapped addresses (RFC 4291 section 2.5.5.2).
    named.unwrap_or(sender).to_canonical()
}

fn count_reply(counters: &Counters, answer: &Answer, is_truncated: bool) {
    match answer.origin {
        Origin::Policy => Counters::count(&counters.cache_proxy_direct_responses),
        Origin::Intercepted => Counters::count(&counters.intercept_direct_responses),
        Origin::SnaDomain => Counters::count(&counters.sna_responses),
        Origin::UnsupportedType => Counters::count(&counters.error_handling_responses),
        Origin::EmptyNonTerminal
        | Origin::ServerBehind
        | Origin::NoServerBehind
        | Origin::UnknownName
        | Origin::Rejected => {}
    }
    match answer.code {
        ResponseCode::NoError => Counters::count(&counters.no_errors),
        ResponseCode::FormErr => Counters::count(&counters.format_errors),
        ResponseCode::NotImp => Counters::count(&counters.not_implemented),
        ResponseCode::Refused => Counters::count(&counters.refused),
        ResponseCode::ServFail => Counters::count(&counters.server_failures),
        ResponseCode::NXDomain => Counters::count(&counters.name_errors),
        ResponseCode::BADCOOKIE => Counters::count(&counters.bad_cookies),
        ResponseCode::BADVERS => Counters::count(&counters.bad_versions),
        _ => {}
    }
    if is_truncated {
        Counters::count(&counters.truncated);
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::clock::DrivenClock;
    use crate::dns::name;
    use crate::gslb::testing::World;
    use crate::model::snapshot::ErrorCode;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// `www.example.com` with two addresses, answered by the appliance itself.
    fn appliance(change: impl FnOnce(&mut World)) -> Appliance {
        let mut world = World::new().host("www.example.com", &["192.0.2.1", "192.0.2.2"]);
        let dns = &mut world.snapshot.policies[0].dns;
        dns.cache_proxy = true;
        dns.override_ = true;
        change(&mut world);
        let appliance = Appliance::in_memory(Arc::new(DrivenClock::new()));
        appliance.publish(world.snapshot);
        appliance
    }

    fn question(name: &str, record_type: u16) -> Vec<u8> {
        let mut message = b"\x12\x34\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00".to_vec();
        message.extend(name::key_of_text(name).unwrap());
        message.extend(record_type.to_be_bytes());
        message.extend([0, 1]);
        message
    }

    /// The counters that are not zero after these messages.
    fn counted(appliance: &Appliance, messages: &[Vec<u8>]) -> Vec<(&'static str, u64)> {
        let mut out = Vec::new();
        appliance.counters.clear();
        for message in messages {
            respond(appliance, Settings::default(), message, CLIENT, Transport::Udp, &mut out);
        }
        appliance.counters.values().into_iter().filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn every_kind_of_question_counts_where_it_belongs() {
        let own = appliance(|_| {});
        assert_eq!(
            counted(&own, &[question("www.example.com", 1)]),
            [("questions", 1), ("cache proxy direct responses", 1), ("replies without error", 1)]
        );
        let unsupported = [28, 15, 16, 33, 65].map(|number| question("www.example.com", number));
        assert_eq!(
            counted(&own, &unsupported),
            [("questions", 5), ("error handling responses", 5), ("replies without error", 5)]
        );
        assert_eq!(
            counted(&own, &[question("example.com", 1)]),
            [("questions", 1), ("refused", 1)]
        );
        let mut broken = question("www.example.com", 1);
        broken[5] = 2;
        let mut update = question("www.example.com", 1);
        update[2] = 5 << 3;
        assert_eq!(
            counted(&own, &[broken, update]),
            [("questions", 2), ("format errors", 1), ("not implemented", 1)]
        );
        assert_eq!(counted(&own, &[b"short".to_vec()]), [("dropped", 1)]);
        let silent = appliance(|world| world.snapshot.responder.error_handling = Some(false));
        assert_eq!(
            counted(&silent, &[question("www.example.com", 28)]),
            [("questions", 1), ("dropped", 1)]
        );
        let wrong = appliance(|world| world.snapshot.responder.error_code = ErrorCode::NameError);
        assert_eq!(
            counted(&wrong, &[question("www.example.com", 28)]),
            [("questions", 1), ("error handling responses", 1), ("name errors", 1)]
        );
    }

    #[test]
    fn the_client_is_the_sender_or_the_subnet_it_names() {
        let sender = IpAddr::from([198, 51, 100, 7]);
        let client = |data: &[u8], accept| {
            let mut message = question("www.example.com", 1);
            message[11] = 1;
            message.extend(b"\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00");
            message.push(u8::try_from(data.len() + 4).unwrap());
            message.extend(b"\x00\x08\x00");
            message.push(u8::try_from(data.len()).unwrap());
            message.extend(data);
            let Verdict::Ask(request, _) = question::read(&message, accept) else { panic!() };
            client_of(&request, sender)
        };
        let subnet = b"\x00\x01\x18\x00\xcb\x00\x71";
        assert_eq!(client(subnet, true), IpAddr::from([203, 0, 113, 0]));
        assert_eq!(client(subnet, false), sender);
        assert_eq!(client(b"\x00\x01\x00\x00", true), sender, "a subnet of length 0 names nobody");
        let message = question("www.example.com", 1);
        let Verdict::Ask(request, _) = question::read(&message, true) else { panic!() };
        let mapped = "::ffff:198.51.100.7".parse().unwrap();
        assert_eq!(client_of(&request, mapped), sender);
    }

    #[test]
    fn a_missing_server_is_said_once() {
        let proxy = appliance(|world| world.snapshot.policies[0].dns.override_ = false);
        let ask = || {
            let mut out = Vec::new();
            let message = question("www.example.com", 1);
            let settings = Settings::default();
            assert!(respond(&proxy, settings, &message, CLIENT, Transport::Udp, &mut out));
            assert_eq!(out[3] & 0x0f, 2, "SERVFAIL");
        };
        (0..3).for_each(|_| ask());
        assert_eq!(proxy.log.take().len(), 1);
        proxy.log.restart();
        ask();
        assert_eq!(proxy.log.take().len(), 1);
    }
}
