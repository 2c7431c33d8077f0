//! The gateway to Telegram against a Bot API of its own: how its users do what they do, risks,
//! commands, files, folders, restarts and what a probe is told.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fakes::service::Fault;
use crate::fakes::telegram::{BOT_NAME, ChatMessage, TOKEN, TelegramServer};
use crate::journeys::{self, ChatService, Shown};
use crate::process as gateway;
use crate::process::{GatewayProcess, touch};
use crate::support::bench::TestDir;
use crate::support::server::Reply;

const ANN: i64 = 7;
const ADMIN: i64 = 1;
const STRANGER: i64 = 666;

type Gateway = journeys::Gateway<TelegramServer>;

fn shown(message: &ChatMessage) -> Shown {
    Shown {
        id: message.id.to_string(),
        place: message.chat.to_string(),
        text: message.text.clone(),
        buttons: message.buttons.clone(),
    }
}

fn id(user: &str) -> i64 {
    user.parse().unwrap()
}

impl ChatService for TelegramServer {
    const NAME: &'static str = "telegram";
    const TOKENS: &'static [(&'static str, &'static str)] = &[("TELEGRAM_BOT_TOKEN", TOKEN)];
    const ANN: &'static str = "7";
    const STRANGER: &'static str = "666";
    const ELSEWHERE: &'static str = "-6";
    const DONE: &'static str = "Done, it is there.";

    fn say(&self, user: &str, words: &str) {
        self.write(id(user), words);
    }

    fn say_in_group(&self, user: &str, words: &str) -> String {
        self.write_in_group(-5, id(user), &format!("@{BOT_NAME} {words}"));
        "-5".into()
    }

    fn chatter(&self, user: &str, words: &str) {
        self.write_in_group(-5, id(user), words);
    }

    fn answer_in_group(&self, user: &str, author: &str, said: &str, words: &str) {
        let text = format!("@{BOT_NAME} {words}");
        TelegramServer::answer_in_group(self, -5, id(user), id(author), said, &text);
    }

    fn sent_file(&self, name: &str) -> Vec<u8> {
        self.wait(name, |state| {
            let files = state.sent.iter().filter_map(|message| message.file.clone());
            files.into_iter().find(|(of, _)| of == name).map(|(_, bytes)| bytes)
        })
    }

    fn press(&self, user: &str, question: &Shown, data: &str) -> String {
        TelegramServer::press(self, id(user), id(&question.place), data)
    }

    fn wait_until_acknowledged(&self, press: &str) {
        assert_eq!(self.wait_for_acknowledgement(press), None);
    }

    fn told(&self, press: &str) -> String {
        self.wait_for_acknowledgement(press).unwrap()
    }

    fn look<R>(&self, what: &str, look: impl Fn(Vec<Shown>) -> Option<R>) -> R {
        self.wait(what, |state| look(state.sent.iter().map(shown).collect()))
    }

    fn disturb(&self, time: usize) {
        let fault = if time.is_multiple_of(2) { Fault::Broken } else { Fault::Status(502) };
        self.plan("getUpdates", fault);
    }

    fn repeat_backwards(&self) {
        self.with(|state| {
            state.again = state.delivered.iter().rev().cloned().collect();
            state.arrived.notify_waiters();
        });
    }

    fn plan_trouble(&self) {
        self.plan("sendMessage", Fault::Limited(1));
        self.plan("sendMessage", Fault::Broken);
        self.plan("getUpdates", Fault::Broken);
        self.plan("getUpdates", Fault::Status(502));
    }
}

fn data(message: &ChatMessage, choice: &str) -> String {
    gateway::data(&message.buttons, choice)
}

#[test]
fn high_risk_needs_the_word_with_its_code_of_an_admin() {
    // There is no repository here, so nothing is lost.
    let reset = Reply::cmd("I will reset.", "git", &["reset", "--hard"]);
    let settings = "\n[safety]\nlift = [\"git.reset.hard\"]\n";
    let gateway = Gateway::with(vec![reset, Reply::chat("It was run.")], settings);
    gateway.service.write(ADMIN, "reset it");
    let question = gateway.service.wait_for_question(ADMIN);
    assert!(question.buttons.iter().all(|(_, data)| !data.ends_with(".once")), "{question:?}");
    let word = question.text.split("YES ").nth(1).unwrap();
    let code: String = word.chars().take_while(char::is_ascii_alphanumeric).collect();
    gateway.service.write(ADMIN, "/approve");
    gateway.service.wait_for(ADMIN, "type exactly");
    gateway.service.write(ADMIN, "YES zzzz");
    gateway.service.write(ADMIN, "/status");
    gateway.service.wait_for(ADMIN, "This session");
    assert_eq!(gateway.model.requests().len(), 1, "nothing ran yet");
    gateway.service.write(ADMIN, &format!("YES {code}"));
    gateway.service.wait_for(ADMIN, "It was run.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("not a git repository"), "{request}");
}

#[test]
fn commands_reach_no_model_and_a_skill_becomes_a_message() {
    let gateway = Gateway::start(vec![Reply::chat("Hello."), Reply::chat("A path.")]);
    let skill = gateway.dir.path("avocet/skills/greet");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: greet\ndescription: Greets someone\n---\nGreet with a heron.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    for (line, answer) in [
        ("/WHOAMI", "Your id here is 7"),
        ("/nosuch x", "nosuch"),
        ("/bg list", "display.tool_progress_command"),
        ("/exit", "only in the terminal"),
    ] {
        gateway.service.write(ANN, line);
        gateway.service.wait_for(ANN, answer);
    }
    assert_eq!(gateway.model.requests().len(), 0);
    gateway.service.write(ANN, "/greet Ann");
    gateway.service.wait_for(ANN, "Hello.");
    gateway.service.write(ANN, "/etc/hostname is what?");
    gateway.service.wait_for(ANN, "A path.");
    let requests: Vec<_> = gateway.model.requests().iter().map(|one| one.json()).collect();
    let [first, last] = requests.as_slice() else { panic!("{requests:#?}") };
    assert!(first.to_string().contains("Greet with a heron."), "{first}");
    assert!(last.to_string().contains("/etc/hostname is what?"), "{last}");
    for line in ["/WHOAMI", "/nosuch", "/bg list", "/exit"] {
        assert!(!last.to_string().contains(line), "{line} is in {last}");
    }
}

#[test]
fn a_file_that_is_added_comes_into_the_menu_and_entries_mean_what_they_showed() {
    let red = "summarize-the-open-pull-requests-of-team-red";
    let blue = red.replace("red", "blue");
    let entry = "summarize_the_open_pull_requests";
    let dir = TestDir::new();
    let folder = dir.path("avocet/commands");
    fs::create_dir_all(&folder).unwrap();
    let write = |name: &str| {
        let file = folder.join(format!("{name}.toml"));
        fs::write(file, format!("prompt = \"About {name}.\"\n")).unwrap();
    };
    write(red);
    let gateway = Gateway::in_dir(dir, vec![Reply::chat("One."), Reply::chat("Two.")], "");
    let registered = |name: &str| {
        gateway.service.wait(name, |state| {
            let menu = state.traffic.calls.iter().rfind(|call| call.name == "setMyCommands");
            menu.filter(|call| call.body.to_string().contains(name)).map(|_| ())
        });
    };
    registered(entry);
    write(&blue);
    gateway.service.write(ANN, &format!("/{entry}"));
    gateway.service.wait_for(ANN, "One.");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains(&format!("About {red}.")), "{asked}");
    registered("summarize_the_open_pull_request0");
    gateway.service.write(ANN, &format!("/{entry}"));
    gateway.service.wait_for(ANN, "Two.");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains(&format!("About {blue}.")), "its menu shows that now: {asked}");
}

#[test]
fn steps_are_shown_in_one_message_where_the_setting_opens_them() {
    let settings = "\n[display]\ntool_progress_command = true\n";
    let gateway = Gateway::with(vec![touch(), Reply::chat("Done.")], settings);
    gateway.service.write(ANN, "make a file");
    let question = gateway.service.wait_for_question(ANN);
    gateway.service.press(ANN, ANN, &data(&question, "once"));
    gateway.service.wait_for(ANN, "✓ touch made.txt");
    gateway.service.wait_for(ANN, "Done.");
    let texts = gateway.service.texts(ANN);
    assert_eq!(texts.iter().filter(|text| text.contains("✓ ")).count(), 1, "{texts:?}");
    gateway.service.write(ANN, "/bg list");
    gateway.service.write(ANN, "/whoami");
    gateway.service.wait_for(ANN, "Your id here");
    let texts = gateway.service.texts(ANN).concat();
    assert!(!texts.contains("tool_progress_command"), "{texts}");
}

#[test]
fn a_step_that_the_policy_refuses_is_shown_with_the_reason() {
    // A folder that is not there: only the words count.
    let step = Reply::cmd("I remove it.", "rm", &["-rf", "/nosuch-avocet"]);
    let gateway = Gateway::start(vec![step, Reply::chat("Then not.")]);
    gateway.service.write(ANN, "clean up");
    gateway.service.wait_for(ANN, "Then not.");
    let shown = gateway.service.wait_for(ANN, "✗ rm -rf /nosuch-avocet");
    let why = shown.text.split_once("Refused: ").map(|(_, why)| why.trim().len());
    assert!(why.is_some_and(|length| length > 5), "{shown:?}");
}

#[test]
fn writing_is_signalled_while_an_answer_takes_its_time() {
    let gateway = Gateway::start(vec![Reply::chat("At last.").held()]);
    gateway.service.write(ANN, "take your time");
    gateway.service.wait_for_calls("sendChatAction", 1);
    gateway.model.release();
    gateway.service.wait_for(ANN, "At last.");
}

#[test]
fn a_code_that_the_terminal_printed_lets_its_sender_talk_and_no_one_else() {
    let gateway = Gateway::start(vec![Reply::chat("For the paired one.")]);
    let printed = gateway.dir.command(&["gateway", "pair"]).output().unwrap();
    let printed = String::from_utf8([printed.stdout, printed.stderr].concat()).unwrap();
    let code = printed.split_whitespace().find(|word| word.len() == 9 && word.contains('-'));
    let code = code.unwrap_or_else(|| panic!("{printed}"));
    gateway.service.write(STRANGER, code);
    gateway.service.wait_for(STRANGER, "You are paired");
    gateway.service.write(STRANGER + 1, code);
    gateway.service.write(STRANGER, "hello");
    gateway.service.wait_for(STRANGER, "For the paired one.");
    let others = gateway.service.texts(STRANGER + 1).concat();
    assert!(!others.contains("paired:"), "{others}");
    assert_eq!(gateway.model.requests().len(), 1);
}

/// The service accepts no edit for a while, so that both answers are complete and not shown whole.
#[test]
fn messages_whose_answers_were_still_being_shown_are_answered_once_over_any_end_of_the_program() {
    const ONE: &str = "One has many words, and more of them than it begins with.";
    const TWO: &str = "Two has more, and it is not shown whole while it begins.";
    let end: [fn(&mut GatewayProcess); 2] = [GatewayProcess::kill, |process| {
        assert_eq!(process.stop().0, Some(0));
    }];
    for (case, end) in end.into_iter().enumerate() {
        let slowly = |text: &str| {
            let body = format!("{{\"type\":\"chat\",\"message\":\"{text}\"}}");
            Reply::text(&body, 8).pause(Duration::from_millis(20))
        };
        let replies = vec![slowly(ONE), slowly(TWO), Reply::chat("Three.")];
        let mut gateway = Gateway::start(replies);
        gateway.service.plan("editMessageText", Fault::Limited(600));
        gateway.service.write(ANN, "first");
        gateway.model.wait_for_requests(1);
        gateway.service.write(ANN, "second");
        gateway.model.wait_for_requests(2);
        gateway.wait_for_record("telegram", |line| {
            line.contains("\"begun\"") && line.contains("second")
        });
        end(&mut gateway);
        gateway.service.with(|state| state.traffic.faults.clear());
        for _ in 0..2 {
            gateway.run();
            gateway.service.wait_for(ANN, ONE);
            // What was sent and not noted yet is sent once more.
            gateway.wait_for_turn_end("telegram", "first");
            // It may be shown already: the answer to a command tells that the program is up.
            let count = || gateway.service.texts(ANN).concat().matches("Your id here").count();
            let before = count();
            gateway.service.write(ANN, "/whoami");
            until("an answer", || count() > before);
            end(&mut gateway);
        }
        gateway.run();
        gateway.service.write(ANN, "third");
        gateway.service.wait_for(ANN, "Three.");
        assert_eq!(gateway.model.requests().len(), 3, "case {case}: nothing was asked again");
        let texts = gateway.service.texts(ANN);
        let count = |part: &str| texts.iter().filter(|text| text.contains(part)).count();
        assert_eq!((count(ONE), count("Three.")), (1, 1), "case {case}: {texts:#?}");
        // The second answer may have been cut by the end, which is said then.
        assert!(count(TWO) + count("was restarted while") >= 1, "{texts:#?}");
        assert!(count(TWO) <= 1, "case {case}: {texts:#?}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_and_a_refusal_for_now_lose_nothing() {
    let held = Reply::chat("Three.").held();
    let replies = vec![Reply::chat("One."), touch(), held, Reply::chat("Four.")];
    let gateway = Gateway::start(replies);
    for fault in [Fault::Unreadable(200), Fault::Unreadable(404), Fault::Unreadable(502)] {
        gateway.service.plan("sendMessage", fault);
    }
    gateway.service.write(ANN, "one");
    gateway.service.wait_for(ANN, "One.");
    gateway.service.plan("sendMessage", Fault::Unreadable(200));
    gateway.service.write(ANN, "two");
    let question = gateway.service.wait_for_question(ANN);
    gateway.service.press(ANN, ANN, &data(&question, "once"));
    // What the step says is sent before the answer.
    gateway.model.wait_for_requests(3);
    // The user blocked the bot, and wrote again later.
    gateway.service.plan("sendMessage", Fault::Status(403));
    gateway.model.release();
    gateway.service.wait_for_faults();
    gateway.service.write(ANN, "four");
    gateway.service.wait_for(ANN, "Three.");
    gateway.service.wait_for(ANN, "Four.");
}

#[test]
fn a_long_answer_is_split_between_its_parts_and_code_stays_code() {
    let code = "let x = \\\"a_b*c\\\";\\n".repeat(200);
    let body = format!(
        "{{\"type\":\"chat\",\"message\":\"Look:\\n\\n```rust\\n{code}```\\n\\n_End_ of 1.5 (done)!\",\
         \"data\":{{\"format\":\"markdown\"}}}}"
    );
    let gateway = Gateway::start(vec![Reply::text(&body, 20)]);
    gateway.service.write(ANN, "show me");
    let end = gateway.service.wait_for(ANN, "End of 1.5 (done)!");
    assert!(end.markup, "{end:?}");
    let all = gateway.service.texts(ANN).concat();
    assert_eq!(all.matches("let x = \"a_b*c\";").count(), 200);
}

#[test]
fn a_message_of_a_million_letters_is_refused_with_one_sentence() {
    let gateway = Gateway::start(vec![Reply::chat("Still here.")]);
    gateway.service.write(ANN, &"x\u{202e}\u{0}".repeat(400_000));
    gateway.service.wait_for(ANN, "too long");
    gateway.service.write(ANN, "hello");
    gateway.service.wait_for(ANN, "Still here.");
    assert_eq!(gateway.model.requests().len(), 1);
}

#[test]
fn a_file_reaches_the_model_and_a_large_one_is_named_and_left() {
    let replies = vec![Reply::chat("Read."), Reply::chat("No.")];
    let gateway = Gateway::with(replies, "\n[gateway]\nmax_file_mb = 1\n");
    gateway.service.send_file(
        ANN,
        "../notes.txt",
        b"the secret word is heron",
        "what is the word?",
    );
    gateway.service.wait_for(ANN, "Read.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("the secret word is heron"), "{request}");
    gateway.service.send_file(ANN, "big.bin", &vec![0; 2 << 20], "and this?");
    gateway.service.wait_for(ANN, "is larger than");
}

#[test]
fn a_file_outside_of_the_folder_is_asked_about_and_one_that_is_not_there_is_named() {
    let gateway = Gateway::start(Vec::new());
    gateway.service.write(ANN, "/file none.txt");
    gateway.service.wait_for(ANN, "none.txt");
    gateway.service.write(ANN, "/file /etc/passwd");
    gateway.service.wait_for_question(ANN);
    assert_eq!(gateway.model.requests().len(), 0);
}

#[test]
fn a_kill_in_the_turn_of_a_file_does_not_run_it_twice() {
    let mut gateway = Gateway::start(vec![touch(), Reply::chat("Twice?")]);
    gateway.service.send_file(ANN, "notes.txt", b"heron", "what is the word?");
    gateway.service.wait_for_question(ANN);
    gateway.wait_for_record("telegram", |line| line.contains("\"begun\""));
    gateway.kill();
    gateway.run();
    gateway.service.wait_for(ANN, "was restarted while");
    assert_eq!(gateway.model.requests().len(), 1);
}

#[test]
fn the_chats_of_a_folder_ask_what_the_model_can_do_once() {
    let gateway = Gateway::with(vec![Reply::chat("One."), Reply::chat("Two.")], "");
    for (chat, answer) in [(-21, "One"), (-22, "Two")] {
        gateway.service.write_in_group(chat, ANN, "@avocet_bot go");
        gateway.service.wait_for(chat, answer);
    }
    gateway.model.wait_for_lookups(1);
    assert_eq!(gateway.model.lookups().len(), 1);
}

#[test]
fn an_idle_conversation_leaves_the_memory_and_goes_on_where_it_was() {
    let settings = "\n[gateway]\nsession_idle_s = 1\n";
    let gateway = Gateway::with(vec![Reply::chat("One."), Reply::chat("Two.")], settings);
    gateway.service.write(ANN, "first words");
    gateway.service.wait_for(ANN, "One.");
    until("it leaves the memory", || status(&gateway)["telegram"]["health"]["chats"] == 0);
    gateway.service.write(ANN, "second words");
    gateway.service.wait_for(ANN, "Two.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("first words") && request.contains("One."), "{request}");
}

#[test]
fn the_conversation_that_rests_longest_makes_room_and_goes_on_later() {
    let replies = ["One.", "Two.", "Three.", "Four."].map(Reply::chat).to_vec();
    let gateway = Gateway::with(replies, "\n[gateway]\nmax_sessions = 2\n");
    let in_memory = || open_conversations(gateway.id());
    gateway.service.write(ANN, "first words");
    gateway.service.wait_for(ANN, "One.");
    // What follows when its message is done.
    gateway.wait_for_record("telegram", |line| line.contains("\"done\""));
    let first = in_memory();
    gateway.service.write_in_group(-5, ANN, "@avocet_bot second words");
    gateway.service.wait_for(-5, "Two.");
    let both = in_memory();
    assert!(both.len() == 2 && both.is_superset(&first), "{both:?}");
    gateway.service.write_in_group(-6, ANN, "@avocet_bot third words");
    gateway.service.wait_for(-6, "Three.");
    let after = in_memory();
    assert!(after.len() == 2 && after.is_disjoint(&first), "{first:?} {both:?} {after:?}");
    assert!(!after.is_disjoint(&both), "the second one stays: {both:?} {after:?}");
    gateway.service.write(ANN, "and again");
    gateway.service.wait_for(ANN, "Four.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("first words") && request.contains("One."), "{request}");
    assert!(!request.contains("second words"), "{request}");
}

/// The conversations whose locks a process holds.
fn open_conversations(process: u32) -> BTreeSet<PathBuf> {
    let handles = fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    let files = handles.filter_map(|handle| fs::read_link(handle.path()).ok());
    files.filter(|file| file.parent().is_some_and(|of| of.ends_with("locks"))).collect()
}

/// Looks again until it holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let patience = std::time::Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(std::time::Instant::now() < patience, "never happened: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

#[test]
fn an_image_reaches_a_model_that_takes_images_and_is_named_to_the_user_of_another() {
    let png: &[u8] = include_bytes!("../fixtures/pixel.png");
    let replies = || vec![Reply::chat("A dot."), Reply::chat("Words only.")];
    let seeing = Gateway::with(replies(), "\n[models.m]\nimages = true\n");
    seeing.service.send_file(ANN, "plot.png", png, "what is this?");
    seeing.service.wait_for(ANN, "A dot.");
    let request = seeing.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("data:image/png;base64,iVBOR"), "{request}");
    assert!(request.contains("what is this?") && request.contains("plot.png"), "{request}");

    let blind = Gateway::with(replies(), "\n[models.m]\nimages = false\n");
    blind.service.send_file(ANN, "plot.png", png, "what is this?");
    let said = blind.service.wait_for(ANN, "takes no images");
    assert!(said.text.contains("plot.png"), "{said:?}");
    assert_eq!(blind.model.requests().len(), 0);
    blind.service.write(ANN, "then without it");
    blind.service.wait_for(ANN, "A dot.");
    let texts = blind.service.texts(ANN);
    assert!(!texts.iter().any(|text| text.contains("Queued")), "{texts:?}");
}

#[test]
fn a_step_at_work_at_its_time_limit_runs_on_as_a_job_and_the_chat_is_told() {
    let step = Reply::cmd("I follow it.", "sh", &["chatty.sh"]);
    let settings = "\n[limits]\nstep_timeout_s = 4\n";
    let gateway = Gateway::with(vec![step, Reply::chat("It goes on.")], settings);
    let work = gateway.dir.work();
    let chatty = "while [ -e chatty.sh ] && [ ! -e stop ]; do echo tick; sleep 0.05; done\n";
    fs::write(work.join("chatty.sh"), chatty).unwrap();
    gateway.service.write(ANN, "follow it");
    let question = gateway.service.wait_for_question(ANN);
    gateway.service.press(ANN, ANN, &data(&question, "once"));
    let said = gateway.service.wait_for(ANN, "Avocet decided");
    let expected = "is still at work after 4 s, its time limit";
    assert!(said.text.contains("sh chatty.sh") && said.text.contains(expected), "{said:?}");
    assert!(said.text.contains("decided: Keep it running in the background."), "{said:?}");
    gateway.service.wait_for(ANN, "It goes on.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("Running in the background as job 1"), "{request}");
    fs::write(work.join("stop"), "").unwrap();
    gateway.service.wait_for(ANN, "ended with exit code 0");
}

#[test]
fn a_conversation_with_a_running_job_does_not_rest() {
    let step = Reply::cmd("I build it.", "sh", &["build.sh"]);
    let settings = "\n[gateway]\nsession_idle_s = 1\n\n[limits]\nstep_timeout_s = 4\n";
    let gateway = Gateway::with(vec![step, Reply::chat("It goes on.")], settings);
    // It ends by itself, long after the conversation would rest.
    let build = "for _ in $(seq 80); do echo tick; sleep 0.1; done\n";
    fs::write(gateway.dir.work().join("build.sh"), build).unwrap();
    gateway.service.write(ANN, "build it");
    let question = gateway.service.wait_for_question(ANN);
    gateway.service.press(ANN, ANN, &data(&question, "once"));
    gateway.service.wait_for(ANN, "It goes on.");
    gateway.service.wait_for(ANN, "ended with exit code 0");
}

/// What `gateway status` says.
fn status(gateway: &Gateway) -> Value {
    let output = gateway.dir.command(&["gateway", "status", "--json"]).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_chat_works_in_the_folder_that_an_admin_sets() {
    let gateway = Gateway::start(vec![Reply::chat("Here.")]);
    let home = gateway.dir.path("elsewhere");
    fs::create_dir_all(&home).unwrap();
    gateway.service.write(ADMIN, "/sethome /no/such/folder");
    gateway.service.wait_for(ADMIN, "/no/such/folder");
    gateway.service.write(ADMIN, &format!("/sethome {}", home.display()));
    gateway.service.wait_for(ADMIN, &home.display().to_string());
    gateway.service.write(ADMIN, "where are you?");
    gateway.service.wait_for(ADMIN, "Here.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains(&format!("Folder: {}", home.display())), "{request}");
    gateway.wait_for_turn_end("telegram", "where are you?");
    // Who can change its files there would admit himself.
    gateway.service.write(ADMIN, &format!("/sethome {}", gateway.dir.path("avocet").display()));
    gateway.service.wait_for(ADMIN, "Avocet's own files");
    for wide in [gateway.dir.path("home").display().to_string(), "/".to_owned()] {
        gateway.service.write(ADMIN, &format!("/sethome {wide}"));
        gateway.service.wait_for(ADMIN, &format!("{wide} is no folder for a chat"));
    }
}

#[test]
fn a_chat_whose_folder_is_gone_goes_on_in_that_of_the_gateway() {
    let mut gateway = Gateway::start(vec![Reply::chat("Here."), Reply::chat("Again.")]);
    let home = gateway.dir.path("elsewhere");
    fs::create_dir_all(&home).unwrap();
    gateway.service.write(ADMIN, &format!("/sethome {}", home.display()));
    gateway.service.wait_for(ADMIN, &home.display().to_string());
    gateway.service.write(ADMIN, "hello");
    gateway.service.wait_for(ADMIN, "Here.");
    gateway.stop();
    fs::remove_dir_all(&home).unwrap();
    gateway.run();
    gateway.service.write(ADMIN, "and now?");
    gateway.service.wait_for(ADMIN, "Again.");
    gateway.service.wait_for(ADMIN, "`/sethome` sets another folder");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    let work = gateway.dir.work();
    assert!(request.contains(&format!("Folder: {}", work.display())), "{request}");
}

#[test]
fn secrets_of_changes_are_masked() {
    let gateway = Gateway::start(vec![]);
    let work = gateway.dir.work();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        assert!(command.current_dir(&work).output().unwrap().status.success(), "{args:?}");
    };
    fs::write(work.join("key.txt"), "nothing\n").unwrap();
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "x"]);
    let key = format!("ghp_{}", "aB3dE6gH9".repeat(4));
    fs::write(work.join("key.txt"), format!("token={key}\n")).unwrap();
    gateway.service.write(ANN, "/diff");
    gateway.service.wait_for(ANN, "token");
    let texts = gateway.service.texts(ANN).concat();
    assert!(!texts.contains(&key), "{texts}");
}

#[test]
fn a_conversation_of_a_chat_goes_on_in_the_terminal() {
    let replies = vec![Reply::chat("Hello Ann."), Reply::chat("Again.")];
    let mut gateway = Gateway::start(replies);
    gateway.service.write(ANN, "my first words");
    gateway.service.wait_for(ANN, "Hello Ann.");
    let told = status(&gateway);
    assert_eq!(told["telegram"]["health"]["bot"], "avocet_bot", "{told}");
    assert!(!told.to_string().contains(TOKEN));
    gateway.stop();
    let url = gateway.model.base_url();
    let args = ["--base-url", &url, "--model", "m", "-c", "-p", "and now?"];
    let output = gateway.dir.command(&args).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("Again."), "{output:?}");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("my first words") && request.contains("Hello Ann."), "{request}");
}

/// 200 chats at once, each a turn of 20 events. Run by hand: it measures. The time of the model is
/// that from its request to the piece with the first word, which a busy machine makes longer.
#[test]
#[ignore = "strain: measures 200 chats"]
fn load_of_two_hundred_chats_is_answered_once_each() {
    const CHATS: i64 = 200;
    const WORD: &str = "Answer ";
    let text = |n: i64| {
        format!(
            "{{\"type\":\"chat\",\"message\":\"{WORD}{n} of many words in a row for this chat.\"}}"
        )
    };
    let reply = |n| Reply::text(&text(n), 20).pause(Duration::from_millis(5));
    let gateway = Gateway::with((0..CHATS).map(reply).collect(), "");
    let sent: Vec<(i64, Instant)> = (0..CHATS)
        .map(|n| {
            let chat = -(10_000 + n);
            gateway.service.write_in_group(chat, ANN, "@avocet_bot go");
            (chat, Instant::now())
        })
        .collect();
    // Looking at every chat after every call would take time from the program.
    gateway
        .service
        .wait("a message to each chat", |state| (state.sent.len() >= sent.len()).then_some(()));
    let shown: Vec<Instant> =
        sent.iter().map(|(chat, _)| gateway.service.wait_for(*chat, WORD).at).collect();
    gateway.model.wait_for_answered(sent.len());
    let (times, spoken) = (gateway.model.times(), text(0).find(WORD).unwrap() + WORD.len());
    let piece = (spoken * 20).div_ceil(text(0).len()) - 1;
    let [mut whole, mut asking, mut showing, mut own] = [const { Vec::new() }; 4];
    for ((chat, at), shown) in sent.iter().zip(shown) {
        gateway.service.wait_for(*chat, "for this chat.");
        let texts = gateway.service.texts(*chat);
        assert_eq!(texts.len(), 1, "{chat}: {texts:?}");
        let n: usize = texts[0].split(' ').nth(1).unwrap().parse().unwrap();
        let (asked, pieces) = &times[n];
        whole.push(shown - *at);
        asking.push(*asked - *at);
        showing.push(shown.saturating_duration_since(pieces[piece]));
        own.push((shown - *at).saturating_sub(pieces[piece] - *asked));
    }
    let pid = gateway.id();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let ticks: Vec<u64> = stat.split(' ').skip(13).take(2).map(|n| n.parse().unwrap()).collect();
    for (what, mut times) in [
        ("from message to request", asking),
        ("from the model's word to first edit", showing),
        ("from message to first edit", whole),
        ("without the model's time", own),
    ] {
        times.sort_unstable();
        let at = |percent: usize| times[times.len() * percent / 100];
        println!("{what}: p50 {:?} p99 {:?}", at(50), at(99));
    }
    println!("{peak} CPU user {}0 ms, system {}0 ms", ticks[0], ticks[1]);
}
