//! Judges the steps of a running turn.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use super::subagent_bounds::SubagentBounds;
use avocet_core::protocol::{ApprovalMode, SandboxStatus};
use avocet_safety::{self as safety, Machine, Policy, PolicyContext, ToolRestriction, Workspace};

/// The parts that judge steps.
pub struct StepJudge {
    /// The current policy: a rule may be added while the turn runs.
    changes: watch::Receiver<Policy>,
    policy: Policy,
    place: Workspace,
    world: Arc<dyn Machine>,
    /// The tools that an entered skill leaves.
    restriction: Option<ToolRestriction>,
    /// The result of testing the sandbox; `None`: not awaited yet.
    pub sandbox_status: Option<SandboxStatus>,
    /// What the definition of a subagent leaves it.
    bounds: SubagentBounds,
}

impl StepJudge {
    pub fn new(
        mut changes: watch::Receiver<Policy>,
        workspace: Workspace,
        world: Arc<dyn Machine>,
    ) -> StepJudge {
        let policy = changes.borrow_and_update().clone();
        StepJudge {
            changes,
            policy,
            place: workspace,
            world,
            restriction: None,
            sandbox_status: None,
            bounds: SubagentBounds::default(),
        }
    }

    /// That of a subagent, which may do no more.
    pub fn within(&self, bounds: SubagentBounds) -> StepJudge {
        let mut policy = self.policy.clone();
        bounds.narrow(&mut policy);
        StepJudge {
            changes: self.changes.clone(),
            policy,
            place: self.place.clone(),
            world: Arc::clone(&self.world),
            restriction: self.restriction.clone(),
            sandbox_status: self.sandbox_status,
            bounds,
        }
    }

    pub fn restrict(&mut self, restriction: Option<ToolRestriction>) {
        self.policy.narrowed = restriction.clone();
        self.restriction = restriction;
    }

    pub fn set_approval_mode(&mut self, mode: ApprovalMode) {
        self.policy.approval = mode;
    }

    pub fn set_sandbox_status(&mut self, status: SandboxStatus) {
        self.policy.shelter = status;
        self.sandbox_status = Some(status);
    }

    pub fn set_world(&mut self, world: Arc<dyn Machine>) {
        self.world = world;
    }

    /// From now on, steps are those of another folder, which is trusted as this one is.
    pub fn set_folder(&mut self, place: Workspace, world: Arc<dyn Machine>) {
        let trusted_hooks = self.place.trusted_hooks.take();
        self.place = Workspace { trusted: self.place.trusted, trusted_hooks, ..place };
        self.world = world;
    }

    pub fn is_trusted(&self) -> bool {
        self.place.trusted
    }

    /// From now on, steps are judged as in a trusted folder.
    pub fn set_trusted(&mut self) {
        self.place.trusted = true;
        self.place.trusted_hooks = Some(safety::hooks_digest(self.policy_context()));
    }

    /// The parts that judge the steps of a script.
    pub fn parts(&mut self) -> (Policy, Workspace, Arc<dyn Machine>) {
        let policy = self.policy_context().policy.clone();
        (policy, self.place.clone(), Arc::clone(&self.world))
    }

    pub fn offered(&self) -> Option<&ToolRestriction> {
        self.policy.offered.as_ref()
    }

    pub fn mode(&self) -> ApprovalMode {
        self.policy.approval
    }

    pub fn place(&self) -> &Workspace {
        &self.place
    }

    pub fn folder(&self) -> &Path {
        &self.place.cwd
    }

    /// The model that answers searches the web there itself.
    pub fn set_search_host(&mut self, host: Option<String>) {
        self.read_changes();
        self.policy.web.set_provider(host);
    }

    fn read_changes(&mut self) {
        if self.changes.has_changed().unwrap_or(false) {
            self.policy = self.changes.borrow_and_update().clone();
            self.policy.narrowed = self.restriction.clone();
            self.policy.shelter = self.sandbox_status.unwrap_or(self.policy.shelter);
            self.bounds.narrow(&mut self.policy);
        }
    }

    pub fn policy_context(&mut self) -> PolicyContext<'_> {
        self.read_changes();
        PolicyContext { policy: &self.policy, place: &self.place, world: self.world.as_ref() }
    }
}
