//! The gateway to Telegram with several users and several messages at once: whose command it is,
//! whose question, what waits, and what is written down.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use rustix::fs::FileType;
use serde_json::json;

use crate::fakes::service::Fault;
use crate::fakes::telegram::{BOT_NAME, ChatMessage, TOKEN, TelegramServer};
use crate::journeys::Gateway;
use crate::process::{GatewayProcess, data, touch};
use crate::support::bench::TestDir;
use crate::support::server::Reply;

const ANN: i64 = 7;
const BOB: i64 = 8;
const ADMIN: i64 = 1;
const STRANGER: i64 = 666;
const GROUP: i64 = -5;
/// The same group with more members.
const MOVED: i64 = -1_005;

fn start(replies: Vec<Reply>, settings: &str) -> (TelegramServer, GatewayProcess) {
    let settings = format!("admins = [\"{ADMIN}\"]\n{settings}");
    let Gateway { service, process } =
        Gateway::admitting(TestDir::new(), replies, &["7", "8"], &settings);
    (service, process)
}

#[test]
fn a_bystander_of_a_group_does_not_answer_the_question_of_another_user() {
    let slow = touch().held();
    let (telegram, gateway) = start(vec![slow, Reply::chat("Done.")], "");
    telegram.write_in_group(GROUP, ANN, "@avocet_bot make a file");
    gateway.model.wait_for_requests(1);
    telegram.write_in_group(GROUP, BOB, "/usage");
    telegram.write_in_group(GROUP, BOB, "/whoami");
    telegram.wait_for(GROUP, "Your id here is 8");
    gateway.model.release();
    let question = telegram.wait_for_question(GROUP);
    let press = telegram.press(BOB, GROUP, &data(&question.buttons, "once"));
    let said = telegram.wait_for_acknowledgement(&press).unwrap();
    assert!(said.contains("Only the user who asked"), "{said}");
    let press = telegram.press(STRANGER, GROUP, &data(&question.buttons, "once"));
    telegram.wait_for_acknowledgement(&press);
    assert!(!gateway.has_file("made.txt"));
    telegram.press(ANN, GROUP, &data(&question.buttons, "once"));
    telegram.wait_for(GROUP, "Done.");
    assert!(gateway.has_file("made.txt"));
}

#[test]
fn the_word_for_high_risk_is_heard_in_a_group_without_a_mention() {
    let reset = Reply::cmd("I will reset.", "git", &["reset", "--hard"]);
    let settings = "\n[safety]\nlift = [\"git.reset.hard\"]\n";
    let (telegram, gateway) = start(vec![reset, Reply::chat("It was run.")], settings);
    telegram.write_in_group(GROUP, ADMIN, "@avocet_bot reset it");
    let question = telegram.wait_for_question(GROUP);
    let word = question.text.split("YES ").nth(1).unwrap();
    let code: String = word.chars().take_while(char::is_ascii_alphanumeric).collect();
    telegram.write_in_group(GROUP, STRANGER, &format!("YES {code}"));
    telegram.write_in_group(GROUP, BOB, &format!("YES {code}"));
    telegram.write_in_group(GROUP, ADMIN, "what does it want?");
    telegram.write_in_group(GROUP, ADMIN, &format!("YES {code}"));
    telegram.wait_for(GROUP, "It was run.");
    let last = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(!last.contains("what does it want?"), "{last}");
}

#[test]
fn a_folder_and_a_message_in_one_batch_lose_nothing() {
    let (telegram, gateway) = start(vec![Reply::chat("It is done.")], "");
    fs::create_dir(gateway.dir.path("other")).unwrap();
    let other = gateway.dir.path("other").display().to_string();
    telegram.write(ADMIN, &format!("/sethome {other}"));
    telegram.write(ADMIN, "do it");
    telegram.wait_for(ADMIN, "It is done.");
    let texts = telegram.texts(ADMIN).concat();
    assert!(!texts.contains("Stopped") && !texts.contains("restarted"), "{texts}");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("do it") && request.contains(&other), "{request}");
}

#[test]
fn queued_words_survive_a_kill() {
    let replies = vec![Reply::chat("slow").held(), Reply::chat("Followed.")];
    let (telegram, mut gateway) = start(replies, "");
    telegram.write(ANN, "first");
    gateway.model.wait_for_requests(1);
    telegram.write(ANN, "/queue important follow-up");
    telegram.wait_for(ANN, "Queued: 1");
    gateway.kill();
    gateway.run();
    telegram.wait_for(ANN, "Followed.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("important follow-up"), "{request}");
}

#[test]
fn a_long_question_whose_file_is_refused_is_shown_in_messages() {
    let word = "z".repeat(4_200);
    let echo = Reply::cmd("I say it.", "touch", &[&word]);
    let (telegram, _gateway) = start(vec![echo, Reply::chat("Fine.")], "");
    telegram.plan("sendDocument", Fault::Status(413));
    telegram.write(ANN, "say it");
    let question = telegram.wait_for_question(ANN);
    assert!(question.text.contains("in the messages above"), "{}", question.text);
    assert!(telegram.texts(ANN).concat().contains(&word));
    telegram.press(ANN, ANN, &data(&question.buttons, "no"));
    telegram.wait_for(ANN, "Fine.");
}

#[test]
fn refusals_are_in_the_log_without_the_token_and_files_of_chats_are_removed() {
    let (telegram, mut gateway) = start(vec![Reply::chat("Read.")], "");
    telegram.write(STRANGER, "a secret sentence");
    telegram.wait_for(STRANGER, "You are not allowed");
    telegram.send_file(ANN, "notes.txt", b"heron", "read it");
    telegram.wait_for(ANN, "Read.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    let path = request.split("notes.txt").next().unwrap().rsplit(": ").next().unwrap();
    let folder = std::path::Path::new(path).parent().unwrap().to_owned();
    assert!(folder.is_absolute() && folder.exists(), "{}", folder.display());
    gateway.stop();
    assert!(!folder.exists(), "{} is left", folder.display());
    let printed = gateway.dir.command(&["doctor"]).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let log = printed.split_whitespace().find(|word| word.ends_with("avocet.log"));
    let log = fs::read_to_string(log.unwrap_or_else(|| panic!("{printed}"))).unwrap();
    assert!(log.contains("refused") && log.contains("666"), "{log}");
    assert!(!log.contains(TOKEN) && !log.contains("a secret sentence"), "{log}");
}

#[test]
fn names_that_no_command_has_are_reported_at_the_start_and_with_the_menu() {
    let (telegram, mut gateway) = start(vec![Reply::chat("Hello.")], "");
    gateway.stop();
    let commands = gateway.dir.path("avocet/commands");
    fs::create_dir_all(&commands).unwrap();
    let text = |more: &str| format!("description = \"d\"\nprompt = \"P\"\n{more}\n");
    for (name, more) in [("status", ""), ("x y", ""), ("dup", "aliases = [\"usage\"]")] {
        fs::write(commands.join(format!("{name}.toml")), text(more)).unwrap();
    }
    let menu = gateway.dir.command(&["gateway", "menu", "telegram"]).output().unwrap();
    let menu = String::from_utf8(menu.stdout).unwrap();
    gateway.run();
    telegram.write(ANN, "hi");
    telegram.wait_for(ANN, "Hello.");
    let (_, printed) = gateway.stop();
    for name in ["status", "x y", "usage"] {
        assert!(printed.contains(name), "{name} is not in {printed}");
        assert!(menu.contains(name), "{name} is not in {menu}");
    }
}

#[test]
fn a_chat_hears_commands_while_a_file_is_fetched_and_messages_keep_their_order() {
    let (telegram, gateway) = start(vec![Reply::chat("Read."), Reply::chat("Next.")], "");
    telegram.hold_files(true);
    telegram.send_file(ANN, "one.txt", b"unwanted", "read this");
    telegram.write(ANN, "/whoami");
    telegram.wait_for(ANN, "Your id here is 7");
    telegram.write(ANN, "/stop");
    telegram.wait_for(ANN, "Stopped.");
    telegram.send_file(ANN, "two.txt", b"heron", "read that");
    telegram.write(ANN, "and then?");
    telegram.write(ANN, "/status");
    telegram.wait_for(ANN, "This session");
    assert_eq!(gateway.model.requests().len(), 0);
    telegram.hold_files(false);
    telegram.wait_for(ANN, "Next.");
    let requests: Vec<_> = gateway.model.requests().iter().map(|one| one.json()).collect();
    let [first, second] = requests.as_slice() else { panic!("{requests:#?}") };
    let (first, second) = (first.to_string(), second.to_string());
    assert!(first.contains("heron") && !first.contains("and then?"), "{first}");
    assert!(second.contains("and then?") && !second.contains("unwanted"), "{second}");
}

#[test]
fn an_album_is_one_message_and_so_is_a_long_text_that_came_in_pieces() {
    let (telegram, gateway) = start(vec![Reply::chat("Seen."), Reply::chat("Read.")], "");
    let caption = format!("@{BOT_NAME} compare these");
    telegram.send_album(GROUP, ANN, &["one.txt", "two.txt"], &caption);
    telegram.wait_for(GROUP, "Seen.");
    telegram.write(ANN, &"word ".repeat(810));
    telegram.write(ANN, "and the end");
    telegram.wait_for(ANN, "Read.");
    let asked: Vec<String> =
        gateway.model.requests().iter().map(|request| request.json().to_string()).collect();
    assert_eq!(asked.len(), 2);
    for part in ["[user 7] compare these", "one.txt", "two.txt"] {
        assert!(asked[0].contains(part), "{part} is not in {}", asked[0]);
    }
    assert!(asked[1].contains("and the end"), "{}", asked[1]);
}

#[test]
fn a_message_that_came_after_a_file_is_answered_when_the_file_is_stopped() {
    let (telegram, gateway) = start(vec![Reply::chat("Heard.")], "");
    telegram.hold_files(true);
    telegram.send_file(ANN, "one.txt", b"unwanted", "read this");
    telegram.write(ANN, "a word after it");
    telegram.write(ANN, "/stop");
    telegram.wait_for(ANN, "Heard.");
    let request = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(request.contains("a word after it") && !request.contains("unwanted"), "{request}");
}

#[test]
fn an_unknown_platform_and_a_token_with_a_space_are_named_as_what_they_are() {
    let (_telegram, gateway) = start(Vec::new(), "");
    let output = gateway.dir.command(&["gateway", "users", "--remove", "foo", "1"]).output();
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(said.contains("no platform foo") && said.contains("telegram"), "{said}");
    let mut command = gateway.dir.command(&["gateway", "token", "telegram"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a b").unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(said.contains("not a token"), "{said}");
}

#[test]
fn credentials_are_read_for_admins_only_and_reach_no_chat() {
    let (telegram, gateway) = start(vec![], "");
    let token = "ghp_R4nd0mT0kenOfThisTestXy12Zz98Qq76Aa";
    fs::write(gateway.dir.work().join(".env"), format!("GITHUB_TOKEN={token}\n")).unwrap();
    telegram.write(ANN, "/file .env");
    let question = telegram.wait_for_question(ANN);
    assert!(question.text.contains("only an admin can approve it"), "{}", question.text);
    assert!(question.buttons.iter().all(|(_, data)| !data.ends_with(".once")), "{question:?}");
    let nonce = question.buttons[0].1.split('.').nth(1).unwrap();
    let press = telegram.press(ANN, ANN, &format!("q.{nonce}.once"));
    let said = telegram.wait_for_acknowledgement(&press).unwrap();
    assert!(said.contains("Only an admin"), "{said}");
    let approve = |line: &str| {
        telegram.write(ADMIN, line);
        let question = telegram.wait("a question with a yes", |state| {
            let is_own = |text: &str| !text.contains("in another chat");
            let buttons = state.sent.iter().rev();
            let buttons = buttons.filter(|sent| sent.chat == ADMIN && is_own(&sent.text));
            let yes = |(_, data): &&(String, String)| data.ends_with(".once");
            buttons.filter_map(|sent| sent.buttons.iter().find(yes).cloned()).next()
        });
        telegram.press(ADMIN, ADMIN, &question.1);
    };
    approve("/file .env");
    telegram.wait_for(ADMIN, "contains secrets");
    approve("/file .env masked");
    let text = telegram.wait(".env", |state| {
        let files = state.sent.iter().filter_map(|message| message.file.clone());
        files.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).next()
    });
    assert!(text.contains("GITHUB_TOKEN=") && !text.contains(token), "{text}");
}

#[test]
fn the_model_sends_only_files_and_none_whose_name_hides_something() {
    let paths = ["pipe", "sub", "big.bin", "lnk", "../out.txt", "a\u{202e}b.txt", "c\nd.txt"];
    let send = |path: &&str| {
        let commands = json!([{ "tool": "file.send", "input": { "path": path } }]);
        let data = json!({ "commands": commands });
        Reply::text(&json!({ "type": "cmd", "message": "Here.", "data": data }).to_string(), 1)
    };
    let replies = paths.iter().map(send).chain([Reply::chat("That was it.")]).collect();
    let (telegram, gateway) = start(replies, "");
    let work = gateway.dir.work();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, work.join("pipe"), FileType::Fifo, mode, 0).unwrap();
    fs::create_dir(work.join("sub")).unwrap();
    fs::File::create(work.join("big.bin")).unwrap().set_len(51 << 20).unwrap();
    fs::write(gateway.dir.path("out.txt"), "outside").unwrap();
    std::os::unix::fs::symlink(gateway.dir.path("out.txt"), work.join("lnk")).unwrap();
    for name in &paths[5..] {
        fs::write(work.join(name), "inside").unwrap();
    }
    telegram.write(ANN, "send all of it");
    for number in 1..=paths.len() {
        let buttons = telegram.wait("the next question", |state| {
            let asked = |sent: &&ChatMessage| sent.text.contains("It would run: file.send");
            let of = state.sent.iter().filter(|sent| sent.chat == ANN).filter(asked);
            let last = of.clone().next_back().filter(|_| of.count() == number)?;
            (!last.buttons.is_empty()).then(|| last.buttons.clone())
        });
        let may_agree = buttons.iter().any(|(_, data)| data.ends_with(".once"));
        assert_eq!(may_agree, ![4, 5].contains(&number), "what leads out is for admins: {number}");
        telegram.press(ANN, ANN, &data(&buttons, if may_agree { "once" } else { "no" }));
    }
    telegram.wait_for(ANN, "That was it.");
    let names: Vec<String> = telegram.with(|state| {
        state.sent.iter().filter_map(|sent| sent.file.clone()).map(|(name, _)| name).collect()
    });
    assert_eq!(names, ["a_u{202e}b.txt", "c_x0ad.txt"]);
}

#[test]
fn the_closing_of_an_admins_question_is_tried_again_until_the_service_takes_it() {
    let replies = vec![Reply::cmd("I look.", "cat", &[".env"]), Reply::chat("It is read.")];
    let (telegram, gateway) = start(replies, "");
    fs::write(gateway.dir.work().join(".env"), "COLOUR=red\n").unwrap();
    telegram.write(ANN, "look");
    let asked = telegram.wait_for_question(ADMIN);
    // Whichever edit meets them: the one of the chat itself is tried again as well.
    for fault in [Fault::Broken, Fault::Limited(0), Fault::Broken] {
        telegram.plan("editMessageText", fault);
    }
    telegram.press(ADMIN, ADMIN, &data(&asked.buttons, "once"));
    telegram.wait_for(ANN, "It is read.");
    telegram.wait("the end of the admin's question", |state| {
        let is_closed = |sent: &&ChatMessage| sent.id == asked.id && sent.buttons.is_empty();
        state.sent.iter().find(is_closed).map(drop)
    });
}

#[test]
fn who_may_talk_is_read_again_when_the_settings_change() {
    let (telegram, gateway) = start(vec![Reply::chat("Hello."), Reply::chat("Again.")], "");
    telegram.write(ANN, "hi");
    telegram.wait_for(ANN, "Hello.");
    let file = gateway.dir.root.path().join("avocet/config.toml");
    let settings = fs::read_to_string(&file).unwrap();
    let without = settings.replace(&format!("allow = [\"{ANN}\", "), "allow = [");
    assert_ne!(settings, without);
    fs::write(&file, "[gateway.telegram\n").unwrap();
    telegram.write(ANN, "a file that is saved half changes nothing");
    telegram.wait_for(ANN, "Again.");
    fs::write(&file, without).unwrap();
    telegram.write(ANN, "still me");
    telegram.wait_for(ANN, "not allowed to use this bot");
    assert_eq!(gateway.model.requests().len(), 2);
}

#[test]
fn a_group_that_gets_another_id_keeps_its_conversation_and_sees_what_is_answered() {
    let (telegram, gateway) = start(vec![Reply::chat("Noted."), Reply::chat("Red.")], "");
    telegram.write_in_group(GROUP, ANN, "@avocet_bot my colour is red");
    telegram.wait_for(GROUP, "Noted.");
    gateway.wait_for_turn_end("telegram", "my colour");
    telegram.move_group(GROUP, MOVED);
    telegram.write_in_group(MOVED, ANN, "@avocet_bot which colour is it?");
    telegram.wait_for(MOVED, "Red.");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains("my colour is red"), "{asked}");
    let sent = telegram.calls("sendMessage");
    assert!(
        sent.iter().all(|sent| sent.body["reply_parameters"]["message_id"].is_i64()),
        "{sent:?}"
    );
}

#[test]
fn a_group_that_moves_during_a_turn_gets_the_rest_and_what_waits_at_its_new_place() {
    let (telegram, gateway) = start(vec![Reply::chat("Slow.").held(), Reply::chat("Next.")], "");
    telegram.write_in_group(GROUP, ANN, "@avocet_bot one");
    gateway.model.wait_for_requests(1);
    telegram.write_in_group(GROUP, ANN, "@avocet_bot two");
    telegram.wait_for(GROUP, "Queued: 1");
    telegram.move_group(GROUP, MOVED);
    telegram.write_in_group(MOVED, ANN, "/whoami");
    telegram.wait_for(MOVED, "Your id here is 7");
    gateway.model.release();
    telegram.wait_for(MOVED, "Slow.");
    telegram.wait_for(MOVED, "Next.");
    assert!(!telegram.texts(GROUP).concat().contains("Stopped"), "{:?}", telegram.texts(GROUP));
    assert_eq!(gateway.model.requests().len(), 2);
}

#[test]
fn what_waited_in_a_group_that_moved_while_nothing_ran_is_answered_at_its_new_place() {
    let replies = vec![Reply::chat("Slow.").held(), Reply::chat("Two."), Reply::chat("Three.")];
    let (telegram, mut gateway) = start(replies, "");
    telegram.write_in_group(GROUP, ANN, "@avocet_bot one");
    gateway.model.wait_for_requests(1);
    telegram.write_in_group(GROUP, ANN, "@avocet_bot two");
    telegram.wait_for(GROUP, "Queued: 1");
    gateway.kill();
    telegram.move_group(GROUP, MOVED);
    telegram.write_in_group(MOVED, ANN, "@avocet_bot three");
    gateway.run();
    for part in ["was restarted while", "Two.", "Three."] {
        telegram.wait_for(MOVED, part);
    }
    assert_eq!(gateway.model.requests().len(), 3);
}

#[test]
fn a_question_of_a_group_that_moves_is_asked_again_at_its_new_place() {
    let (telegram, gateway) = start(vec![touch(), Reply::chat("Done.")], "");
    telegram.write_in_group(GROUP, ANN, "@avocet_bot make a file");
    telegram.wait_for_question(GROUP);
    telegram.move_group(GROUP, MOVED);
    let question = telegram.wait_for_question(MOVED);
    telegram.press(ANN, MOVED, &data(&question.buttons, "once"));
    telegram.wait_for(MOVED, "Done.");
    assert!(gateway.has_file("made.txt"));
}

#[test]
fn a_user_is_answered_in_the_language_of_their_client() {
    let whoami = json!({ "text": "/whoami",
        "from": { "id": ANN, "first_name": "Ann", "language_code": "zh-hans" } });
    let (telegram, _gateway) = start(Vec::new(), "");
    telegram.send(ANN, whoami);
    telegram.wait_for(ANN, "你");
}

#[test]
fn a_changed_message_is_not_read_and_a_webhook_of_before_is_removed_and_told() {
    let (telegram, mut gateway) = start(vec![Reply::chat("Hello.")], "");
    telegram.wait_for_calls("deleteWebhook", 1);
    telegram.write(ANN, "helo");
    telegram.wait_for(ANN, "Hello.");
    telegram.edit(ANN, "hello");
    telegram.wait_for(ANN, "send it as a new one");
    assert_eq!(gateway.model.requests().len(), 1);
    let (_, told) = gateway.stop();
    assert!(
        told.contains("Telegram: A webhook was set") && told.contains("hook.example"),
        "{told}"
    );
    assert!(told.contains("Telegram: Privacy mode is on"), "{told}");
}
