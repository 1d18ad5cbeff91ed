//! Smoothing of round-trip times (guide p. 133 to 141).
//!
//! Standard: a sample counts for a tenth. Enhanced: a sample in the usual range counts for
//! `normal_ramp_factor` percent; one far out of it is ignored, until `max_ignore_count` of them
//! came in a row; the next ones count little at first and then more and more. Values are whole
//! numbers, rounded down at each step.

/// How a sample changes a round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// The sample takes the place of the value.
    Off,
    /// The old value counts for 90 percent, the sample for 10.
    #[default]
    Standard,
    /// Samples out of range are ignored at first.
    Enhanced(SmoothingParameters),
}

/// Parameters of enhanced smoothing, for one site (guide p. 136, 137).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmoothingParameters {
    /// Deviation beyond which a sample is out of range, percent (50-100000, default 400).
    pub max_rtt_dev_allowed: u32,
    /// Samples out of range in a row that are ignored (1-20, default 3).
    pub max_ignore_count: u8,
    /// What a sample in range counts, percent (1-100, default 10).
    pub normal_ramp_factor: u8,
    /// What each further high sample counts more, percent (1-10, default 2).
    pub ramp_up_factor: u8,
    /// How many times more each further low sample counts (1-10, default 3).
    pub ramp_down_factor: u8,
}

impl Default for SmoothingParameters {
    fn default() -> Self {
        SmoothingParameters {
            max_rtt_dev_allowed: 400,
            max_ignore_count: 3,
            normal_ramp_factor: 10,
            ramp_up_factor: 2,
            ramp_down_factor: 3,
        }
    }
}

/// A round-trip time that samples have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmoothedRtt {
    value: u32,
    outliers: Outliers,
}

/// Samples out of range that came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outliers {
    /// Whether they were higher than the value.
    high: bool,
    /// How many there were, at most so many as fit: far more than make a difference. There is a
    /// value for each client and device, so its size counts.
    count: u16,
}

impl SmoothedRtt {
    /// What the first sample makes.
    #[must_use]
    pub fn new(sample: u32) -> Self {
        SmoothedRtt { value: sample, outliers: Outliers::default() }
    }

    /// The value, in the unit of the samples.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.value
    }

    /// Samples out of range in a row, the latest included.
    #[must_use]
    pub const fn outliers(self) -> u16 {
        self.outliers.count
    }

    /// Takes in a sample; returns what it counted, in percent, 0 if it was ignored.
    pub fn sample(&mut self, sample: u32, smoothing: Smoothing) -> u8 {
        let percent = match smoothing {
            Smoothing::Off => 100,
            Smoothing::Standard => 10,
            Smoothing::Enhanced(parameters) => self.enhanced(sample, parameters),
        };
        let old = u64::from(self.value) * u64::from(100 - percent.min(100));
        let new = u64::from(sample) * u64::from(percent.min(100));
        // A mean of two 32 bit numbers fits 32 bits.
        self.value = u32::try_from((old + new) / 100).unwrap_or(u32::MAX);
        percent
    }

    fn enhanced(&mut self, sample: u32, parameters: SmoothingParameters) -> u8 {
        let normal = u32::from(parameters.normal_ramp_factor);
        let Some(high) = out_of_range(self.value, sample, parameters.max_rtt_dev_allowed) else {
            self.outliers = Outliers::default();
            return parameters.normal_ramp_factor;
        };
        // One on the other side begins a row of its own.
        let before = if self.outliers.high == high { self.outliers.count } else { 0 };
        self.outliers = Outliers { high, count: before.saturating_add(1) };
        let Some(step) = before.checked_sub(parameters.max_ignore_count.into()) else { return 0 };
        let step = u32::from(step);
        let percent = if high {
            step.saturating_mul(parameters.ramp_up_factor.into()).saturating_add(1)
        } else {
            u32::from(parameters.ramp_down_factor).saturating_pow(step)
        };
        u8::try_from(percent.min(normal)).unwrap_or(parameters.normal_ramp_factor)
    }
}

/// Whether a sample lies too far above (`true`) or below the value; `None`: in range
/// (decisions 4.7).
fn out_of_range(value: u32, sample: u32, allowed: u32) -> Option<bool> {
    let high = sample > value;
    let (more, less) = if high { (sample, value) } else { (value, sample) };
    let deviation = u64::from(more - less) * 100 / u64::from(less.max(1));
    (deviation > u64::from(allowed)).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u32, samples: &[u32], smoothing: Smoothing) -> Vec<u32> {
        let mut rtt = SmoothedRtt::new(first);
        let step = |&sample| {
            rtt.sample(sample, smoothing);
            rtt.value()
        };
        samples.iter().map(step).collect()
    }

    fn percents(first: u32, samples: &[u32], parameters: SmoothingParameters) -> Vec<u8> {
        let mut rtt = SmoothedRtt::new(first);
        samples.iter().map(|&one| rtt.sample(one, Smoothing::Enhanced(parameters))).collect()
    }

    #[test]
    fn standard_smoothing_gives_the_values_of_the_guide() {
        assert_eq!(run(20, &[40], Smoothing::Standard), [22]);
        assert_eq!(run(22, &[1000], Smoothing::Standard), [119]);
        let samples = [1, 1000, 30, 30, 30, 30];
        assert_eq!(run(30, &samples, Smoothing::Standard), [27, 124, 114, 105, 97, 90]);
    }

    #[test]
    fn without_smoothing_the_sample_is_the_value() {
        assert_eq!(run(30, &[1, 1000], Smoothing::Off), [1, 1000]);
    }

    #[test]
    fn high_outliers_ramp_up_by_steps() {
        let samples = [1_000_000; 10];
        let expected = [0, 0, 0, 1, 3, 5, 7, 9, 10, 10];
        let parameters = SmoothingParameters { max_rtt_dev_allowed: 50, ..Default::default() };
        assert_eq!(percents(30, &samples, parameters), expected);
    }

    #[test]
    fn low_outliers_ramp_down_by_factors() {
        let expected = [0, 0, 0, 1, 3, 9, 10, 10];
        let parameters = SmoothingParameters { max_rtt_dev_allowed: 50, ..Default::default() };
        assert_eq!(percents(1_000_000, &[1; 8], parameters), expected);
    }

    #[test]
    fn a_sample_in_range_begins_the_count_anew() {
        let expected = [0, 0, 0, 1, 10, 0];
        let samples = [1000, 1000, 1000, 1000, 40, 1000];
        assert_eq!(percents(30, &samples, SmoothingParameters::default()), expected);
        let samples = [1000, 1000, 1000, 1, 1000];
        assert_eq!(percents(30, &samples, SmoothingParameters::default()), [0; 5]);
    }

    #[test]
    fn the_range_is_that_of_the_smaller_value() {
        assert_eq!(out_of_range(30, 150, 400), None, "400 percent above");
        assert_eq!(out_of_range(300, 1501, 400), None, "the deviation is rounded down");
        assert_eq!(out_of_range(100, 501, 400), Some(true));
        assert_eq!(out_of_range(501, 100, 400), Some(false));
        assert_eq!(out_of_range(0, 5, 400), Some(true));
        assert_eq!(out_of_range(0, 0, 50), None);
    }
}
