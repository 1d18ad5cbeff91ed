//! What the appliances count and measure, in the text form of Prometheus.
//!
//! Nothing is counted here: every figure is read where the displays read it, when somebody asks.
//! Counters go back to zero when a user clears them or the appliance restarts, as counters of
//! Prometheus may.

pub mod server;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::appliance::Appliance;
use crate::cli::sessions::LineKind;
use crate::counters::Counters;
use crate::model::snapshot::{Address, Host};

/// An appliance with the name that its figures carry; empty for the only one.
pub type Named = (String, Arc<Appliance>);

/// The figures of some appliances.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
}

impl Metrics {
    /// The figures of these appliances.
    pub fn new(appliances: Vec<Named>) -> Self {
        let mut registry = Registry::with_prefix("adxemu");
        registry.register_collector(Box::new(Figures { appliances }));
        Metrics { registry }
    }

    /// All figures as they are now.
    ///
    /// # Errors
    ///
    /// Never: writing into a text does not fail.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut out = String::new();
        text::encode(&mut out, &self.registry)?;
        Ok(out)
    }
}

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// Replies by their code: the name of the code, and its counter.
type ByCode = (&'static str, fn(&Counters) -> &AtomicU64);

const BY_CODE: [ByCode; 7] = [
    ("NOERROR", |counters| &counters.no_errors),
    ("FORMERR", |counters| &counters.format_errors),
    ("SERVFAIL", |counters| &counters.server_failures),
    ("NXDOMAIN", |counters| &counters.name_errors),
    ("NOTIMP", |counters| &counters.not_implemented),
    ("REFUSED", |counters| &counters.refused),
    ("BADVERS", |counters| &counters.bad_versions),
];

#[derive(Debug)]
struct Figures {
    appliances: Vec<Named>,
}

impl Figures {
    /// Writes a metric: for each appliance its figures with their labels.
    fn family(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        (name, help, kind): (&str, &str, MetricType),
        figures: impl Fn(&Appliance) -> Vec<(Labels, u64)>,
    ) -> fmt::Result {
        let mut family = encoder.encode_descriptor(name, help, None, kind)?;
        for (appliance_name, appliance) in &self.appliances {
            for (mut labels, figure) in figures(appliance) {
                if !appliance_name.is_empty() {
                    labels.insert(0, ("appliance", appliance_name.clone()));
                }
                if labels.is_empty() {
                    put(&mut family, kind, figure)?;
                } else {
                    put(&mut family.encode_family(&labels)?, kind, figure)?;
                }
            }
        }
        Ok(())
    }
}

/// How often each address was selected for each domain.
fn selections(appliance: &Appliance) -> Vec<(Labels, u64)> {
    let snapshot = appliance.current();
    let mut figures = Vec::new();
    for host in &snapshot.hosts {
        let state = host.domain.lock();
        figures.extend(
            state.tallies.iter().map(|one| (of_address(host, one.address), one.selections)),
        );
    }
    figures
}

/// Whether each address of each domain is healthy.
fn healthy(appliance: &Appliance) -> Vec<(Labels, u64)> {
    let snapshot = appliance.current();
    let mut figures = Vec::new();
    for host in &snapshot.hosts {
        let address = |one: &Address| {
            (of_address(host, one.ip), u64::from(one.state.passes(&host.applications)))
        };
        figures.extend(host.addresses.iter().map(address));
    }
    figures
}

fn of_address(host: &Host, address: IpAddr) -> Labels {
    vec![("domain", host.domain_name.to_string()), ("address", address.to_string())]
}

fn put(encoder: &mut MetricEncoder<'_>, kind: MetricType, figure: u64) -> fmt::Result {
    match kind {
        MetricType::Counter => encoder.encode_counter::<Labels, _, u64>(&figure, None),
        _ => encoder.encode_gauge(&figure),
    }
}

impl Collector for Figures {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        const COUNTER: MetricType = MetricType::Counter;
        const GAUGE: MetricType = MetricType::Gauge;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let one = |figure| vec![(Labels::new(), figure)];
        let encoder = &mut encoder;
        self.family(
            encoder,
            ("dns_questions", "DNS questions with a readable header, by transport", COUNTER),
            |appliance| {
                let all = get(&appliance.counters.questions);
                let tcp = get(&appliance.counters.questions_over_tcp);
                vec![
                    (vec![("transport", "udp".to_owned())], all.saturating_sub(tcp)),
                    (vec![("transport", "tcp".to_owned())], tcp),
                ]
            },
        )?;
        self.family(encoder, ("dns_replies", "DNS replies, by code", COUNTER), |appliance| {
            let code = |(name, counter): ByCode| {
                (vec![("code", name.to_owned())], get(counter(&appliance.counters)))
            };
            BY_CODE.map(code).to_vec()
        })?;
        self.family(encoder, ("dns_dropped", "DNS messages without a reply", COUNTER), |one_of| {
            one(get(&one_of.counters.dropped))
        })?;
        self.family(encoder, ("dns_truncated", "DNS replies cut short", COUNTER), |one_of| {
            one(get(&one_of.counters.truncated))
        })?;
        self.family(
            encoder,
            ("kernel_drops", "Datagrams that the system dropped before they were read", COUNTER),
            |appliance| appliance.drops.total().map(one).unwrap_or_default(),
        )?;
        self.family(
            encoder,
            ("selections", "Selections of an address for a domain", COUNTER),
            selections,
        )?;
        self.family(
            encoder,
            ("address_healthy", "Whether an address passes the checks of a domain", GAUGE),
            healthy,
        )?;
        self.family(encoder, ("sessions", "Open sessions, by kind of line", GAUGE), |appliance| {
            let open = appliance.sessions.list();
            let kinds = [
                (LineKind::Console, "console"),
                (LineKind::Telnet, "telnet"),
                (LineKind::Ssh, "ssh"),
            ];
            let count = |(kind, name): (LineKind, &str)| {
                let count = open.iter().filter(|session| session.line.kind() == kind).count();
                (vec![("line", name.to_owned())], u64::try_from(count).unwrap_or(u64::MAX))
            };
            kinds.map(count).to_vec()
        })?;
        self.family(encoder, ("restarts", "Starts of the appliance", COUNTER), |appliance| {
            one(appliance.restarts())
        })?;
        self.family(encoder, ("uptime_seconds", "Seconds since the last start", GAUGE), |one_of| {
            one(one_of.uptime())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::sessions::Line;
    use crate::clock::DrivenClock;
    use crate::demo::Demo;
    use crate::dns::{Responder, Settings, Transport};

    #[test]
    fn figures_are_those_of_the_appliance() {
        let appliance = Arc::new(Appliance::in_memory(Arc::new(DrivenClock::new())));
        appliance.start_with(Demo::DEFAULT.text());
        let responder =
            Responder { appliance: Arc::clone(&appliance), settings: Settings::default() };
        let question =
            b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x01b\x01c\x00\x00\x01\x00\x01";
        let mut out = Vec::new();
        let client = IpAddr::from([203, 0, 113, 9]);
        for transport in [Transport::Udp, Transport::Udp, Transport::Tcp] {
            assert!(responder.respond(question, client, transport, &mut out));
        }
        let _session = appliance.sessions.enter(Line::Telnet(client), appliance.clock.now());
        let text = Metrics::new(vec![(String::new(), Arc::clone(&appliance))]).text().unwrap();
        for line in [
            "adxemu_dns_questions_total{transport=\"udp\"} 2",
            "adxemu_dns_questions_total{transport=\"tcp\"} 1",
            "adxemu_dns_replies_total{code=\"NOERROR\"} 3",
            "adxemu_dns_replies_total{code=\"REFUSED\"} 0",
            "adxemu_sessions{line=\"telnet\"} 1",
            "adxemu_sessions{line=\"ssh\"} 0",
            "adxemu_uptime_seconds 0",
            "adxemu_restarts_total 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        let sum: u64 = text
            .lines()
            .filter(|line| line.starts_with("adxemu_selections_total{domain=\"a.b.c\",address="))
            .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .sum();
        assert_eq!(sum, 3, "{text}");
        let healthy = text.lines().filter(|line| line.starts_with("adxemu_address_healthy{"));
        assert!(healthy.clone().count() > 1);
        assert!(healthy.clone().all(|line| line.ends_with(" 1")), "{text}");
        assert!(text.ends_with("# EOF\n"));
        let named = Metrics::new(vec![("east".to_owned(), appliance)]).text().unwrap();
        assert!(named.contains("adxemu_dns_dropped_total{appliance=\"east\"} 0\n"), "{named}");
    }
}
