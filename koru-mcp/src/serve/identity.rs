//! Who calls, as it is recorded with each change.

use rmcp::model::Implementation;

const LONGEST: usize = 100;

/// The client's name and version, without what could disturb a log or a terminal.
pub(super) fn of(client: Option<&Implementation>) -> String {
    let Some(client) = client else { return "unknown".into() };
    let said = format!("{} {}", client.name, client.version);
    let clean: String = said.chars().filter(|character| !character.is_control()).collect();
    let clean: String = clean.trim().chars().take(LONGEST).collect();
    if clean.is_empty() { "unknown".into() } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_harmless() {
        assert_eq!(of(None), "unknown");
        assert_eq!(of(Some(&Implementation::new("", ""))), "unknown");
        assert_eq!(of(Some(&Implementation::new("cli\u{1b}[31m\n", "1.0"))), "cli[31m 1.0");
        assert_eq!(of(Some(&Implementation::new("é".repeat(300), "1"))).chars().count(), 100);
    }
}
