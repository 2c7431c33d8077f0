//! `-> a(x) -> $b`: passes the last result from one script or function to the next.

use super::super::directive::{self, DirectiveCall};
use super::super::fault::quoted;
use super::super::text::args;
use super::calls::{ArgValues, Called};
use super::import::Callee;
use super::{Frame, ScriptFlow, ScriptRun};
use crate::words::script_run as words;

impl ScriptRun {
    /// Runs the links of a chain from left to right.
    pub async fn chain(&mut self, frame: &mut Frame, text: &str) -> Result<(), ScriptFlow> {
        let links = args::chain(text).ok_or_else(|| words::NO_CHAIN.with("text", quoted(text)))?;
        self.needs_trust(frame, "->")?;
        self.flush(frame).await?;
        for link in links {
            self.step()?;
            let latest = frame.values.latest.clone();
            if link.directive && !frame.reach.has_function(&link.name) {
                let called = Called {
                    name: &link.name,
                    pipe: link.pipe,
                    args: &link.args,
                    head: None,
                    more: &[],
                };
                match directive::find(&link.name) {
                    // Without arguments it gets the last result as its only argument.
                    Some(row) if link.args.is_empty() && !row.lazy => {
                        let by_place = if latest.is_null() { vec![] } else { vec![latest] };
                        let passed = ArgValues { by_place, ..ArgValues::default() };
                        if let Some(value) =
                            (row.run)(self, frame, DirectiveCall { called, passed }).await?
                        {
                            frame.values.latest = value;
                        }
                    }
                    _ => self.directive(frame, called).await?,
                }
                continue;
            }
            let mut passed = self.passed(frame, &link.args).await?;
            let known = frame.reach.callee(&link.name);
            let plain = matches!(known, Some(Callee::Js { takes_object: false, .. }));
            let value = if plain && link.args.is_empty() && !latest.is_object() {
                passed.by_place.push(latest);
                self.function(frame, &link.name, passed).await?
            } else {
                passed.pipe(&latest);
                match known {
                    Some(_) => self.function(frame, &link.name, passed).await?,
                    None => Some(self.script(frame, &link.name, passed.for_script()).await?),
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
