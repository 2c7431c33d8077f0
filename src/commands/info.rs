//! Commands that show something and change nothing.

use super::{Act, Call, Outcome, Row};
use crate::protocol::{Facts, Notice, Op, Report};
use crate::words::{Value, commands as w};

pub(super) fn help(_: &Call<'_>, topic: &str) -> Outcome {
    Outcome::Do(Act::Help((!topic.is_empty()).then(|| topic.to_owned())))
}

pub(super) fn version(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Say(Notice::info(w::VERSION.with("version", env!("CARGO_PKG_VERSION"))))
}

pub(super) fn doctor(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::Report { report: Report::Doctor })
}

pub(super) fn context(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::Report { report: Report::Context })
}

pub(super) fn usage(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Send(Op::Report { report: Report::Usage })
}

pub(super) fn keys(_: &Call<'_>, _: &str) -> Outcome {
    Outcome::Do(Act::Keys)
}

pub(super) fn status(call: &Call<'_>, _: &str) -> Outcome {
    let Facts { model, provider, base_url, profile, mode, lang, bot, .. } = call.facts;
    let Facts { cwd, branch, turns, steps, usage, .. } = call.facts;
    let tokens = match usage.estimated {
        true => w::TOKENS_ESTIMATED,
        false => w::TOKENS,
    };
    let rows = [
        (w::STATUS_MODEL, Value::from(model.as_str())),
        (w::STATUS_PROVIDER, provider.as_str().into()),
        (w::STATUS_SERVER, base_url.as_str().into()),
        (w::STATUS_PROFILE, profile.as_str().into()),
        (w::STATUS_MODE, mode.name().into()),
        (w::STATUS_LANG, lang.code().into()),
        (w::STATUS_BOT, bot.as_deref().unwrap_or_default().into()),
        (w::STATUS_FOLDER, cwd.as_str().into()),
        (w::STATUS_BRANCH, branch.as_deref().unwrap_or_default().into()),
        (w::STATUS_TURNS, (*turns).into()),
        (w::STATUS_STEPS, (*steps).into()),
        (
            w::STATUS_TOKENS,
            tokens.with("input", usage.input_tokens).with("output", usage.output_tokens).into(),
        ),
    ];
    let filled = rows.into_iter().filter(|(_, value)| *value != Value::from(""));
    let rows = filled.map(|(label, value)| Row::pair(label, value)).collect();
    Outcome::Page { title: w::STATUS_TITLE.into(), rows }
}

pub(super) fn tools(call: &Call<'_>, _: &str) -> Outcome {
    let tools = call.facts.tools.iter();
    let mut rows: Vec<Row> =
        tools.map(|tool| Row::pair(tool.name.as_str(), tool.about.clone())).collect();
    if rows.is_empty() {
        rows.push(Row::line(w::NO_TOOLS));
    }
    Outcome::Page { title: w::TOOLS_TITLE.into(), rows }
}

pub(super) fn permissions(call: &Call<'_>, _: &str) -> Outcome {
    let Facts { allowed, denied, max_steps, .. } = call.facts;
    let mut rows = vec![
        Row::heading(w::PERMISSIONS_TIERS),
        Row::pair("L0", w::TIER_L0),
        Row::pair("L1", w::TIER_L1),
        Row::pair("L2", w::TIER_L2),
    ];
    rows.extend(rules(w::PERMISSIONS_ALLOWED.into(), allowed));
    rows.extend(rules(w::PERMISSIONS_DENIED.into(), denied));
    let limit = match max_steps {
        0 => w::LIMIT_NONE.into(),
        steps => w::LIMIT_STEPS.with("steps", *steps),
    };
    rows.extend([Row::heading(w::PERMISSIONS_LIMITS), Row::line(limit), Row::line(w::HOW_TO_RULE)]);
    Outcome::Page { title: w::PERMISSIONS_TITLE.into(), rows }
}

fn rules(heading: Value, rules: &[String]) -> Vec<Row> {
    let mut rows = vec![Row::Heading(heading)];
    rows.extend(rules.iter().map(|rule| Row::line(rule.as_str())));
    if rules.is_empty() {
        rows.push(Row::line(w::NO_RULES));
    }
    rows
}
