//! What readers ask the assistant of a documentation site, and what it answers. `{topic}`, `{Topic}` and `{language}`
//! are filled in by `topics`.

use super::topics::SiteSection;

/// A question to the assistant.
pub(super) struct QuestionText {
    pub(super) query: &'static str,
    /// The answer of the assistant if it finds one.
    pub(super) answer: &'static str,
    /// The service's word for the kind of question.
    pub(super) category: &'static str,
}

/// Returns the questions that readers of a section ask; never empty.
pub(super) fn questions_of_section(section: SiteSection) -> &'static [QuestionText] {
    match section {
        SiteSection::Api => &API_QUESTIONS,
        SiteSection::Sdk => &SDK_QUESTIONS,
        SiteSection::Integration => &INTEGRATION_QUESTIONS,
        SiteSection::Guide => &GUIDE_QUESTIONS,
        SiteSection::Other => &OTHER_QUESTIONS,
    }
}

const GUIDE_QUESTIONS: [QuestionText; 12] = [
    QuestionText {
        query: "How do I set up {topic}?",
        answer: "To set up {topic}:\n\n1. Open **Settings** and choose **{Topic}**.\n2. Select **Enable**.\n3. Deploy the site once.\n\nThe change is live after the next deployment.",
        category: "how-to",
    },
    QuestionText {
        query: "Is there a limit for {topic}?",
        answer: "Yes. The limit depends on your plan and is shown on the page **Usage**.",
        category: "reference",
    },
    QuestionText {
        query: "Problem with {topic} after the last update, what changed?",
        answer: "The October release renamed the setting. Change the old name in `docs.json` and deploy again.",
        category: "troubleshooting",
    },
    QuestionText {
        query: "Which plan includes {topic}?",
        answer: "The Pro and Enterprise plans include {topic}.",
        category: "billing",
    },
    QuestionText {
        query: "Can I turn off {topic} for a single page?",
        answer: "Yes, with the front matter of the page:\n\n```yaml\n---\nhidden: true\n---\n```",
        category: "how-to",
    },
    QuestionText {
        query: "Which permissions do I need for {topic}?",
        answer: "You need the role **Editor** or a custom role with the permission to write.",
        category: "reference",
    },
    QuestionText {
        query: "why do I get \"Not allowed\" when I use {topic}",
        answer: "Your role lacks the permission to write. Ask an owner of the organization for it.",
        category: "troubleshooting",
    },
    QuestionText {
        query: "Can I use {topic} on a self-hosted site?",
        answer: "Yes, from version 4 on.",
        category: "reference",
    },
    QuestionText {
        query: "how to migrate {topic} from another tool",
        answer: "Export your data as Markdown and run the importer. It keeps the folders.",
        category: "how-to",
    },
    QuestionText {
        query: "How do I test {topic} locally?",
        answer: "Run the development server. It uses the same settings as the deployed site.",
        category: "how-to",
    },
    QuestionText { query: "What is the default for {topic}?", answer: "It is off by default.", category: "reference" },
    QuestionText {
        query: "Show me a {language} example for {topic}",
        answer: "```\nclient = Client()\nclient.views.list(project)\n```\n\nThe client reads the key from the environment.",
        category: "code",
    },
];

const API_QUESTIONS: [QuestionText; 6] = [
    QuestionText {
        query: "How many requests per hour does {topic} allow?",
        answer: "100 per project. Requests above the limit are answered with status 429.",
        category: "reference",
    },
    QuestionText {
        query: "{topic} returns 400, why?",
        answer: "Usually because `dateFrom` is missing. The field `details` of the answer names the parameter.",
        category: "troubleshooting",
    },
    QuestionText {
        query: "{topic} example with curl",
        answer: "```bash\ncurl https://api.acme.dev/v1/{topic} \\\n  -H \"Authorization: Bearer $ACME_KEY\"\n```",
        category: "code",
    },
    QuestionText {
        query: "Is it safe to retry {topic}?",
        answer: "A GET is. For a POST, check first whether the first request was carried out.",
        category: "reference",
    },
    QuestionText {
        query: "What scope does my key need for {topic}?",
        answer: "Reading needs the scope `read`, everything else `write`.",
        category: "reference",
    },
    QuestionText {
        query: "Does {topic} send a webhook when it is done?",
        answer: "Yes, the event has the same name as the operation.",
        category: "reference",
    },
];

const SDK_QUESTIONS: [QuestionText; 5] = [
    QuestionText {
        query: "How do I install the {language} SDK?",
        answer: "Use the package manager of {language}. The package is called `acme`.",
        category: "how-to",
    },
    QuestionText {
        query: "Is there an async client for {language}?",
        answer: "Yes. It has the same methods, and each of them returns a future.",
        category: "code",
    },
    QuestionText {
        query: "Where does the {language} client read the API key from?",
        answer: "From the environment variable `ACME_KEY`, unless you pass one.",
        category: "reference",
    },
    QuestionText {
        query: "{language} example for {topic} please",
        answer: "```\nclient = Client()\nclient.views.list(project)\n```",
        category: "code",
    },
    QuestionText {
        query: "How do I set a timeout in {language}?",
        answer: "Pass `timeout` to the client. The default is 60 seconds.",
        category: "code",
    },
];

const INTEGRATION_QUESTIONS: [QuestionText; 5] = [
    QuestionText {
        query: "How do I connect {topic}?",
        answer: "Open **Integrations**, choose **{topic}** and sign in there. You need to be an admin.",
        category: "how-to",
    },
    QuestionText {
        query: "What data does {topic} get?",
        answer: "The paths of pages and the number of views, never the addresses of readers.",
        category: "security",
    },
    QuestionText {
        query: "{topic} doesn't sync anymore",
        answer: "Connect it again: the token has probably expired.",
        category: "troubleshooting",
    },
    QuestionText {
        query: "Can I connect two {topic} accounts?",
        answer: "One account per project. Use two projects for two accounts.",
        category: "reference",
    },
    QuestionText {
        query: "Is {topic} part of the free plan?",
        answer: "No, integrations need the Pro plan.",
        category: "billing",
    },
];

const OTHER_QUESTIONS: [QuestionText; 7] = [
    QuestionText {
        query: "What is the fastest way to get started?",
        answer: "Follow the quickstart: it takes about ten minutes and needs only a repository.",
        category: "how-to",
    },
    QuestionText {
        query: "What does the free plan include?",
        answer: "One project, three members and all basic components.",
        category: "billing",
    },
    QuestionText {
        query: "Is there a list of breaking changes?",
        answer: "Yes, the changelog marks them.",
        category: "reference",
    },
    QuestionText {
        query: "How do I contact support?",
        answer: "Use the chat in the dashboard, or write to support.",
        category: "how-to",
    },
    QuestionText {
        query: "Can I try it without a credit card?",
        answer: "Yes. The trial ends on its own.",
        category: "billing",
    },
    QuestionText {
        query: "Where is my data stored?",
        answer: "In the region that you chose when you created the organization.",
        category: "security",
    },
    QuestionText {
        query: "do you have an sdk",
        answer: "Yes, for eight languages. They are listed under **SDKs**.",
        category: "reference",
    },
];

/// What the assistant answers if it finds nothing.
pub(super) const NO_ANSWERS: [&str; 3] = [
    "I couldn't find an answer to that in the documentation.",
    "The documentation doesn't cover this. Please contact support.",
    "I found pages about {topic}, but none of them answers your question.",
];

/// What the assistant asks before it can answer.
pub(super) const CLARIFYING_QUESTIONS: [&str; 3] = [
    "Do you mean {topic} on the hosted site or on a self-hosted one?",
    "Which language do you use? I can show an example for {language} and others.",
    "Do you see an error message? If so, please paste it.",
];
