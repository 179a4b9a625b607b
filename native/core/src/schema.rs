//! JSON Schemas as text, with their members in the order in which models read them (contract section 7).

use serde_json::Value;

use crate::position::MAX_COORDINATE;

/// A JSON Schema, compact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema(String);

/// A member of an object.
#[derive(Debug)]
pub struct Field {
    name: &'static str,
    schema: Schema,
    is_required: bool,
}

/// A member that is always there.
pub(crate) fn required(name: &'static str, schema: Schema) -> Field {
    Field { name, schema, is_required: true }
}

/// A member that may be left out.
pub(crate) fn optional(name: &'static str, schema: Schema) -> Field {
    Field { name, schema, is_required: false }
}

impl Schema {
    /// The schema as JSON, without whitespace.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What this object is to a tool: its arguments or its answer.
    pub(crate) fn titled(title: &str, fields: &[Field]) -> Self {
        Self::object_with("title", title, fields)
    }

    /// `keywords` is JSON: the type, and what the type is bound by.
    pub(crate) fn of(description: &str, keywords: &str) -> Self {
        Self(format!(r#"{{"description":{},"type":{keywords}}}"#, Value::from(description)))
    }

    /// What needs no description besides its name.
    pub(crate) fn plain(keywords: &str) -> Self {
        Self(format!(r#"{{"type":{keywords}}}"#))
    }

    pub(crate) fn object(description: &str, fields: &[Field]) -> Self {
        Self::object_with("description", description, fields)
    }

    pub(crate) fn array(description: &str, max_items: usize, items: &Self) -> Self {
        Self::of(description, &format!(r#""array","maxItems":{max_items},"items":{}"#, items.0))
    }

    /// A range with its members.
    pub(crate) fn range(description: &str) -> Self {
        let position = |description| {
            Self::object(
                description,
                &[
                    required("line", Self::coordinate("0-based line.")),
                    required("character", Self::coordinate("0-based UTF-16 offset in the line.")),
                ],
            )
        };
        Self::object(
            description,
            &[
                required("start", position("The first place inside the range.")),
                required("end", position("The first place after the range; it is not part of it.")),
            ],
        )
    }

    pub(crate) fn coordinate(description: &str) -> Self {
        Self::of(description, &format!(r#""integer","minimum":0,"maximum":{MAX_COORDINATE}"#))
    }

    fn object_with(key: &str, text: &str, fields: &[Field]) -> Self {
        let properties: Vec<_> = fields.iter().map(|field| format!(r#""{}":{}"#, field.name, field.schema.0)).collect();
        let names: Vec<_> = fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
        let required = if names.is_empty() { String::new() } else { format!(r#","required":{}"#, Value::from(names)) };
        Self(format!(
            r#"{{"{key}":{},"type":"object","properties":{{{}}}{required},"additionalProperties":false}}"#,
            Value::from(text),
            properties.join(","),
        ))
    }
}
