//! Whole conversations with a gateway over a real folder, with an arbitrary editor behind it.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use arbitrary::Unstructured;
use gateway_core::ask::Subject;
use gateway_core::epochs::Epoch;
use gateway_core::limits::Limits;
use gateway_core::tool::{Arguments, Question, Registered};
use gateway_core::tools;
use gateway_server::access::Access;
use gateway_server::gateway::{Gateway, Settings};
use gateway_server::session::Sessions;
use gateway_server::watch::Ignore;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::checks;
use crate::editor::{Found, Manner, Meanwhile, Script, Scripted, Uris, range};
use crate::gateway_over_http::{Client, KEY, TOKEN, block_on};
use gateway_server::editor::Editor as _;

/// A word that every path outside the roots has in it.
const REFERENCES: &str = "vscode.lsp.references";
const SOURCE: &str = "vscode.lsp.symbol.source";
const USAGES: &str = "vscode.lsp.usages";
const WORKSPACE_DIAGNOSTICS: &str = "vscode.lsp.diagnostics.workspace";

const CANARY: &str = "canary";

/// What one conversation cannot bring about in so many steps, more would not either.
const MAX_STEPS: usize = 40;
/// How many items a conversation pages through before it ends: checking them takes far longer than answering them.
const ENOUGH_ITEMS: usize = 20_000;

const OTHER_TOKEN: &str = "b3RoZXItdG9rZW4tb2YtdGhlLWZ1enplcnMtd2hhdGV2";

/// The folders that are asked about: the same for the whole run.
struct Disk {
    _folder: TempDir,
    base: String,
    /// What is named in questions and answers, by the canonical URI of what it is, if that lies inside `project`,
    /// `second` or `linked`.
    named: Vec<(String, Option<String>)>,
}

static DISK: LazyLock<Disk> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let base = fs::canonicalize(folder.path()).expect("its real path");
    for inside in ["project/src", "second", "really", "canary"] {
        fs::create_dir_all(base.join(inside)).expect("a folder");
    }
    let files =
        ["project/a.ts", "project/src/b c.ts", "second/c.ts", "really/d.ts", "canary/canary.ts", "project-canary.ts"];
    for file in files {
        let text = if file.contains(CANARY) { "canary" } else { "0123456789\n01234567890123456789" };
        fs::write(base.join(file), text).expect("a file");
    }
    for (link, target) in
        [("linked", "really"), ("project/out", "../canary"), ("project/ring", "ring"), ("project/e.ts", "a.ts")]
    {
        std::os::unix::fs::symlink(target, base.join(link)).expect("a link");
    }
    let base = base.to_str().expect("a plain path").to_owned();
    let at = |path: &str| format!("file://{base}/{path}");
    let is = |path: &str| Some(at(path));
    let named = vec![
        (at("project/a.ts"), is("project/a.ts")),
        (at("project/src/b%20c.ts"), is("project/src/b%20c.ts")),
        (at("project/src/../a.ts"), is("project/a.ts")),
        (at("project/%61.ts"), is("project/a.ts")),
        (at("project/e.ts"), is("project/a.ts")),
        (at("project/a.ts#x"), is("project/a.ts")),
        (at("second/c.ts"), is("second/c.ts")),
        (at("linked/d.ts"), is("really/d.ts")),
        (at("really/d.ts"), is("really/d.ts")),
        (at("project/none.ts"), None),
        (at("project/ring"), None),
        (at("canary/canary.ts"), None),
        (at("project/out/canary.ts"), None),
        (at("project/../canary/canary.ts"), None),
        (at("project/%2e%2e/canary/canary.ts"), None),
        (at("project/..%2Fcanary%2Fcanary.ts"), None),
        (at("project-canary.ts"), None),
        (at("project/a.ts%00"), None),
        (at("canary/none.ts"), None),
        (format!("file://canary{base}/canary/canary.ts"), None),
        (format!("git:{base}/project/a.ts"), None),
    ];
    Disk { _folder: folder, base, named }
});

/// What is in force, as the harness has set it.
#[derive(Clone)]
struct InForce {
    roots: Vec<&'static str>,
    max_response_bytes: usize,
    max_page_size: usize,
    token: &'static str,
}

impl InForce {
    fn settings(&self) -> Settings {
        let roots = self.roots.iter().map(|root| PathBuf::from(format!("{}/{root}", DISK.base))).collect();
        Settings {
            catalog: tools::ALL.to_vec(),
            roots,
            access: Access { tokens: vec![self.token.to_owned()], allowed_origins: Vec::new(), fallback: false },
            limits: Limits::tightened(self.max_page_size, self.max_response_bytes, Duration::from_secs(2)),
            ignore: Ignore::default(),
        }
    }

    /// Whether a canonical URI lies in a root that is in force.
    fn holds(&self, uri: &str) -> bool {
        self.roots.iter().any(|root| {
            let real = if *root == "linked" { "really" } else { root };
            uri.strip_prefix(&format!("file://{}/{real}", DISK.base))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

struct Conversation {
    client: Client<Gateway<Scripted>>,
    gateway: Arc<Gateway<Scripted>>,
    editor: Scripted,
    in_force: Arc<Mutex<InForce>>,
    /// What was in force when the last call was made.
    asked_under: InForce,
    cursors: Vec<(Registered, Value)>,
    items_paged: usize,
    id: u64,
}

/// Holds one conversation.
pub fn run(bytes: &[u8]) {
    block_on(async {
        _ = converse(&mut Unstructured::new(bytes)).await;
        // What is still asked ends, so that nothing of it is left for the next conversation.
        tokio::time::advance(Duration::from_secs(130)).await;
    });
}

async fn converse(input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let mut conversation = Conversation::begin().await;
    for _ in 0..MAX_STEPS {
        if input.is_empty() || conversation.items_paged >= ENOUGH_ITEMS {
            break;
        }
        conversation.step(input).await?;
    }
    let asked_about = conversation.editor.script(|script| script.asked_about.clone());
    for uri in asked_about {
        assert!(!uri.contains(CANARY), "the editor was asked about {uri}");
    }
    Ok(())
}

impl Conversation {
    async fn begin() -> Self {
        let in_force =
            InForce { roots: vec!["project", "linked"], max_response_bytes: 524_288, max_page_size: 200, token: TOKEN };
        let uris: Uris = Arc::new(DISK.named.iter().map(|(named, _)| named.clone()).collect());
        let editor = Scripted { uris, script: Arc::new(Mutex::new(Script::default())) };
        let sessions = Sessions::new(&KEY, "workspace", &[], Box::new(|_| ()));
        let gateway = Gateway::new(editor.clone(), in_force.settings(), sessions, "1.2.3".to_owned(), 1_000);
        let gateway = Arc::new(gateway);
        editor.script(|script| script.gateway = Arc::downgrade(&gateway));
        let mut client = Client::of(Arc::clone(&gateway));
        client.initialize().await;
        let asked_under = in_force.clone();
        let in_force = Arc::new(Mutex::new(in_force));
        Self { client, gateway, editor, in_force, asked_under, cursors: Vec::new(), items_paged: 0, id: 0 }
    }

    async fn step(&mut self, input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        match input.int_in_range(0..=11)? {
            0..=2 => self.call(input).await?,
            3 => self.page_to_the_end(input).await?,
            4 => self.gateway.bump(epoch(input)?),
            5 => self.configure(input)?,
            6 => {
                let found = Found::arbitrary(input, DISK.named.len())?;
                let declared = if input.arbitrary()? { Some((0, range(input)?)) } else { None };
                self.editor.script(|script| {
                    script.found = found;
                    script.declared = declared;
                });
            }
            7 => {
                let manner = match input.int_in_range(0..=9)? {
                    0 => Manner::Unavailable,
                    1 => Manner::NotFound,
                    2 => Manner::Failed,
                    3 => Manner::Late(Duration::from_millis(input.int_in_range(0..=5_000)?)),
                    4 => Manner::Never,
                    5 => Manner::Junk,
                    _ => Manner::Found,
                };
                self.editor.script(|script| script.manner = manner);
            }
            8 => {
                let meanwhile =
                    if input.arbitrary()? { Meanwhile::Bump(epoch(input)?) } else { self.reconfiguration(input)? };
                self.editor.script(|script| script.meanwhile = Some(meanwhile));
            }
            9 => {
                let [silent, assumed, in_tab]: [bool; 3] = input.arbitrary()?;
                self.editor.script(|script| {
                    script.silent = silent;
                    script.assumed = assumed;
                    script.in_tab = in_tab;
                });
            }
            10 => self.session(input).await?,
            _ => tokio::time::advance(Duration::from_millis(input.int_in_range(0..=700_000)?)).await,
        }
        Ok(())
    }

    fn arguments(&mut self, tool: Registered, input: &mut Unstructured<'_>) -> arbitrary::Result<Value> {
        let mut arguments = Map::new();
        let Arguments { question: Question { subject, .. }, by_path, .. } =
            checks::arguments(tool, "file:///a").expect("some fit");
        if by_path && input.ratio(1, 4)? {
            let file = input.choose(&[
                "a.ts",
                "r1:a.ts",
                "r2:d.ts",
                "../canary/canary.ts",
                "r1:../canary/canary.ts",
                "r9:a.ts",
            ])?;
            arguments.insert("file".to_owned(), (*file).into());
        } else if subject.uri().is_some() {
            let name = if by_path { "file" } else { "uri" };
            arguments.insert(name.to_owned(), DISK.named[input.choose_index(DISK.named.len())?].0.clone().into());
        }
        if subject.position().is_some() {
            let [line, character] = [input.int_in_range(0..=2)?, input.int_in_range(0..=11)?];
            if by_path {
                arguments.insert("at".to_owned(), format!("{line}:{character}").into());
            } else {
                arguments.insert("position".to_owned(), json!({ "line": line, "character": character }));
            }
        }
        if matches!(subject, Subject::Workspace { query: Some(_) }) {
            let (name, choices) =
                if by_path { ("symbol", ["a", "a.b", " ", "b[1]"]) } else { ("query", ["a", " a ", " ", "b"]) };
            arguments.insert(name.to_owned(), input.choose(&choices)?.to_string().into());
        }
        if tool.name() == REFERENCES {
            arguments.insert("includeDeclaration".to_owned(), input.arbitrary::<bool>()?.into());
        }
        if tool.is_paged() {
            let size = if by_path { "maxTokens" } else { "pageSize" };
            arguments.insert(size.to_owned(), input.int_in_range(1..=250)?.into());
            let cursor = match input.int_in_range(0..=3)? {
                0 if !self.cursors.is_empty() => self.cursors[input.choose_index(self.cursors.len())?].1.clone(),
                1 => json!("e30"),
                _ => Value::Null,
            };
            arguments.insert("cursor".to_owned(), cursor);
        }
        if arguments.contains_key("at") {
            self.terse(&mut arguments, tool, input)?;
        }
        if input.ratio(1, 16)? {
            let odd = input.choose(&["canary", "uri", "position", "cursor", "pageSize"])?.to_string();
            let value =
                input.choose(&[json!(null), json!(-1), json!("x"), json!({}), json!(1e300), json!([[]])])?.clone();
            arguments.insert(odd, value);
        }
        Ok(arguments.into())
    }

    async fn call(&mut self, input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        let tool = *input.choose(tools::ALL)?;
        let arguments = self.arguments(tool, input)?;
        if input.ratio(1, 4)? {
            // Two at once, one of which may be cancelled.
            let (mut other, mut canceller) = (self.client.clone(), self.client.clone());
            let message = json!({"jsonrpc": "2.0", "id": "other", "method": "tools/call", "params": {"name": tool.name(), "arguments": arguments}});
            let cancel =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "other"}});
            let cancels = input.arbitrary::<bool>()?;
            let cancelling = async {
                if cancels {
                    canceller.post(&cancel).await;
                }
            };
            let (one, two, ()) = tokio::join!(self.ask(tool, &arguments), other.post(&message), cancelling);
            self.check(tool, &arguments, one);
            self.check(tool, &arguments, Some((two.status, two.body)));
        } else {
            let answered = self.ask(tool, &arguments).await;
            self.check(tool, &arguments, answered);
        }
        Ok(())
    }

    async fn ask(&mut self, tool: Registered, arguments: &Value) -> Option<(u16, Vec<u8>)> {
        self.id += 1;
        self.asked_under = self.in_force.lock().expect("nobody panics while holding it").clone();
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": {"name": tool.name(), "arguments": arguments}});
        let answered = self.client.post(&message).await;
        Some((answered.status, answered.body))
    }

    /// Says otherwise what is asked about, or how much of it is wanted.
    fn terse(
        &self,
        arguments: &mut Map<String, Value>,
        tool: Registered,
        input: &mut Unstructured<'_>,
    ) -> arbitrary::Result<()> {
        if input.ratio(1, 3)? {
            let targets =
                [("symbol", "a"), ("symbol", "a.b"), ("text", "9|0"), ("text", "9"), ("text", "a"), ("text", "\n")];
            let (name, target) = *input.choose(&targets)?;
            arguments.remove("at");
            arguments.insert(name.to_owned(), target.into());
            if name == "text" && input.ratio(1, 4)? {
                arguments.insert("near".to_owned(), "0".into());
            }
        }
        if input.ratio(1, 8)? {
            arguments.insert("expect".to_owned(), input.choose(&["", "8afec5ef5af2144a"])?.to_string().into());
        }
        if tool.name() != SOURCE && input.ratio(1, 4)? {
            arguments.insert("lines".to_owned(), true.into());
        }
        if tool.name() == USAGES && input.ratio(1, 3)? {
            arguments.insert("detail".to_owned(), input.choose(&["counts", "symbols"])?.to_string().into());
        }
        Ok(())
    }

    /// Checks what was answered, and gives the payload of a success.
    fn check(&mut self, tool: Registered, arguments: &Value, answered: Option<(u16, Vec<u8>)>) -> Option<Value> {
        let (status, body) = answered?;
        let in_force = self.in_force.lock().expect("nobody panics while holding it").clone();
        if status != 200 {
            let expected: &[u16] = if self.client.token == in_force.token { &[400, 404] } else { &[401] };
            assert!(expected.contains(&status), "{status}");
            return None;
        }
        let text = String::from_utf8(body).expect("UTF-8");
        // An error may name the field that the harness made up, and nothing else of the kind.
        let said = text.replace("`canary` is not a field", "");
        assert!(!said.contains(CANARY), "a path outside: {text}");
        assert!(!text.contains(TOKEN) && !text.contains(OTHER_TOKEN));
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        if let Some(error) = answer.get("error") {
            if let Some("MCP_LSP_GATEWAY/INTERNAL") = checks::error_code(error) {
                // Only an editor's own fault is one of ours to admit.
                let told = error["data"]["message"].as_str();
                assert_eq!(told, Some(Scripted::WORDING.provider_failed), "{error}");
            }
            assert!(!error.to_string().contains(&DISK.base), "{error}");
            return None;
        }
        // Settings that change while the editor answers may hold for this answer already, or from the next one on.
        let max_response_bytes = self.asked_under.max_response_bytes.max(in_force.max_response_bytes);
        let max_page_size = self.asked_under.max_page_size.max(in_force.max_page_size);
        assert!(text.len() <= max_response_bytes, "{} bytes", text.len());
        let payload = answer["result"]["structuredContent"].clone();
        let list = |member: &str| payload[member].as_array().unwrap_or_else(|| panic!("{payload}")).clone();
        let question = checks::arguments(tool, "").expect("some fit").question;
        let shape = tool.asks(&question)[0].shape;
        if payload["state"].is_string() {
            let roots = if payload["root"].is_string() { json!([payload["root"]]) } else { payload["roots"].clone() };
            // What is told of languages names no file.
            let none = Vec::new();
            for root in roots
                .as_array()
                .unwrap_or_else(|| if payload["languages"].is_null() { panic!("{payload}") } else { &none })
            {
                let root = root["uri"].as_str().or_else(|| root.as_str()).expect("a folder");
                assert!(in_force.holds(root), "{root} is not in force");
            }
            checks::compact(&payload);
            if payload["nextCursor"].is_string() {
                self.cursors.push((tool, payload["nextCursor"].clone()));
            }
            return Some(payload);
        }
        checks::list(checks::items(&payload), checks::order_of(shape, tool.is_paged()));
        for group in checks::items(&payload).iter().filter_map(|item| item["diagnostics"].as_array()) {
            checks::list(group, checks::diagnostics);
        }
        let mut uris = BTreeSet::new();
        uris_of(&payload, &mut uris);
        for uri in uris {
            assert!(in_force.holds(&uri), "{uri} is outside {:?}", in_force.roots);
            assert!(DISK.named.iter().any(|(_, is)| is.as_deref() == Some(&uri)), "{uri} is not canonical");
        }
        if tool.is_paged() {
            // A number beyond every integer is a page size as well, and is cut to the most.
            let asked = arguments["pageSize"].as_f64().map_or(100, |size| size as usize);
            assert!(
                list("items").len() <= asked.clamp(1, max_page_size),
                "{} items for {arguments}",
                list("items").len()
            );
            if payload["nextCursor"].is_string() {
                self.cursors.push((tool, payload["nextCursor"].clone()));
            }
        }
        Some(payload)
    }

    /// Pages through a set while nothing changes: the pages are exactly what the editor found inside the roots.
    async fn page_to_the_end(&mut self, input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        let paged: Vec<_> = tools::ALL.iter().filter(|tool| tool.is_paged() && tool.is_in_v1()).collect();
        let tool = **input.choose(&paged)?;
        let mut arguments = match tool.name() {
            REFERENCES => {
                json!({"uri": DISK.named[0].0, "position": {"line": 0, "character": 0}, "includeDeclaration": true})
            }
            "vscode.lsp.workspaceSymbols" => json!({"query": "a"}),
            _ => json!({}),
        };
        // Large sets are not paged through one by one, which would take long and show nothing new.
        let found = self.editor.script(|script| script.found.all().count());
        arguments["pageSize"] = input.int_in_range(1..=200)?.max(found / 40).min(200).into();
        self.editor.script(|script| script.meanwhile = None);
        let mut items: Vec<Value> = Vec::new();
        loop {
            let answered = self.ask(tool, &arguments).await;
            let Some(payload) = self.check(tool, &arguments, answered) else {
                assert_eq!(arguments.get("cursor"), None, "a page after the first is there: {:?}", self.client.session);
                return Ok(());
            };
            items.extend_from_slice(payload["items"].as_array().expect("items"));
            if payload["nextCursor"].is_null() {
                break;
            }
            arguments["cursor"] = payload["nextCursor"].clone();
        }
        self.items_paged += items.len();
        let in_force = self.in_force.lock().expect("as above").clone();
        let found = self.editor.script(|script| script.found.clone());
        let canonical = |uri: u32| DISK.named[uri as usize].1.clone().filter(|uri| in_force.holds(uri));
        let mut expected: BTreeSet<(String, [u64; 4])> = BTreeSet::new();
        for (uri, range) in found.all() {
            let is_report = tool.name() != WORKSPACE_DIAGNOSTICS || range.start.line != 5;
            if let Some(uri) = canonical(uri).filter(|_| is_report) {
                let numbers =
                    [range.start.line, range.start.character, range.end.line, range.end.character].map(u64::from);
                expected.insert((uri, numbers));
            }
        }
        if tool.name() == WORKSPACE_DIAGNOSTICS {
            let files: BTreeSet<String> = expected.into_iter().map(|(uri, _)| uri).collect();
            let returned: Vec<String> = items.iter().map(|item| checks::text(item, "uri").to_owned()).collect();
            assert_eq!(returned, files.into_iter().collect::<Vec<_>>());
            return Ok(());
        }
        let place = |item: &Value| {
            let location = if tool.name() == REFERENCES { item } else { &item["location"] };
            (checks::text(location, "uri").to_owned(), checks::range(location))
        };
        let returned: Vec<_> = items.iter().map(place).collect();
        assert_eq!(returned, expected.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    fn changed(&self, input: &mut Unstructured<'_>) -> arbitrary::Result<InForce> {
        let mut roots = Vec::new();
        for root in ["project", "second", "linked", "gone", "project/src"] {
            if input.arbitrary()? {
                roots.push(root);
            }
        }
        Ok(InForce {
            roots,
            max_response_bytes: if input.arbitrary()? { 16_384 } else { 524_288 },
            max_page_size: input.int_in_range(1..=200)?,
            token: if input.ratio(1, 8)? { OTHER_TOKEN } else { TOKEN },
        })
    }

    fn configure(&mut self, input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        let changed = self.changed(input)?;
        self.gateway.configure(changed.settings());
        *self.in_force.lock().expect("as above") = changed;
        Ok(())
    }

    fn reconfiguration(&self, input: &mut Unstructured<'_>) -> arbitrary::Result<Meanwhile> {
        let (changed, in_force) = (self.changed(input)?, Arc::clone(&self.in_force));
        Ok(Meanwhile::Configure(Arc::new(move || {
            *in_force.lock().expect("as above") = changed.clone();
            changed.settings()
        })))
    }

    async fn session(&mut self, input: &mut Unstructured<'_>) -> arbitrary::Result<()> {
        match input.int_in_range(0..=3)? {
            0 => {
                let status = self.client.send("DELETE", Vec::new()).await.status;
                assert!(matches!(status, 204 | 401 | 404), "{status}");
            }
            1 => self.client.session = Some(input.choose(&["x", "eA", ""])?.to_string()),
            2 => {
                let token = self.in_force.lock().expect("as above").token;
                self.client.token = token.to_owned();
                self.client.initialize().await;
            }
            _ => self.client.token = (*input.choose(&[TOKEN, OTHER_TOKEN])?).to_owned(),
        }
        Ok(())
    }
}

fn epoch(input: &mut Unstructured<'_>) -> arbitrary::Result<Epoch> {
    Ok(*input.choose(&[Epoch::Roots, Epoch::Text, Epoch::Fs, Epoch::Diagnostics])?)
}

fn uris_of(value: &Value, uris: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| uris_of(item, uris)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(uri) if name == "uri" => _ = uris.insert(uri.clone()),
                    member => uris_of(member, uris),
                }
            }
        }
        _ => {}
    }
}
