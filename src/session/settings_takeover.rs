//! How a running turn takes over settings that changed: before its next request, so that everything
//! the answer proposes is judged and run with the same ones.

use tokio::sync::oneshot;

use super::state::{self, Session};
use super::turn_messages::TurnMessage;
use super::turn_scope::TurnScope;
use super::turn_update::{TurnNews, TurnUpdate};
use crate::agent::{RequestNews, TurnSettings};

/// What the running turn has not taken over yet; `None`: nothing.
pub(super) fn turn_update(session: &mut Session) -> Option<Box<TurnUpdate>> {
    let Session { running, resources, info, conversation, security, jobs, .. } = session;
    let running = running.as_mut()?;
    Some(Box::new(TurnUpdate {
        unread: running.unread_settings.take()?,
        context: resources.turn_context(info, conversation, security, &running.cancel),
        world: resources.machine(security, jobs),
        sandbox_status: security.policy.shelter,
        max_steps: info.max_steps,
        check: state::check_action(info),
        spend_limits: info.spend_limits,
    }))
}

impl TurnScope {
    /// Asks the session. A turn that was stopped does not wait for it, and one that begins has the
    /// current settings.
    pub(super) async fn request_news(&mut self) -> RequestNews {
        let spent = self.account.unheard(self.shared.spending.total());
        if !self.conversation.is_prepared {
            return RequestNews { spent, ..RequestNews::default() };
        }
        let (reply, answer) = oneshot::channel();
        self.events.notify(TurnMessage::SettingsNeeded { reply });
        let TurnNews { update, results } = tokio::select! {
            biased;
            () = self.context.cancel.cancelled() => TurnNews::default(),
            answer = answer => answer.unwrap_or_default(),
        };
        RequestNews { settings: update.map(|update| self.take_over(*update)), results, spent }
    }

    fn take_over(&mut self, update: TurnUpdate) -> TurnSettings {
        let TurnUpdate { unread, context: new, max_steps, check, spend_limits, .. } = update;
        let mut context = self.context.clone();
        context.system = new.system;
        context.summarizer = new.summarizer;
        context.scripts.places = new.scripts.places;
        context.lang = new.lang;
        context.budget.set_limits(spend_limits);
        if unread.has_other_model {
            context.responder.model = new.responder.model;
            context.responder.fallbacks = new.responder.fallbacks;
            context.responder.effort = new.responder.effort;
            context.responder.bounds = new.responder.bounds;
            context.responder.prompt_size = new.responder.prompt_size;
        }
        if unread.has_other_tools {
            context.tools = new.tools;
            self.judge.set_world(update.world);
            // Otherwise it is awaited before a step is judged.
            if self.judge.sandbox_status.is_some() {
                self.judge.set_sandbox_status(update.sandbox_status);
            }
        }
        self.context = context;
        TurnSettings {
            max_steps,
            check,
            spend_limits,
            dialect: unread.has_other_model.then(|| self.context.responder.model.dialect()),
            is_small_model: self.context.responder.model.is_small(),
        }
    }
}
