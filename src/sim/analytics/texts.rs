//! What readers of a documentation site write. `{topic}`, `{Topic}` and `{language}` are filled in by `topics`.

use super::topics::SiteSection;

/// Returns the complaints of readers who did not find what they need.
pub(super) fn complaints(section: SiteSection) -> &'static [&'static str] {
    match section {
        SiteSection::Api => &API_COMPLAINTS,
        SiteSection::Sdk => &SDK_COMPLAINTS,
        SiteSection::Integration => &INTEGRATION_COMPLAINTS,
        SiteSection::Guide => &GUIDE_COMPLAINTS,
        SiteSection::Other => &OTHER_COMPLAINTS,
    }
}

const GUIDE_COMPLAINTS: [&str; 15] = [
    "I followed every step and {topic} still doesn't work. Which plan does it need?",
    "The screenshots show an older version. The settings for {topic} are somewhere else now.",
    "Step 3 fails with \"Not allowed\". Please list the permissions that {topic} needs.",
    "This explains what {topic} is, but not how to turn it on.",
    "There is no example. A minimal one for {topic} would have saved me an hour.",
    "The link to the next page is broken.",
    "Is this still current? The release notes say that {topic} changed in October.",
    "Too long. I only wanted to know the default and gave up halfway.",
    "How do I undo this? Nothing here explains how to turn {topic} off again.",
    "This contradicts the quickstart. Which of the two is right?",
    "What are the limits of {topic}? We hit one in production, and it isn't mentioned anywhere.",
    "The page assumes that I am an admin. What can a normal member do about {topic}?",
    "Please say which file this goes into. I tried docs.json and nothing happened.",
    "Could you write to me at docs-team@example.com when this is fixed? It blocks our launch.",
    "Two things are missing:\n\n1. what happens to existing pages\n2. how to test {topic} before everybody sees it",
];

const OTHER_COMPLAINTS: [&str; 7] = [
    "I still don't know what to do first.",
    "Too many links, and none of them says how long it takes.",
    "This page and the dashboard disagree about the names of the plans.",
    "On a phone, the table is cut off on the right.",
    "When was this written? A date would help.",
    "The search sends me here for everything, but the answer is elsewhere.",
    "Could you write to me at docs-team@example.com when this is fixed? It blocks our launch.",
];

const API_COMPLAINTS: [&str; 9] = [
    "The response has fields that are not in the table.",
    "What happens if I send the same request twice? The page doesn't mention idempotency.",
    "No error codes. I get a 422 and can't tell which field is wrong.",
    "The type of `id` is string in the table and number in the example.",
    "Please document the maximum length of each field.",
    "How many requests per hour are allowed for {topic}? I only found out by getting a 429.",
    "The example returns 400 for me:\n\n    {\"error\": \"Invalid query parameters\"}\n\nIt works without `limit`.",
    "Pagination is not explained. When do I stop?",
    "Is `createdAt` in UTC? The example has no time zone.",
];

const SDK_COMPLAINTS: [&str; 6] = [
    "The {language} example doesn't compile with the current version of the SDK.",
    "The method for {topic} doesn't exist in the {language} SDK that I installed. Was it renamed?",
    "This only shows the synchronous client. How does it look with async?",
    "Which {language} versions are supported? The page doesn't say.",
    "The example leaves out error handling, which is the part that I need.",
    "Where do I get the project id? The code just uses `PROJECT_ID`.",
];

const INTEGRATION_COMPLAINTS: [&str; 7] = [
    "{topic} asks for a callback URL that this page never mentions.",
    "It works until the token expires. How do I renew the connection to {topic}?",
    "Which scopes does the {topic} app need? Our admin won't approve all of them.",
    "The button \"Connect {topic}\" is not there for me. Is this an Enterprise feature?",
    "How often is data synced with {topic}? We see changes only the next day.",
    "After I disconnected {topic}, the old data stayed. Please explain how to delete it.",
    "The {topic} menu in step 2 has a different name now.",
];

/// What satisfied readers write.
pub(super) const PRAISE: [&str; 9] = [
    "Clear and short, thank you.",
    "Exactly what I needed for {topic}.",
    "The example worked on the first try.",
    "Good page. A link to the API reference would make it perfect.",
    "Finally an explanation of {topic} with real numbers.",
    "The diagram helped a lot.",
    "Much better than last month.",
    "I understood {topic} in five minutes.",
    "Thanks for the troubleshooting section, it had my exact error.",
];

/// What AI agents report about a page that they used.
pub(super) const AGENT_REPORTS: [&str; 5] = [
    "The page does not state the required request headers. Inferred them from the authentication page.",
    "Could not determine the default value of the setting for {topic}. Asked the user instead.",
    "The code example refers to a variable that is not defined on this page.",
    "The steps for {topic} are complete, but the order of steps 2 and 3 is reversed.",
    "Two pages describe {topic} differently. Used the one that was updated more recently.",
];

/// What readers write about a code example. The empty text is for readers who report the example without a comment.
pub(super) const CODE_REPORTS: [&str; 7] = [
    "",
    "An import is missing.",
    "`project` is not defined anywhere.",
    "This returns 401. Where does the key go?",
    "Deprecated: my editor strikes through the second line.",
    "Please show the output as well.",
    "Copies with the line numbers.",
];

/// A code example of the site.
#[derive(Debug)]
pub(super) struct CodeExample {
    pub(super) language: &'static str,
    pub(super) filename: &'static str,
    pub(super) code: &'static str,
}

/// The code examples, one per language. The first one is for pages whose path contains no language.
pub(super) const CODE_EXAMPLES: [CodeExample; 9] = [
    CodeExample {
        language: "bash",
        filename: "request.sh",
        code: "curl https://api.acme.dev/v1/views \\\n  -H \"Authorization: Bearer $ACME_KEY\" \\\n  -d limit=50",
    },
    CodeExample {
        language: "python",
        filename: "list_views.py",
        code: "from acme import Client\n\nclient = Client()\nfor page in client.views.list(project=project):\n    print(page.path, page.human)",
    },
    CodeExample {
        language: "typescript",
        filename: "views.ts",
        code: "import { Client } from \"acme\";\n\nconst client = new Client();\nconst views = await client.views.list({ project });",
    },
    CodeExample {
        language: "go",
        filename: "main.go",
        code: "client := acme.NewClient()\nviews, err := client.Views.List(ctx, project)\nif err != nil {\n\tlog.Fatal(err)\n}",
    },
    CodeExample {
        language: "ruby",
        filename: "views.rb",
        code: "client = Acme::Client.new\nclient.views.list(project: project).each { |page| puts page.path }",
    },
    CodeExample {
        language: "java",
        filename: "Views.java",
        code: "var client = AcmeClient.create();\nclient.views().list(project).forEach(System.out::println);",
    },
    CodeExample {
        language: "rust",
        filename: "main.rs",
        code: "let client = acme::Client::from_env()?;\nlet views = client.views().list(&project).await?;",
    },
    CodeExample {
        language: "php",
        filename: "views.php",
        code: "$client = new Acme\\Client();\n$views = $client->views->list($project);",
    },
    CodeExample {
        language: "csharp",
        filename: "Program.cs",
        code: "var client = new AcmeClient();\nvar views = await client.Views.ListAsync(project);",
    },
];

/// The email addresses that readers leave with a comment.
pub(super) const CONTACTS: [&str; 6] = [
    "priya.nair@example.com",
    "t.lindqvist@example.org",
    "sam@example.net",
    "maria.gomes@example.com",
    "chen.wei@example.org",
    "hello@example.com",
];
