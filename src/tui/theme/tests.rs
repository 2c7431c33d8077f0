//! Every theme is readable, in both senses.

use ratatui::style::Color;

use super::downsample::{Rgb, parse_hex};
use super::*;
use avocet_core::i18n::Lang;

fn luminance(rgb: Rgb) -> f64 {
    let part = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(rgb.0) + 0.7152 * part(rgb.1) + 0.0722 * part(rgb.2)
}

/// The contrast ratio of WCAG 2: 1 is invisible, 21 is black on white.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
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

/// The backgrounds of each theme: the one its file assumes, and those of real terminals; and the
/// contrast it promises.
const GROUNDS: &[(&str, &[&str], f64)] = &[
    ("dark", &["#1c1e26", "#000000", "#1e1e1e", "#0d1117"], 4.5),
    ("light", &["#fbfaf7", "#ffffff", "#f6f8fa"], 4.5),
    ("high-contrast", &["#000000"], 7.0),
    ("colorblind", &["#1c1e26", "#000000", "#1e1e1e", "#0d1117"], 4.5),
    ("16-colors", &["#000000"], 4.5),
];

fn rgb(color: Option<Color>) -> Option<Rgb> {
    match color? {
        Color::Rgb(r, g, b) => Some((r, g, b)),
        named => downsample::SIXTEEN.iter().find(|(_, known, _)| *known == named).map(|row| row.2),
    }
}

#[test]
fn every_word_stands_out_from_the_background() {
    assert_eq!(GROUNDS.iter().map(|row| row.0).collect::<Vec<_>>(), Theme::names());
    for (name, grounds, least) in GROUNDS {
        let theme = Theme::built_in(name, Depth::True).unwrap();
        for ground in *grounds {
            let ground = parse_hex(ground).unwrap();
            for (meaning, style) in styles(&theme) {
                let Some(ink) = rgb(style.fg) else { continue };
                let behind = rgb(style.bg).unwrap_or(ground);
                let ratio = contrast(ink, behind);
                assert!(ratio >= *least, "{name}: {meaning} has {ratio:.2} on {behind:?}");
            }
        }
    }
}

/// The panels of a theme, and the meanings that are written on each.
fn painted<'a>(
    theme: &Theme,
    on_diff: &'a [&str],
) -> Vec<(&'static str, Style, Option<&'a [&'a str]>)> {
    let c = &theme.change;
    vec![
        ("surface", theme.panel.surface, None),
        ("raised", theme.panel.raised, None),
        ("added_row", c.added_row, Some(on_diff)),
        ("removed_row", c.removed_row, Some(on_diff)),
    ]
}

#[test]
fn every_word_stands_out_from_the_panel_and_the_row_of_a_diff_it_is_on() {
    let on_diff = [
        "text", "dim", "block", "comment", "string", "keyword", "number", "kind", "function",
        "added", "removed",
    ];
    for (name, grounds, least) in GROUNDS {
        let theme = Theme::built_in(name, Depth::True).unwrap();
        assert_eq!(theme.has_surfaces(), *name != "16-colors");
        for (panel, behind, meanings) in painted(&theme, &on_diff) {
            let Some(ground) = rgb(behind.bg) else { continue };
            for (meaning, style) in styles(&theme) {
                let is_written = meanings.is_none_or(|known| known.contains(&meaning));
                let Some(ink) = rgb(style.fg).or(rgb(theme.panel.surface.fg)) else { continue };
                if !is_written || style.bg.is_some() || meaning == "border" {
                    continue;
                }
                let ratio = contrast(ink, ground);
                assert!(ratio >= *least, "{name}: {meaning} has {ratio:.2} on {panel}");
            }
        }
        for (what, word) in
            [("added", theme.change.added_word), ("removed", theme.change.removed_word)]
        {
            let Some((ink, behind)) = rgb(word.fg).zip(rgb(word.bg)) else { continue };
            let ratio = contrast(ink, behind);
            assert!(ratio >= *least, "{name}: an {what} word has {ratio:.2}");
        }
        // A panel is seen to be one, and its bar is seen on every background.
        let surface = rgb(theme.panel.surface.bg);
        for ground in grounds.iter().filter_map(|ground| parse_hex(ground)) {
            if let Some(surface) = surface {
                assert!(contrast(surface, ground) >= 1.06, "{name}: {ground:?}");
            }
            let bars = [theme.bar.user, theme.bar.input, theme.bar.question, theme.bar.danger];
            for bar in bars.into_iter().filter_map(|bar| rgb(bar.bg)) {
                assert!(contrast(bar, ground) >= 2.0, "{name}: {bar:?} on {ground:?}");
            }
        }
    }
}

#[test]
fn panels_are_painted_only_where_there_are_colours_for_them() {
    for name in Theme::names() {
        for depth in [Depth::None, Depth::Sixteen] {
            let theme = Theme::built_in(name, depth).unwrap();
            assert!(!theme.has_surfaces(), "{name} {depth:?}");
            assert_eq!((theme.panel.raised.bg, theme.change.added_row.bg), (None, None), "{name}");
            assert_eq!(theme.chosen(), theme.selection, "{name} {depth:?}");
        }
    }
    for name in ["dark", "light", "high-contrast", "colorblind"] {
        for depth in [Depth::Full256, Depth::True] {
            let theme = Theme::built_in(name, depth).unwrap();
            assert!(theme.has_surfaces(), "{name} {depth:?}");
            let panel = &theme.panel;
            assert!(
                panel.raised.bg.is_some() && panel.surface.bg != panel.raised.bg,
                "{name} {depth:?}"
            );
            assert!(theme.change.added_word.bg != theme.change.removed_word.bg, "{name}");
        }
    }
}

#[test]
fn a_theme_from_before_panels_still_loads_and_has_lines() {
    let without = |key: &str, text: &str| {
        text.lines().filter(|line| !line.starts_with(key)).collect::<Vec<_>>().join("\n")
    };
    let mut old = BUILT_IN[0].1.replace("[bar]", "").to_owned();
    for key in ["surface", "raised", "input", "question", "danger   = { bg", "user     = { bg"] {
        old = without(key, &old);
    }
    for key in ["added_", "removed_"] {
        old = without(key, &old);
    }
    let theme = Theme::parse(&old, Depth::True).unwrap();
    assert!(!theme.has_surfaces());
    assert_eq!(theme.chosen(), theme.selection);
}

/// How an eye maps the three components of light: with all cones, or without those for long
/// (protanopia) or middle wavelengths (deuteranopia), after Machado, Oliveira and Fernandes, 2009.
#[rustfmt::skip]
const EYES: &[(&str, [[f64; 3]; 3])] = &[
    ("all colours",  [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ("protanopia",   [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    ("deuteranopia", [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
];

/// The colour as that eye sees it, in CIE L*a*b*.
fn lab(rgb: Rgb, eye: &[[f64; 3]; 3]) -> [f64; 3] {
    let linear = [rgb.0, rgb.1, rgb.2].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    let dot = |row: &[f64; 3]| row.iter().zip(linear).map(|(a, b)| a * b).sum::<f64>();
    let [r, g, b] = [dot(&eye[0]), dot(&eye[1]), dot(&eye[2])].map(|part| part.clamp(0.0, 1.0));
    let root = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.950_47);
    let y = root(0.2126 * r + 0.7152 * g + 0.0722 * b);
    let z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The distance of two colours for that eye; below 2 the difference is invisible.
fn color_distance(a: Rgb, b: Rgb, eye: &[[f64; 3]; 3]) -> f64 {
    let squares = lab(a, eye).into_iter().zip(lab(b, eye)).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

#[test]
fn tiers_changes_and_outcomes_are_distinct_for_every_eye() {
    for name in Theme::names() {
        let theme = Theme::built_in(name, Depth::True).unwrap();
        let least = if *name == "colorblind" { 25.0 } else { 15.0 };
        let (ok, warn, danger) = (theme.ok, theme.warn, theme.danger);
        let pairs = [
            ("L0 and L1", theme.tier(Tier::L0), theme.tier(Tier::L1)),
            ("L1 and L2", theme.tier(Tier::L1), theme.tier(Tier::L2)),
            ("L0 and L2", theme.tier(Tier::L0), theme.tier(Tier::L2)),
            ("added and removed", theme.change.added, theme.change.removed),
            ("worked and failed", ok, danger),
            ("worked and did not run", ok, theme.dim),
            ("asks and did not run", warn, theme.dim),
            ("failed and did not run", danger, theme.dim),
        ];
        for (eye, seen) in EYES {
            for (what, one, other) in pairs {
                let far = color_distance(rgb(one.fg).unwrap(), rgb(other.fg).unwrap(), seen);
                assert!(far >= least, "{name}: {what} are {far:.1} apart with {eye}");
            }
        }
    }
}

#[test]
fn without_colours_only_bold_and_underline_remain() {
    let theme = Theme::built_in("dark", Depth::None).unwrap();
    for (meaning, style) in styles(&theme) {
        assert_eq!((style.fg, style.bg), (None, None), "{meaning}");
    }
    assert!(theme.selection.add_modifier.contains(Modifier::REVERSED));
    assert!(theme.danger.add_modifier.contains(Modifier::BOLD));
}

#[test]
fn fewer_colours_use_the_name_in_the_theme_or_the_nearest() {
    let sixteen = Theme::built_in("dark", Depth::Sixteen).unwrap();
    assert_eq!(sixteen.ok.fg, Some(Color::Green));
    let full = Theme::built_in("dark", Depth::Full256).unwrap();
    assert!(matches!(full.ok.fg, Some(Color::Indexed(16..))));
}

#[test]
fn an_invalid_theme_gives_one_sentence_with_the_place() {
    let good = BUILT_IN[0].1;
    let cases = [
        ("name = ".to_owned(), "not valid TOML: line 1,"),
        (good.replace("accent    =", "acent ="), "Line 17 of this theme sets `acent`"),
        (good.replace("ansi = \"light_blue\"", "ansi = \"mauve\""), "`mauve`"),
        (good.replace("#8f9cb1", "8896ac"), "`8896ac`"),
        (good.replace("bold = true", "bald = true"), "Line 18 of this theme sets `user.bald`"),
        (good.replace("text      = \"default\"", "text = 3"), "`text` in line 15"),
        (good.replace("[syntax]", "[syntax]\nodd = 1"), "Line 48 of this theme sets `syntax.odd`"),
        (format!("markup = 3\n{}", good.split("[markup]").next().unwrap()), "`markup` in line 1"),
        (good.replace("[change]", "[chance]"), "`chance`"),
        (good.replace("quote   =", "# quote ="), "`markup.quote`"),
    ];
    for (source, expected) in cases {
        let error = Theme::parse(&source, Depth::True).expect_err(expected).text(Lang::En);
        assert!(error.contains(expected), "{error}");
    }
}
