//! Handles Enter: sends a message, runs a command or a shell line. The text is parsed once, as
//! shown in the input; pastes are expanded afterwards and never parsed.

use super::composer::ComposerText;
use super::connecting;
use super::event::ScreenEffect;
use super::modal::Modal;
use super::pickers;
use super::queue::DeferredItem;
use super::settings_editor;
use super::state::State;
use super::time::Millis;
use avocet_config::BusyInput;
use avocet_core::i18n::{Lang, agents, input, screen as phrases};
use avocet_core::prompt::input::{self as line, Intent};
use avocet_core::protocol::{
    AgentRequest, Mention, Notice, Op, SessionOp, SubagentInfo, SubmitId, TurnOp,
};
use avocet_present::commands::{self, CommandOutcome, Surface, UiAction};

/// Enter.
pub fn send(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    send_as(state, state.keys.enter_while_busy, at)
}

/// Sends the input; `busy`: what happens to a message while a turn runs.
pub fn send_as(state: &mut State, busy: BusyInput, at: Millis) -> Vec<ScreenEffect> {
    if state.composer.display_text().trim().is_empty() {
        return Vec::new();
    }
    let taken = take_input(state);
    let whole = |text: &str| taken.folds.expand(text);
    if !taken.display_text.starts_with(['/', '!'])
        && let Some(agent) = state.display.agents.deselect()
    {
        return steer_agent(state, agent, whole(&taken.display_text), at);
    }
    if let Some(note) = note_line(&taken.display_text) {
        pickers::open_note_places(state, whole(note));
        return vec![ScreenEffect::SaveHistory { line: whole(&taken.display_text), submit: None }];
    }
    let id = state.queue.submit_ids.next_id();
    let effects: Vec<ScreenEffect> =
        match line::parse_with_pastes(&taken.display_text, &taken.small_pastes) {
            Intent::Empty => Vec::new(),
            Intent::Message { parts } => {
                let images = state.composer.units.images.named_in(&taken.display_text);
                let op = line::with_images(line::submit_op(parts, whole), images);
                let reads = state.activity.is_busy() && !state.activity.is_stopping();
                let steers = reads && busy == BusyInput::Steer;
                vec![ScreenEffect::Send(if steers { steer(state, op) } else { op })]
            }
            Intent::Shell { line, keep } => {
                vec![ScreenEffect::Send(Op::Turn(TurnOp::Shell { line: whole(&line), keep }))]
            }
            // The user's extensions are not read yet: the session decides.
            Intent::Command { name, args, mentions }
                if !state.completions.has_loaded_extensions
                    && !state.modals.is_question_on_top()
                    && commands::find(&name).is_none() =>
            {
                vec![ScreenEffect::Send(Op::Turn(TurnOp::Invoke {
                    name,
                    args: whole(&args),
                    mentions,
                }))]
            }
            Intent::Command { name, args, mentions } => {
                let line = format!("/{name} {}", whole(&args));
                let effects = command(state, &line, &taken.display_text, at);
                effects.into_iter().map(|effect| attach_mentions(effect, &mentions)).collect()
            }
        };
    let line = whole(&taken.display_text);
    let effects = if state.queue.has_deferred() && state.activity.is_busy() {
        defer_messages(state, effects, &line)
    } else {
        effects
    };
    follow(state, id, line, effects)
}

/// Saves the line before its effects, and shows what it says to the running turn.
fn follow(
    state: &mut State,
    id: SubmitId,
    line: String,
    effects: Vec<ScreenEffect>,
) -> Vec<ScreenEffect> {
    for effect in &effects {
        if let ScreenEffect::Send(Op::Turn(TurnOp::Steer { text })) = effect
            && state.activity.is_busy()
        {
            state.queue.steer(id, text.clone());
        }
    }
    let sends = effects.iter().any(|effect| matches!(effect, ScreenEffect::Send(_)));
    let saved = ScreenEffect::SaveHistory { line, submit: sends.then_some(id) };
    std::iter::once(saved).chain(effects).collect()
}

/// Sends a message to the selected subagent.
fn steer_agent(
    state: &mut State,
    info: SubagentInfo,
    text: String,
    at: Millis,
) -> Vec<ScreenEffect> {
    state.presence.show_message(agents::SENT.with("name", info.name), at);
    let saved = ScreenEffect::SaveHistory { line: text.clone(), submit: None };
    let request = AgentRequest::Steer { text };
    let op = Op::Session(SessionOp::Agent { agent: info.agent, request });
    vec![saved, ScreenEffect::Send(op)]
}

/// Lets the model go on with the results of subagents in the background, unless the user is at work.
pub fn read_results(state: &mut State) -> Option<ScreenEffect> {
    let is_free = !state.activity.is_busy()
        && state.composer.is_blank()
        && state.modals.is_empty()
        && state.queue.is_empty();
    let is_due = is_free && state.facts.agents.unread > 0;
    is_due.then(|| {
        state.facts.agents.unread = 0;
        ScreenEffect::Send(Op::Turn(TurnOp::ReadResults))
    })
}

/// Empties the input, or leaves the draft in it that a command was chosen over.
fn take_input(state: &mut State) -> ComposerText {
    state.palette.close();
    state.composer.files.refresh(None);
    let draft = state.palette.take_draft();
    let taken = state.composer.take();
    if let Some(draft) = draft {
        state.composer.set_text(&draft, state.appearance.lang);
    }
    taken
}

/// The text of a line that adds a note: `# text`.
fn note_line(line: &str) -> Option<&str> {
    let note = line.strip_prefix("# ")?.trim();
    (!note.is_empty() && !note.contains('\n')).then_some(note)
}

/// A message for the running turn. One with files or images waits for the next.
fn steer(state: &mut State, op: Op) -> Op {
    let Op::Turn(TurnOp::Submit { text }) = op else {
        state.transcript.add_notice(Notice::info(input::STEER_WITH_FILES));
        return op;
    };
    Op::Turn(TurnOp::Steer { text })
}

/// Stops the turn. Nothing that waits for it starts by itself: it comes back into the input.
pub fn stop_turn(state: &mut State, stop: Op, at: Millis) -> Vec<ScreenEffect> {
    state.activity.set_stopping(at);
    let waiting = state.queue.take_all();
    let emptied = waiting.map(|text| {
        state.composer.insert_before(&text, state.appearance.lang);
        ScreenEffect::Send(Op::Turn(TurnOp::SetQueue { texts: Vec::new() }))
    });
    emptied.into_iter().chain([ScreenEffect::Send(stop)]).collect()
}

/// A message after a waiting command is sent once that has run.
fn defer_messages(state: &mut State, effects: Vec<ScreenEffect>, text: &str) -> Vec<ScreenEffect> {
    let mut now = Vec::new();
    for effect in effects {
        match effect {
            ScreenEffect::Send(
                op @ Op::Turn(
                    TurnOp::Submit { .. } | TurnOp::SubmitPrompt { .. } | TurnOp::Invoke { .. },
                ),
            ) => {
                state.queue.defer_message(text.to_owned(), op);
            }
            other => now.push(other),
        }
    }
    now
}

/// Files named in the arguments are attached to the prompt made of them.
fn attach_mentions(effect: ScreenEffect, mentions: &[Mention]) -> ScreenEffect {
    match effect {
        ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { mut prompt })) => {
            prompt.attach(mentions.iter().cloned());
            ScreenEffect::Send(Op::Turn(TurnOp::SubmitPrompt { prompt }))
        }
        ScreenEffect::Send(Op::Turn(TurnOp::Invoke { name, args, .. })) => {
            ScreenEffect::Send(Op::Turn(TurnOp::Invoke { name, args, mentions: mentions.to_vec() }))
        }
        other => other,
    }
}

/// Runs a command; `typed`: the line as the input showed it.
fn command(state: &mut State, line: &str, typed: &str, at: Millis) -> Vec<ScreenEffect> {
    let outcome = if state.modals.is_question_on_top() {
        commands::dispatch_over_question(&state.command_context(), line)
    } else {
        commands::dispatch(&state.command_context(), line)
    };
    if answers_in_transcript(&outcome) {
        state.transcript.add_typed_command(typed.trim());
    }
    apply_outcome(state, outcome, at)
}

/// Whether what follows in the transcript would be lost among the rest without its command. A turn
/// shows what began it, and a dialog or a setting of the screen shows itself.
fn answers_in_transcript(outcome: &CommandOutcome) -> bool {
    match outcome {
        CommandOutcome::Say(_)
        | CommandOutcome::Page { .. }
        | CommandOutcome::Do(UiAction::Help(Some(_))) => true,
        CommandOutcome::Send(op) => op.answers_in_transcript(),
        CommandOutcome::Many(outcomes) => {
            let waits = |outcome: &CommandOutcome| {
                matches!(outcome, CommandOutcome::Do(UiAction::Later(_)))
            };
            !outcomes.iter().any(waits) && outcomes.iter().any(answers_in_transcript)
        }
        CommandOutcome::Do(_) => false,
    }
}

/// Runs what waited for the turn to end.
pub fn run_deferred(state: &mut State, at: Millis) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    for later in state.queue.take_next() {
        match later {
            DeferredItem::Command(line) => effects.extend(command(state, &line, &line, at)),
            DeferredItem::Message(text, op) => {
                effects.push(ScreenEffect::Send(
                    op.map_or(Op::Turn(TurnOp::Submit { text }), |op| *op),
                ));
            }
        }
    }
    effects
}

/// Applies the result of a command, here and elsewhere.
fn apply_outcome(state: &mut State, outcome: CommandOutcome, at: Millis) -> Vec<ScreenEffect> {
    match outcome {
        CommandOutcome::Send(op) => {
            if op == Op::Turn(TurnOp::Stop) {
                return stop_turn(state, op, at);
            }
            vec![ScreenEffect::Send(op)]
        }
        CommandOutcome::Say(notice) => {
            state.transcript.add_notice(notice);
            Vec::new()
        }
        CommandOutcome::Page { title, rows } => {
            state.transcript.add_page(title, rows);
            Vec::new()
        }
        CommandOutcome::Do(UiAction::Help(Some(topic))) => apply_outcome(
            state,
            commands::help_page(Some(&topic), Surface::Local, &state.completions.extensions),
            at,
        ),
        CommandOutcome::Do(act) => perform(state, act),
        CommandOutcome::Many(outcomes) => {
            outcomes.into_iter().flat_map(|outcome| apply_outcome(state, outcome, at)).collect()
        }
    }
}

/// Carries out actions that only a user interface can.
fn perform(state: &mut State, action: UiAction) -> Vec<ScreenEffect> {
    match action {
        UiAction::Quit => return pickers::quit(state),
        UiAction::Help(_) => {
            let help = Modal::help(&state.completions.extensions, &state.keys.keymap);
            state.modals.open(help);
        }
        UiAction::Keys => state.modals.open(Modal::keys(&state.keys.keymap)),
        UiAction::Lang(lang) => set_lang(state, lang),
        UiAction::Vim(on) => {
            let on = state.composer.set_vim(on);
            let say = if on { input::VIM_ON } else { input::VIM_OFF };
            state.transcript.add_notice(Notice::info(say));
            return vec![ScreenEffect::SaveSetting { key: "vim", value: on.to_string() }];
        }
        UiAction::Timestamps(on) => {
            let on = on.unwrap_or(!state.appearance.timestamps);
            state.appearance.timestamps = on;
            let say = if on { phrases::TIMES_ON } else { phrases::TIMES_OFF };
            state.transcript.add_notice(Notice::info(say));
            return vec![ScreenEffect::SaveSetting { key: "timestamps", value: on.to_string() }];
        }
        UiAction::Theme(Some(name)) => return pickers::set_theme(state, &name),
        UiAction::Theme(None) => pickers::open_themes(state),
        UiAction::Settings(words) => return settings_editor::open(state, &words),
        UiAction::Models => return pickers::open_models(state),
        UiAction::Connect(named) => return connecting::open(state, named),
        UiAction::Efforts => pickers::open_efforts(state),
        UiAction::Sessions => return pickers::open_sessions(state),
        UiAction::Rewind => pickers::open_turns(state),
        UiAction::Bots => pickers::open_bots(state),
        UiAction::Dump => return dump(state),
        UiAction::Search(words) => state.transcript.search(&words),
        UiAction::Later(line) => state.queue.defer_command(line),
        UiAction::Copy(back) => return copy(state, back),
        // Their commands do not reach the terminal.
        UiAction::Chat(_) => {}
    }
    Vec::new()
}

pub fn set_lang(state: &mut State, lang: Lang) {
    state.appearance.lang = lang;
    pickers::suggest_first_steps(state);
}

/// The whole conversation, for the terminal's own scrolling and searching.
pub fn dump(state: &mut State) -> Vec<ScreenEffect> {
    let lang = state.appearance.lang;
    let (text, back) = (state.transcript.plain_text(), phrases::DUMP_BACK.text(lang));
    vec![ScreenEffect::Dump(format!("{text}\n{back}"))]
}

fn copy(state: &mut State, back: usize) -> Vec<ScreenEffect> {
    let Some(text) = state.transcript.answer(back.saturating_sub(1)).map(str::to_owned) else {
        let say = match state.transcript.answer(0) {
            Some(_) => phrases::NO_ANSWER_BACK.with("n", back),
            None => phrases::NOTHING_TO_COPY.into(),
        };
        state.transcript.add_notice(Notice::info(say));
        return Vec::new();
    };
    vec![ScreenEffect::Copy(text)]
}
