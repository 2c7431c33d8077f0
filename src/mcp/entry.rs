//! One server as the files of several programs write it. They differ in names and units alone, so
//! every name is understood in every file.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use avocet_core::i18n::{LocalizedText, mcp as phrases};
use avocet_safety::ServerReach;

use super::definition::{
    CALL_TIMEOUT, DefinitionOrigin, DefinitionProgram, RemoteServer, START_TIMEOUT,
    ServerDefinition, ServerTransport, StdioServer, ToolFilter,
};

const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Reads one entry.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn definition(
    name: &str,
    entry: &Value,
    origin: &DefinitionOrigin,
) -> Result<ServerDefinition, LocalizedText> {
    let table = entry.as_object().ok_or_else(|| wrong(name))?;
    let entry = Entry { table, program: origin.program };
    let timeout = entry.timeout();
    let is_own = origin.program == DefinitionProgram::Avocet && !origin.is_from_repository;
    let disabled = entry.flag("disabled")?.unwrap_or(false);
    Ok(ServerDefinition {
        name: name.to_owned(),
        origin: origin.clone(),
        transport: entry.transport()?,
        start_timeout: entry.seconds("startup_timeout_sec").or(timeout).unwrap_or(START_TIMEOUT),
        call_timeout: entry.seconds("tool_timeout_sec").or(timeout).unwrap_or(CALL_TIMEOUT),
        is_enabled: entry.flag("enabled")?.unwrap_or(true) && !disabled,
        withheld: None,
        samples: is_own && entry.flag("sampling")?.unwrap_or(false),
        tools: ToolFilter {
            only: entry.list(&["enabled_tools", "includeTools"])?,
            except: entry.list(&["disabled_tools", "excludeTools"])?,
        },
    })
}

struct Entry<'a> {
    table: &'a Map<String, Value>,
    program: DefinitionProgram,
}

impl Entry<'_> {
    fn transport(&self) -> Result<ServerTransport, LocalizedText> {
        let kind = self.text("type")?.unwrap_or_default();
        match kind.as_str() {
            "" | "stdio" | "local" | "http" | "streamable-http" | "streamableHttp" | "remote"
            | "sse" => {}
            _ => return Err(phrases::UNKNOWN_TRANSPORT.with("type", kind)),
        }
        if self.table.contains_key("headersHelper") {
            return Err(phrases::NOT_SUPPORTED.with("key", "headersHelper"));
        }
        if self.table.contains_key("bearer_token") {
            return Err(phrases::BEARER_TOKEN.into());
        }
        if self.table.contains_key("command") {
            return self.stdio().map(ServerTransport::Stdio);
        }
        let http = self.text("httpUrl")?;
        let is_old = kind == "sse"
            // There a plain `url` means the older transport.
            || self.program == DefinitionProgram::Gemini && kind.is_empty() && http.is_none();
        let Some(url) = http.or(self.text("url")?) else {
            return Err(phrases::NO_COMMAND.into());
        };
        let server = RemoteServer { url, headers: self.headers()? };
        Ok(if is_old { ServerTransport::Sse(server) } else { ServerTransport::Http(server) })
    }

    fn stdio(&self) -> Result<StdioServer, LocalizedText> {
        let mut words = match self.table.get("command") {
            Some(Value::String(_)) => self.text("command")?.into_iter().collect(),
            _ => self.list(&["command"])?,
        };
        words.extend(self.list(&["args"])?);
        if words.first().is_none_or(|command| command.is_empty()) {
            return Err(phrases::NO_COMMAND.into());
        }
        let mut env = self.map("env")?;
        env.extend(self.map("environment")?);
        let passed = self.list(&["env_vars"])?.into_iter();
        env.extend(passed.map(|name| (name.clone(), format!("${{{name}}}"))));
        let command = words.remove(0);
        let cwd = self.text("cwd")?.map(Into::into);
        let reach = ServerReach {
            is_offline: !self.flag("network")?.unwrap_or(true),
            folders: self.list(&["folders"])?.into_iter().map(Into::into).collect(),
            closed: Vec::new(),
        };
        Ok(StdioServer { command, args: words, env, cwd, reach })
    }

    fn headers(&self) -> Result<BTreeMap<String, String>, LocalizedText> {
        let mut headers = self.map("headers")?;
        headers.extend(self.map("http_headers")?);
        for (name, variable) in self.map("env_http_headers")? {
            headers.insert(name, format!("${{{variable}}}"));
        }
        if let Some(variable) = self.text("bearer_token_env_var")? {
            headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}"));
        }
        Ok(headers)
    }

    /// `timeout`, in the unit of the program.
    fn timeout(&self) -> Option<Duration> {
        use DefinitionProgram::{Avocet, Claude, Codex, Crush, Editor, Gemini, OpenCode};
        let number = self.table.get("timeout").and_then(Value::as_f64)?;
        let seconds = match self.program {
            Claude | Gemini | OpenCode => number / 1000.0,
            Avocet | Codex | Crush | Editor => number,
        };
        duration(seconds)
    }

    fn seconds(&self, key: &str) -> Option<Duration> {
        duration(self.table.get(key).and_then(Value::as_f64)?)
    }

    fn flag(&self, key: &'static str) -> Result<Option<bool>, LocalizedText> {
        match self.table.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_bool().map(Some).ok_or_else(|| wrong(key)),
        }
    }

    fn text(&self, key: &'static str) -> Result<Option<String>, LocalizedText> {
        match self.table.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.value(key, value).map(Some),
        }
    }

    /// The texts of the keys that there are, one after the other.
    fn list(&self, keys: &[&'static str]) -> Result<Vec<String>, LocalizedText> {
        let mut texts = Vec::new();
        for key in keys {
            let Some(value) = self.table.get(*key).filter(|value| !value.is_null()) else {
                continue;
            };
            for value in value.as_array().ok_or_else(|| wrong(key))? {
                texts.push(self.value(key, value)?);
            }
        }
        Ok(texts)
    }

    fn map(&self, key: &'static str) -> Result<BTreeMap<String, String>, LocalizedText> {
        let Some(value) = self.table.get(key).filter(|value| !value.is_null()) else {
            return Ok(BTreeMap::new());
        };
        let table = value.as_object().ok_or_else(|| wrong(key))?;
        table.iter().map(|(name, value)| Ok((name.clone(), self.value(key, value)?))).collect()
    }

    /// A text, with the program's own form of variables as `${VAR}`.
    fn value(&self, key: &str, value: &Value) -> Result<String, LocalizedText> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(wrong(key)),
        };
        match self.program {
            DefinitionProgram::OpenCode if text.contains("{file:") => {
                Err(phrases::NOT_SUPPORTED.with("key", "{file:…}"))
            }
            DefinitionProgram::OpenCode => Ok(text.replace("{env:", "${")),
            DefinitionProgram::Crush if text.contains("$(") => {
                Err(phrases::NOT_SUPPORTED.with("key", "$(…)"))
            }
            DefinitionProgram::Gemini | DefinitionProgram::Crush => Ok(with_braces(&text)),
            DefinitionProgram::Avocet
            | DefinitionProgram::Claude
            | DefinitionProgram::Codex
            | DefinitionProgram::Editor => Ok(text),
        }
    }
}

fn wrong(key: &str) -> LocalizedText {
    phrases::WRONG_TYPE.with("key", avocet_core::text::visible(key))
}

fn duration(seconds: f64) -> Option<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (!duration.is_zero()).then_some(duration.min(MAX_TIMEOUT))
}

/// `$NAME` as `${NAME}`.
fn with_braces(text: &str) -> String {
    let mut parts = text.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        let (name, tail) = part.split_at(end);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            out.push('$');
            out.push_str(part);
        } else {
            out.push_str(&format!("${{{name}}}{tail}"));
        }
    }
    out
}
