//! The counters of the appliance that are only shown, listed once.
//!
//! What a choice depends on is not here but in [`crate::gslb::domain::DomainState`].

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($( $(#[$meta:meta])* $field:ident = $name:literal ),+ $(,)?) => {
        /// Counters of one appliance. Each is independent of the others.
        #[derive(Debug, Default)]
        pub struct Counters {
            $( $(#[$meta])* pub $field: AtomicU64 ),+
        }

        impl Counters {
            /// Name and value of every counter, in the order of their declaration.
            #[must_use]
            pub fn values(&self) -> Vec<(&'static str, u64)> {
                vec![ $( ($name, self.$field.load(Ordering::Relaxed)) ),+ ]
            }

            /// Sets every counter to zero.
            pub fn clear(&self) {
                $( self.$field.store(0, Ordering::Relaxed); )+
            }
        }
    };
}

counters! {
    /// Questions that arrived and had a readable header.
    questions = "questions",
    /// Questions that came over TCP.
    questions_over_tcp = "questions over TCP",
    /// Answers made by the appliance itself for a configured host (guide p. 94).
    cache_proxy_direct_responses = "cache proxy direct responses",
    /// Answers for names of SNA gateway domains.
    sna_responses = "SNA gateway responses",
    /// Intercepted questions that went to another DNS server.
    intercept_redirects = "intercept redirects",
    /// Intercepted questions that the appliance answered itself.
    intercept_direct_responses = "intercept direct responses",
    /// Questions that went to the DNS server behind.
    forwarded = "questions to the server behind",
    /// Questions that got no reply because no DNS server behind answered.
    forwarded_unanswered = "not answered by the server",
    /// Error replies to unsupported query types (guide p. 191).
    error_handling_responses = "error handling responses",
    /// Questions that were dropped without a reply.
    dropped = "dropped",
    /// Replies with FORMERR.
    format_errors = "format errors",
    /// Replies with NOTIMP.
    not_implemented = "not implemented",
    /// Replies with REFUSED.
    refused = "refused",
    /// Replies with SERVFAIL.
    server_failures = "server failures",
    /// Replies with NXDOMAIN.
    name_errors = "name errors",
    /// Replies with BADVERS: an EDNS version above 0.
    bad_versions = "bad EDNS versions",
    /// Replies with BADCOOKIE: a server cookie that does not count.
    bad_cookies = "bad cookies",
    /// Replies cut short with TC.
    truncated = "truncated",
    /// Replies over the rate limit that were not sent.
    rate_limited_dropped = "dropped by the rate limit",
    /// Replies over the rate limit that were sent without records, with TC.
    rate_limited_cut = "cut by the rate limit",
}

impl Counters {
    /// Adds one to a counter.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
