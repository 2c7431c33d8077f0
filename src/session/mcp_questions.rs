//! Questions about MCP servers, and those that servers ask: they do not belong to a turn, and are asked
//! one after the other.

use std::collections::BTreeMap;

use super::goal;
use super::mcp_servers::{McpServerState, ServerQuestion};
use super::state::Session;
use avocet_core::i18n::{
    Lang, Phrase, goal as goal_phrases, hooks as hook_phrases, mcp_pages as phrases,
    safety as safety_phrases,
};
use avocet_core::protocol::{Ask, AskId, Decision, Event, GoalRequest, Question};
use avocet_hooks::HookFile;
use avocet_mcp::{McpQuestion, McpRequest, ServerDefinition, ServerTransport};
use avocet_safety::Limit;

/// The place of the yes among the choices.
const YES: usize = 0;

impl Session {
    /// Asks about the next server of the project, while nothing else is asked.
    pub(super) async fn ask_about_server(&mut self) {
        let has_user = self.resources.servers.has_user() || self.hooks.has_user();
        if !has_user || self.is_busy() {
            return;
        }
        let mut waits = self.resources.servers.servers.iter();
        let waits = waits.find(|server| matches!(server.state, McpServerState::Unanswered));
        let question = match waits {
            Some(server) => ServerQuestion::Start(server.definition.name.clone()),
            None => match self.hooks.unanswered(self.security.place.trusted) {
                Some(file) => ServerQuestion::Hooks(file.hash.clone()),
                None => return self.ask_for_server().await,
            },
        };
        self.resources.servers.waiting.push_back(question);
        self.ask_for_server().await;
    }

    /// Asks what waits next, while nothing else is asked.
    pub(super) async fn ask_for_server(&mut self) {
        if self.open_question().is_some() {
            return;
        }
        while let Some(waits) = self.resources.servers.waiting.pop_front() {
            let lang = self.info.lang;
            let question = match &waits {
                ServerQuestion::Start(name) => {
                    let server = self.resources.servers.find(name);
                    let network = self.security.policy.limits.network;
                    server.map(|server| start_question(&server.definition, network, lang))
                }
                ServerQuestion::Asked(name, question) => Some(asked_question(name, question, lang)),
                ServerQuestion::Hooks(hash) => {
                    self.hooks.file(hash).map(|file| hooks_question(file, lang))
                }
                ServerQuestion::Goal => self.info.goal.as_deref().map(|goal| {
                    let text = goal_phrases::ASK.with("text", goal.text.as_str()).text(lang);
                    choice(text, [goal_phrases::ASK_YES, goal_phrases::ASK_NO], lang)
                }),
            };
            // A server may be gone.
            let Some(question) = question else { continue };
            let id = AskId(self.resources.servers.next_ask);
            self.resources.servers.next_ask += 1;
            self.resources.servers.question = Some((id, waits));
            self.outbox.send(Event::Asked(Box::new(Ask { id, question }))).await;
            return;
        }
    }

    /// A question that does not belong to a turn: messages wait for its answer.
    pub(super) fn open_question(&self) -> Option<AskId> {
        let about_server = self.resources.servers.question.as_ref().map(|(ask, _)| *ask);
        self.security.trust.open_question.or(about_server)
    }

    /// True if the decision was about a server.
    pub(super) async fn decide_about_server(&mut self, ask: AskId, decision: &Decision) -> bool {
        let Some((_, question)) = self.resources.servers.question.take_if(|(open, _)| *open == ask)
        else {
            return false;
        };
        self.outbox.send(Event::QuestionClosed { ask }).await;
        match question {
            ServerQuestion::Start(name) => {
                let place = &self.security.place;
                let notice =
                    self.resources.servers.start_as_decided(&name, yes_or_no(decision), place);
                self.follow(notice).await;
            }
            ServerQuestion::Asked(name, question) => {
                self.resources.servers.answer(&name, server_answer(question, decision));
            }
            ServerQuestion::Hooks(hash) => {
                let trusted = self.security.place.trusted;
                let notice = self.hooks.decide(hash, yes_or_no(decision), trusted);
                self.follow(notice).await;
                self.run_start_hooks(true);
            }
            ServerQuestion::Goal if yes_or_no(decision) == Some(true) => {
                goal::handle(self, GoalRequest::Resume).await;
            }
            ServerQuestion::Goal => {}
        }
        self.ask_for_server().await;
        self.ask_about_server().await;
        true
    }
}

/// The answer to what a server asked.
fn server_answer(question: McpQuestion, decision: &Decision) -> McpRequest {
    let values = match decision {
        Decision::Fill { values } => {
            let names = question.fields.into_iter().map(|field| field.name);
            Some(names.zip(values.iter().cloned()).collect())
        }
        Decision::Choose { index: YES } => Some(BTreeMap::new()),
        _ => None,
    };
    McpRequest::Answer { question: question.id, values }
}

/// `None`: it is put off.
fn yes_or_no(decision: &Decision) -> Option<bool> {
    match decision {
        Decision::Choose { index } => Some(*index == YES),
        Decision::Approve => Some(true),
        _ => None,
    }
}

fn hooks_question(file: &HookFile, lang: Lang) -> Question {
    let commands = file.hooks.iter().map(|hook| {
        let command = avocet_core::text::visible(&hook.command);
        format!("{}: `{command}`", hook.event.name())
    });
    let commands: Vec<String> = commands.collect();
    let name = file.origin.file.display().to_string();
    let text = hook_phrases::ASK.with("file", name).with("commands", commands.join("; "));
    choice(text.text(lang), [hook_phrases::ASK_YES, hook_phrases::ASK_NO], lang)
}

/// What a server asks itself: values, or only a yes.
fn asked_question(name: &str, question: &McpQuestion, lang: Lang) -> Question {
    if !question.fields.is_empty() {
        let fields = question.fields.clone();
        return Question::Form { script: format!("{name}: {}", question.message), fields };
    }
    let url = question.url.iter();
    let text = url.fold(question.message.clone(), |text, url| format!("{text} {url}"));
    let text = phrases::SERVER_ASKS.with("name", name).with("text", text).text(lang);
    choice(text, [phrases::ACCEPT, phrases::DECLINE], lang)
}

/// A question with a yes and a no, which counts where no user can answer.
fn choice(text: String, choices: [Phrase; 2], lang: Lang) -> Question {
    let choices = choices.map(|choice| choice.text(lang).to_owned()).to_vec();
    let fallback = Some(choices.len() - 1);
    Question::Choice { step: String::new(), script: None, text, choices, free: false, fallback }
}

fn start_question(definition: &ServerDefinition, network: Limit, lang: Lang) -> Question {
    let names = definition.variable_names();
    let names = (!names.is_empty()).then(|| phrases::ASK_VARIABLES.with("names", names.join(", ")));
    let variables = names.map_or_else(String::new, |names| names.text(lang));
    let phrase = match definition.transport {
        ServerTransport::Stdio(_) => phrases::ASK,
        ServerTransport::Http(_) | ServerTransport::Sse(_) => phrases::ASK_REMOTE,
    };
    let file = definition.origin.file.file_name().unwrap_or_default();
    let text = phrase
        .with("file", file.to_string_lossy().into_owned())
        .with("name", definition.name.as_str())
        .with("command", definition.summary())
        .with("variables", variables)
        .with(
            "network",
            if network == Limit::Ask {
                safety_phrases::SANDBOX_NETWORK_OPEN
            } else {
                safety_phrases::SANDBOX_NETWORK_CLOSED
            },
        );
    choice(text.text(lang), [phrases::ASK_YES, phrases::ASK_NO], lang)
}
