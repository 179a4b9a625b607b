//! Bodies that a client posts inside a session.

use std::cell::RefCell;

use serde_json::Value;

use crate::checks;
use crate::gateway_over_http::{Client, Double, TOKEN, block_on};

thread_local! {
    static CLIENT: RefCell<Option<Client<Double>>> = const { RefCell::new(None) };
}

/// Posts the bytes as a body.
pub fn run(bytes: &[u8]) {
    CLIENT.with_borrow_mut(|client| block_on(attempt(client, bytes)));
}

async fn attempt(client: &mut Option<Client<Double>>, bytes: &[u8]) {
    if client.is_none() {
        let mut fresh = Client::of(Double::new());
        fresh.initialize().await;
        *client = Some(fresh);
    }
    let client = client.as_mut().expect("it was made above");
    let answered = client.send("POST", bytes.to_vec()).await;
    let message: Option<Value> = serde_json::from_slice(bytes).ok();
    let sent = |member: &str| message.as_ref().and_then(|message| message.as_object()?.get(member));
    assert!(answered.body.len() <= 524_288);
    match answered.status {
        202 => {
            assert!(answered.body.is_empty());
            assert!(sent("id").is_none() || sent("method").is_none(), "a request has an answer");
        }
        200 => {
            let answer = answered.json();
            assert_eq!(answer["jsonrpc"], "2.0");
            assert_eq!(sent("jsonrpc").expect("it was sent"), "2.0");
            assert_eq!(Some(&answer["id"]), sent("id"), "the answer is to this request");
            let method = sent("method").expect("a request").as_str().expect("a name");
            match (answer.get("result"), answer.get("error")) {
                (Some(result), None) => {
                    assert_eq!(answered.session.is_some(), method == "initialize");
                    if method == "tools/call" {
                        assert_eq!(result["isError"], false);
                        assert_eq!(result["structuredContent"]["tool"], sent("params").expect("params")["name"]);
                    } else {
                        assert!(matches!(method, "initialize" | "ping" | "tools/list"), "{method}");
                    }
                }
                (None, Some(error)) => {
                    assert!(checks::error_code(error).is_none_or(|code| code == "MCP_LSP_GATEWAY/INVALID_PARAMS"));
                    assert!(!error.to_string().contains(TOKEN));
                }
                _ => panic!("neither a result nor an error, or both: {answer}"),
            }
        }
        400 => {
            let answer = answered.json();
            assert_eq!(answer["id"], Value::Null);
            assert!(matches!(answer["error"]["code"].as_i64(), Some(-32700 | -32600)), "{answer}");
        }
        413 => assert!(bytes.len() > 1_048_576),
        status => panic!("status {status}"),
    }
}
