//! How much a model reasons before it answers.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

impl Effort {
    /// From the least to the most.
    pub const ALL: [Effort; 7] = [
        Effort::None,
        Effort::Minimal,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::XHigh,
        Effort::Max,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Effort::None => "none",
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::XHigh => "xhigh",
            Effort::Max => "max",
        }
    }

    /// `None` for `auto`, and for any other word.
    pub fn from_name(name: &str) -> Option<Effort> {
        Effort::ALL.into_iter().find(|effort| effort.name() == name)
    }

    /// The nearest of these levels, the lower one of two; `None` if there are none.
    pub fn nearest(self, efforts: &[Effort]) -> Option<Effort> {
        let distance = |effort: &Effort| (*effort as u8).abs_diff(self as u8);
        efforts.iter().copied().min_by_key(|level| (distance(level), *level))
    }
}

/// Names of levels, as a list to read.
pub fn effort_names(efforts: &[Effort]) -> String {
    efforts.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_a_model_lacks_becomes_the_nearest_one() {
        let levels = [Effort::Low, Effort::High];
        for (wanted, used) in [
            (Effort::None, Effort::Low),
            (Effort::Low, Effort::Low),
            (Effort::Medium, Effort::Low),
            (Effort::High, Effort::High),
            (Effort::Max, Effort::High),
        ] {
            assert_eq!(wanted.nearest(&levels), Some(used), "{wanted:?}");
        }
        assert_eq!(Effort::High.nearest(&[]), None);
    }

    #[test]
    fn every_level_has_a_name_that_is_read_again() {
        for effort in Effort::ALL {
            assert_eq!(Effort::from_name(effort.name()), Some(effort));
            assert_eq!(serde_json::to_value(effort).unwrap(), effort.name());
        }
        assert_eq!(Effort::from_name("auto"), None);
    }
}
