//! Golden cases as they are written: JSON whose members keep their order, with short notations for what is long.

use std::fmt;

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// JSON whose members keep their order.
#[derive(Clone)]
pub(crate) enum Json {
    Atom(Value),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(known, _)| known == name).map(|(_, member)| member),
            _ => None,
        }
    }

    /// Replaces each notation by what it stands for (test/golden/README.md).
    pub(crate) fn written_out(self) -> Self {
        match self {
            Self::List(items) => Self::List(items.into_iter().flat_map(Self::items_written_out).collect()),
            Self::Object(members) => {
                let object = members.into_iter().map(|(name, member)| (name, member.written_out())).collect();
                let object = Self::Object(object);
                object.repeated_text().map_or(object, |text| Self::Atom(text.into()))
            }
            atom @ Self::Atom(_) => atom,
        }
    }

    /// What an item of a list stands for: itself, or the same on so many lines or for so many files.
    fn items_written_out(self) -> Vec<Self> {
        let count = |name| self.member(name).and_then(Self::number);
        if let Some(lines) = count("onLines") {
            (0..lines).map(|line| self.on_line(line).written_out()).collect()
        } else if let (Some(numbered), Some(item)) = (count("numbered"), self.member("of")) {
            (0..numbered).map(|number| item.with_number(&number.to_string()).written_out()).collect()
        } else {
            vec![self.written_out()]
        }
    }

    fn number(&self) -> Option<u64> {
        match self {
            Self::Atom(number) => number.as_u64(),
            _ => None,
        }
    }

    fn repeated_text(&self) -> Option<String> {
        let Self::Object(members) = self else { return None };
        let [(name, Self::List(parts))] = &members[..] else { return None };
        if name != "text" {
            return None;
        }
        let part = |part: &Self| match part {
            Self::List(part) => match &part[..] {
                [Self::Atom(Value::String(text)), times] => {
                    text.repeat(usize::try_from(times.number().unwrap()).unwrap())
                }
                _ => panic!("a part of a text is the text and how often it is repeated"),
            },
            _ => panic!("a text is a list of its parts"),
        };
        Some(parts.iter().map(part).collect())
    }

    /// The item so many lines further down, with the id of that line.
    fn on_line(&self, line: u64) -> Self {
        let Self::Object(members) = self else { panic!("only objects can be on lines") };
        let id = match self.member("ids") {
            Some(Self::List(ids)) => Some(("id".to_owned(), ids[usize::try_from(line).unwrap()].clone())),
            _ => None,
        };
        let members = members.iter().filter(|(name, _)| name != "onLines" && name != "ids");
        Self::Object(
            id.into_iter().chain(members.map(|(name, member)| (name.clone(), member.moved_down(line)))).collect(),
        )
    }

    fn moved_down(&self, lines: u64) -> Self {
        match self {
            Self::Atom(atom) => Self::Atom(atom.clone()),
            Self::List(items) => Self::List(items.iter().map(|item| item.moved_down(lines)).collect()),
            Self::Object(members) => {
                let moved = |name: &str, member: &Self| match member.number() {
                    Some(line) if name == "line" => Self::Atom((line + lines).into()),
                    _ => member.moved_down(lines),
                };
                Self::Object(members.iter().map(|(name, member)| (name.clone(), moved(name, member))).collect())
            }
        }
    }

    fn with_number(&self, number: &str) -> Self {
        match self {
            Self::Atom(Value::String(text)) => Self::Atom(text.replace('#', number).into()),
            Self::Atom(atom) => Self::Atom(atom.clone()),
            Self::List(items) => Self::List(items.iter().map(|item| item.with_number(number)).collect()),
            Self::Object(members) => {
                Self::Object(members.iter().map(|(name, member)| (name.clone(), member.with_number(number))).collect())
            }
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Atom(atom) => atom.serialize(serializer),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(members) => {
                let mut object = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, member)| object.serialize_entry(name, member))?;
                object.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsWritten;

        impl<'de> Visitor<'de> for AsWritten {
            type Value = Json;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Atom(Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Atom(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Atom(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Atom(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(Json::Atom(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Atom(value.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Json::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = object.next_entry()? {
                    members.push(member);
                }
                Ok(Json::Object(members))
            }
        }

        deserializer.deserialize_any(AsWritten)
    }
}
