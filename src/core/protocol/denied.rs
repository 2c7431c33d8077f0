//! What the sandbox denied a step.

use serde::{Deserialize, Serialize};

use crate::i18n::{LocalizedText, sandbox as phrases};

/// As far as it can be determined: paths as the user knows them, absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxDenial {
    #[serde(default)]
    pub reads: Vec<String>,
    #[serde(default)]
    pub writes: Vec<String>,
    #[serde(default)]
    pub network: bool,
    /// The sandbox may be why it failed, and nothing is offered: its output names no path, or
    /// one that is not opened on a program's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub possible: bool,
}

impl SandboxDenial {
    /// The rule of the question whether to run the step again with this opened to it.
    pub const RULE: &str = "sandbox.denied";

    /// The rule of the question whether a denied step runs again without the sandbox.
    pub const WITHOUT: &str = "sandbox.without";

    /// The rule of the question whether a change is kept that was put back after a step.
    pub const PUT_BACK: &str = "sandbox.put-back";

    /// Whether there is something that can be opened.
    pub fn is_offered(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty() || self.network
    }

    /// With what another one allows.
    #[must_use]
    pub fn merged(mut self, denial: &SandboxDenial) -> SandboxDenial {
        for (paths, more) in [(&mut self.reads, &denial.reads), (&mut self.writes, &denial.writes)]
        {
            let new: Vec<String> =
                more.iter().filter(|path| !paths.contains(path)).cloned().collect();
            paths.extend(new);
        }
        self.network |= denial.network;
        self
    }

    /// `changing x and reaching the network`.
    pub fn denied_actions(&self) -> LocalizedText {
        let reads = self.reads.iter().map(|path| phrases::DENIED_READ.with("path", path.as_str()));
        let writes =
            self.writes.iter().map(|path| phrases::DENIED_WRITE.with("path", path.as_str()));
        let network = self.network.then(|| LocalizedText::from(phrases::DENIED_NETWORK));
        let all = writes.chain(reads).chain(network);
        let joined =
            |first, second| phrases::DENIED_AND.with("first", first).with("second", second);
        all.reduce(joined).unwrap_or_else(|| phrases::DENIED_NETWORK.into())
    }

    /// As a sentence.
    pub fn localized(&self) -> LocalizedText {
        if !self.is_offered() {
            return phrases::DENIED_MAYBE.into();
        }
        phrases::DENIED.with("what", self.denied_actions())
    }
}
