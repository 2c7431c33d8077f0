//! What a turn, a session and a run may spend, and the sentence when it is spent.

use super::{Money, Usage};
use crate::i18n::{LocalizedText, Phrase, agent as phrases, goal as goal_phrases};

/// The most that may be spent; `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendLimit {
    pub cost: Option<Money>,
    pub tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendLimits {
    pub turn: SpendLimit,
    /// The whole conversation, also before it was resumed.
    pub session: SpendLimit,
    /// Since the program started.
    pub run: SpendLimit,
    /// The goal that the session works towards; no setting says it.
    pub goal: SpendLimit,
}

/// What has been spent, or was before the current turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub turn: Usage,
    pub session: Usage,
    pub run: Usage,
    pub goal: Usage,
}

impl Spent {
    /// The same after more was spent on the current turn.
    #[must_use]
    pub fn plus(self, usage: Usage) -> Spent {
        Spent {
            turn: self.turn.plus(usage),
            session: self.session.plus(usage),
            run: self.run.plus(usage),
            goal: self.goal.plus(usage),
        }
    }
}

/// What a turn may spend, given what was spent before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    limits: SpendLimits,
    /// The limits, and what the user allowed on top of them during the turn.
    allowed: SpendLimits,
    before: Spent,
}

impl Budget {
    pub fn new(limits: SpendLimits, spent: Spent) -> Budget {
        Budget { limits, allowed: limits, before: spent }
    }

    /// The same for work within the turn, after the turn itself used this much.
    #[must_use]
    pub fn after(self, usage: Usage) -> Budget {
        Budget { before: self.before.plus(usage), ..self }
    }

    /// Other limits of the settings count from now on. The same ones leave what the user allowed on
    /// top of them.
    pub fn set_limits(&mut self, limits: SpendLimits) {
        let limits = SpendLimits { goal: self.limits.goal, ..limits };
        if self.limits != limits {
            (self.limits, self.allowed) = (limits, limits);
        }
    }

    /// Whether something ends the run that costs too much.
    pub fn limits_cost_of_run(&self) -> bool {
        self.limits.run.cost.is_some()
    }

    /// The reason to stop before the next request, after the turn itself used this much.
    pub fn stop_reason(&self, usage: Usage) -> Option<LocalizedText> {
        check(&self.before.plus(usage), &self.allowed)
    }

    /// The user lets the turn go on: each limit that is reached is granted once more.
    pub fn extend(&mut self, usage: Usage) {
        let spent = self.before.plus(usage);
        self.allowed.turn.extend(spent.turn, self.limits.turn);
        self.allowed.session.extend(spent.session, self.limits.session);
        self.allowed.run.extend(spent.run, self.limits.run);
        self.allowed.goal.extend(spent.goal, self.limits.goal);
    }
}

impl SpendLimit {
    fn extend(&mut self, usage: Usage, limit: SpendLimit) {
        if self.cost.is_some_and(|most| usage.cost >= most) {
            self.cost = limit.cost.map(|more| usage.cost + more);
        }
        let used = usage.total_tokens();
        if self.tokens.is_some_and(|most| used >= most) {
            self.tokens = limit.tokens.map(|more| used.saturating_add(more));
        }
    }
}

/// The reason to stop before the next request, if a limit is reached. The narrowest comes first.
pub fn check(spent: &Spent, limits: &SpendLimits) -> Option<LocalizedText> {
    let scopes = [
        (spent.turn, limits.turn, "turn", phrases::TURN_COST, phrases::TURN_TOKENS),
        (spent.session, limits.session, "session", phrases::SESSION_COST, phrases::SESSION_TOKENS),
        (spent.run, limits.run, "run", phrases::RUN_COST, phrases::RUN_TOKENS),
        // It has no limit of tokens.
        (spent.goal, limits.goal, "goal", goal_phrases::HAS_COST, goal_phrases::HAS_COST),
    ];
    scopes.into_iter().find_map(|(usage, limit, scope, cost, tokens)| {
        let say = |phrase: Phrase, kind: &str, spent: String, most: String| {
            let key = format!("limits.{kind}.{scope}");
            phrase.with("spent", spent).with("most", most).with("key", key)
        };
        let used = usage.total_tokens();
        let money = limit.cost.filter(|most| usage.cost >= *most);
        let money = money.map(|most| say(cost, "cost", usage.cost.to_string(), most.to_string()));
        money.or_else(|| {
            let most = limit.tokens.filter(|most| used >= *most)?;
            Some(say(tokens, "tokens", used.to_string(), most.to_string()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::Lang;

    fn spent(tokens: u64, micros: u64) -> Usage {
        Usage { cost: Money(micros), ..Usage::counted(tokens, 0) }
    }

    #[test]
    fn without_limits_nothing_stops() {
        let all = Spent::default().plus(spent(u64::MAX, u64::MAX));
        assert_eq!(check(&all, &SpendLimits::default()), None);
    }

    #[test]
    fn a_limit_stops_when_it_is_reached_and_names_its_setting_in_both_languages() {
        let limits = SpendLimits {
            turn: SpendLimit { cost: Some(Money(500_000)), tokens: None },
            session: SpendLimit { cost: None, tokens: Some(1_000) },
            run: SpendLimit { cost: Some(Money(900_000)), tokens: None },
            goal: SpendLimit { cost: Some(Money(700_000)), tokens: None },
        };
        let before = Spent::default();
        assert_eq!(check(&before.plus(spent(999, 499_999)), &limits), None);
        for (usage, key, amount) in [
            (spent(1, 500_000), "limits.cost.turn", "$0.5000"),
            (spent(1_000, 0), "limits.tokens.session", "1000"),
        ] {
            let why = check(&before.plus(usage), &limits).unwrap();
            for lang in [Lang::En, Lang::Zh] {
                let text = why.text(lang);
                assert!(text.contains(key) && text.contains(amount), "{text}");
            }
        }
    }

    #[test]
    fn a_user_who_goes_on_grants_the_limit_once_more() {
        let turn = SpendLimit { cost: None, tokens: Some(100) };
        let limits = SpendLimits { turn, ..SpendLimits::default() };
        let mut budget = Budget::new(limits, Spent::default());
        assert!(budget.stop_reason(spent(120, 0)).is_some());
        budget.extend(spent(120, 0));
        assert_eq!(budget.stop_reason(spent(219, 0)), None);
        assert!(budget.stop_reason(spent(220, 0)).is_some());
    }

    #[test]
    fn what_earlier_turns_spent_counts_for_the_session_and_the_run_only() {
        let limits = SpendLimits {
            turn: SpendLimit { cost: None, tokens: Some(100) },
            run: SpendLimit { cost: None, tokens: Some(150) },
            ..SpendLimits::default()
        };
        let before = Spent { run: spent(90, 0), ..Spent::default() };
        assert_eq!(check(&before.plus(spent(50, 0)), &limits), None);
        let why = check(&before.plus(spent(60, 0)), &limits).unwrap();
        assert!(why.text(Lang::En).contains("limits.tokens.run"));
    }
}
