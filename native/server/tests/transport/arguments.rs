//! `tools/list`, and what is said of arguments that do not fit.

use std::fs;
use std::path::Path;

use gateway_core::ask::Subject;
use gateway_core::page::WantedPage;
use gateway_core::position::Position;
use serde_json::{Value, json};

use crate::double::Asked;
use crate::wire::{Request, Server};

const NAMES: [&str; 7] = [
    "vscode.lsp.definition",
    "vscode.lsp.references",
    "vscode.lsp.hover",
    "vscode.lsp.documentSymbols",
    "vscode.lsp.workspaceSymbols",
    "vscode.lsp.diagnostics.document",
    "vscode.lsp.diagnostics.workspace",
];

fn schema_file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/tools").join(name)).unwrap()
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[tokio::test]
async fn tools_list_is_exactly_the_seven_tools_with_the_schema_files_inlined() {
    let server = Server::start();
    let answer = server.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let descriptions: Value = serde_json::from_str(&schema_file("descriptions.json")).unwrap();
    let expected: Vec<Value> = NAMES
        .iter()
        .map(|name| {
            let schema = |file: String| {
                let mut schema: Value = serde_json::from_str(&schema_file(&file)).unwrap();
                schema.as_object_mut().unwrap().remove("$schema").unwrap();
                schema
            };
            json!({
                "name": name,
                "description": descriptions[name],
                "inputSchema": schema(format!("{name}.json")),
                "outputSchema": schema(format!("{name}.output.json")),
                "annotations": {"readOnlyHint": true},
            })
        })
        .collect();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": expected}}));
}

#[tokio::test]
async fn tools_list_holds_no_reference_and_keeps_the_order_of_the_files() {
    let server = Server::start();
    let response = server.ask_raw(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let text = response.text();
    assert!(!text.contains("$ref") && !text.contains("$defs") && !text.contains("$schema"));
    let references = &text[text.find(r#""name":"vscode.lsp.references""#).unwrap()..];
    let places: Vec<usize> = [r#""uri":{"#, r#""position":{"#, r#""pageSize":{"#, r#""cursor":{"#, r#""items":{"#]
        .iter()
        .map(|field| references.find(field).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[tokio::test]
async fn tools_list_takes_no_cursor_but_null() {
    let server = Server::start();
    let list = |params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    assert!(server.ask(&list(json!({"cursor": null}))).await.get("result").is_some());
    for cursor in [json!("x"), json!(""), json!(1), json!({})] {
        let answer = server.ask(&list(json!({"cursor": cursor}))).await;
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["data"]["code"], "MCP_LSP_GATEWAY/INVALID_PARAMS");
        assert!(answer["error"]["message"].as_str().unwrap().ends_with(" [MCP_LSP_GATEWAY/INVALID_PARAMS]"));
    }
}

#[tokio::test]
async fn arguments_that_fit_reach_the_call_with_whole_numbers_as_integers() {
    let server = Server::start();
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"vscode.lsp.references","arguments":
        {"uri":"file:///a.ts","position":{"line":4.0,"character":-0.0},"pageSize":1e300,"cursor":null}}}"#;
    server.ask_raw(body).await.json();
    let asked: Vec<Asked> = server.gateway.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].tool.name(), "vscode.lsp.references");
    let (uri, position) = ("file:///a.ts".to_owned(), Position { line: 4, character: 0 });
    assert_eq!(asked[0].arguments.question.subject, Subject::Place { uri, position });
    assert_eq!(asked[0].arguments.page, Some(WantedPage { size: Some(u64::MAX), cursor: None, if_state: None }));
}

#[tokio::test]
async fn arguments_left_out_count_as_an_empty_object() {
    let server = Server::start();
    let bare = |name: &str| json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}});
    assert!(server.ask(&bare("vscode.lsp.diagnostics.workspace")).await.get("result").is_some());
    let page = server.gateway.asked.lock().unwrap()[0].arguments.page.clone();
    assert_eq!(page, Some(WantedPage { size: None, cursor: None, if_state: None }));
    let answer = server.ask(&bare("vscode.lsp.hover")).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("`uri` is required"), "{answer}");
}

#[tokio::test]
async fn a_call_without_the_name_of_a_tool_is_invalid_params() {
    let server = Server::start();
    for params in [json!({}), json!({"name": 1}), json!({"name": null, "arguments": {}})] {
        let answer = server.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
        assert_eq!(answer["error"]["data"]["code"], "MCP_LSP_GATEWAY/INVALID_PARAMS");
    }
}

#[tokio::test]
async fn what_is_wrong_with_arguments_is_told_by_field_and_limit_and_never_by_value() {
    let server = Server::start();
    let session = server.session().await;
    let at = |line: Value, character: Value| json!({"uri": "file:///s3cret.ts", "position": {"line": line, "character": character}});
    let long = format!("file:///s3cret/{}", "x".repeat(16_384));
    let cases = [
        ("vscode.lsp.definition", json!([]), "`arguments` must be an object"),
        ("vscode.lsp.definition", json!(null), "`arguments` must be an object"),
        ("vscode.lsp.definition", json!({}), "`uri` is required; `position` is required"),
        (
            "vscode.lsp.definition",
            json!({"uri": "file:///s3cret.ts", "position": {"line": 1}}),
            "`position.character` is required",
        ),
        ("vscode.lsp.definition", json!({"uri": 5, "position": {"line": 1, "character": 1}}), "`uri` must be a string"),
        (
            "vscode.lsp.definition",
            json!({"uri": long, "position": {"line": 1, "character": 1}}),
            "`uri` may have at most 16384 characters",
        ),
        ("vscode.lsp.definition", at(json!(-1), json!(0)), "`position.line` must be at least 0"),
        (
            "vscode.lsp.definition",
            at(json!(0), json!(2_147_483_648_u32)),
            "`position.character` must be at most 2147483647",
        ),
        ("vscode.lsp.definition", at(json!(0.5), json!(0)), "`position.line` must be an integer"),
        ("vscode.lsp.definition", at(json!("s3cret"), json!(0)), "`position.line` must be an integer"),
        ("vscode.lsp.diagnostics.workspace", json!({"pageSize": 0}), "`pageSize` must be at least 1"),
        ("vscode.lsp.diagnostics.workspace", json!({"cursor": 7}), "`cursor` must be null or a string"),
        (
            "vscode.lsp.diagnostics.workspace",
            json!({"pagesize": 7}),
            "`pagesize` is not a field of this tool, which takes `cursor`, `pageSize`",
        ),
        (
            "vscode.lsp.diagnostics.workspace",
            json!({"s3cret/path": 7}),
            "there is a field that this tool does not have: it takes `cursor`, `pageSize`",
        ),
        ("vscode.lsp.workspaceSymbols", json!({"query": " \t"}), "`query` must not be blank"),
        (
            "vscode.lsp.definition",
            json!({"uri": "file:///s3cret.ts", "position": {"line": 1, "character": 1, "column": 2}}),
            "`column` is not a field of `position`, which takes `character`, `line`",
        ),
    ];
    for (tool, arguments, told) in cases {
        let error =
            server.send(&Request::post(&call(tool, &arguments)).in_session(&session)).await.json()["error"].clone();
        assert_eq!(error["code"], -32602, "{told}");
        let message = error["message"].as_str().unwrap();
        assert_eq!(message, format!("{told}; correct the arguments and call again. [MCP_LSP_GATEWAY/INVALID_PARAMS]"));
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
    assert!(server.gateway.asked.lock().unwrap().is_empty(), "none of them reached a tool");
}
