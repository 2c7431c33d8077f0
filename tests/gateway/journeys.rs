//! What a user of any chat service goes through with `avocet gateway run`: told once, and run for
//! each service.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use crate::fakes::discord::DiscordServer;
use crate::fakes::feishu::FeishuServer;
use crate::fakes::service::Service;
use crate::fakes::slack::SlackServer;
use crate::fakes::telegram::TelegramServer;
use crate::process::{GatewayProcess, data, touch};
use crate::support::bench::TestDir;
use crate::support::server::Reply;
use serde_json::json;

/// A message of the bot as its reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub id: String,
    /// The chat, and the thread in it.
    pub place: String,
    pub text: String,
    /// Label and data of each.
    pub buttons: Vec<(String, String)>,
}

/// A chat service in which users write to the bot.
pub trait ChatService: Service {
    const NAME: &'static str;
    /// What else its section of the settings needs.
    const SETTINGS: &'static str = "";
    /// The variables with its tokens.
    const TOKENS: &'static [(&'static str, &'static str)];
    const ANN: &'static str;
    const STRANGER: &'static str;
    /// A place in which nothing was asked.
    const ELSEWHERE: &'static str;
    /// `**Done**, it is there.` as a reader gets it.
    const DONE: &'static str;

    /// In a chat of the user's own.
    fn say(&self, user: &str, words: &str);
    /// In a group, to the bot; returns the place of its answer.
    fn say_in_group(&self, user: &str, words: &str) -> String;
    /// In a group, to nobody.
    fn chatter(&self, user: &str, words: &str);
    /// In a group, to the bot: about what another user said there, also by an answer to it.
    fn answer_in_group(&self, user: &str, author: &str, said: &str, words: &str);
    /// A command with its arguments, as it is typed there.
    fn command(&self, user: &str, line: &str) {
        self.say(user, &format!("/{line}"));
    }
    /// Waits for a file that the bot sends.
    fn sent_file(&self, name: &str) -> Vec<u8>;
    /// A press of a button with this data, which may not be there; returns its id.
    fn press(&self, user: &str, question: &Shown, data: &str) -> String;
    fn wait_until_acknowledged(&self, press: &str);
    /// Waits for what the user is told who pressed.
    fn told(&self, press: &str) -> String;
    /// Waits until this finds something in what the bot said, oldest first.
    fn look<R>(&self, what: &str, look: impl Fn(Vec<Shown>) -> Option<R>) -> R;
    /// The connection breaks, or the service ends it, in turn.
    fn disturb(&self, time: usize);
    /// Everything that users did is delivered once more, the latest first.
    fn repeat_backwards(&self);
    /// Some of the next calls fail, in each way in which nothing may be lost.
    fn plan_trouble(&self);
}

/// A gateway with its service.
pub struct Gateway<S> {
    pub service: S,
    pub process: GatewayProcess,
}

impl<S> Deref for Gateway<S> {
    type Target = GatewayProcess;

    fn deref(&self) -> &GatewayProcess {
        &self.process
    }
}

impl<S> DerefMut for Gateway<S> {
    fn deref_mut(&mut self) -> &mut GatewayProcess {
        &mut self.process
    }
}

impl<S: ChatService> Gateway<S> {
    pub fn start(replies: Vec<Reply>) -> Gateway<S> {
        Gateway::with(replies, "")
    }

    pub fn with(replies: Vec<Reply>, settings: &str) -> Gateway<S> {
        Gateway::in_dir(TestDir::new(), replies, settings)
    }

    pub fn in_dir(dir: TestDir, replies: Vec<Reply>, settings: &str) -> Gateway<S> {
        Gateway::admitting(dir, replies, &[S::ANN], &format!("admins = [\"1\"]\n{settings}"))
    }

    /// These may talk; `settings` begin in the section of the service.
    pub fn admitting(
        dir: TestDir,
        replies: Vec<Reply>,
        allow: &[&str],
        settings: &str,
    ) -> Gateway<S> {
        let settings = format!("allow = {allow:?}\n{settings}");
        Gateway::open(S::start(), dir, replies, &settings, S::TOKENS).connected()
    }

    /// With a service that was prepared.
    pub fn beside(service: S, replies: Vec<Reply>) -> Gateway<S> {
        let settings = format!("allow = [{:?}]\n", S::ANN);
        Gateway::open(service, TestDir::new(), replies, &settings, S::TOKENS).connected()
    }

    fn open(
        service: S,
        dir: TestDir,
        replies: Vec<Reply>,
        settings: &str,
        tokens: &[(&'static str, &str)],
    ) -> Gateway<S> {
        let (name, address, own) = (S::NAME, service.api_url(), S::SETTINGS);
        let settings =
            format!("[gateway.{name}]\nenabled = true\napi_url = \"{address}\"\n{own}{settings}");
        Gateway { service, process: GatewayProcess::start_in(dir, replies, &settings, tokens) }
    }

    fn connected(self) -> Gateway<S> {
        self.service.wait_until_connected();
        self
    }

    fn wait_for(&self, what: &str, fits: impl Fn(&Shown) -> bool) -> Shown {
        self.service.look(what, |shown| shown.into_iter().find(&fits))
    }

    pub fn said(&self, part: &str) -> Shown {
        self.wait_for(part, |shown| shown.text.contains(part))
    }

    fn question(&self) -> Shown {
        self.wait_for("a question", |shown| !shown.buttons.is_empty())
    }

    fn press(&self, user: &str, question: &Shown, choice: &str) -> String {
        self.service.press(user, question, &data(&question.buttons, choice))
    }

    fn times_said(&self, part: &str) -> usize {
        self.service.look("", Some).iter().filter(|shown| shown.text.contains(part)).count()
    }

    /// Each of so many replies was said once, and the model was asked once for each.
    fn expect_each_once(&self, count: usize) {
        for number in 0..count {
            self.said(&format!("Answer {number}."));
        }
        for number in 0..count {
            assert_eq!(self.times_said(&format!("Answer {number}.")), 1, "{number}");
        }
        assert_eq!(self.model.requests().len(), count);
    }
}

/// So many replies, numbered.
fn answers(count: usize) -> Vec<Reply> {
    (0..count).map(|number| Reply::chat(&format!("Answer {number}."))).collect()
}

pub fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Of the settings of each gateway.
const ADMIN: &str = "1";

const ROOM: &str = "\n[gateway]\nmax_queued = 50\n";

/// Each journey is a test of each service.
macro_rules! journeys {
    ($($journey:ident)*) => {
        journeys!(telegram TelegramServer: $($journey)*);
        journeys!(discord DiscordServer: $($journey)*);
        journeys!(slack SlackServer: $($journey)*);
        journeys!(feishu FeishuServer: $($journey)*);
    };
    ($module:ident $service:ident: $($journey:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $journey() {
                    super::$journey::<super::$service>();
                }
            )*
        }
    };
}

journeys! {
    a_turn_with_an_approval_runs_the_step_and_answers_in_its_place
    a_press_that_is_forged_or_of_someone_else_decides_nothing
    commands_work_during_a_run_and_during_a_question
    an_agent_is_stopped_by_its_name_and_the_turn_goes_on
    a_message_that_answers_another_one_says_whose_words_those_are
    a_file_of_the_folder_is_sent_as_it_is_and_never_with_its_secrets
    the_model_sends_a_file_once_the_user_agrees_and_never_its_secrets
    each_user_of_a_group_has_a_conversation_if_the_settings_say_so
    an_earlier_conversation_of_the_chat_goes_on_by_a_button
    an_own_command_runs_a_program_and_asks_no_model
    what_only_an_admin_decides_is_asked_in_the_private_chat_of_one
    a_question_that_no_one_answers_is_mentioned_again_and_rejected_in_the_end
    no_one_else_gets_an_answer_and_their_words_reach_no_model
    a_kill_in_the_middle_loses_nothing_and_answers_nothing_twice
    every_message_is_answered_once_although_the_service_drops_repeats_and_reorders
    limits_breaks_and_lost_confirmations_lose_nothing_and_repeat_nothing
    a_wrong_token_ends_the_service_and_tokens_are_written_nowhere
}

fn a_turn_with_an_approval_runs_the_step_and_answers_in_its_place<S: ChatService>() {
    let gateway = Gateway::<S>::start(vec![touch(), Reply::chat("**Done**, it is there.")]);
    let place = gateway.service.say_in_group(S::ANN, "make a file");
    let question = gateway.question();
    assert!(question.text.contains("touch made.txt"), "{}", question.text);
    assert_eq!(question.place, place);
    assert!(!gateway.has_file("made.txt"), "nothing runs before the answer");
    let press = gateway.press(S::ANN, &question, "once");
    let answer = gateway.said("it is there.");
    assert!(gateway.has_file("made.txt"));
    assert_eq!((answer.text.as_str(), answer.place), (S::DONE, place));
    gateway.service.wait_until_acknowledged(&press);
    let closed = gateway.wait_for("the closed question", |shown| {
        shown.id == question.id && shown.buttons.is_empty()
    });
    assert!(closed.text.contains("touch made.txt"), "{}", closed.text);
    assert!(closed.text.contains("Approved by "), "{}", closed.text);
    let again = gateway.press(S::ANN, &question, "once");
    let told = gateway.service.told(&again);
    assert!(told.contains("Too late"), "{told}");
}

fn a_press_that_is_forged_or_of_someone_else_decides_nothing<S: ChatService>() {
    let gateway = Gateway::<S>::start(vec![touch(), Reply::chat("Fine.")]);
    gateway.service.say(S::ANN, "make a file");
    let question = gateway.question();
    let forged =
        ["q.aaaaaaaaaaaaaaaaaaaaaaaa.once", "once", "q..once", "\0", "q.a.b.c.d", "\u{202e}"];
    for data in forged {
        let told = gateway.service.told(&gateway.service.press(S::ANN, &question, data));
        assert!(told.contains("Too late"), "{data:?}: {told}");
    }
    // A stranger has the right data, and it is pressed where nothing was asked.
    gateway.press(S::STRANGER, &question, "once");
    let elsewhere = Shown { place: S::ELSEWHERE.into(), ..question.clone() };
    gateway.press(S::STRANGER, &elsewhere, "once");
    let told = gateway.service.told(&gateway.press(S::ANN, &elsewhere, "once"));
    assert!(told.contains("Too late"), "{told}");
    let lasting = question.buttons.iter().find(|(_, data)| data.ends_with(".project"));
    assert_eq!(lasting, None, "no admin is here, so it is not offered");
    let lasting = data(&question.buttons, "once").replace(".once", ".project");
    let told = gateway.service.told(&gateway.service.press(S::ANN, &question, &lasting));
    assert!(told.contains("admin"), "{told}");
    assert!(!gateway.has_file("made.txt"));
    gateway.press(S::ANN, &question, "no");
    gateway.said("Fine.");
    assert!(!gateway.has_file("made.txt"));
}

fn commands_work_during_a_run_and_during_a_question<S: ChatService>() {
    let slow = Reply::chat("slow").hang_after(2);
    let gateway = Gateway::<S>::start(vec![slow, touch(), Reply::chat("Second.")]);
    gateway.service.say(S::ANN, "first");
    gateway.model.wait_for_requests(1);
    gateway.service.say(S::ANN, "second");
    gateway.said("Queued: 1");
    gateway.service.command(S::ANN, "status");
    gateway.said("This session");
    gateway.service.command(S::ANN, "stop");
    // The message that waited is next, and asks.
    let question = gateway.question();
    assert!(question.text.contains("touch"), "{}", question.text);
    gateway.service.command(S::ANN, "steer be brief");
    gateway.service.command(S::ANN, "help");
    gateway.said("/steer");
    gateway.service.command(S::ANN, "deny not now");
    gateway.said("Second.");
    assert!(!gateway.has_file("made.txt"));
}

fn an_agent_is_stopped_by_its_name_and_the_turn_goes_on<S: ChatService>() {
    let input = json!({ "description": "Look", "prompt": "Look.", "agent": "explore" });
    let commands = json!([{ "tool": "task", "input": input }]);
    let task = json!({ "type": "cmd", "message": "One.", "data": { "commands": commands } });
    let slow = Reply::chat("slow").hang_after(2);
    let replies = vec![Reply::text(&task.to_string(), 1), slow, Reply::chat("Without it.")];
    let gateway = Gateway::<S>::start(replies);
    gateway.service.say(S::ANN, "look");
    gateway.model.wait_for_requests(2);
    gateway.service.command(S::ANN, "agents stop explore");
    gateway.said("Without it.");
    let told = gateway.model.requests()[2].json().to_string();
    assert!(told.contains("stopped the agent"), "{told}");
}

fn a_message_that_answers_another_one_says_whose_words_those_are<S: ChatService>() {
    let gateway = Gateway::<S>::start(vec![Reply::chat("It is a typo.")]);
    let said = "/new it fails, see @made.txt";
    fs::write(gateway.dir.work().join("made.txt"), "secret words").unwrap();
    gateway.service.answer_in_group(S::ANN, S::STRANGER, said, "explain this");
    gateway.said("It is a typo.");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    let quote = format!("> user {}: {said}\\n\\nexplain this", S::STRANGER);
    assert!(asked.contains(&quote), "{quote} is not in {asked}");
    assert!(!asked.contains("secret words"), "{asked}");
}

fn a_file_of_the_folder_is_sent_as_it_is_and_never_with_its_secrets<S: ChatService>() {
    let gateway = Gateway::<S>::start(Vec::new());
    let key = format!("ghp_{}", "aB3dE6gH9".repeat(4));
    let big = "a line of a long log\n".repeat(20_000).into_bytes();
    let png: &[u8] = include_bytes!("../fixtures/pixel.png");
    let files: [(&str, &[u8]); 4] = [
        ("crlf.txt", b"one\r\ntwo\r\n"),
        ("big.log", &big),
        ("some.zip", b"PK\x03\x04\0\xff\0"),
        ("plot.png", png),
    ];
    for (name, bytes) in files {
        fs::write(gateway.dir.work().join(name), bytes).unwrap();
        gateway.service.command(S::ANN, &format!("file {name}"));
        assert!(gateway.service.sent_file(name) == bytes, "{name} was changed");
    }
    fs::write(gateway.dir.work().join("key.txt"), format!("token={key}\n")).unwrap();
    gateway.service.command(S::ANN, "file key.txt");
    gateway.said("contains secrets, so it was not sent");
    gateway.service.command(S::ANN, "file key.txt masked");
    let sent = String::from_utf8(gateway.service.sent_file("key.txt")).unwrap();
    assert!(sent.starts_with("token=") && !sent.contains(&key), "{sent}");
    assert_eq!(gateway.model.requests().len(), 0);
}

fn the_model_sends_a_file_once_the_user_agrees_and_never_its_secrets<S: ChatService>() {
    let send = |path: &str| {
        let commands = json!([{ "tool": "file.send", "input": { "path": path } }]);
        let data = json!({ "commands": commands });
        Reply::text(&json!({ "type": "cmd", "message": "Here.", "data": data }).to_string(), 1)
    };
    let replies = vec![send("plot.png"), send("key.txt"), Reply::chat("That was it.")];
    let gateway = Gateway::<S>::start(replies);
    let png: &[u8] = include_bytes!("../fixtures/pixel.png");
    let key = format!("token=ghp_{}", "aB3dE6gH9".repeat(4));
    for (name, bytes) in [("plot.png", png), ("key.txt", key.as_bytes())] {
        fs::write(gateway.dir.work().join(name), bytes).unwrap();
    }
    gateway.service.say(S::ANN, "show me the plot");
    for name in ["plot.png", "key.txt"] {
        let question =
            gateway.wait_for(name, |shown| !shown.buttons.is_empty() && shown.text.contains(name));
        gateway.press(S::ANN, &question, "once");
    }
    assert!(gateway.service.sent_file("plot.png") == png);
    gateway.said("That was it.");
    let told = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(told.contains("contains secrets, so it was not sent"), "{told}");
}

fn each_user_of_a_group_has_a_conversation_if_the_settings_say_so<S: ChatService>() {
    let replies = vec![Reply::chat("Noted."), touch(), Reply::chat("No idea.")];
    let settings = "admins = [\"1\"]\nsession = \"user\"\n";
    let both = [S::ANN, S::STRANGER];
    let gateway = Gateway::<S>::admitting(TestDir::new(), replies, &both, settings);
    gateway.service.say_in_group(S::ANN, "my colour is red");
    gateway.said("Noted.");
    gateway.service.say_in_group(S::STRANGER, "what is my colour?");
    let question = gateway.question();
    let told = gateway.service.told(&gateway.press(S::ANN, &question, "once"));
    assert!(told.contains("Only the user who asked"), "{told}");
    gateway.press(ADMIN, &question, "once");
    gateway.said("No idea.");
    assert!(gateway.has_file("made.txt"));
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(!asked.contains("is red"), "{asked}");
}

fn an_earlier_conversation_of_the_chat_goes_on_by_a_button<S: ChatService>() {
    let gateway = Gateway::<S>::start(answers(3));
    gateway.service.say(S::ANN, "the first matter");
    gateway.said("Answer 0.");
    gateway.wait_for_turn_end(S::NAME, "the first matter");
    gateway.service.command(S::ANN, "new");
    gateway.said("conversation");
    gateway.service.say(S::ANN, "another matter");
    gateway.said("Answer 1.");
    gateway.wait_for_turn_end(S::NAME, "another matter");
    gateway.service.command(S::ANN, "resume 0");
    gateway.said("This chat had no such conversation.");
    gateway.service.command(S::ANN, "resume");
    let offer = gateway.question();
    assert!(offer.buttons.iter().all(|(label, _)| label.contains("first matter")), "{offer:?}");
    gateway.press(S::ANN, &offer, "s0");
    gateway.said("Continued: the first matter");
    gateway.service.say(S::ANN, "go on");
    gateway.said("Answer 2.");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains("first matter") && !asked.contains("another matter"), "{asked}");
}

fn an_own_command_runs_a_program_and_asks_no_model<S: ChatService>() {
    let dir = TestDir::new();
    let folder = dir.path("avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    let text = "exec = [\"touch\", \"{{args}}\"]\nargument_hint = \"<file>\"\n";
    fs::write(folder.join("make.toml"), text).unwrap();
    fs::write(folder.join("say.toml"), "exec = [\"echo\", \"it said {{args}}\"]\n").unwrap();
    let gateway = Gateway::<S>::in_dir(dir, Vec::new(), "");
    gateway.service.command(S::ANN, "make my made.txt");
    let question = gateway.question();
    assert!(question.text.contains("touch 'my made.txt'"), "{}", question.text);
    gateway.press(S::ANN, &question, "once");
    gateway.wait_for_turn_end(S::NAME, "make my made.txt");
    gateway.service.command(S::ANN, "say hello; there");
    gateway.said("it said hello; there");
    assert!(gateway.has_file("my made.txt"));
    assert_eq!(gateway.model.requests().len(), 0);
}

fn what_only_an_admin_decides_is_asked_in_the_private_chat_of_one<S: ChatService>() {
    let replies = vec![Reply::cmd("I look.", "cat", &[".env"]), Reply::chat("It is read.")];
    let gateway = Gateway::<S>::start(replies);
    fs::write(gateway.dir.work().join(".env"), "COLOUR=red\n").unwrap();
    gateway.service.say(S::ANN, "look");
    let is_referred = |shown: &Shown| shown.text.contains("in another chat");
    let is_own = |shown: &Shown| !shown.buttons.is_empty() && !is_referred(shown);
    let own = gateway.wait_for("the question of the user", is_own);
    assert!(own.buttons.iter().all(|(_, data)| !data.ends_with(".once")), "{own:?}");
    gateway.said("An admin was asked in a private chat.");
    let asked = gateway.wait_for("the question of the admin", is_referred);
    assert!(asked.place != own.place && asked.text.contains("cat .env"), "{asked:?}");
    gateway.press(ADMIN, &asked, "once");
    assert_eq!(gateway.said("It is read.").place, own.place);
    let is_closed = |shown: &Shown| is_referred(shown) && shown.buttons.is_empty();
    gateway.wait_for("the end of that question", is_closed);
    assert_eq!(gateway.times_said("in another chat"), 1, "what was answered is not asked again");
    assert_eq!(gateway.times_said("An admin was asked"), 1);
}

fn a_question_that_no_one_answers_is_mentioned_again_and_rejected_in_the_end<S: ChatService>() {
    let settings = "\n[gateway]\nquestion_s = 1\n";
    let gateway = Gateway::<S>::with(vec![touch(), Reply::chat("Then not.")], settings);
    gateway.service.say(S::ANN, "make a file");
    gateway.said("still waits for an answer");
    gateway.said("No one answered the question above in time");
    gateway.said("Then not.");
    assert!(!gateway.has_file("made.txt"));
}

fn no_one_else_gets_an_answer_and_their_words_reach_no_model<S: ChatService>() {
    let gateway = Gateway::<S>::start(vec![Reply::chat("For Ann.")]);
    gateway.service.say(S::STRANGER, "run rm -rf /");
    let place = gateway.service.say_in_group(S::STRANGER, "hello");
    gateway.service.chatter(S::ANN, "not meant for the bot");
    gateway.service.say(S::ANN, "hello");
    gateway.said("For Ann.");
    assert_eq!(gateway.model.requests().len(), 1);
    let group = place.split('/').next().unwrap();
    assert!(gateway.service.look("", Some).iter().all(|shown| !shown.place.starts_with(group)));
}

fn a_kill_in_the_middle_loses_nothing_and_answers_nothing_twice<S: ChatService>() {
    let replies = vec![Reply::chat("One."), touch(), Reply::chat("Three."), Reply::chat("Four.")];
    let mut gateway = Gateway::<S>::start(replies);
    gateway.service.say(S::ANN, "one");
    gateway.said("One.");
    gateway.wait_for_turn_end(S::NAME, "one");
    gateway.service.say(S::ANN, "two");
    let question = gateway.question();
    gateway.service.say(S::ANN, "three");
    gateway.said("Queued: 1");
    // What the chat reported before this command came is written down.
    gateway.service.command(S::ANN, "whoami");
    gateway.said("Your id here is");
    gateway.kill();
    // It came while nothing ran, and the service repeats what was answered.
    gateway.service.say(S::ANN, "four");
    gateway.run();
    gateway.said("Four.");
    gateway.service.repeat_backwards();
    let told = gateway.service.told(&gateway.press(S::ANN, &question, "once"));
    assert!(told.contains("Too late"), "{told}");
    assert!(!gateway.has_file("made.txt"));
    // An edit of one message may come after the next message.
    for part in ["Three.", "This question is gone", "was restarted while"] {
        gateway.said(part);
    }
    for answer in ["One.", "Three.", "Four."] {
        assert_eq!(gateway.times_said(answer), 1, "{answer}");
    }
    // The conversation is whole: the model sees what was said before.
    let last = gateway.model.requests().pop().unwrap().json().to_string();
    for said in ["one", "One.", "two", "three", "Three.", "four"] {
        assert!(last.contains(said), "{said} is not in {last}");
    }
}

fn every_message_is_answered_once_although_the_service_drops_repeats_and_reorders<
    S: ChatService,
>() {
    let gateway = Gateway::<S>::with(answers(12), ROOM);
    for number in 0..12 {
        gateway.service.say(S::ANN, &format!("question {number}"));
        if number == 0 {
            // Nobody can read again what was written in a chat that is not known yet.
            gateway.said("Answer 0.");
        }
        if number % 4 == 1 {
            gateway.service.disturb(number / 4);
        }
        gateway.service.repeat_backwards();
    }
    gateway.said("Answer 11.");
    gateway.service.repeat_backwards();
    gateway.service.command(S::ANN, "whoami");
    gateway.said("Your id here is");
    gateway.expect_each_once(12);
}

fn limits_breaks_and_lost_confirmations_lose_nothing_and_repeat_nothing<S: ChatService>() {
    let gateway = Gateway::<S>::with(answers(8), ROOM);
    gateway.service.plan_trouble();
    (0..8).for_each(|number| gateway.service.say(S::ANN, &format!("question {number}")));
    gateway.expect_each_once(8);
}

fn a_wrong_token_ends_the_service_and_tokens_are_written_nowhere<S: ChatService>() {
    for (name, token) in S::TOKENS {
        let kind = token.split_inclusive([':', '-', '.']).next().unwrap();
        let wrong = format!("{kind}wrong-secret");
        let tokens = S::TOKENS
            .iter()
            .map(|known| if known.0 == *name { (*name, wrong.as_str()) } else { *known });
        let tokens: Vec<(&'static str, &str)> = tokens.collect();
        let mut gateway = Gateway::open(S::start(), TestDir::new(), Vec::new(), "", &tokens);
        let (code, text) = gateway.wait();
        assert_eq!(code, Some(2), "it is not started again: {text}");
        assert!(text.contains("does not accept the token") && text.contains(S::NAME), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let mut gateway = Gateway::<S>::start(vec![Reply::chat("Here.")]);
    gateway.service.say(S::ANN, "hello");
    gateway.said("Here.");
    let (code, text) = gateway.stop();
    assert_eq!((code, text.contains("secret")), (Some(0), false), "{text}");
    for file in walk(&gateway.dir.path("avocet")) {
        let bytes = fs::read(&file).unwrap();
        for (_, token) in S::TOKENS {
            let found = bytes.windows(token.len()).any(|window| window == token.as_bytes());
            assert!(!found, "a token is in {}", file.display());
        }
    }
}
