//! docdeck: a terminal dashboard for people who keep a documentation site with background agents.

pub mod api;
pub mod app;
pub mod engine;
pub mod model;
pub mod sim;
pub mod store;
pub mod ui;
