//! What drawing depends on.

use super::app::App;
use super::draw::theme::Theme;
use crate::model::Time;

/// What all drawing functions need: the state, the theme and the current time.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub app: &'a App,
    pub theme: &'a Theme,
    pub now: Time,
}
