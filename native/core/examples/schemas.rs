//! Writes what `tools/list` says of each tool, as JSON, for `scripts/schemas.ts`.
#![expect(clippy::disallowed_macros, clippy::print_stdout, reason = "this is what it is for")]

use gateway_core::tools;
use serde_json::Value;

fn main() {
    let told: Vec<_> = tools::ALL
        .iter()
        .map(|tool| {
            let [name, description] = [tool.name(), tool.description()].map(Value::from);
            let [input, output] = [tool.input_schema(), tool.output_schema()];
            let (input, output) = (input.as_str(), output.as_str());
            format!(r#"{{"name":{name},"description":{description},"input":{input},"output":{output}}}"#)
        })
        .collect();
    println!("[{}]", told.join(","));
}
