//! `-> a(x) -> $b`: passes the last result from one script or function to the next.

use super::super::directive::{self, DirectiveCall};
use super::super::fault::quoted;
use super::super::text::args;
use super::calls::{ArgValues, CallSyntax};
use super::import::Callee;
use super::{Frame, ScriptFlow, ScriptRun};
use crate::i18n::script_run as words;

impl ScriptRun {
    /// Runs the links of a chain from left to right.
    pub async fn run_chain(&mut self, frame: &mut Frame, text: &str) -> Result<(), ScriptFlow> {
        let links =
            args::parse_chain(text).ok_or_else(|| words::NO_CHAIN.with("text", quoted(text)))?;
        self.require_trust(frame, "->")?;
        self.flush(frame).await?;
        for link in links {
            self.count_instruction()?;
            let latest = frame.values.latest.clone();
            if link.directive && !frame.imports.has_function(&link.name) {
                let called = CallSyntax {
                    name: &link.name,
                    pipe: link.pipe,
                    args: &link.args,
                    head: None,
                    other_keys: &[],
                };
                match directive::find(&link.name) {
                    // Without arguments it gets the last result as its only argument.
                    Some(row) if link.args.is_empty() && !row.lazy => {
                        let by_place = if latest.is_null() { vec![] } else { vec![latest] };
                        let passed = ArgValues { positional: by_place, ..ArgValues::default() };
                        if let Some(value) =
                            (row.run)(self, frame, DirectiveCall { call: called, args: passed })
                                .await?
                        {
                            frame.values.latest = value;
                        }
                    }
                    _ => self.run_directive(frame, called).await?,
                }
                continue;
            }
            let mut passed = self.evaluate_args(frame, &link.args).await?;
            let known = frame.imports.callee(&link.name);
            let plain = matches!(known, Some(Callee::Js { takes_object: false, .. }));
            let value = if plain && link.args.is_empty() && !latest.is_object() {
                passed.positional.push(latest);
                self.call_function(frame, &link.name, passed).await?
            } else {
                passed.add_latest(&latest);
                match known {
                    Some(_) => self.call_function(frame, &link.name, passed).await?,
                    None => {
                        Some(self.call_script(frame, &link.name, passed.into_script_args()).await?)
                    }
                }
            };
            if let Some(value) = value {
                frame.values.hidden.clear();
                frame.values.latest = value;
            }
        }
        Ok(())
    }
}
