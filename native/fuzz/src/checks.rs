//! What holds of every answer, whoever was asked what: checked on the JSON that a client would get.

use std::cmp::Ordering;
use std::collections::HashSet;

use gateway_core::ask::Shape;
use gateway_core::keys::RequestKey;
use gateway_core::place;
use gateway_core::tool::{Arguments, Registered};
use gateway_core::tools;
use serde_json::{Value, json};

/// The taxonomy (contract section 6.3) and what the tools beyond version 1 add, each with its JSON-RPC number (D3).
const TAXONOMY: [(&str, i64); 12] = [
    ("MCP_LSP_GATEWAY/INVALID_PARAMS", -32602),
    ("MCP_LSP_GATEWAY/WORKSPACE_DENIED", -32602),
    ("MCP_LSP_GATEWAY/URI_INVALID", -32602),
    ("MCP_LSP_GATEWAY/CURSOR_INVALID", -32602),
    ("MCP_LSP_GATEWAY/CURSOR_STALE", -32602),
    ("MCP_LSP_GATEWAY/CURSOR_EXPIRED", -32602),
    ("MCP_LSP_GATEWAY/SNAPSHOT_TOO_LARGE", -32602),
    ("MCP_LSP_GATEWAY/NOT_FOUND", -32603),
    ("MCP_LSP_GATEWAY/CAP_EXCEEDED", -32603),
    ("MCP_LSP_GATEWAY/PROVIDER_UNAVAILABLE", -32603),
    ("MCP_LSP_GATEWAY/INTERNAL", -32603),
    ("MCP_LSP_GATEWAY/FILE_CHANGED", -32602),
];

/// Most items of any list (contract section 5.1).
pub(crate) const MAX_ITEMS: usize = 200;

/// Checks an error of JSON-RPC and gives the code of the tool's error, if it is one.
pub(crate) fn error_code(error: &Value) -> Option<&'static str> {
    let number = error["code"].as_i64().expect("an error has a number");
    let message = error["message"].as_str().expect("an error has a message");
    let Some(data) = error.get("data") else {
        assert!(matches!(number, -32700 | -32600 | -32601), "{error}");
        return None;
    };
    let code = data["code"].as_str().expect("a tool's error has a code");
    let known = TAXONOMY.iter().find(|(known, _)| *known == code);
    let (known, expected) = known.unwrap_or_else(|| panic!("not in the taxonomy: {error}"));
    assert_eq!(number, *expected, "{error}");
    assert!(message.ends_with(&format!(" [{code}]")), "{error}");
    assert_eq!(message.strip_suffix(&format!(" [{code}]")), data["message"].as_str(), "{error}");
    Some(known)
}

/// Checks the order of a list, that it has nothing twice, and that it is not too long.
pub(crate) fn list(items: &[Value], compare: fn(&Value, &Value) -> Ordering) {
    assert!(items.len() <= MAX_ITEMS, "{} items", items.len());
    sorted(items, compare);
}

/// As [`list`], of a set that was put together from its pages.
pub(crate) fn sorted(items: &[Value], compare: fn(&Value, &Value) -> Ordering) {
    for pair in items.windows(2) {
        assert_ne!(compare(&pair[0], &pair[1]), Ordering::Greater, "{} before {}", pair[0], pair[1]);
    }
    let distinct: HashSet<String> = items.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), items.len(), "something is there twice");
}

/// The list that a payload is, whatever its member is called.
pub(crate) fn items(payload: &Value) -> &Vec<Value> {
    payload.as_object().and_then(|members| members.values().find_map(Value::as_array)).expect("a payload has a list")
}

/// Checks a page of a compact list, and gives its items in order, each with the file that it stands under.
pub(crate) fn compact(payload: &Value) -> Vec<(String, Value)> {
    let mut items = Vec::new();
    if let Some(files) = payload["files"].as_array() {
        let paths: Vec<_> = files.iter().map(|file| text(file, "path").to_owned()).collect();
        assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "{payload}");
        for (path, file) in paths.iter().zip(files) {
            match file["at"].as_array() {
                // After a place there may be more, such as its line.
                Some(places) => items.extend(
                    places
                        .iter()
                        .filter_map(Value::as_str)
                        .map(|place| (path.clone(), place.split(' ').next().unwrap_or_default().into())),
                ),
                None => items.push((path.clone(), file.clone())),
            }
        }
    }
    for list in ["symbols", "source", "languages"] {
        if let Some(items) = payload[list].as_array() {
            let path = |item: &Value| item["path"].as_str().or(payload["path"].as_str()).unwrap_or_default().to_owned();
            return items.iter().map(|item| (path(item), item.clone())).collect();
        }
    }
    for (path, place) in &items {
        if let Some(place) = place.as_str() {
            assert!(matches!(place::read(place), Some(Ok(_))), "{place} in {path}");
        }
    }
    for pair in items.windows(2) {
        let place = |place: &Value| place.as_str().and_then(place::read).and_then(Result::ok);
        let [(one, before), (other, after)] = pair else { unreachable!() };
        assert_ne!(utf16(one, other), Ordering::Greater, "{one} before {other}");
        assert!(one != other || place(before) < place(after), "{before} before {after} in {one}");
    }
    items
}

/// The order of what is made of answers of this shape.
pub(crate) fn order_of(shape: Shape, is_paged: bool) -> fn(&Value, &Value) -> Ordering {
    match shape {
        Shape::Targets | Shape::Locations => locations,
        Shape::Hovers => fragments,
        Shape::DocumentSymbols => document_symbols,
        Shape::WorkspaceSymbols => workspace_symbols,
        Shape::Diagnostics if is_paged => groups,
        Shape::Diagnostics => diagnostics,
        _ => |one, other| range(one).cmp(&range(other)),
    }
}

/// Arguments that fit the tool, about this document if it is about one.
pub(crate) fn arguments(tool: Registered, uri: &str) -> Option<Arguments> {
    let place = json!({ "uri": uri, "position": { "line": 0, "character": 0 } });
    let at = json!({ "file": uri, "at": "0:0" });
    let tried = [
        place,
        json!({ "uri": uri }),
        at,
        json!({ "file": uri }),
        json!({ "query": "a" }),
        json!({ "symbol": "a" }),
        json!({}),
    ];
    tried.iter().find_map(|arguments| tool.read(arguments).ok())
}

/// Some request key.
pub(crate) fn request() -> RequestKey {
    let tool = tools::named("vscode.lsp.diagnostics.workspace").expect("it is registered");
    arguments(tool, "").expect("it takes none").question.request_key(tool, None)
}

/// The order of locations (contract section 4.2).
pub(crate) fn locations(one: &Value, other: &Value) -> Ordering {
    text(one, "uri").cmp(text(other, "uri")).then_with(|| range(one).cmp(&range(other)))
}

/// The order of document symbols.
pub(crate) fn document_symbols(one: &Value, other: &Value) -> Ordering {
    range(one).cmp(&range(other)).then_with(|| named(one, other))
}

/// The order of workspace symbols.
pub(crate) fn workspace_symbols(one: &Value, other: &Value) -> Ordering {
    locations(&one["location"], &other["location"]).then_with(|| named(one, other))
}

/// The order of the diagnostics of one file.
pub(crate) fn diagnostics(one: &Value, other: &Value) -> Ordering {
    let severity = |value: &Value| value.get("severity").map_or(u64::MAX, |it| it.as_u64().expect("a number"));
    let start = |value: &Value| [0, 1].map(|index| range(value)[index]);
    start(one)
        .cmp(&start(other))
        .then_with(|| severity(one).cmp(&severity(other)))
        .then_with(|| missing_last(one, other, "code"))
        .then_with(|| missing_last(one, other, "source"))
        .then_with(|| utf16(text(one, "message"), text(other, "message")))
}

/// The order of groups of diagnostics.
pub(crate) fn groups(one: &Value, other: &Value) -> Ordering {
    text(one, "uri").cmp(text(other, "uri"))
}

/// The order of the fragments of a hover.
pub(crate) fn fragments(one: &Value, other: &Value) -> Ordering {
    utf16(text(one, "kind"), text(other, "kind")).then_with(|| utf16(text(one, "value"), text(other, "value")))
}

fn named(one: &Value, other: &Value) -> Ordering {
    let kind = |value: &Value| value["kind"].as_u64().expect("a number");
    assert!((1..=26).contains(&kind(one)), "{one}");
    utf16(text(one, "name"), text(other, "name"))
        .then_with(|| kind(one).cmp(&kind(other)))
        .then_with(|| missing_last(one, other, "containerName"))
}

fn missing_last(one: &Value, other: &Value, member: &str) -> Ordering {
    match (one.get(member), other.get(member)) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(_), Some(_)) => utf16(text(one, member), text(other, member)),
    }
}

fn utf16(one: &str, other: &str) -> Ordering {
    let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    units(one).cmp(&units(other))
}

pub(crate) fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("{member} of {value}"))
}

/// The numbers of a range, in their order.
pub(crate) fn range(value: &Value) -> [u64; 4] {
    [("start", "line"), ("start", "character"), ("end", "line"), ("end", "character")]
        .map(|(end, number)| value["range"][end][number].as_u64().unwrap_or_else(|| panic!("the range of {value}")))
}
