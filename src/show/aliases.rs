//! `alias`: the words that stand for commands.

use super::page::Page;

/// `alias`, from words and commands.
pub fn aliases<'a>(aliases: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut sorted: Vec<(&str, &str)> = aliases.collect();
    sorted.sort_unstable();
    let widest = sorted.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut page = Page::default();
    if sorted.is_empty() {
        page.line("No aliases are configured");
    }
    for (name, command) in sorted {
        page.line(format!("  {name:<widest$}   {command}"));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::aliases;

    #[test]
    fn names_are_in_order() {
        let two = [("sr", "show running-config"), ("clr", "clear logging")];
        let expected = "  clr   clear logging\n  sr    show running-config\n";
        assert_eq!(aliases(two.into_iter()), expected);
        assert_eq!(aliases(std::iter::empty()), "No aliases are configured\n");
    }
}
