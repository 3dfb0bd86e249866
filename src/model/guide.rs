//! The topics of the user guide. `docdeck help TOPIC` prints the page of one topic, and the help screen lists all
//! topics.

/// A topic of the guide. Its page is the file `assets/guide/NAME.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    pub name: &'static str,
    /// What the page describes, for the list of topics.
    pub summary: &'static str,
}

const fn topic(name: &'static str, summary: &'static str) -> Topic {
    Topic { name, summary }
}

/// All topics, in reading order.
pub const TOPICS: [Topic; 13] = [
    topic("configuration", "config.toml, profiles, themes, your own keys and commands"),
    topic("shortcuts", "every key of the dashboard"),
    topic("jobs", "the list, filters, sending prompts, states, limits"),
    topic("analytics", "page views, searches, feedback, questions, pages that need work"),
    topic("prompts", "editor, history, templates, many jobs at once"),
    topic("scripting", "commands, exit codes, JSON, examples"),
    topic("team", "sharing jobs and analytics through PostgreSQL"),
    topic("backup", "export, import, damaged files, where the files are"),
    topic("terminals", "SSH, tmux, copying, notifications, colours, mouse"),
    topic("security", "what is stored and sent, reporting a vulnerability"),
    topic("testing", "what is tested, fault cases, fuzzing"),
    topic("performance", "what is measured, and how to repeat it"),
    topic("contributing", "map of the code, and which files to change"),
];
