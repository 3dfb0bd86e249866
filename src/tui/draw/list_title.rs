//! Draws the title of the jobs list, and the filter. The filter is part of that title or, on the analytics screen, of
//! the upper rule.

use crate::tui::list_title::TitlePieceKind;
use crate::tui::view::View;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

pub(in crate::tui) type TitleSpans<'a> = Vec<Span<'a>>;

/// Returns the title of the jobs list. `name_style` is the style of the list's name, which is a part of the title.
pub(in crate::tui) fn list_title_line<'a>(view: View<'_>, width: usize, name_style: Style) -> Line<'a> {
    let span = |(text, piece)| {
        Span::styled(text, if piece == TitlePieceKind::Name { name_style } else { piece_style(view, piece) })
    };
    Line::from_iter(view.app.list_title(width).into_iter().map(span))
}

/// Returns the title of the list of the jobs of all profiles.
pub(in crate::tui) fn all_jobs_title_line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    Line::from(title_spans(view, view.app.all_jobs_title(width)))
}

pub(in crate::tui) fn spans_width<'s, 'a: 's>(parts: impl Iterator<Item = &'s TitleSpans<'a>>) -> usize {
    parts.flatten().map(|span| span.content.width()).sum()
}

/// Returns the filter text in at most `space` cells, with its cursor while the user edits it; `None` without a filter.
pub(in crate::tui) fn filter_spans<'a>(view: View<'_>, space: usize) -> Option<TitleSpans<'a>> {
    view.app.filter_pieces(space).map(|pieces| title_spans(view, pieces))
}

fn title_spans<'a>(view: View<'_>, pieces: Vec<(String, TitlePieceKind)>) -> TitleSpans<'a> {
    pieces.into_iter().map(|(text, piece)| Span::styled(text, piece_style(view, piece))).collect()
}

fn piece_style(view: View<'_>, piece: TitlePieceKind) -> Style {
    let theme = view.theme;
    match piece {
        TitlePieceKind::Name => theme.focus,
        TitlePieceKind::Count | TitlePieceKind::Placeholder | TitlePieceKind::Tab(_, false) => theme.muted,
        TitlePieceKind::FilterSlash => theme.key,
        TitlePieceKind::Filter | TitlePieceKind::Sorting => theme.text,
        TitlePieceKind::Cursor | TitlePieceKind::SelectedFilter => theme.text.add_modifier(Modifier::REVERSED),
        TitlePieceKind::Marked | TitlePieceKind::Tab(_, true) => theme.mark,
        TitlePieceKind::Blank => Style::new(),
    }
}
