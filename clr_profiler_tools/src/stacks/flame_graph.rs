//! Flame graphs.

use std::borrow::Cow;
use std::io::{self, Write};

use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};

use super::export::Frames;
use super::files::lines;
use crate::stacks::{Stacks, Unit};

/// A flame graph as an SVG, which a browser opens: a click zooms, Ctrl-F searches. A box has the last two parts of a
/// method's name, its title the full signature.
pub(super) fn write(
    stacks: &Stacks,
    title: &str,
    unit: Unit,
    frame: &mut Frames<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lines = lines(stacks, frame);
    if lines.is_empty() {
        // inferno refuses an empty graph; here it is a picture without frames.
        return writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"60\">\
             <text x=\"20\" y=\"35\" font-family=\"sans-serif\">nothing was seen</text></svg>"
        );
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    (options.count_name, options.factor) = match unit {
        Unit::Samples => ("samples".to_owned(), 1.0),
        Unit::Calls => ("calls".to_owned(), 1.0),
        Unit::Bytes => ("bytes".to_owned(), 1.0),
        Unit::Nanoseconds => ("ms".to_owned(), 1e-6),
    };
    options.deterministic = true;
    options.text_truncate_direction = TextTruncateDirection::Right;
    let (font_size, font_width) = (options.font_size as f64, options.font_width);
    let mut picture = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut picture)
        .map_err(|error| io::Error::other(error.to_string()))?;
    let picture = String::from_utf8_lossy(&picture);
    // The pixels of a hundredth of the width, in characters.
    let room = (WIDTH - 20.0) / 100.0 / (font_size * font_width);
    out.write_all(with_short_names(&picture, room).as_bytes())
}

/// The width of a picture until a browser resizes it.
const WIDTH: f64 = 1200.0;

/// How the picture's script makes the text of a box of its title.
const OF_TITLE: &str = r#"find_child(e, "title").textContent.replace(/\([^(]*\)$/,"")"#;

/// [`short_name`] for the picture's script.
const SHORT_NAME: &str = include_str!("short_name.js");

/// The picture with short names in its boxes: in those that it has, and in those that its script makes when it is
/// resized.
fn with_short_names(picture: &str, room: f64) -> String {
    let script = format!("short_name({OF_TITLE})");
    let picture = match picture.contains(OF_TITLE) {
        true => Cow::from(picture.replace(OF_TITLE, &script).replacen(
            "<![CDATA[",
            &format!("<![CDATA[\n{SHORT_NAME}"),
            1,
        )),
        // Another version of inferno: its script shows full names.
        false => Cow::from(picture),
    };
    let mut boxes = picture.split("<g><title>");
    let mut all = boxes.next().unwrap_or_default().to_owned();
    for one in boxes {
        all += "<g><title>";
        all += &with_short_name(one, room).unwrap_or_else(|| one.to_owned());
    }
    all
}

/// A box, from its title on, with the short name as its text.
fn with_short_name(one: &str, room: f64) -> Option<String> {
    let (title, rest) = one.split_once("</title>")?;
    let (before, rest) = rest.split_once("<text ")?;
    let (start, rest) = rest.split_once('>')?;
    let (_, after) = rest.split_once("</text>")?;
    let (_, width) = before.split_once("width=\"")?;
    let width: f64 = width.split_once('%')?.0.parse().ok()?;
    let room = (width * room) as usize;
    let title_text = unescaped(title);
    let name = short_name(title_text.rsplit_once(" (")?.0);
    let text = match name.chars().count() < room {
        true => name,
        false if room < 3 => String::new(),
        false => name.chars().take(room - 2).chain("..".chars()).collect(),
    };
    let text = escaped(&text);
    Some(format!(
        "{title}</title>{before}<text {start}>{text}</text>{after}"
    ))
}

/// The type and the method of a full name, without parameters: `Store.Sell` of `Shop.Store.Sell(string)`. Anything
/// without parameters stays as it is, and so does the text after them.
fn short_name(name: &str) -> String {
    let name = name.trim();
    let (mut depth, mut begin, mut end) = (0_u32, None, None);
    let mut parts = vec![0];
    let mut last = ' ';
    for (at, character) in name.char_indices() {
        match character {
            '<' => depth += 1,
            '[' if at > 0 => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ']' => depth = depth.saturating_sub(1),
            '.' if depth == 0 && begin.is_none() && last != '.' => parts.push(at + 1),
            '(' if depth == 0 && begin.is_none() => begin = Some(at),
            ')' if depth == 0 && begin.is_some() => {
                end = Some(at + 1);
                break;
            }
            _ => {}
        }
        last = character;
    }
    match (begin, end) {
        (Some(begin), Some(end)) if begin > 0 => {
            let first = parts[parts.len().saturating_sub(2)];
            format!("{}{}", &name[first..begin], &name[end..])
        }
        _ => name.to_owned(),
    }
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&amp;", "&")
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::stacks::Frame;

    fn frame(number: u64) -> Frame {
        let name: Arc<str> = match number {
            1 => "Shop.Program.Main(string[])".into(),
            2 => "A;B".into(),
            _ => format!("Shop.Map<int, (int, string)>.<Get>b__{number}(int)").into(),
        };
        let source = (number > 2).then(|| ("/shop/Map.cs".into(), 7));
        Frame { name, source }
    }

    fn picture(stacks: &Stacks, unit: Unit) -> String {
        let mut out = Vec::new();
        write(stacks, "Time", unit, &mut frame, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn stacks(times: u64) -> Stacks {
        let mut stacks = Stacks::with_limit(100);
        stacks.add([1, 2], 30 * times);
        stacks.add([1], 10 * times);
        stacks.add([1, 3], 60 * times);
        stacks
    }

    #[test]
    fn it_has_the_frames() {
        let svg = picture(&stacks(1), Unit::Samples);
        assert!(
            svg.contains("<title>Shop.Program.Main(string[]) (100 samples, 100.00%)</title>"),
            "{svg}"
        );
        assert!(svg.contains("A:B (30 samples, 30.00%)"), "{svg}");
        assert!(svg.contains(">Program.Main</text>"), "{svg}");
        assert!(
            svg.contains(">Map&lt;int, (int, string)&gt;.&lt;Get&gt;b__3 Map.cs:7</text>"),
            "{svg}"
        );
        assert!(svg.contains("truncate_text_right = true"), "{svg}");
        assert!(picture(&Stacks::with_limit(1), Unit::Samples).contains("nothing was seen"));
    }

    #[test]
    fn times_are_in_milliseconds() {
        let svg = picture(&stacks(1_000_000), Unit::Nanoseconds);
        assert!(svg.contains("A:B (30 ms, 30.00%)"), "{svg}");
    }

    #[test]
    fn its_script_shortens_names_too() {
        let svg = picture(&stacks(1), Unit::Samples);
        let calls = svg.matches(&format!("short_name({OF_TITLE})")).count();
        assert_eq!(calls, svg.matches(OF_TITLE).count());
        assert_eq!((calls, svg.matches("function short_name").count()), (2, 1));
    }

    #[test]
    fn short_names_are_the_type_and_the_method() {
        let names = [
            ("Shop.Store.Sell(string, int)", "Store.Sell"),
            ("Main(string[])", "Main"),
            ("Shop.Store..ctor()", "Store..ctor"),
            (
                "Shop.List<Shop.Item>.Add<System.Int32>(T)",
                "List<Shop.Item>.Add<System.Int32>",
            ),
            ("Shop.Store+<>c.<Main>b__0_0(int)", "Store+<>c.<Main>b__0_0"),
            ("Shop.Cart.Add(string) Cart.cs:41", "Cart.Add Cart.cs:41"),
            ("[native]", "[native]"),
            ("all", "all"),
        ];
        for (full, short) in names {
            assert_eq!(short_name(full), short);
        }
    }
}
