//! `avocet gateway run` with Feishu: how its users do what they do, and its topics.

use crate::fakes::feishu::{APP_SECRET, FeishuServer, Message, Tenant, private};
use crate::fakes::service::Fault;
use crate::journeys::{ChatService, Gateway, Shown};
use crate::process::touch;
use crate::support::server::Reply;
use serde_json::{Value, json};

const ANN: &str = FeishuServer::ANN;

fn place(message: &Message) -> String {
    let thread = message.thread.as_ref();
    thread.map_or_else(|| message.chat.clone(), |thread| format!("{}/{thread}", message.chat))
}

fn messages(tenant: &Tenant) -> impl Iterator<Item = Shown> {
    let cards = tenant.messages_of_the_app().filter(|message| message.kind == "interactive");
    cards.map(|message| Shown {
        id: message.id.clone(),
        place: place(message),
        text: message.shown(),
        buttons: message
            .buttons()
            .into_iter()
            .map(|(label, value)| (label, value["data"].as_str().unwrap().to_owned()))
            .collect(),
    })
}

impl ChatService for FeishuServer {
    const NAME: &'static str = "feishu";
    const SETTINGS: &'static str = "app_id = \"cli_test\"\n";
    const TOKENS: &'static [(&'static str, &'static str)] = &[("FEISHU_APP_SECRET", APP_SECRET)];
    const ANN: &'static str = "ou_7";
    const STRANGER: &'static str = "ou_666";
    const ELSEWHERE: &'static str = "oc_5";
    const DONE: &'static str = "**Done**, it is there.";

    fn say(&self, user: &str, words: &str) {
        FeishuServer::say(self, user, words);
    }

    fn say_in_group(&self, user: &str, words: &str) -> String {
        self.mention("oc_1", user, words, None);
        "oc_1".to_owned()
    }

    fn chatter(&self, user: &str, words: &str) {
        FeishuServer::chatter(self, "oc_1", user, words);
    }

    fn answer_in_group(&self, user: &str, author: &str, said: &str, words: &str) {
        let first = FeishuServer::chatter(self, "oc_1", author, said);
        self.mention("oc_1", user, words, Some(&first));
    }

    fn sent_file(&self, name: &str) -> Vec<u8> {
        self.wait(name, |tenant| {
            let sent = tenant.messages_of_the_app().filter(|message| message.kind == "file");
            let mut keys = sent.filter_map(|message| message.content["file_key"].as_str());
            let key = keys.find(|key| tenant.names[*key] == name)?;
            Some(tenant.files[key].clone())
        })
    }

    fn press(&self, user: &str, question: &Shown, data: &str) -> String {
        let (chat, _) = question.place.split_once('/').unwrap_or((&question.place, ""));
        let known = self.with(|tenant| {
            let message = tenant.messages.iter().find(|message| message.id == question.id)?;
            let mut values = message.buttons().into_iter().map(|(_, value)| value);
            values.find(|value| value["data"] == data)
        });
        let value = known.unwrap_or_else(|| json!({ "data": data }));
        FeishuServer::press(self, user, chat, &question.id, &value)
    }

    fn wait_until_acknowledged(&self, press: &str) {
        self.wait_for_answer(press);
    }

    fn told(&self, press: &str) -> String {
        let answer = self.wait_for_answer(press);
        answer["toast"]["content"].as_str().unwrap_or_default().to_owned()
    }

    fn look<R>(&self, what: &str, look: impl Fn(Vec<Shown>) -> Option<R>) -> R {
        self.wait(what, |tenant| look(messages(tenant).collect()))
    }

    fn disturb(&self, time: usize) {
        match time % 2 {
            0 => self.break_connections(),
            _ => self.close_connections(),
        }
    }

    fn repeat_backwards(&self) {
        self.repeat_everything_backwards();
    }

    fn plan_trouble(&self) {
        for fault in [Fault::Limited(1), Fault::Unheard, Fault::Broken, Fault::Status(503)] {
            self.plan("POST im/v1/messages", fault);
        }
        self.plan("POST im/v1/messages", Fault::Unauthorized);
        self.plan("PATCH im/v1/messages", Fault::Limited(1));
    }
}

#[test]
fn a_topic_is_a_conversation_of_its_own_whose_question_is_answered_there() {
    let gateway = Gateway::<FeishuServer>::start(vec![touch(), Reply::chat("Made.")]);
    let content = json!({ "text": "@_user_1 make a file" });
    let service = &gateway.service;
    service.message("oc_1", ANN, "text", &content, |message| {
        message["thread_id"] = json!("omt_1");
        message["mentions"] = json!([{ "key": "@_user_1", "id": { "open_id": "ou_bot" } }]);
    });
    let root = service.with(|tenant| tenant.messages[0].id.clone());
    let asked = gateway.said("touch made.txt");
    assert_eq!(asked.place, format!("oc_1/{root}"));
    let data = crate::process::data(&asked.buttons, "once");
    ChatService::press(service, ANN, &asked, &data);
    assert_eq!(gateway.said("Made.").place, format!("oc_1/{root}"));
}

#[test]
fn a_picture_reaches_the_model_and_an_answer_grows_in_one_card() {
    let words: Vec<String> = (1..=60).map(|number| format!("word{number}")).collect();
    let reply = json!({ "type": "chat", "message": words.join(" "), "data": {} }).to_string();
    let slow = Reply::text(&reply, 30).pause(std::time::Duration::from_millis(60));
    let gateway = Gateway::<FeishuServer>::start(vec![slow]);
    let service = &gateway.service;
    service.with(|tenant| tenant.files.insert("f_1".into(), b"the words of a file".to_vec()));
    let content = json!({ "file_key": "f_1", "file_name": "notes.txt" });
    service.message(&private(ANN), ANN, "file", &content, |_| {});
    gateway.said("word60");
    let asked = gateway.model.requests().pop().unwrap().json().to_string();
    assert!(asked.contains("the words of a file"), "{asked}");
    service.with(|tenant| {
        let cards: Vec<&Message> = tenant.messages_of_the_app().collect();
        assert_eq!(cards.len(), 1);
        assert!(cards[0].edits > 0, "it was changed as it grew");
        let _: &Value = &cards[0].content;
    });
}
