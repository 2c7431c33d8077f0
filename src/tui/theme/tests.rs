//! Every theme can be read, in both senses.

use ratatui::style::Color;

use super::paint::{Rgb, hex};
use super::*;
use crate::words::Lang;

fn light(rgb: Rgb) -> f64 {
    let part = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(rgb.0) + 0.7152 * part(rgb.1) + 0.0722 * part(rgb.2)
}

/// The contrast of WCAG 2: 1 is invisible, 21 is black on white.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (light(a), light(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn styles(theme: &Theme) -> Vec<(&'static str, Style)> {
    let (m, c) = (&theme.markup, &theme.change);
    vec![
        ("text", theme.text),
        ("dim", theme.dim),
        ("accent", theme.accent),
        ("user", theme.user),
        ("ok", theme.ok),
        ("warn", theme.warn),
        ("danger", theme.danger),
        ("info", theme.info),
        ("border", theme.border),
        ("selection", theme.selection),
        ("heading", m.heading),
        ("code", m.code),
        ("block", m.block),
        ("link", m.link),
        ("quote", m.quote),
        ("marker", m.marker),
        ("comment", m.syntax.comment),
        ("string", m.syntax.string),
        ("keyword", m.syntax.keyword),
        ("number", m.syntax.number),
        ("kind", m.syntax.kind),
        ("function", m.syntax.function),
        ("added", c.added),
        ("removed", c.removed),
        ("hunk", c.hunk),
    ]
}

#[test]
fn every_built_in_theme_has_every_meaning_at_every_depth() {
    assert_eq!(BUILT_IN.iter().map(|(name, _)| *name).collect::<Vec<_>>(), Theme::names());
    for name in Theme::names() {
        for depth in [Depth::None, Depth::Sixteen, Depth::Full256, Depth::True] {
            assert!(Theme::built_in(name, depth).is_some(), "{name} {depth:?}");
        }
    }
    assert!(Theme::built_in("nope", Depth::True).is_none());
}

#[test]
fn every_word_stands_out_from_the_background() {
    // What the file assumes, and what terminals really have.
    let grounds = [
        ("dark", vec!["#1c1e26", "#000000", "#1e1e1e", "#0d1117"]),
        ("light", vec!["#fbfaf7", "#ffffff", "#f6f8fa"]),
    ];
    for (name, grounds) in grounds {
        let theme = Theme::built_in(name, Depth::True).unwrap();
        for ground in grounds {
            let ground = hex(ground).unwrap();
            for (meaning, style) in styles(&theme) {
                let Some(Color::Rgb(r, g, b)) = style.fg else { continue };
                let behind = match style.bg {
                    Some(Color::Rgb(r, g, b)) => (r, g, b),
                    _ => ground,
                };
                let ratio = contrast((r, g, b), behind);
                assert!(ratio >= 4.5, "{name}: {meaning} has {ratio:.2} on {behind:?}");
            }
        }
    }
}

#[test]
fn without_colours_only_weight_and_underline_are_left() {
    let theme = Theme::built_in("dark", Depth::None).unwrap();
    for (meaning, style) in styles(&theme) {
        assert_eq!((style.fg, style.bg), (None, None), "{meaning}");
    }
    assert!(theme.selection.add_modifier.contains(Modifier::REVERSED));
    assert!(theme.danger.add_modifier.contains(Modifier::BOLD));
}

#[test]
fn fewer_colours_are_named_by_the_theme_or_the_nearest() {
    let sixteen = Theme::built_in("dark", Depth::Sixteen).unwrap();
    assert_eq!(sixteen.ok.fg, Some(Color::Green));
    let full = Theme::built_in("dark", Depth::Full256).unwrap();
    assert!(matches!(full.ok.fg, Some(Color::Indexed(16..))));
}

#[test]
fn a_faulty_theme_gets_one_sentence_that_names_the_place() {
    let good = BUILT_IN[0].1;
    let cases = [
        ("name = ".to_owned(), "not valid TOML"),
        (good.replace("accent    =", "acent ="), "`acent`"),
        (good.replace("ansi = \"light_blue\"", "ansi = \"mauve\""), "`mauve`"),
        (good.replace("#8b93a7", "8b93a7"), "`8b93a7`"),
        (good.replace("bold = true", "bald = true"), "user.bald"),
        (good.replace("text      = \"default\"", "text = 3"), "`text`"),
        (good.replace("[change]", "[chance]"), "`chance`"),
        (good.replace("quote   =", "# quote ="), "`quote`"),
    ];
    for (source, expected) in cases {
        let error = Theme::parse(&source, Depth::True).expect_err(expected).text(Lang::En);
        assert!(error.contains(expected), "{error}");
    }
}
