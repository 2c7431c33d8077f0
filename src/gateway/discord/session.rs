//! The protocol of Discord's gateway: frames in, what to do out. Pure; the caller waits, and keeps
//! the connection.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::platform::PlatformError;

/// Messages in channels and direct messages, with their text if the bot is mentioned.
const INTENTS: u64 = 1 << 9 | 1 << 12;

/// The text of every message: the owner of the bot has to switch that on at the service.
const ALL_TEXTS: u64 = 1 << 15;

/// The code of a connection that is to be resumed: 1000 and 1001 would end the session.
pub const CLOSE_TO_RESUME: u16 = 4900;

/// A session that another connection can resume.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SessionKey {
    pub id: String,
    pub url: String,
    /// The last event that was received.
    pub sequence: u64,
    /// What it delivers: that is asked for at a login only.
    #[serde(default)]
    pub intents: u64,
}

/// What to do after a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionStep {
    Send(Value),
    /// Send a heartbeat this often; the first one after a random part of the time.
    Beat(Duration),
    /// A new session began: what happened before it is not delivered.
    Ready,
    Resumed,
    /// An event, in the order of the service.
    Event {
        name: String,
        data: Value,
    },
    /// Leave the connection and open another one, after at least so long.
    Reconnect(Duration),
    /// No connection will succeed.
    Fail(PlatformError),
}

#[derive(Default, Deserialize)]
struct GatewayFrame {
    op: u64,
    #[serde(default)]
    d: Value,
    #[serde(default)]
    s: Option<u64>,
    #[serde(default)]
    t: Option<String>,
}

/// One bot's session, over any number of connections.
pub struct DiscordSession {
    token: String,
    intents: u64,
    key: Option<SessionKey>,
    /// The last heartbeat was not answered yet.
    is_beat_open: bool,
}

impl DiscordSession {
    pub fn new(token: String, reads_all: bool, key: Option<SessionKey>) -> DiscordSession {
        let intents = if reads_all { INTENTS | ALL_TEXTS } else { INTENTS };
        let key = key.filter(|key| key.intents == intents);
        DiscordSession { token, intents, key, is_beat_open: false }
    }

    pub fn key(&self) -> Option<&SessionKey> {
        self.key.as_ref()
    }

    /// Where to connect, if the session says it.
    pub fn url(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.url.as_str())
    }

    pub fn on_frame(&mut self, text: &str) -> Vec<SessionStep> {
        let frame: GatewayFrame = match serde_json::from_str(text) {
            Ok(frame) => frame,
            Err(_) => return Vec::new(),
        };
        match frame.op {
            0 => self.on_event(frame),
            1 => vec![self.heartbeat()],
            7 => vec![SessionStep::Reconnect(Duration::ZERO)],
            9 => {
                if frame.d != true {
                    self.key = None;
                }
                // The service asks for a pause of 1 to 5 s; the caller adds a random part.
                vec![SessionStep::Reconnect(Duration::from_secs(1))]
            }
            10 => {
                let every = frame.d["heartbeat_interval"].as_u64().unwrap_or(41_250).max(100);
                self.is_beat_open = false;
                vec![SessionStep::Beat(Duration::from_millis(every)), self.login()]
            }
            11 => {
                self.is_beat_open = false;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn on_event(&mut self, frame: GatewayFrame) -> Vec<SessionStep> {
        let name = frame.t.unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if name == "READY" {
            let data = &frame.d;
            self.key = Some(SessionKey {
                id: text(&data["session_id"]),
                url: text(&data["resume_gateway_url"]),
                sequence: frame.s.unwrap_or(0),
                intents: self.intents,
            });
            return vec![SessionStep::Ready];
        }
        if let (Some(key), Some(sequence)) = (&mut self.key, frame.s) {
            // A repeated event is old already.
            key.sequence = key.sequence.max(sequence);
        }
        match name.as_str() {
            "RESUMED" => vec![SessionStep::Resumed],
            _ => vec![SessionStep::Event { name, data: frame.d }],
        }
    }

    fn login(&self) -> SessionStep {
        SessionStep::Send(match &self.key {
            Some(key) => json!({ "op": 6, "d": {
                "token": self.token, "session_id": key.id, "seq": key.sequence,
            }}),
            None => json!({ "op": 2, "d": {
                "token": self.token, "intents": self.intents, "shard": [0, 1],
                "properties": { "os": std::env::consts::OS, "browser": "avocet", "device": "avocet" },
            }}),
        })
    }

    /// It is time for a heartbeat. If the last one was not answered, the connection is dead.
    pub fn on_beat(&mut self) -> SessionStep {
        if self.is_beat_open {
            SessionStep::Reconnect(Duration::ZERO)
        } else {
            self.is_beat_open = true;
            self.heartbeat()
        }
    }

    fn heartbeat(&self) -> SessionStep {
        let sequence = self.key.as_ref().map(|key| key.sequence);
        SessionStep::Send(json!({ "op": 1, "d": sequence }))
    }

    /// The connection was closed, with a code or broken.
    pub fn on_close(&mut self, code: Option<u16>) -> SessionStep {
        let refused = |why: &str| SessionStep::Fail(PlatformError::Refused(why.to_owned()));
        match code {
            Some(4004) => SessionStep::Fail(PlatformError::Unauthorized),
            Some(4010 | 4011) => refused("the bot is in too many servers for one connection"),
            Some(4012) => refused("the service does not speak version 10 any more"),
            Some(4013) => refused("the bot may not receive messages"),
            Some(4014) => refused("the Message Content Intent of the bot is switched off"),
            // The session is over; a new one begins.
            Some(1000 | 1001 | 4003 | 4007 | 4009) => {
                self.key = None;
                SessionStep::Reconnect(Duration::from_secs(1))
            }
            Some(4008) => SessionStep::Reconnect(Duration::from_secs(5)),
            _ => SessionStep::Reconnect(Duration::ZERO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(session: &mut DiscordSession) -> Vec<SessionStep> {
        let frame = json!({ "op": 0, "t": "READY", "s": 1, "d": {
            "session_id": "s1", "resume_gateway_url": "wss://resume.example", "user": { "id": "9" }, "new": true,
        }});
        session.on_frame(&frame.to_string())
    }

    fn session() -> DiscordSession {
        DiscordSession::new("secret".into(), false, None)
    }

    fn hello(session: &mut DiscordSession) -> (Duration, Value) {
        let steps = session.on_frame(r#"{"op":10,"d":{"heartbeat_interval":41250}}"#);
        match steps.as_slice() {
            [SessionStep::Beat(every), SessionStep::Send(login)] => (*every, login.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_session_that_delivers_other_messages_than_are_wanted_is_not_resumed() {
        let key = |intents| {
            let (id, url) = ("s".to_owned(), "wss://x".to_owned());
            Some(SessionKey { id, url, sequence: 1, intents })
        };
        let resumes = |intents, reads_all| {
            DiscordSession::new("t".into(), reads_all, key(intents)).key().is_some()
        };
        assert!(resumes(INTENTS, false) && resumes(INTENTS | ALL_TEXTS, true));
        assert!(!resumes(INTENTS, true) && !resumes(INTENTS | ALL_TEXTS, false));
        assert!(!resumes(0, false), "one of an older version");
    }

    #[test]
    fn a_new_session_logs_in_and_a_broken_one_resumes_after_its_last_event() {
        let mut session = session();
        let (every, login) = hello(&mut session);
        assert_eq!((every, &login["op"]), (Duration::from_millis(41_250), &json!(2)));
        assert_eq!(login["d"]["intents"].as_u64().unwrap() & (1 << 15), 0, "nothing privileged");
        assert_eq!(ready(&mut session), [SessionStep::Ready]);
        for sequence in [2, 5, 4] {
            let frame =
                json!({ "op": 0, "t": "MESSAGE_CREATE", "s": sequence, "d": { "id": "1" } });
            let event =
                SessionStep::Event { name: "MESSAGE_CREATE".into(), data: json!({ "id": "1" }) };
            assert_eq!(session.on_frame(&frame.to_string()), [event]);
        }
        assert_eq!(session.on_close(None), SessionStep::Reconnect(Duration::ZERO));
        assert_eq!(session.url(), Some("wss://resume.example"));
        let (_, login) = hello(&mut session);
        assert_eq!(
            login,
            json!({ "op": 6, "d": { "token": "secret", "session_id": "s1", "seq": 5 } })
        );
        assert_eq!(
            session.on_frame(r#"{"op":0,"t":"RESUMED","s":6,"d":{}}"#),
            [SessionStep::Resumed]
        );
    }

    #[test]
    fn a_heartbeat_without_an_answer_ends_the_connection() {
        let mut session = session();
        hello(&mut session);
        assert_eq!(session.on_beat(), SessionStep::Send(json!({ "op": 1, "d": null })));
        assert_eq!(session.on_beat(), SessionStep::Reconnect(Duration::ZERO));
        hello(&mut session);
        ready(&mut session);
        assert_eq!(session.on_beat(), SessionStep::Send(json!({ "op": 1, "d": 1 })));
        assert_eq!(session.on_frame(r#"{"op":11}"#), []);
        assert!(matches!(session.on_beat(), SessionStep::Send(_)));
        assert!(matches!(session.on_frame(r#"{"op":1,"d":null}"#)[..], [SessionStep::Send(_)]));
    }

    #[test]
    fn each_way_to_end_says_whether_the_session_goes_on() {
        let after = |end: &dyn Fn(&mut DiscordSession) -> SessionStep| {
            let mut session = session();
            ready(&mut session);
            let step = end(&mut session);
            (step, session.key().is_some())
        };
        let frame = |text: &'static str| {
            move |session: &mut DiscordSession| session.on_frame(text).remove(0)
        };
        let reconnect = |seconds| SessionStep::Reconnect(Duration::from_secs(seconds));
        assert_eq!(after(&frame(r#"{"op":7,"d":null}"#)), (reconnect(0), true));
        assert_eq!(after(&frame(r#"{"op":9,"d":true}"#)), (reconnect(1), true));
        assert_eq!(after(&frame(r#"{"op":9,"d":false}"#)), (reconnect(1), false));
        let close =
            |code: u16| after(&move |session: &mut DiscordSession| session.on_close(Some(code)));
        for (code, resumes) in
            [(4000, true), (4009, false), (4007, false), (1000, false), (1006, true)]
        {
            assert_eq!(close(code).1, resumes, "{code}");
        }
        assert_eq!(close(4004).0, SessionStep::Fail(PlatformError::Unauthorized));
        for code in [4010, 4011, 4012, 4013, 4014] {
            let (step, _) = close(code);
            assert!(matches!(step, SessionStep::Fail(PlatformError::Refused(_))), "{code}");
        }
    }

    #[test]
    fn frames_that_are_not_understood_do_nothing() {
        let mut session = session();
        for text in ["", "{", "[]", "{}", r#"{"op":"0"}"#, r#"{"op":99}"#, r#"{"op":-1}"#] {
            assert_eq!(session.on_frame(text), [], "{text}");
        }
    }
}
