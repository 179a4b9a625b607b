//! Names of symbols as people write them, such as `Observable.lift`, and how well a symbol fits one.

use crate::error::ToolError;

/// The longest name that is looked for, in characters.
const MAX_CHARACTERS: usize = 1_024;
/// How many names may stand before the last, and are told of what contains a symbol: only odd texts nest deeper, and their
/// names may add up to gigabytes.
pub(crate) const MAX_CONTAINERS: usize = 32;

/// The name of a symbol, after those of what contains it: `lift`, `Observable.lift`, `Version::new`, or `lift[1]` for the second
/// of that name in the same container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePath {
    /// As it was written, less the number.
    whole: String,
    /// What contains the symbol, the innermost last.
    containers: Vec<String>,
    name: String,
    /// Which of those that have the same name in the same container, from 0.
    pub(crate) number: Option<usize>,
}

/// What operators of C++ are called, before their sign.
const OPERATOR: &str = "operator";

/// How well a symbol fits a name, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It has this name.
    Exact,
    /// It has this name in other case.
    AnyCase,
    /// Its name begins so, in any case.
    Prefix,
    /// Its name has this in it, in any case.
    Part,
}

impl NamePath {
    /// Reads a name. One without a letter, or that is too long, is refused.
    pub fn read(text: &str) -> Result<Self, ToolError> {
        let trimmed = text.trim();
        let (whole, number) = numbered(trimmed);
        let mut containers: Vec<_> = parts(whole).map(str::to_owned).collect();
        let refused = |advice: String| Err(ToolError::InvalidParams(advice));
        if trimmed.chars().count() > MAX_CHARACTERS {
            return refused(format!("`symbol` may have at most {MAX_CHARACTERS} characters; pass a shorter name."));
        }
        if containers.len() > MAX_CONTAINERS + 1 {
            return refused(format!("`symbol` may have at most {MAX_CONTAINERS} names before the last; pass fewer."));
        }
        let Some(name) = containers.pop() else {
            return refused("`symbol` names nothing; pass a name such as Observable.lift.".to_owned());
        };
        Ok(Self { whole: whole.to_owned(), containers, name: without_parameters(&name).to_owned(), number })
    }

    /// What language servers are asked to look for: the name without what contains it.
    pub fn query(&self) -> &str {
        &self.name
    }

    /// After the name of the symbol or of something around it, that of the next outside that is called otherwise.
    pub(crate) fn around(&self, name: &str) -> Option<&str> {
        let mut chain: Vec<&str> = Vec::new();
        for part in [&self.name].into_iter().chain(self.containers.iter().rev()) {
            if !chain.contains(&&**part) {
                chain.push(part);
            }
        }
        chain.into_iter().skip_while(|part| *part != name).nth(1)
    }

    /// How well a symbol of this name fits, whatever contains it.
    pub(crate) fn fit_of_name(&self, name: &str) -> Option<Fit> {
        if name == self.whole {
            return Some(Fit::Exact);
        }
        let name = parts(without_parameters(name)).last()?;
        let (lower, sought) = (name.to_lowercase(), self.name.to_lowercase());
        match () {
            () if name == self.name => Some(Fit::Exact),
            () if lower == sought => Some(Fit::AnyCase),
            () if lower.starts_with(&sought) => Some(Fit::Prefix),
            () if lower.contains(&sought) => Some(Fit::Part),
            () => None,
        }
    }

    /// How well a symbol of this name fits that is in these containers, the innermost last.
    pub fn fit(&self, containers: &[&str], name: &str) -> Option<Fit> {
        if name == self.whole {
            return Some(Fit::Exact);
        }
        // Language servers put into a name what they like: parameters, what a method is of, a path with dots. What contains it
        // is taken as it is, or as a path of names.
        let whole = containers.iter().copied();
        let split = containers.iter().flat_map(|container| parts(container));
        if self.is_in(whole, name) || self.is_in(split, name) { self.fit_of_name(name) } else { None }
    }

    /// Whether these containers, and those that stand in the symbol's own name, end with those of the path.
    fn is_in<'a>(&self, containers: impl Iterator<Item = &'a str>, name: &'a str) -> bool {
        let own: Vec<_> = parts(without_parameters(name)).collect();
        let before = own.len().saturating_sub(1);
        let around: Vec<_> = containers.chain(own.into_iter().take(before)).collect();
        let inner = around.len().checked_sub(self.containers.len()).and_then(|outer| around.get(outer..));
        let is_called = |(container, wanted): (&&str, &String)| is_called(container, wanted);
        inner.is_some_and(|inner| inner.iter().zip(&self.containers).all(is_called))
    }
}

/// The name, and the number behind it if it has one: `lift[1]`.
fn numbered(text: &str) -> (&str, Option<usize>) {
    let number = || {
        let (name, number) = text.strip_suffix(']')?.rsplit_once('[')?;
        Some((name, number.parse().ok()?))
    };
    number().filter(|(name, _)| !name.is_empty()).map_or((text, None), |(name, number)| (name, Some(number)))
}

/// The names of a path of names.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let operator = text.match_indices(OPERATOR).map(|(at, _)| at).find(|at| operator(&text[*at..]).is_some());
    let (before, operator) = text.split_at(operator.unwrap_or(text.len()));
    before.split(['.', '/', '#', ':']).chain([operator]).map(str::trim).filter(|part| !part.is_empty())
}

/// What an operator of C++ is called with which the text begins, such as `operator/`: its sign separates no names.
fn operator(text: &str) -> Option<&str> {
    let signs = text.strip_prefix(OPERATOR)?;
    let length = match signs {
        _ if signs.starts_with("()") || signs.starts_with("[]") => "()".len(),
        _ => signs.find(|character| !"+-*/%^&|~!=<>,".contains(character)).unwrap_or(signs.len()),
    };
    let is_ended = !signs[length..].starts_with(is_of_name);
    (length > 0 && is_ended).then(|| &text[..OPERATOR.len() + length])
}

/// The name of a function without its parameters, and without its type behind them.
fn without_parameters(name: &str) -> &str {
    if let Some(operator) = operator(name) {
        return operator;
    }
    let is_signature = |after: &str| {
        let after = after.rsplit_once(')').map_or("x", |(_, after)| after.trim_start());
        after.is_empty() || after.starts_with([':', '-'])
    };
    match name.split_once('(') {
        Some((before, after)) if !before.is_empty() && is_signature(after) => before,
        _ => name,
    }
}

/// Whether a container goes by this name, such as `impl Display for Version` by `Version`.
fn is_called(container: &str, name: &str) -> bool {
    container == name
        || (!is_plain(container) && container.split(|character| !is_of_name(character)).any(|word| word == name))
}

/// Whether it is one name and nothing else.
fn is_plain(text: &str) -> bool {
    text.chars().all(is_of_name)
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(path: &str, containers: &[&str], name: &str) -> Option<Fit> {
        NamePath::read(path).unwrap().fit(containers, name)
    }

    #[test]
    fn a_name_fits_by_itself_and_by_what_is_around_it() {
        let cases = [
            ("lift", &["Observable"][..], "lift", Some(Fit::Exact)),
            ("Observable.lift", &["Observable"], "lift", Some(Fit::Exact)),
            ("rx::Observable::lift", &["rx", "Observable"], "lift", Some(Fit::Exact)),
            ("rx.lift", &["rx", "Observable"], "lift", None),
            ("Observable.lift", &[], "lift", None),
            ("observable.lift", &["Observable"], "lift", None),
            ("LIFT", &["Observable"], "lift", Some(Fit::AnyCase)),
            ("li", &[], "Lift", Some(Fit::Prefix)),
            ("if", &[], "lift", Some(Fit::Part)),
            ("lofts", &[], "lift", None),
            // What contains it stands in its own name.
            ("Server.Close", &[], "(*Server).Close", Some(Fit::Exact)),
            ("ns::Hull::sail", &["ns::Hull"], "sail", Some(Fit::Exact)),
            ("Version.fmt", &["impl fmt::Display for Version"], "fmt", Some(Fit::Exact)),
            ("Other.fmt", &["impl fmt::Display for Version"], "fmt", None),
            ("List.add", &["List<T>"], "add(T) : boolean", Some(Fit::Exact)),
            ("all.every() callback", &["all"], "every() callback", Some(Fit::Exact)),
            ("every() callback.one", &["all", "list.every() callback"], "one", Some(Fit::Exact)),
            ("list.every() callback.one", &["all", "list.every() callback"], "one", Some(Fit::Exact)),
            ("Ctor.new()", &["Ctor"], "new()", Some(Fit::Exact)),
            ("operator()", &["Hull"], "operator()", Some(Fit::Exact)),
            ("Hull::operator()", &["Hull"], "operator()", Some(Fit::Exact)),
            ("Hull::operator()", &["Hull"], "operator/", None),
            ("Hull::operator/", &["Hull"], "operator/", Some(Fit::Exact)),
            ("Hull::operator/", &["Hull"], "operator()", None),
            ("Hull::operator==", &["Hull"], "operator==(const Hull &)", Some(Fit::Exact)),
            ("Hull::operator->", &[], "Hull::operator->", Some(Fit::Exact)),
            ("operator", &["Hull"], "operator/", Some(Fit::Prefix)),
            ("operator.add", &["operator"], "add", Some(Fit::Exact)),
            ("operator/add", &["operator"], "add", Some(Fit::Exact)),
            ("a.b", &[], "a.b", Some(Fit::Exact)),
        ];
        for (path, containers, name, expected) in cases {
            assert_eq!(fit(path, containers, name), expected, "{path} {containers:?} {name}");
        }
    }

    #[test]
    fn a_number_chooses_among_equals_and_is_no_part_of_the_name() {
        let numbers =
            [("lift[1]", Some(1), "lift"), ("lift", None, "lift"), ("[1]", None, "[1]"), ("a[b]", None, "a[b]")];
        for (text, number, name) in numbers {
            let path = NamePath::read(text).unwrap();
            assert_eq!((path.number, path.query()), (number, name), "{text}");
        }
    }

    #[test]
    fn from_a_name_it_goes_outward_and_ends() {
        let path = NamePath::read("a.b.a.c").unwrap();
        let names = std::iter::successors(Some("c"), |name| path.around(name));
        assert_eq!(names.collect::<Vec<_>>(), ["c", "a", "b"]);
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for text in ["", "  ", "..", "::", &"a".repeat(1_025), &"a.".repeat(34)] {
            assert!(matches!(NamePath::read(text), Err(ToolError::InvalidParams(_))), "{text}");
        }
    }
}
