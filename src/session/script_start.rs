//! `/run`: starts the turn of a script.

use std::sync::Arc;

use super::script_host::STEP;
use super::script_turn::{self, spawn_script};
use super::state::Session;
use avocet_core::i18n::session as phrases;
use avocet_core::protocol::{Notice, Provider};
use avocet_script::RunRequest;
use avocet_script::manifest::input::ScriptArgs;

impl Session {
    pub(super) async fn run_script(&mut self, script: String, args: String) {
        let text = if args.is_empty() {
            format!("/run {script}")
        } else {
            format!("/run {script} {args}")
        };
        if self.running.is_some() {
            return self.notify(Notice::warning(phrases::SHELL_BUSY.with("line", text))).await;
        }
        if self.questions.open().is_some() {
            return self.notify(Notice::warning(phrases::TRUST_FIRST.with("line", text))).await;
        }
        // It may hand tasks to agents.
        let effects = self.resources.refresh(&self.security.place).await;
        self.follow(effects).await;
        let parsed =
            if args.is_empty() { Ok(ScriptArgs::default()) } else { ScriptArgs::parse(&args) };
        let from = self.security.place.cwd.clone();
        let order = parsed.map(|args| RunRequest {
            script: script.clone(),
            from,
            args,
            streams: true,
            asks_inputs: true,
        });
        // The guide has its own role and cannot take another.
        let is_guide = self.resources.model.connected.provider == Provider::Guide;
        let library =
            (self.resources.extensions.find_scripts)(self.security.place.trusted).library();
        let machine = Arc::clone(&self.security.world);
        let max_steps = self.info.max_steps;
        self.start_turn(|mut scope| {
            scope.account.max_steps = max_steps;
            let model = (!is_guide).then(|| Arc::clone(&scope.context.responder.model));
            let numbers = (STEP.to_owned(), scope.next_step.saturating_sub(1));
            let (mut world, inbox) = scope.script_host(model, numbers);
            world.world = machine;
            script_turn::run(
                script,
                text,
                order.map(|order| (spawn_script(order, library, world), inbox)),
                scope,
            )
        });
    }
}
