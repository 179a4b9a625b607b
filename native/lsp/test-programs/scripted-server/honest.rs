//! What a plain server does.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::texts::{Declared, Encoding, Place, Texts, path_of, uri_of};

/// The word that diagnostics are about.
const WRONG: &str = "wrong";

pub(crate) struct Honest {
    script: Value,
    pub(crate) texts: Texts,
    root: String,
}

impl Honest {
    pub(crate) fn of(script: Value) -> Self {
        let mut texts = Texts::default();
        texts.encoding = script["encoding"].as_str().map(Encoding::named).unwrap_or_default();
        Self { script, texts, root: String::new() }
    }

    /// Takes a notification over, and tells what is said about it.
    pub(crate) fn notified(&mut self, message: &Value) -> Vec<(&'static str, Value)> {
        let params = &message["params"];
        let document = &params["textDocument"];
        let path = || path_of(document["uri"].as_str().unwrap());
        match message["method"].as_str().unwrap() {
            "initialized" if self.script["diagnostics"]["pull"] == "dynamic" => {
                let options =
                    json!({ "documentSelector": null, "interFileDependencies": true, "workspaceDiagnostics": false });
                let registration =
                    json!({ "id": "pull", "method": "textDocument/diagnostic", "registerOptions": options });
                return vec![("client/registerCapability", json!({ "registrations": [registration] }))];
            }
            "textDocument/didOpen" => {
                self.texts.open(path(), document["version"].clone(), document["text"].as_str().unwrap().to_owned());
                return self.published(&path());
            }
            "textDocument/didChange" => {
                let changes = params["contentChanges"].as_array().unwrap();
                self.texts.change(&path(), document["version"].clone(), changes);
                return self.published(&path());
            }
            "textDocument/didClose" => self.texts.close(&path()),
            "workspace/didChangeWatchedFiles" => {
                for change in params["changes"].as_array().unwrap() {
                    self.texts.look_at(&path_of(change["uri"].as_str().unwrap()));
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// The result of a request, or none for a method that is not offered.
    pub(crate) fn answer(&mut self, message: &Value) -> Option<Value> {
        let params = &message["params"];
        let path = || path_of(params["textDocument"]["uri"].as_str().unwrap());
        Some(match message["method"].as_str().unwrap() {
            "initialize" => self.initialize(params),
            "shutdown" => Value::Null,
            "textDocument/references" => {
                let declared = params["context"]["includeDeclaration"] == true;
                let definition = self.definition(params);
                let places =
                    self.occurrences(params).into_iter().filter(|place| declared || Some(place) != definition.as_ref());
                places.map(|place| self.location(&place)).collect()
            }
            "textDocument/definition"
            | "textDocument/declaration"
            | "textDocument/typeDefinition"
            | "textDocument/implementation" => match self.definition(params) {
                Some(place) if self.script["links"] == true => json!([{
                    "targetUri": uri_of(&place.path),
                    "targetRange": self.texts.range(&place),
                    "targetSelectionRange": self.texts.range(&place),
                }]),
                Some(place) => self.location(&place),
                None => Value::Null,
            },
            "textDocument/documentHighlight" => {
                let (path, word) = (path(), self.word(params));
                let places = word.map(|word| self.texts.occurrences_in(&path, word)).unwrap_or_default();
                places.iter().map(|place| json!({ "range": self.texts.range(place), "kind": 1 })).collect()
            }
            "textDocument/hover" => match self.definition(params) {
                Some(place) => json!({ "contents": { "kind": "markdown", "value": self.texts.line_of(&place) } }),
                None => Value::Null,
            },
            "textDocument/documentSymbol" => {
                let declared = self.texts.declared(Some(&path()));
                declared.iter().map(|declared| self.symbol(declared, self.script["symbols"] == "flat")).collect()
            }
            "workspace/symbol" => {
                let query = params["query"].as_str().unwrap();
                let declared = self.texts.declared(None).into_iter().filter(|declared| declared.name.contains(query));
                declared.map(|declared| self.symbol(&declared, true)).collect()
            }
            "textDocument/diagnostic" if !self.script["diagnostics"]["pull"].is_null() => {
                let items = self.wrong(&path());
                let id = format!("{:?}", self.texts.text(&path()));
                if params["previousResultId"] == json!(id) {
                    json!({ "kind": "unchanged", "resultId": id })
                } else {
                    json!({ "kind": "full", "resultId": id, "items": items })
                }
            }
            _ => return None,
        })
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let folders =
            params["workspaceFolders"].as_array().into_iter().flatten().filter_map(|folder| folder["uri"].as_str());
        let mut roots: Vec<&str> = folders.collect();
        roots.extend(params["rootUri"].as_str().filter(|root| !roots.contains(root)));
        roots.first().copied().unwrap_or_default().trim_end_matches('/').clone_into(&mut self.root);
        for root in &roots {
            self.texts.load(&path_of(root));
        }
        let mut capabilities = json!({
            "textDocumentSync": { "openClose": true, "change": 1, "save": true },
            "referencesProvider": true,
            "definitionProvider": true,
            "declarationProvider": true,
            "typeDefinitionProvider": true,
            "implementationProvider": true,
            "documentHighlightProvider": true,
            "hoverProvider": true,
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
        });
        if let Some(encoding) = self.script.get("encoding") {
            capabilities["positionEncoding"] = encoding.clone();
        }
        if self.script["diagnostics"]["pull"] == "static" {
            capabilities["diagnosticProvider"] =
                json!({ "interFileDependencies": true, "workspaceDiagnostics": false });
        }
        for (name, value) in self.script["capabilities"].as_object().into_iter().flatten() {
            capabilities[name] = value.clone();
        }
        let mut server = json!({ "name": "scripted-server", "version": "1.0.0" });
        for (name, value) in self.script["serverInfo"].as_object().into_iter().flatten() {
            server[name] = value.clone();
        }
        json!({ "capabilities": capabilities, "serverInfo": server })
    }

    fn word(&self, params: &Value) -> Option<&str> {
        self.texts.word_at(&path_of(params["textDocument"]["uri"].as_str().unwrap()), &params["position"])
    }

    fn occurrences(&self, params: &Value) -> Vec<Place> {
        self.word(params).map(|word| self.texts.occurrences(word)).unwrap_or_default()
    }

    /// Where the word at a position is declared, else where it is first.
    fn definition(&self, params: &Value) -> Option<Place> {
        let word = self.word(params)?;
        let declared = self.texts.declared(None).into_iter().find(|declared| declared.name == word);
        declared.map(|declared| declared.at).or_else(|| self.texts.occurrences(word).into_iter().next())
    }

    fn location(&self, place: &Place) -> Value {
        json!({ "uri": uri_of(&place.path), "range": self.texts.range(place) })
    }

    fn symbol(&self, Declared { name, kind, at }: &Declared, flat: bool) -> Value {
        if flat {
            return json!({ "name": name, "kind": kind, "location": self.location(at) });
        }
        let range = self.texts.range(at);
        json!({ "name": name, "kind": kind, "range": range, "selectionRange": range })
    }

    fn wrong(&self, path: &Path) -> Value {
        let mut diagnostics = Vec::new();
        for place in self.texts.occurrences_in(path, WRONG) {
            let mut diagnostic =
                json!({ "range": self.texts.range(&place), "message": "This is wrong.", "source": "scripted" });
            if let Some(severity) = self.script["diagnostics"].get("severity") {
                diagnostic["severity"] = severity.clone();
            }
            diagnostics.push(diagnostic);
        }
        diagnostics.into()
    }

    fn published(&self, path: &Path) -> Vec<(&'static str, Value)> {
        if self.script["diagnostics"]["push"] != true {
            return Vec::new();
        }
        let mut params = json!({ "uri": uri_of(path), "diagnostics": self.wrong(path) });
        if self.script["diagnostics"]["version"] == true {
            params["version"] = self.texts.version(path);
        }
        vec![("textDocument/publishDiagnostics", params)]
    }

    /// The value with what stands for parts of a message replaced. Actions inside it are about their own messages.
    pub(crate) fn filled(&self, value: &Value, message: &Value) -> Value {
        match value {
            Value::String(text) if text.contains("${") => {
                let uri = &message["params"]["textDocument"]["uri"];
                let path: Option<PathBuf> = uri.as_str().map(path_of);
                let version = path.map_or(Value::Null, |path| self.texts.version(&path));
                let root = json!(self.root);
                let mut text = text.clone();
                for (name, stands_for) in
                    [("${id}", &message["id"]), ("${uri}", uri), ("${version}", &version), ("${root}", &root)]
                {
                    if text == name {
                        return stands_for.clone();
                    }
                    let written = stands_for.as_str().map_or_else(|| stands_for.to_string(), str::to_owned);
                    text = text.replace(name, &written);
                }
                text.into()
            }
            Value::Array(items) => items.iter().map(|item| self.filled(item, message)).collect(),
            Value::Object(members) => {
                let filled = |(name, value): (&String, &Value)| {
                    let is_actions = name == "do" || name == "then";
                    (name.clone(), if is_actions { value.clone() } else { self.filled(value, message) })
                };
                members.iter().map(filled).collect()
            }
            _ => value.clone(),
        }
    }
}
