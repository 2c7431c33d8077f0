//! Decides what a question shows when rows are short: its details give way first, then blank rows.
//! The command or the diff and the labels of the choices stay. Pure.

/// With fewer rows of what is asked, the choices give up their long labels.
const MIN_BODY: usize = 3;
/// With so many rows of what is asked, a blank row below them does no harm.
const ROOMY: u16 = 8;

/// The rows that a question wants.
#[derive(Clone, Copy, Debug, Default)]
pub struct DialogRows {
    /// The command or the diff: nothing is approved before they were on the screen.
    pub required: usize,
    /// With those that belong to it: the other steps of a list, the reasons of a grave question.
    pub body: usize,
    /// What is good to know.
    pub facts: usize,
    /// The user asked for the facts: they scroll instead of giving way.
    pub keeps_facts: bool,
    /// Of the choices with their labels, and with short ones.
    pub grid: u16,
    pub flow: u16,
}

/// How the height is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DialogLayout {
    pub body: u16,
    pub foot: u16,
    pub form: FootForm,
    pub spacing: Spacing,
    pub shows_facts: bool,
}

/// How the choices are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FootForm {
    #[default]
    Grid,
    Flow,
    Row,
}

/// Where blank rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Around the choices, and at the edges of the panel.
    Padded,
    /// Around the choices.
    Around,
    /// Above the choices.
    Above,
    #[default]
    None,
}

impl Spacing {
    fn rows(self) -> u16 {
        match self {
            Spacing::Padded => 4,
            Spacing::Around => 2,
            Spacing::Above => 1,
            Spacing::None => 0,
        }
    }

    /// Rows above the head, and below the hint.
    pub fn padding(self) -> u16 {
        u16::from(self == Spacing::Padded)
    }

    /// Rows between body and choices.
    pub fn above_foot(self) -> u16 {
        u16::from(self != Spacing::None)
    }
}

impl DialogLayout {
    /// The head and the hint take a row each.
    pub fn total(self) -> u16 {
        2 + self.body + self.foot + self.spacing.rows()
    }
}

/// Divides a screen of this height.
pub fn lay_out(height: u16, rows: &DialogRows) -> DialogLayout {
    let least = u16::try_from(rows.required.clamp(1, MIN_BODY)).unwrap_or(1);
    let forms = [(FootForm::Grid, rows.grid), (FootForm::Flow, rows.flow)];
    let fitting = forms.into_iter().find(|(_, foot)| 2 + foot + least <= height);
    let (form, foot) = fitting.unwrap_or((FootForm::Row, rows.flow.min(1)));
    let divide = |most: u16, spacing: Spacing, shows_facts: bool| {
        let body = most.saturating_sub(2 + foot + spacing.rows());
        DialogLayout { body, foot, form, spacing, shows_facts }
    };
    let wanted = |facts: bool| rows.body + if facts { rows.facts } else { 0 };
    let holds = |layout: &DialogLayout, rows: usize| usize::from(layout.body) >= rows;
    let close = [Spacing::Around, Spacing::Above, Spacing::None];
    // The conversation keeps some rows, and most of the screen where there are blank ones.
    let polite = height - (height / 5).min(12);
    let keeps = rows.keeps_facts;
    let tries = [(height / 2, Spacing::Padded, true), (polite, Spacing::Around, true)];
    let tries = tries.into_iter().chain(close.map(|spacing| (polite, spacing, keeps)));
    let mut layouts = tries.map(|(most, spacing, facts)| divide(most, spacing, facts));
    if let Some(mut whole) = layouts.find(|layout| holds(layout, wanted(layout.shows_facts))) {
        whole.body = u16::try_from(wanted(whole.shows_facts)).unwrap_or(whole.body);
        return whole;
    }
    let tries = [polite, height].into_iter().flat_map(|most| close.map(|spacing| (most, spacing)));
    let mut layouts = tries.map(|(most, spacing)| divide(most, spacing, keeps));
    let scrolls = || {
        let airy = divide(height, Spacing::Above, keeps);
        if airy.body >= ROOMY { airy } else { divide(height, Spacing::None, keeps) }
    };
    // A list shows more than its first step.
    let least = rows.required.max(rows.body.min(MIN_BODY));
    let mut layout = layouts.find(|layout| holds(layout, least)).unwrap_or_else(scrolls);
    // Blank rows give way before what is asked about is hidden.
    if layout.body < ROOMY && !holds(&layout, wanted(keeps)) {
        layout = divide(layout.total(), Spacing::None, keeps);
    }
    layout.body = layout.body.min(u16::try_from(wanted(keeps)).unwrap_or(u16::MAX));
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(required: usize, facts: usize, grid: u16) -> DialogRows {
        DialogRows { required, body: required, facts, grid, flow: 2, ..DialogRows::default() }
    }

    #[test]
    fn facts_give_way_before_blank_rows_and_the_subject_and_the_labels_never() {
        use Spacing as S;
        let details = |rows: DialogRows| DialogRows { keeps_facts: true, ..rows };
        // The height, what is wanted; rows of all, rows of the body, blank rows, facts.
        let cases = [
            // A command of one line.
            (24, rows(1, 1, 4), (12, 2, S::Padded, true)),
            (40, rows(1, 1, 4), (12, 2, S::Padded, true)),
            (20, rows(1, 1, 4), (10, 2, S::Around, true)),
            (12, rows(1, 1, 4), (10, 2, S::Around, true)),
            (11, rows(1, 1, 4), (9, 1, S::Around, false)),
            (10, rows(1, 1, 4), (8, 1, S::Above, false)),
            (8, rows(1, 1, 4), (7, 1, S::None, false)),
            (7, rows(1, 1, 4), (7, 1, S::None, false)),
            // Details that were asked for scroll.
            (24, details(rows(1, 9, 4)), (18, 10, S::Around, true)),
            (24, details(rows(1, 12, 4)), (20, 13, S::Above, true)),
            (24, details(rows(1, 30, 4)), (20, 12, S::Around, true)),
            // A diff below its head.
            (24, rows(10, 1, 3), (18, 11, S::Around, true)),
            (24, rows(13, 1, 3), (20, 13, S::Around, false)),
            (24, rows(15, 1, 3), (20, 15, S::None, false)),
            (24, rows(17, 1, 3), (24, 17, S::Around, false)),
            (24, rows(20_000, 1, 3), (24, 18, S::Above, false)),
            (12, rows(20_000, 1, 3), (12, 7, S::None, false)),
            (40, rows(10, 1, 3), (20, 11, S::Padded, true)),
        ];
        for (height, rows, expected) in cases {
            let layout = lay_out(height, &rows);
            let DialogLayout { body, spacing, shows_facts, .. } = layout;
            let shown = (layout.total(), body, spacing, shows_facts);
            assert_eq!((shown, layout.form), (expected, FootForm::Grid), "{height}: {rows:?}");
        }
    }

    #[test]
    fn labels_are_shortened_only_where_the_subject_would_have_no_room() {
        let form = |height, rows: DialogRows| lay_out(height, &rows).form;
        assert_eq!(form(7, rows(1, 1, 4)), FootForm::Grid);
        assert_eq!(form(6, rows(1, 1, 4)), FootForm::Flow);
        assert_eq!(form(8, rows(9, 1, 4)), FootForm::Flow);
        assert_eq!(form(4, rows(1, 1, 4)), FootForm::Row);
        assert_eq!(form(5, rows(9, 1, 4)), FootForm::Row);
    }

    #[test]
    fn blank_rows_give_way_before_the_reasons() {
        let grave = DialogRows { body: 11, ..rows(3, 1, 8) };
        let layout = lay_out(12, &grave);
        assert_eq!((layout.form, layout.body, layout.total()), (FootForm::Flow, 6, 10));
        assert_eq!(layout.spacing, Spacing::None);
    }

    #[test]
    fn no_layout_is_higher_than_the_screen_and_every_one_shows_the_subject() {
        for height in 5..60 {
            for (required, more, facts, grid) in
                [(1, 0, 1, 4), (3, 9, 0, 6), (9, 2, 3, 3), (400, 0, 2, 5), (1, 0, 40, 5)]
            {
                for keeps_facts in [false, true] {
                    let body = required + more;
                    let rows = DialogRows { required, body, facts, keeps_facts, grid, flow: 3 };
                    let layout = lay_out(height, &rows);
                    assert!(layout.total() <= height.max(5), "{height} {rows:?} {layout:?}");
                    assert!(layout.body > 0, "{height} {rows:?} {layout:?}");
                }
            }
        }
    }
}
