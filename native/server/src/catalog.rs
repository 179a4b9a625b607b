//! The catalog of tools: what `tools/list` returns, and what is wrong with the arguments of a call.

use std::sync::Arc;

use gateway_core::error::ToolError;
use gateway_core::tool::{Arguments, Misfit, Registered};
use gateway_core::tools;
use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Most faults of one call's arguments that are told at once.
const MAX_FAULTS: usize = 3;
/// Longest name of an unknown field that is repeated to the caller.
const MAX_FIELD_NAME: usize = 40;

/// Which of the tools that are offered a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// All of them.
    Offered,
    /// Those of the contract's first version.
    V1,
    /// Those that clients use most.
    Core,
}

impl Profile {
    pub(crate) const ALL: [Self; 3] = [Self::Offered, Self::V1, Self::Core];

    /// The one that the query of an address chooses, such as `catalog=core`; nothing if there is no such.
    pub(crate) fn of_query(query: Option<&str>) -> Option<Self> {
        let pairs = query.unwrap_or_default().split('&');
        match pairs.filter_map(|pair| pair.strip_prefix("catalog=")).next_back() {
            None | Some("all") => Some(Self::Offered),
            Some("v1") => Some(Self::V1),
            Some("core") => Some(Self::Core),
            Some(_) => None,
        }
    }

    /// What tells the MACs of its sessions from others.
    pub(crate) const fn label(self) -> &'static [u8] {
        match self {
            Self::Offered => b"",
            Self::V1 => b"|v1",
            Self::Core => b"|core",
        }
    }

    pub(crate) fn has(self, tool: Registered) -> bool {
        match self {
            Self::Offered => true,
            Self::V1 => tool.is_in_v1(),
            Self::Core => tool.is_in_core(),
        }
    }
}

/// The tools that clients are offered.
#[derive(Debug)]
pub struct Catalog {
    tools: Vec<Registered>,
    list: Vec<u8>,
}

impl Catalog {
    /// A catalog of these tools.
    pub fn of(tools: Vec<Registered>) -> Self {
        let offered: Vec<_> = tools
            .iter()
            .map(|tool| {
                format!(
                    r#"{{"name":{},"description":{},"inputSchema":{},"outputSchema":{},"annotations":{{"readOnlyHint":true}}}}"#,
                    Value::from(tool.name()),
                    Value::from(tool.description()),
                    tool.input_schema().as_str(),
                    tool.output_schema().as_str(),
                )
            })
            .collect();
        Self { tools, list: format!(r#"{{"tools":[{}]}}"#, offered.join(",")).into_bytes() }
    }

    /// What a session of this profile has of it.
    pub(crate) fn of_profile(self: Arc<Self>, profile: Profile) -> Arc<Self> {
        if profile == Profile::Offered {
            return self;
        }
        Arc::new(Self::of(self.tools.iter().copied().filter(|tool| profile.has(*tool)).collect()))
    }

    /// The tools, in the order of `tools/list`.
    pub fn tools(&self) -> &[Registered] {
        &self.tools
    }

    /// The tool with this exact name, if it is offered.
    pub fn named(&self, name: &str) -> Option<Registered> {
        self.tools.iter().copied().find(|tool| tool.name() == name)
    }

    /// What tells this catalog from others; nothing for that of the contract's first version.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
        (self.tools != tools::v1()).then(|| Sha256::digest(names.join(",")).into())
    }

    /// The encoded result of `tools/list`.
    pub fn list(&self) -> &[u8] {
        &self.list
    }
}

/// Reads the arguments of a call. The error names what is wrong and never repeats a value.
pub fn read(tool: Registered, arguments: &Value) -> Result<Arguments, ToolError> {
    tool.read(arguments).map_err(|misfit| {
        let faults = faults(tool, arguments);
        match misfit {
            _ if !faults.is_empty() => {
                ToolError::InvalidParams(format!("{}; correct the arguments and call again.", faults.join("; ")))
            }
            Misfit::Refused(error) => error,
            Misfit::Schema => ToolError::Internal,
        }
    })
}

/// What the tool's schema says is wrong with the arguments.
fn faults(tool: Registered, arguments: &Value) -> Vec<String> {
    // That the schemas are sound is a matter of tests; were one not, calls that do not fit it would fail and the server live on.
    let Ok(schema) = serde_json::from_str::<Value>(tool.input_schema().as_str()) else { return Vec::new() };
    let Ok(validator) = jsonschema::draft202012::new(&schema) else { return Vec::new() };
    validator.iter_errors(arguments).take(MAX_FAULTS).map(|fault| tell(&fault, &schema)).collect()
}

/// What is wrong with the arguments, in words made of the schema's own.
fn tell(fault: &ValidationError<'_>, schema: &Value) -> String {
    let path = fault.instance_path().to_string().trim_start_matches('/').replace('/', ".");
    let field = if path.is_empty() { "`arguments`".to_owned() } else { format!("`{path}`") };
    match fault.kind() {
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            if path.is_empty() {
                format!("`{property}` is required")
            } else {
                format!("`{path}.{property}` is required")
            }
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let fields = known_fields(fault.schema_path().as_str(), schema);
            match unexpected.iter().find(|name| is_repeatable(name)) {
                Some(name) if path.is_empty() => format!("`{name}` is not a field of this tool, which takes {fields}"),
                Some(name) => format!("`{name}` is not a field of {field}, which takes {fields}"),
                None if path.is_empty() => format!("there is a field that this tool does not have: it takes {fields}"),
                None => format!("there is a field that {field} does not have: it takes {fields}"),
            }
        }
        ValidationErrorKind::Type { kind } => format!("{field} must be {}", type_names(kind)),
        ValidationErrorKind::Minimum { limit } => format!("{field} must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{field} must be at most {limit}"),
        ValidationErrorKind::MaxLength { limit } => format!("{field} may have at most {limit} characters"),
        ValidationErrorKind::MinLength { limit } => format!("{field} must have at least {limit} characters"),
        ValidationErrorKind::Pattern { pattern } if pattern == r"\S" => format!("{field} must not be blank"),
        ValidationErrorKind::Pattern { pattern } => format!("{field} must match the pattern {pattern}"),
        ValidationErrorKind::Enum { options } => format!("{field} must be one of {options}"),
        other => format!("{field} breaks the rule `{}` of the tool's inputSchema", other.keyword()),
    }
}

/// Whether the name of an unknown field is plain enough to be a misspelt one, and not something that had better not be
/// repeated.
fn is_repeatable(name: &str) -> bool {
    (1..=MAX_FIELD_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The fields of the object whose `additionalProperties` stands at `path` in the schema.
fn known_fields(path: &str, schema: &Value) -> String {
    let object = path.rsplit_once('/').map_or("", |(object, _)| object);
    let fields: Vec<String> = schema
        .pointer(&format!("{object}/properties"))
        .and_then(Value::as_object)
        .map(|properties| properties.keys().map(|name| format!("`{name}`")).collect())
        .unwrap_or_default();
    if fields.is_empty() { "none".to_owned() } else { fields.join(", ") }
}

fn type_names(kind: &TypeKind) -> String {
    let with_article = |name: JsonType| match name {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(name) => with_article(*name).to_owned(),
        TypeKind::Multiple(names) => names.iter().map(with_article).collect::<Vec<_>>().join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// JSON texts of which the first ones are what a field may hold.
    fn mostly(good: &'static [&'static str], bad: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop_oneof![9 => select(good), 1 => select(bad)].prop_map(str::to_owned)
    }

    fn coordinate() -> impl Strategy<Value = String> {
        mostly(
            &["0", "7", "4.0", "-0.0", "1e1", "2147483647"],
            &["2147483648", "-1", "1.5", "1e30", "null", "\"1\"", "true", "[1]", "{}"],
        )
    }

    fn position() -> impl Strategy<Value = String> {
        let fields = (coordinate(), coordinate(), select(vec!["", "", "", r#","column":1"#]))
            .prop_map(|(line, character, further)| format!(r#"{{"line":{line},"character":{character}{further}}}"#));
        prop_oneof![20 => fields, 1 => Just("[1,2]".to_owned()), 1 => Just("null".to_owned()), 1 => Just(r#"{"line":1}"#.to_owned())]
    }

    fn uri() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => mostly(&["\"file:///a.ts\"", "\"\"", "\"file:///é\""], &["\"\\u00e9\"", "null", "3", "[]"]),
            1 => select(vec!["e", "é"]).prop_flat_map(|character| {
                (16_380..16_390_usize).prop_map(move |count| format!("\"{}\"", character.repeat(count)))
            }),
        ]
    }

    /// A tool and arguments: most of its own, now and then one of another tool's.
    fn call() -> impl Strategy<Value = (Registered, String)> {
        let values = (
            uri(),
            position(),
            mostly(&["true", "false"], &["null", "\"true\"", "1"]),
            mostly(&["\"a\"", "\" a\""], &["\"\"", "\" \"", "\"\u{feff}\"", "1", "null"]),
            mostly(&["1", "100", "50.0", "1e30", "18446744073709551616"], &["0", "-1", "null", "0.5", "\"1\""]),
            mostly(&["null", "\"abc\"", "\"\""], &["1", "\"a\\nb\"", "[]"]),
            (
                mostly(
                    &["\"1:2\"", "\"1:2-3\"", "\"1:2-3:4\"", "\"9999999999:0\""],
                    &["\"1\"", "\"1:2 \"", "1", "null"],
                ),
                mostly(&["\"counts\"", "\"places\""], &["\"\"", "null"]),
                mostly(&["[]", "[\"src/**\"]", "[\"[\"]"], &["null", "\"a\"", "[1]", "[null]", "{}"]),
            ),
        );
        (select(tools::ALL), values, vec(0..20_u8, 21)).prop_map(|(tool, values, chances)| {
            let schema: Value = serde_json::from_str(tool.input_schema().as_str()).unwrap();
            let (uri, position, include, query, size, cursor, (at, detail, paths)) = values;
            let values = [
                uri.clone(),
                position,
                include.clone(),
                query.clone(),
                size.clone(),
                cursor,
                uri,
                at.clone(),
                detail,
                paths.clone(),
                include.clone(),
                size.clone(),
                query.clone(),
                size,
                query.clone(),
                query.clone(),
                include,
                paths,
                query.clone(),
                at,
                query,
            ];
            let names = [
                "uri",
                "position",
                "includeDeclaration",
                "query",
                "pageSize",
                "cursor",
                "file",
                "at",
                "detail",
                "paths",
                "declarations",
                "maxTokens",
                "ifState",
                "depth",
                "match",
                "symbol",
                "lines",
                "kinds",
                "text",
                "near",
                "expect",
            ];
            let told = names.into_iter().zip(values).zip(chances).filter(|((name, _), chance)| {
                if schema["properties"].get(name).is_some() { *chance > 1 } else { *chance == 0 }
            });
            let fields: Vec<_> = told.map(|((name, value), _)| format!("\"{name}\":{value}")).collect();
            (tool, format!("{{{}}}", fields.join(",")))
        })
    }

    #[test]
    fn what_a_field_may_be_is_told_where_it_is_one_of_a_few() {
        let usages = tools::named("vscode.lsp.usages").unwrap();
        let refused = read(usages, &serde_json::json!({ "symbol": "f", "detail": "all" })).unwrap_err();
        let ToolError::InvalidParams(text) = refused else { panic!("{refused:?}") };
        assert!(text.contains(r#"`detail` must be one of ["places","counts","symbols"]"#), "{text}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn what_fits_the_schema_of_a_tool_is_read_and_nothing_else((tool, arguments) in call()) {
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            let fits = faults(tool, &arguments).is_empty();
            let is_read = tool.read(&arguments) != Err(Misfit::Schema);
            let is_refused = matches!(tool.read(&arguments), Err(Misfit::Refused(_)));
            prop_assert!(fits == is_read || is_refused, "{tool:?} {arguments}");
        }
    }
}
