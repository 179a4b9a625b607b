//! What a server has said, as it may be shown.

/// The text without what could change how the text around it looks: control characters but the ends of lines and tabs, and
/// those that turn the direction of writing. Each becomes one U+FFFD; a carriage return is left out.
pub(crate) fn printable(text: &str) -> String {
    let shown = text.chars().filter(|char| *char != '\r');
    shown.map(|char| if is_harmless(char) { char } else { char::REPLACEMENT_CHARACTER }).collect()
}

fn is_harmless(char: char) -> bool {
    match char {
        '\n' | '\t' => true,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        _ => !char.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_change_the_text_around_it_is_replaced() {
        let said = "\u{1b}[31mred\u{7}\r\n\tlate\u{202e}r \u{9b}K ü";
        assert_eq!(printable(said), "\u{fffd}[31mred\u{fffd}\n\tlate\u{fffd}r \u{fffd}K ü");
    }
}
