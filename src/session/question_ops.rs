//! Asks the questions that do not belong to a turn, and carries out their answers.

use std::collections::BTreeMap;

use super::goal;
use super::mcp_servers::McpServerState;
use super::session_questions::SessionQuestion;
use super::state::Session;
use super::trust::{self, AfterTrust};
use avocet_core::i18n::{
    Lang, LocalizedText, Phrase, goal as goal_phrases, hooks as hook_phrases, mcp_pages as phrases,
    safety as safety_phrases,
};
use avocet_core::protocol::{AskId, Decision, Event, GoalRequest, Question};
use avocet_core::text::visible;
use avocet_hooks::HookFile;
use avocet_mcp::{McpQuestion, McpRequest, ServerDefinition, ServerNeed, ServerTransport};
use avocet_safety::Limit;

/// The place of the yes among the choices.
const YES: usize = 0;

impl Session {
    /// Asks what waits next, and if nothing does and no turn runs, about the next server or hooks of
    /// the project.
    pub(super) async fn ask_next(&mut self) {
        let Session { questions, resources, hooks, security, info, .. } = self;
        let has_user = resources.servers.has_user() || hooks.has_user();
        if has_user && self.running.is_none() && questions.is_empty() {
            let mut servers = resources.servers.servers.iter();
            let server = servers.find(|it| matches!(it.state, McpServerState::Unanswered));
            let server = server.map(|it| {
                let mut needs = it.definition.needs(&security.place.workspace);
                let is_open = security.policy.limits.network == Limit::Ask;
                needs.retain(|need| is_open || *need != ServerNeed::Network);
                SessionQuestion::Start(it.definition.name.clone(), needs)
            });
            let file = hooks.unanswered(security.place.trusted);
            let file = file.map(|file| SessionQuestion::Hooks(file.hash.clone()));
            server.or(file).into_iter().for_each(|question| questions.push(question));
        }
        let lang = info.lang;
        let asked = questions.ask_next(|question| match question {
            SessionQuestion::Trust => None,
            SessionQuestion::Start(name, needs) => {
                let server = resources.servers.find(name);
                server.map(|server| start_question(&server.definition, needs, lang))
            }
            SessionQuestion::Asked(name, question) => Some(asked_question(name, question, lang)),
            SessionQuestion::Hooks(hash) => hooks.file(hash).map(|file| hooks_question(file, lang)),
            SessionQuestion::Goal => info.goal.as_deref().map(|goal| {
                let text = goal_phrases::ASK.with("text", goal.text.as_str()).text(lang);
                choice(text, [goal_phrases::ASK_YES, goal_phrases::ASK_NO], lang)
            }),
        });
        if let Some(asked) = asked {
            self.outbox.send(asked).await;
        }
    }

    /// Takes the answer to a question of the session or of its turn.
    pub(super) async fn decide(&mut self, ask: AskId, decision: Decision) -> AfterTrust {
        let Some(question) = self.questions.take(ask) else {
            self.jobs.subagents.decide(ask, &decision);
            if let Some(running) = &self.running {
                // A turn that ended meanwhile has no open questions.
                let _ = running.decisions.send((ask, decision));
            }
            return AfterTrust::Continue;
        };
        self.outbox.send(Event::QuestionClosed { ask }).await;
        let place = &self.security.place;
        match question {
            SessionQuestion::Trust if decision == Decision::Stop => return AfterTrust::Quit,
            SessionQuestion::Trust => match self.security.trust.answer(&decision) {
                Some(answer) => {
                    let notice = self.security.trust.notice(answer);
                    self.set_trust(answer, notice).await;
                }
                None => self.notify(trust::unchanged_notice(place.trusted)).await,
            },
            SessionQuestion::Start(name, needs) => {
                let servers = &mut self.resources.servers;
                let without = withheld(needs, &decision);
                let answer = without.as_ref().map_or_else(|| yes_or_no(&decision), |_| Some(true));
                let notice = servers.start_as_decided(&name, answer, without, place);
                self.follow(notice).await;
            }
            SessionQuestion::Asked(name, question) => {
                self.resources.servers.answer(&name, server_answer(question, &decision));
            }
            SessionQuestion::Hooks(hash) => {
                let notice = self.hooks.decide(hash, yes_or_no(&decision), place.trusted);
                self.follow(notice).await;
                self.hooks.run_start(true, &self.info, &self.security, &self.outbox);
            }
            SessionQuestion::Goal if yes_or_no(&decision) == Some(true) => {
                goal::handle(self, GoalRequest::Resume).await;
            }
            SessionQuestion::Goal => {}
        }
        self.ask_next().await;
        // Messages left from an earlier session keep waiting.
        if self.queue.has_typed() && !self.is_busy() {
            self.start_next_queued().await;
        }
        AfterTrust::Continue
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

/// The need of a server that an answer names: they are the choices between the yes and the no.
fn withheld(mut needs: Vec<ServerNeed>, decision: &Decision) -> Option<ServerNeed> {
    let Decision::Choose { index } = decision else { return None };
    let at = index.checked_sub(YES + 1).filter(|at| *at < needs.len())?;
    Some(needs.swap_remove(at))
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
        let command = visible(&hook.command);
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
    choice_of(text, choices.map(|choice| choice.text(lang).to_owned()).to_vec())
}

/// The last choice is the no.
fn choice_of(text: String, choices: Vec<String>) -> Question {
    let fallback = Some(choices.len() - 1);
    Question::Choice { step: String::new(), script: None, text, choices, free: false, fallback }
}

fn start_question(definition: &ServerDefinition, needs: &[ServerNeed], lang: Lang) -> Question {
    let named = |phrase: Phrase, names: Vec<String>| {
        let said = (!names.is_empty()).then(|| phrase.with("names", names.join(", ")).text(lang));
        said.unwrap_or_default()
    };
    let stdio = match &definition.transport {
        ServerTransport::Stdio(server) => Some(server),
        ServerTransport::Http(_) | ServerTransport::Sse(_) => None,
    };
    let phrase = stdio.map_or(phrases::ASK_REMOTE, |_| phrases::ASK);
    let folders = stdio.into_iter().flat_map(|server| &server.reach.folders);
    let folders = folders.map(|path| visible(&path.to_string_lossy())).collect();
    let file = definition.origin.file.file_name().unwrap_or_default();
    let text = phrase
        .with("file", file.to_string_lossy().into_owned())
        .with("name", definition.name.as_str())
        .with("command", definition.summary())
        .with("variables", named(phrases::ASK_VARIABLES, definition.variable_names()))
        .with("folders", named(phrases::ASK_FOLDERS, folders))
        .with(
            "network",
            if needs.contains(&ServerNeed::Network) {
                safety_phrases::SANDBOX_NETWORK_OPEN
            } else {
                safety_phrases::SANDBOX_NETWORK_CLOSED
            },
        );
    let less = needs.iter().map(|need| phrases::ASK_WITHOUT.with("need", need.describe()));
    let yes = std::iter::once(phrases::ASK_YES.into());
    let all = yes.chain(less).chain([phrases::ASK_NO.into()]);
    choice_of(text.text(lang), all.map(|choice: LocalizedText| choice.text(lang)).collect())
}
