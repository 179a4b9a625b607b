//! The catalog of tools: what `tools/list` returns, and the check of a call's arguments against the same schemas.

use std::fmt::Write as _;
use std::sync::LazyLock;

use gateway_core::error::ToolError;
use gateway_core::tools::Tool;
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use jsonschema::{JsonType, Validator};
use serde_json::{Map, Value};

/// Most faults of one call's arguments that are told at once.
const MAX_FAULTS: usize = 3;
/// Longest name of an unknown field that is repeated to the caller.
const MAX_FIELD_NAME: usize = 40;

/// How every schema file begins once it is compacted. `tools/list` leaves it out: clients whose validator only has
/// draft-07 refuse the whole catalog when they meet it.
const DIALECT: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","#;

const DESCRIPTIONS: &str = include_str!("../../../schemas/tools/descriptions.json");

/// The schema files of a tool: input, output.
const fn files(tool: Tool) -> (&'static str, &'static str) {
    macro_rules! of {
        ($name:literal) => {
            (
                include_str!(concat!("../../../schemas/tools/", $name, ".json")),
                include_str!(concat!("../../../schemas/tools/", $name, ".output.json")),
            )
        };
    }
    match tool {
        Tool::Definition => of!("vscode.lsp.definition"),
        Tool::References => of!("vscode.lsp.references"),
        Tool::Hover => of!("vscode.lsp.hover"),
        Tool::DocumentSymbols => of!("vscode.lsp.documentSymbols"),
        Tool::WorkspaceSymbols => of!("vscode.lsp.workspaceSymbols"),
        Tool::DiagnosticsDocument => of!("vscode.lsp.diagnostics.document"),
        Tool::DiagnosticsWorkspace => of!("vscode.lsp.diagnostics.workspace"),
    }
}

/// The seven tools as clients see them.
pub struct Catalog {
    list: Vec<u8>,
    inputs: Vec<(Tool, Input)>,
}

struct Input {
    schema: Value,
    validator: Validator,
}

/// The catalog, made from the schema files on first use. They are part of the program, so that they are sound is a
/// matter of tests; were they not, each call would fail and the server would live on.
pub fn catalog() -> Result<&'static Catalog, ToolError> {
    static CATALOG: LazyLock<Option<Catalog>> = LazyLock::new(Catalog::read);
    CATALOG.as_ref().ok_or(ToolError::Internal)
}

impl Catalog {
    fn read() -> Option<Self> {
        let descriptions: Map<String, Value> = serde_json::from_str(DESCRIPTIONS).ok()?;
        let mut list = String::from(r#"{"tools":["#);
        let mut inputs = Vec::new();
        for tool in Tool::ALL {
            let (input, output) = files(tool);
            let schema: Value = serde_json::from_str(input).ok()?;
            let validator = jsonschema::draft202012::new(&schema).ok()?;
            if !inputs.is_empty() {
                list.push(',');
            }
            write!(
                list,
                r#"{{"name":{},"description":{},"inputSchema":{},"outputSchema":{},"annotations":{{"readOnlyHint":true}}}}"#,
                Value::from(tool.name()),
                descriptions.get(tool.name()).filter(|text| text.is_string())?,
                inlined(input)?,
                inlined(output)?,
            )
            .ok()?;
            inputs.push((tool, Input { schema, validator }));
        }
        list.push_str("]}");
        Some(Self { list: list.into_bytes(), inputs })
    }

    /// The encoded result of `tools/list`.
    pub fn list(&self) -> &[u8] {
        &self.list
    }

    /// The arguments of a call, if they fit the tool's schema, with every number that JSON Schema counts as an integer
    /// written as one (4.0 becomes 4). The error names what is wrong and never repeats a value.
    pub fn admit(&self, tool: Tool, arguments: Value) -> Result<Value, ToolError> {
        let Some((_, input)) = self.inputs.iter().find(|(other, _)| *other == tool) else {
            return Err(ToolError::Internal);
        };
        let faults: Vec<String> =
            input.validator.iter_errors(&arguments).take(MAX_FAULTS).map(|fault| tell(&fault, &input.schema)).collect();
        if faults.is_empty() {
            Ok(with_plain_integers(arguments))
        } else {
            Err(ToolError::InvalidParams(format!("{}; correct the arguments and call again.", faults.join("; "))))
        }
    }
}

/// The text of a schema file without whitespace and dialect. It is not parsed and written anew, because that would sort
/// its properties, and models fill in arguments in the order in which they read them.
fn inlined(schema: &str) -> Option<String> {
    let mut text = String::with_capacity(schema.len());
    let (mut quoted, mut escaped) = (false, false);
    for character in schema.chars() {
        if quoted || !character.is_ascii_whitespace() {
            text.push(character);
        }
        if character == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = character == '\\' && !escaped;
    }
    Some(format!("{{{}", text.strip_prefix(DIALECT)?))
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

fn with_plain_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole >= 0.0 => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a number too large for u64 saturates, and is clamped or refused as any large one"
                )]
                let whole = whole as u64;
                Value::from(whole)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_plain_integers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, with_plain_integers(value))).collect(),
        other => other,
    }
}
