//! The simulator of smoothed round-trip times (guide p. 137 to 141): a level of its own in which
//! samples are fed by hand. It touches nothing that counts.

use super::page::Page;
use crate::health::smoothing::{SmoothedRtt, Smoothing, SmoothingParameters};

/// A simulated round-trip time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RttSimulation {
    /// The site whose parameters count.
    pub site: String,
    /// The round-trip time, unit 100 microseconds.
    pub rtt: SmoothedRtt,
    /// Whether the enhanced smoothing is simulated.
    pub enhanced: bool,
}

impl RttSimulation {
    /// A simulation that begins with this round-trip time.
    #[must_use]
    pub fn new(site: &str, rtt: u32) -> Self {
        RttSimulation { site: site.to_owned(), rtt: SmoothedRtt::new(rtt), enhanced: false }
    }

    /// Takes in a sample; gives the report (guide p. 138).
    ///
    /// No fraction is ever carried. The lines about outliers, which only the enhanced smoothing
    /// has, are ours: the page that shows them was not available.
    pub fn sample(&mut self, sample: u32, parameters: SmoothingParameters) -> String {
        let smoothing =
            if self.enhanced { Smoothing::Enhanced(parameters) } else { Smoothing::Standard };
        let mut page = Page::default();
        let state = if self.enhanced { "ON" } else { "OFF" };
        page.line(format!("SIMULATOR: Enhanced RTT smoothing is {state}"));
        page.line("RTT state before application of RTT smoothing mechanism:");
        page.line("-".repeat(66));
        page.line(format!("RTT val = {}, RTT decimal val = 0.0", self.rtt.value()));
        let percent = self.rtt.sample(sample, smoothing);
        page.line(format!("Applied RTT smoothing algorithm for new RTT sample {sample}"));
        if self.enhanced {
            let outliers = self.rtt.outliers();
            page.line(format!(
                "Sample counted {percent}%, samples out of range in a row: {outliers}"
            ));
        }
        page.line("RTT state after application of RTT smoothing mechanism:");
        page.line("-".repeat(64));
        page.line(format!(
            "RTT value after smoothing = {}, RTT decimal val = 0.0",
            self.rtt.value()
        ));
        page.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_the_guide() {
        let expected = "\
SIMULATOR: Enhanced RTT smoothing is OFF
RTT state before application of RTT smoothing mechanism:
------------------------------------------------------------------
RTT val = 30, RTT decimal val = 0.0
Applied RTT smoothing algorithm for new RTT sample 1
RTT state after application of RTT smoothing mechanism:
----------------------------------------------------------------
RTT value after smoothing = 27, RTT decimal val = 0.0
";
        let mut simulation = RttSimulation::new("test", 30);
        assert_eq!(simulation.sample(1, SmoothingParameters::default()), expected);
        simulation.enhanced = true;
        let text = simulation.sample(1000, SmoothingParameters::default());
        assert!(text.contains("\nSample counted 0%, samples out of range in a row: 1\n"), "{text}");
        assert!(text.ends_with("= 27, RTT decimal val = 0.0\n"), "{text}");
    }
}
