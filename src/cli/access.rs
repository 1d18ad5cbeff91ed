//! Who may do what: the dialogues of `enable` and of the beginning of a session (base-cli 1.5).

use crate::appliance::Appliance;
use crate::cli::matcher::{self, Hit};
use crate::cli::question::Question;
use crate::cli::session::{PRIVILEGED, Session};
use crate::cli::sessions::Line;
use crate::cli::words::{self, Word};
use crate::grammar::link::Message;
use crate::grammar::{Command, Privilege};
use crate::model::access::{Access, CliLevel, Demand, Method};
use crate::model::banners::Banners;
use crate::model::logging::LogLevel;

/// How often a session may try to say who it is.
const LOGIN_TRIES: u8 = 3;

/// Reads who may do what.
pub(super) fn access(session: &Session) -> Access {
    let configuration = session.appliance.configuration();
    Access::read(&session.appliance.grammar, &configuration.trees.configuration)
}

/// Whether the user of a session may use a command. At the user level everybody may.
pub(super) fn may(
    session: &Session,
    command: &Command,
    hit: &Hit,
    words: &[Word<'_>],
    line: &str,
) -> bool {
    if session.privilege.covers(command.privilege) || session.is_at_user_level() {
        return true;
    }
    let grammar = &session.appliance.grammar;
    let level = match grammar.mode(hit.mode).name.as_str() {
        PRIVILEGED => CliLevel::Exec,
        name if name.starts_with(CliLevel::Interface.name()) => CliLevel::Interface,
        _ => CliLevel::Configure,
    };
    // What is granted may be undone too.
    let words = if hit.negated { words.get(1..).unwrap_or_default() } else { words };
    access(session).grants().iter().any(|grant| {
        let granted = words::split(&grant.command);
        let place = |words: &[Word<'_>], line: &str| {
            matcher::walk(grammar, hit.mode, words, line).ok().map(|walk| walk.place)
        };
        grant.level == level
            && session.privilege.covers(grant.privilege)
            && granted.len() <= words.len()
            && place(&granted, &grant.command)
                .is_some_and(|it| place(&words[..granted.len()], line) == Some(it))
    })
}

/// Goes to the privileged level, or asks for what that takes. `given` is what was typed behind
/// the command: a password, or a name and a password.
pub(super) fn enable(session: &mut Session, given: Option<&str>) -> String {
    let access = access(session);
    match (access.enable_demand(), given) {
        (Demand::Nothing, _) => {
            // A user of an account stays who it is.
            let privilege = account_privilege(&access, session);
            session.enter_privileged(privilege);
            let text = session.appliance.grammar.message(Message::NoPassword, &[]);
            text + &exec_banner(session)
        }
        (Demand::Password(method), Some(password)) => {
            finish_enable(session, access.password(method, password), None)
        }
        (Demand::Password(method), None) => {
            session.question = Some(Question::EnablePassword(method));
            String::new()
        }
        (Demand::Account | Demand::Impossible, Some(given)) => {
            let (name, password) = given.split_once(' ').unwrap_or((given, ""));
            let user = access.account(name, password.trim_start());
            finish_enable(session, user.map(|user| user.privilege), Some(name))
        }
        (Demand::Account | Demand::Impossible, None) => {
            session.question = Some(Question::EnableName);
            String::new()
        }
    }
}

fn account_privilege(access: &Access, session: &Session) -> Privilege {
    let user = session.user.as_deref();
    let account = access.users().iter().find(|account| Some(account.name.as_str()) == user);
    account.map_or(Privilege::Full, |account| account.privilege)
}

fn finish_enable(
    session: &mut Session,
    privilege: Option<Privilege>,
    user: Option<&str>,
) -> String {
    let Some(privilege) = privilege else {
        session.refused += 1;
        return session.appliance.grammar.message(Message::WrongPassword, &[]);
    };
    if let Some(user) = user {
        session.set_user(user);
    }
    session.enter_privileged(privilege);
    exec_banner(session)
}

fn banners(session: &Session) -> Banners {
    let configuration = session.appliance.configuration();
    Banners::read(&session.appliance.grammar, &configuration.trees.configuration)
}

/// The banner of the level that the session is at.
fn exec_banner(session: &Session) -> String {
    if session.is_at_user_level() { None } else { banners(session).exec }.unwrap_or_default()
}

/// What appears before the first prompt of a remote session.
pub(super) fn greeting(session: &Session) -> String {
    let motd = banners(session).motd.unwrap_or_default();
    match (session.line, &session.question) {
        (Line::Console, _) => String::new(),
        (_, Some(Question::Banner(_))) => motd,
        (_, question) => motd + &behind_motd(session, question.is_some()),
    }
}

/// What stands between the banner and what a session is asked, or its first prompt.
fn behind_motd(session: &Session, asks: bool) -> String {
    match session.line {
        Line::Telnet(_) if asks => {
            format!("\n{}\n", session.appliance.grammar.message(Message::LoginBanner, &[]))
        }
        _ => exec_banner(session),
    }
}

/// The question that a new session is asked, behind a banner that wants to be read first.
pub(super) fn behind_banner(session: &Session, question: Option<Question>) -> Option<Question> {
    let banners = banners(session);
    if banners.waits && banners.motd.is_some() && session.line != Line::Console {
        Some(Question::Banner(question.map(Box::new)))
    } else {
        question
    }
}

/// Tells the console that somebody has come in over Telnet.
pub(super) fn announce(session: &Session) {
    if let (Line::Telnet(client), Some(text)) = (session.line, banners(session).incoming) {
        let grammar = &session.appliance.grammar;
        let from = grammar.message(Message::IncomingTelnet, &[("client", &client.to_string())]);
        session.appliance.log.say(from + &text);
    }
}

/// Asks a new session who it is, if the configuration says so.
pub(super) fn begin(session: &mut Session) {
    let access = access(session);
    let question = match access.login_demand() {
        Demand::Nothing => None,
        Demand::Password(method) => {
            Some(Question::LoginPassword { method, name: None, tries: LOGIN_TRIES })
        }
        Demand::Account | Demand::Impossible => Some(Question::LoginName { tries: LOGIN_TRIES }),
    };
    if question.is_none() && access.begins_privileged {
        session.land_privileged(Privilege::Full);
    }
    session.question = behind_banner(session, question);
}

/// Takes the answer to a question about who somebody is.
pub(super) fn answer(session: &mut Session, question: Question, answer: &str) -> String {
    match question {
        Question::EnablePassword(method) => {
            let privilege = access(session).password(method, answer);
            finish_enable(session, privilege, None)
        }
        Question::EnableName => {
            session.question = Some(Question::EnableAccount { name: answer.trim().to_owned() });
            String::new()
        }
        Question::EnableAccount { name } => {
            let access = access(session);
            let user = access.account(&name, answer);
            finish_enable(session, user.map(|user| user.privilege), Some(&name))
        }
        Question::LoginName { tries } => {
            let name = Some(answer.trim().to_owned());
            session.question = Some(Question::LoginPassword { method: Method::Local, name, tries });
            String::new()
        }
        Question::LoginPassword { method, name, tries } => {
            login(session, method, name.as_deref(), tries, answer)
        }
        Question::Banner(next) => {
            session.question = next.map(|next| *next);
            behind_motd(session, session.question.is_some())
        }
        Question::Reload | Question::ReloadUnsaved => String::new(),
    }
}

/// How log messages call somebody who did not have to say who it is.
const NOBODY: &str = "un-authenticated user";

/// Puts a message about a session that begins into the log (base-cli 3.4).
pub(super) fn record_login(session: &Session) {
    let level = if session.is_at_user_level() { "USER" } else { "PRIVILEGE" };
    let who = session.user.as_deref().unwrap_or(NOBODY);
    record(session, |kind, from| format!("{kind} login by {who}{from} to {level} EXEC mode"));
}

/// The same of a session that ends.
pub(super) fn record_logout(session: &Session) {
    let who = session.user.as_deref().unwrap_or(NOBODY);
    record(session, |kind, from| format!("{kind} logout by {who}{from}"));
}

/// Puts into the log that somebody was refused.
pub(super) fn record_refusal(appliance: &Appliance, line: Line, user: &str, attempts: u8) {
    put(appliance, line, |kind, from| {
        format!("{kind} access by user {user}{from} rejected, {attempts} attempt(s)")
    });
}

fn record(session: &Session, text: impl FnOnce(&str, &str) -> String) {
    put(&session.appliance, session.line, text);
}

/// `text` is made of the kind of the line and of where it comes from. Hardware addresses are not
/// emulated: that of the loopback device stands for all of them.
fn put(appliance: &Appliance, line: Line, text: impl FnOnce(&str, &str) -> String) {
    let (kind, client) = match line {
        Line::Console => ("console", None),
        Line::Telnet(client) => ("telnet", Some(client)),
        Line::Ssh(client) => ("SSH", Some(client)),
    };
    let from = client.map(|client| format!(" from src IP {client}, src MAC 0000.0000.0000"));
    let text = format!("Security: {}", text(kind, &from.unwrap_or_default()));
    appliance.record(LogLevel::Informational, text);
}

fn login(
    session: &mut Session,
    method: Method,
    name: Option<&str>,
    tries: u8,
    password: &str,
) -> String {
    let access = access(session);
    let privilege = match name {
        None => access.password(method, password),
        Some(name) => access.account(name, password).map(|user| user.privilege),
    };
    let grammar = std::sync::Arc::clone(&session.appliance.grammar);
    let Some(privilege) = privilege else {
        session.refused += 1;
        let tries = tries.saturating_sub(1);
        let attempts = LOGIN_TRIES - tries;
        let who = name.unwrap_or(NOBODY);
        record_refusal(&session.appliance, session.line, who, attempts);
        if tries == 0 {
            session.is_over = true;
        } else {
            session.question = Some(match name {
                None => Question::LoginPassword { method, name: None, tries },
                Some(_) => Question::LoginName { tries },
            });
        }
        return grammar.message(Message::WrongPassword, &[]);
    };
    if let Some(name) = name {
        session.set_user(name);
    }
    if access.begins_privileged {
        session.land_privileged(privilege);
    }
    record_login(session);
    format!("\n{}\n{}", grammar.message(Message::LoginDone, &[]), exec_banner(session))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use super::*;
    use crate::appliance::Appliance;
    use crate::cli::sessions::Line;
    use crate::clock::DrivenClock;
    use crate::dns::{Responder, Settings};

    fn responder(configuration: &str) -> Arc<Responder> {
        let appliance = Arc::new(Appliance::in_memory(Arc::new(DrivenClock::new())));
        appliance.start_with(configuration);
        Arc::new(Responder { appliance, settings: Settings::default() })
    }

    fn telnet(configuration: &str) -> Session {
        let client = IpAddr::from([192, 0, 2, 77]);
        Session::remote(responder(configuration), Line::Telnet(client))
    }

    const ACCOUNTS: &str = "aaa authentication login default local\nusername admin password one\n\
                            username oper privilege 5 password two\n";

    #[test]
    fn a_session_names_its_user() {
        let mut session = telnet(ACCOUNTS);
        assert_eq!(session.greeting(), "\nUser Access Verification\n\n");
        assert_eq!(session.prompt(), "Please Enter Login Name: ");
        assert!(!session.asks_secret());
        assert_eq!(session.run("oper\r\n"), "");
        assert_eq!(session.prompt(), "Please Enter Password: ");
        assert!(session.asks_secret());
        assert_eq!(session.run("two"), "\nUser login successful.\n\n");
        assert_eq!(session.prompt(), "telnet@ServerIronADX>");
        // No password is asked for the next level, but the user stays who it is.
        session.run("enable");
        assert_eq!(session.prompt(), "telnet@ServerIronADX#");
        assert!(session.run("reload").contains("privilege level 5"));
        let open = session.appliance().sessions.list();
        assert_eq!(open[0].user.as_deref(), Some("oper"));
        drop(open);
    }

    #[test]
    fn banners_are_shown_where_they_belong() {
        let text = format!(
            "{ACCOUNTS}banner motd $Authorised users only$\nbanner exec $Take care$\n\
             banner incoming $Somebody came$\n"
        );
        let mut session = telnet(&text);
        let expected = "Authorised users only\n\nUser Access Verification\n\n";
        assert_eq!(session.greeting(), expected);
        let said = session.appliance().log.take();
        assert_eq!(said, ["Telnet from 192.0.2.77\nSomebody came\n"]);
        session.run("admin");
        assert_eq!(session.run("one"), "\nUser login successful.\n\n");
        assert!(session.run("enable").ends_with("assigned yet...\nTake care\n"));
        // The console sees the one of the level only.
        let mut console = Session::new(Arc::clone(&session.responder));
        assert_eq!(console.greeting(), "");
        assert!(console.run("enable").ends_with("assigned yet...\nTake care\n"));
    }

    #[test]
    fn a_banner_may_want_to_be_read() {
        let text = format!(
            "{ACCOUNTS}banner motd $Authorised users only$\nbanner motd require-enter-key\n\
             banner exec $Take care$\naaa authentication login privilege-mode\n"
        );
        let mut session = telnet(&text);
        assert_eq!(session.greeting(), "Authorised users only\n");
        let wait = "Press <Enter> to accept and continue the login process....";
        assert_eq!(session.prompt(), wait);
        assert!(!session.asks_secret());
        assert_eq!(session.run(""), "\nUser Access Verification\n\n");
        assert_eq!(session.prompt(), "Please Enter Login Name: ");
        session.run("admin");
        assert_eq!(session.run("one"), "\nUser login successful.\n\nTake care\n");
        // SSH has checked the user before.
        let responder = Arc::clone(&session.responder);
        let user = access(&session).account("admin", "one").cloned().unwrap();
        let line = Line::Ssh(IpAddr::from([192, 0, 2, 78]));
        let mut session = Session::of_user(responder, line, &user);
        assert_eq!(session.greeting(), "Authorised users only\n");
        assert_eq!(session.prompt(), wait);
        assert_eq!(session.run("x"), "Take care\n");
        assert_eq!(session.prompt(), "SSH@ServerIronADX#");
    }

    #[test]
    fn the_second_who_configures_is_warned() {
        let mut first = telnet("");
        let mut second = Session::new(Arc::clone(&first.responder));
        first.run("enable");
        second.run("enable");
        assert_eq!(first.run("configure terminal"), "");
        let warning = "Warning: 1 user(s) already in config mode.\n";
        assert_eq!(second.run("configure terminal"), warning);
        second.end();
        first.end();
        assert_eq!(second.run("configure terminal"), "");
    }

    #[test]
    fn three_wrong_answers_end_a_session() {
        let mut session = telnet(ACCOUNTS);
        for _ in 0..3 {
            assert!(!session.is_over());
            session.run("admin");
            assert_eq!(session.run("two"), "Error - Incorrect username or password.\n");
        }
        assert!(session.is_over());
        assert_eq!(session.question(), None);
    }

    #[test]
    fn a_password_of_the_line_is_enough() {
        let mut session = telnet("enable telnet password x y\n");
        assert_eq!(session.prompt(), "Please Enter Password: ");
        session.run("x y ");
        assert_eq!(session.prompt(), "Please Enter Password: ");
        session.run("x y");
        assert_eq!(session.prompt(), "telnet@ServerIronADX>");
    }

    #[test]
    fn a_session_may_begin_at_the_privileged_level_and_ends_there() {
        let text = format!("{ACCOUNTS}aaa authentication login privilege-mode\n");
        let mut session = telnet(&text);
        session.run("admin");
        session.run("two");
        session.run("admin");
        session.run("one");
        assert_eq!(session.prompt(), "telnet@ServerIronADX#");
        session.run("configure terminal");
        session.run("exit");
        assert!(!session.is_over());
        session.run("exit");
        assert!(session.is_over());
        let appliance = std::sync::Arc::clone(session.appliance());
        drop(session);
        let from = "from src IP 192.0.2.77, src MAC 0000.0000.0000";
        let logged: Vec<String> =
            appliance.log.since(0).into_iter().map(|entry| entry.text).skip(1).collect();
        assert_eq!(
            logged,
            [
                format!("Security: telnet access by user admin {from} rejected, 1 attempt(s)"),
                format!("Security: telnet login by admin {from} to PRIVILEGE EXEC mode"),
                format!("Security: telnet logout by admin {from}"),
            ]
        );
        assert!(appliance.sessions.list().is_empty());
    }

    #[test]
    fn the_console_is_asked_only_if_the_configuration_says_so() {
        assert_eq!(Session::new(responder(ACCOUNTS)).prompt(), "ServerIronADX>");
        let text = format!("{ACCOUNTS}enable aaa console\n");
        assert_eq!(Session::new(responder(&text)).prompt(), "Please Enter Login Name: ");
    }

    #[test]
    fn a_file_with_passwords_in_clear_is_kept_without_them() {
        let responder = responder(ACCOUNTS);
        let appliance = &responder.appliance;
        let startup = appliance.configuration().startup.text().into_owned();
        assert!(startup.contains("username admin password 8 $argon2id$"), "{startup}");
        assert!(!startup.contains("password one"), "{startup}");
        assert!(!appliance.is_unsaved());
    }

    #[test]
    fn a_file_may_not_ask_for_any_number_of_hashes() {
        let line = "enable super-user-password x";
        let text: String = (0..65).fold(String::new(), |text, n| format!("{text}{line}{n}\n"));
        let responder = responder(&text);
        let rejected = responder.appliance.configuration().rejected.clone();
        assert_eq!(rejected.len(), 1);
        assert_eq!(rejected[0].line, 65);
    }
}
