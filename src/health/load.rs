//! New connections of a site device: the samples from which the connection load is averaged
//! (guide p. 50, 51).
//!
//! Time is passed in: somebody calls [`Load::pass_second`] once for each second that has gone by.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::model::policy::ConnectionLoad;

/// Samples that a set can have at most.
const MOST_SAMPLES: usize = 8;

/// New connections of one site device, by second and by complete sample.
#[derive(Debug, Default)]
pub struct Load {
    /// New connections in each second to come; after the last it stays at `rate`.
    coming: VecDeque<u32>,
    /// New connections in the second that passed last.
    rate: u32,
    /// Seconds that a sample takes.
    sampling_rate: u8,
    /// Seconds of the sample that is not complete yet.
    seconds: u8,
    /// Its new connections so far.
    connections: u64,
    /// New connections in each complete sample, the oldest first.
    samples: SmallVec<[u64; MOST_SAMPLES]>,
}

impl Load {
    /// Sets the new connections a second: one value for each second from now on, the last stays.
    /// Without a value there are none from now on.
    pub fn set_rate(&mut self, values: &[u32]) {
        if values.is_empty() {
            self.rate = 0;
        }
        self.coming.clear();
        self.coming.extend(values);
    }

    /// Lets one second pass at the rate that was set.
    pub fn pass_second(&mut self, sampling_rate: u8) {
        if let Some(next) = self.coming.pop_front() {
            self.rate = next;
        }
        self.record_second(self.rate, sampling_rate);
    }

    /// Records the new connections of one second. A sample is complete after `sampling_rate` of
    /// them; with another rate than before the samples begin anew.
    pub fn record_second(&mut self, connections: u32, sampling_rate: u8) {
        if sampling_rate != self.sampling_rate {
            self.sampling_rate = sampling_rate;
            self.samples.clear();
            (self.seconds, self.connections) = (0, 0);
        }
        self.seconds += 1;
        self.connections += u64::from(connections);
        if self.seconds >= sampling_rate {
            if self.samples.len() == MOST_SAMPLES {
                self.samples.remove(0);
            }
            self.samples.push(self.connections);
            (self.seconds, self.connections) = (0, 0);
        }
    }

    /// The weighted mean of the latest complete samples there are, at most `intervals`; the first
    /// weight belongs to the oldest of them. `None` if there is none, or if their weights sum to 0
    /// (decisions 4.5).
    #[must_use]
    pub fn average(&self, parameters: &ConnectionLoad) -> Option<AverageLoad> {
        let surplus = self.samples.len().saturating_sub(parameters.intervals.into());
        let (mut connections, mut weights) = (0, 0);
        for (place, sample) in self.samples[surplus..].iter().enumerate() {
            let weight = parameters.weights.get(place).map_or(1, |weight| u64::from(*weight));
            connections += sample * weight;
            weights += weight;
        }
        let seconds = weights * u64::from(self.sampling_rate);
        (seconds > 0).then_some(AverageLoad { connections, seconds })
    }

    /// New connections in the second that passed last.
    #[must_use]
    pub const fn rate(&self) -> u32 {
        self.rate
    }

    /// Whether it never had anything to count.
    pub(super) fn is_idle(&self) -> bool {
        self.rate == 0 && self.coming.is_empty() && self.samples.iter().all(|sample| *sample == 0)
    }
}

/// An average of new connections a second, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AverageLoad {
    /// New connections, weighted. The most that can be, eight samples of a minute at the highest
    /// rate and weight, needs 45 bits.
    pub connections: u64,
    /// Seconds in which they came, weighted; never 0, at most 4800.
    pub seconds: u64,
}

impl AverageLoad {
    /// Whether it is at most `limit`.
    #[must_use]
    pub const fn is_within(self, limit: u32) -> bool {
        self.connections <= limit as u64 * self.seconds
    }

    /// The average in whole connections a second, rounded down.
    #[must_use]
    pub const fn whole(self) -> u64 {
        self.connections / self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(intervals: u8, weights: &[u8]) -> ConnectionLoad {
        ConnectionLoad { intervals, weights: weights.to_vec(), ..ConnectionLoad::default() }
    }

    /// One sample of 5 seconds for each value.
    fn samples(values: &[u32]) -> Load {
        let mut load = Load::default();
        for value in values {
            for _ in 0..5 {
                load.record_second(*value, 5);
            }
        }
        load
    }

    #[test]
    fn a_sample_averages_its_seconds() {
        let mut load = Load::default();
        load.set_rate(&[100, 110, 120, 130, 140]);
        for _ in 0..4 {
            load.pass_second(5);
        }
        assert_eq!(load.average(&parameters(5, &[])), None, "no sample is complete");
        load.pass_second(5);
        assert_eq!(load.average(&parameters(5, &[])).unwrap().whole(), 120);
        load.pass_second(5);
        load.pass_second(5);
        assert_eq!(load.average(&parameters(5, &[])).unwrap().whole(), 120);
        assert_eq!(load.rate(), 140, "the last value stays");
        load.set_rate(&[]);
        load.pass_second(5);
        assert_eq!(load.rate(), 0);
    }

    #[test]
    fn v15_a_sample_may_weigh_more() {
        let load = samples(&[10, 10, 40, 10, 10]);
        let average = load.average(&parameters(5, &[1, 1, 5, 1, 1])).unwrap();
        assert_eq!((average.connections, average.seconds), (240 * 5, 9 * 5));
        assert!(average.is_within(27) && !average.is_within(26));
    }

    #[test]
    fn v16_weight_zero_ignores_a_sample() {
        let load = samples(&[10, 10, 1000, 10, 10]);
        assert_eq!(load.average(&parameters(5, &[1, 1, 0])).unwrap().whole(), 10);
        assert_eq!(load.average(&parameters(5, &[0, 0, 0, 0, 0])), None);
    }

    #[test]
    fn only_the_latest_samples_count() {
        let load = samples(&[1000, 10, 20, 30]);
        assert_eq!(load.average(&parameters(3, &[])).unwrap().whole(), 20);
        let load = samples(&[9; 100]);
        assert_eq!(load.samples.len(), MOST_SAMPLES);
    }

    #[test]
    fn another_sampling_rate_begins_anew() {
        let mut load = samples(&[10, 10]);
        load.record_second(50, 7);
        assert_eq!(load.average(&parameters(5, &[])), None);
    }
}
