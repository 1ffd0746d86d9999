//! The terminal: its keys and its screen.

use std::io;
use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table as Grid};

use super::message::Message;
use super::view::{self, Table, View};
use crate::{process, ps};

/// How often keys and messages are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// News of the process.
pub(crate) enum News {
    Messages(Vec<Message>),
    /// There are no more, with the reason.
    Gone(&'static str),
    /// Somebody has asked this command to end.
    End,
}

/// Shows messages until the user leaves or there are no more. Returns the reason.
pub(crate) fn show(process: u32, mut news: impl FnMut() -> News) -> io::Result<String> {
    let title = title(process);
    let mut terminal = ratatui::try_init()?;
    let mut view = View::new();
    let shown = loop {
        match news() {
            News::Messages(messages) => messages.into_iter().for_each(|message| view.add(message)),
            News::Gone(reason) => break Ok(reason.to_owned()),
            News::End => break Ok(left(process)),
        }
        let mut height = 0;
        let drawn = terminal.draw(|frame| height = draw(frame, &title, &view));
        if let Err(error) = drawn {
            break Err(error);
        }
        match keys(&mut view, height) {
            Ok(true) => {}
            Ok(false) => break Ok(left(process)),
            Err(error) => break Err(error),
        }
    };
    ratatui::try_restore()?;
    shown
}

fn left(process: u32) -> String {
    format!("left the process {process}, which continues without a profiler")
}

fn title(process: u32) -> String {
    let runtime = process::mappings(process).unwrap_or_default();
    let version = process::runtime(&runtime).and_then(|(_, version)| version);
    let version = version
        .map(|version| format!(".NET {version}  "))
        .unwrap_or_default();
    format!(
        "{process}  {version}{}",
        ps::program(&process::command_line(process))
    )
}

/// Waits for a key, not for long; `false` if it is one of those that leave.
fn keys(view: &mut View, height: usize) -> io::Result<bool> {
    if !event::poll(LOOK)? {
        return Ok(true);
    }
    let Event::Key(key) = event::read()? else {
        return Ok(true);
    };
    Ok(key.kind == KeyEventKind::Release || press(view, key, height))
}

fn press(view: &mut View, key: KeyEvent, height: usize) -> bool {
    let tables = Table::ALL.len();
    let current = Table::ALL
        .iter()
        .position(|(table, _)| *table == view.table)
        .unwrap_or(0);
    let mut choose = |index: usize| {
        if let Some((table, _)) = Table::ALL.get(index) {
            view.table = *table;
            view.first_row = 0;
        }
    };
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
        KeyCode::Char(digit @ '1'..='9') => choose(digit as usize - '1' as usize),
        KeyCode::Tab | KeyCode::Right => choose((current + 1) % tables),
        KeyCode::BackTab | KeyCode::Left => choose((current + tables - 1) % tables),
        KeyCode::Char('p') => view.is_paused = !view.is_paused,
        KeyCode::Char('s') => view.has_sums = !view.has_sums,
        KeyCode::Char('t') => view.by_all = !view.by_all,
        KeyCode::Down => view.first_row += 1,
        KeyCode::Up => view.first_row = view.first_row.saturating_sub(1),
        KeyCode::PageDown => view.first_row += height,
        KeyCode::PageUp => view.first_row = view.first_row.saturating_sub(height),
        KeyCode::Home => view.first_row = 0,
        _ => {}
    }
    view.first_row = view.first_row.min(view.rows().len().saturating_sub(1));
    true
}

/// Draws all, and returns the number of rows for which there is room.
fn draw(frame: &mut Frame<'_>, title: &str, view: &View) -> usize {
    let [head, tabs, table, foot] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(summary(title, view)), head);

    let strong = Style::new().add_modifier(Modifier::REVERSED);
    let names = Table::ALL.iter().flat_map(|(table, name)| {
        let style = if *table == view.table {
            strong
        } else {
            Style::new()
        };
        [Span::styled(format!(" {name} "), style), Span::raw(" ")]
    });
    frame.render_widget(Line::from_iter(names), tabs);

    let height = usize::from(table.height).saturating_sub(1);
    let (columns, name) = view.columns();
    let heads = columns
        .iter()
        .map(|column| Cell::from(format!("{column:>12}")));
    let heads = heads.chain([Cell::from(name)]);
    let rows = view.rows().into_iter().skip(view.first_row).take(height);
    let rows = rows.map(|view::Row(numbers, name)| {
        let numbers = numbers
            .into_iter()
            .map(|number| Cell::from(format!("{number:>12}")));
        Row::new(numbers.chain([Cell::from(name)]))
    });
    let widths = columns.iter().map(|_| Constraint::Length(12));
    let grid = Grid::new(rows, widths.chain([Constraint::Fill(1)]))
        .header(Row::new(heads).style(Style::new().add_modifier(Modifier::BOLD)))
        .column_spacing(1);
    frame.render_widget(grid, table);

    let keys = "q leave   1-5, Tab table   arrows scroll   t order   s sums   p pause";
    let state = match (view.is_paused, view.has_sums) {
        (true, _) => "   [paused]",
        (_, true) if view.table != Table::Tree => "   [sums]",
        _ => "",
    };
    frame.render_widget(Line::from(format!("{keys}{state}")), foot);
    height
}

fn summary(title: &str, view: &View) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(title.to_owned())];
    let Some(period) = view.last() else {
        lines.push(Line::from("waiting for the first samples"));
        return lines;
    };
    let message = &period.message;
    let per_second = |amount: f64| amount / period.time * 1e3;
    let allocated = match &message.allocated {
        Some(allocated) => format!(
            "{:.1} MB/s allocated",
            per_second(allocated.all as f64 / 1e6)
        ),
        None => "allocations are not told before .NET 5".to_owned(),
    };
    let bias = match message.exact {
        true => "",
        false => "   own time is booked at the next safepoint",
    };
    lines.push(Line::from(format!(
        "{:.0} s   cpu {:.0} % in {} samples   {} busy threads   {allocated}   {:.1} exceptions/s{bias}",
        message.at / 1e3,
        message.cpu / period.time * 100.0,
        message.samples,
        message.threads.len(),
        per_second(message.exceptions.all as f64),
    )));
    let [first, second, third] = message.collections.counts;
    lines.push(Line::from(format!(
        "collections of generation 0: {first}, 1: {second}, 2: {third}   paused {:.1} % of the time, {:.1} ms in all, {:.1} ms at most",
        period.paused / period.time * 100.0,
        message.collections.paused,
        message.collections.longest,
    )));
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::message::tests::LINE;
    use super::*;

    fn drawn(view: &View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(120, 12)).unwrap();
        terminal
            .draw(|frame| assert_eq!(draw(frame, "7  App.dll", view), 6))
            .unwrap();
        terminal.backend().to_string()
    }

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    #[test]
    fn the_screen_has_the_totals_and_a_table() {
        let mut view = View::new();
        assert!(drawn(&view).contains("waiting for the first samples"));
        view.add(serde_json::from_str(LINE).unwrap());
        let text = drawn(&view);
        for part in [
            "7  App.dll",
            "cpu 150 % in 250 samples   1 busy threads   2.5 MB/s allocated   3.0 exceptions/s",
            "collections of generation 0: 5, 1: 2, 2: 1   paused 2.0 % of the time",
            "60.0 %          900       66.7 %         1000 Shop.Cart.Add(int)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(press(&mut view, key(KeyCode::Char('5')), 6));
        assert!(drawn(&view).contains("System.TimeoutException"));
    }

    #[test]
    fn keys_choose_scroll_and_leave() {
        let mut view = View::new();
        view.add(serde_json::from_str(LINE).unwrap());
        assert!(press(&mut view, key(KeyCode::BackTab), 6));
        assert_eq!(view.table, Table::Exceptions);
        assert!(press(&mut view, key(KeyCode::Tab), 6));
        assert_eq!(view.table, Table::Methods);
        assert!(press(&mut view, key(KeyCode::PageDown), 6));
        assert_eq!(view.first_row, 1);
        assert!(press(&mut view, key(KeyCode::Char('9')), 6));
        assert_eq!(view.table, Table::Methods);
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert!(!press(&mut view, control, 6));
        assert!(!press(&mut view, key(KeyCode::Char('q')), 6));
    }
}
