//! The statement tree to who may do what: passwords, accounts, who is asked.
//!
//! Apart from the snapshot, for no answer depends on it. Total like the projection: it cannot
//! refuse.

use crate::config::tree::{Reading, Tree};
use crate::grammar::link::Kept;
use crate::grammar::{Grammar, Privilege};
use crate::names::named_enum;
use crate::secret;

named_enum! {
    /// Who is asked whether a user may do something.
    pub enum Method {
        /// The passwords of the `enable` command.
        Enable = "enable",
        /// The password of Telnet sessions.
        Line = "line",
        /// The accounts.
        Local = "local",
        /// Nobody: every user may.
        None = "none",
        /// RADIUS servers, which are not emulated: they never answer.
        Radius = "radius",
        /// TACACS servers, likewise.
        Tacacs = "tacacs",
        /// TACACS+ servers, likewise.
        TacacsPlus = "tacacs+",
    }
}

named_enum! {
    /// A level of the CLI whose commands can be granted to more users.
    pub enum CliLevel {
        /// The levels of the configuration.
        Configure = "configure",
        /// The privileged level.
        Exec = "exec",
        /// The levels of ports.
        Interface = "interface",
    }
}

/// Who may do what.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The passwords of the `enable` command with what each is good for, strongest first.
    passwords: Vec<(Privilege, String)>,
    /// The password of Telnet sessions.
    line_password: Option<String>,
    users: Vec<User>,
    /// Who is asked at `enable`, in this order.
    enable: Vec<Method>,
    /// Who is asked at the beginning of a session, in this order.
    login: Vec<Method>,
    /// Whether a session begins at the privileged level.
    pub begins_privileged: bool,
    /// Whether the console is asked too at its beginning.
    pub asks_console: bool,
    grants: Vec<Grant>,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its name, as typed.
    pub name: String,
    /// What it may do.
    pub privilege: Privilege,
    /// Its password as it is kept; none lets everybody in.
    pub password: Option<String>,
}

/// A command that users of a lower privilege may use too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Where the command stands.
    pub level: CliLevel,
    /// Who may use it.
    pub privilege: Privilege,
    /// The first words of the command.
    pub command: String,
}

/// What is asked of somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Nothing.
    Nothing,
    /// A password.
    Password(Method),
    /// A name and a password.
    Account,
    /// What nobody can give: everybody who could be asked is absent.
    Impossible,
}

impl User {
    /// A user without an account.
    fn named(name: &str, privilege: Privilege) -> Self {
        User { name: name.to_owned(), privilege, password: None }
    }
}

/// The password statements and what each is good for.
const PASSWORDS: [(Kept, Privilege); 3] = [
    (Kept::EnableSuperUserPassword, Privilege::Full),
    (Kept::EnablePortConfigPassword, Privilege::Ports),
    (Kept::EnableReadOnlyPassword, Privilege::Read),
];

impl Access {
    /// Reads the settings.
    pub fn read(grammar: &Grammar, tree: &Tree) -> Self {
        let secret =
            |kept| tree.global(grammar, kept).and_then(|one| one.text("secret")).map(str::to_owned);
        let methods = |kept| {
            let statement = tree.global(grammar, kept);
            let names = statement.iter().flat_map(|one| one.words("method"));
            names.filter_map(Method::from_name).collect()
        };
        let is_set = |kept| tree.global(grammar, kept).is_some();
        let mut access = Access {
            passwords: PASSWORDS
                .into_iter()
                .filter_map(|(kept, privilege)| Some((privilege, secret(kept)?)))
                .collect(),
            line_password: secret(Kept::EnableTelnetPassword),
            users: Vec::new(),
            enable: methods(Kept::AaaEnable),
            login: methods(Kept::AaaLogin),
            begins_privileged: is_set(Kept::AaaPrivilegeMode),
            asks_console: is_set(Kept::EnableAaaConsole),
            grants: Vec::new(),
        };
        if access.login.is_empty() && is_set(Kept::EnableTelnetAuthentication) {
            access.login.push(Method::Local);
        }
        for statement in tree.root.statements() {
            access.statement(&Reading { grammar, statement });
        }
        access
    }

    fn statement(&mut self, reading: &Reading<'_>) {
        let kept = reading.kept();
        let privilege = || reading.number("level").and_then(Privilege::from_number);
        let name = reading.text("user").unwrap_or_default().to_owned();
        let password = reading.text("secret").map(str::to_owned);
        match kept {
            Some(Kept::UserPassword | Kept::UserWithoutPassword) => {
                let privilege = privilege().unwrap_or(Privilege::Full);
                self.users.push(User { name, privilege, password });
            }
            Some(Kept::Privilege) => {
                let level = reading.word("cli").and_then(CliLevel::from_name);
                let command = reading.text("command").unwrap_or_default().to_owned();
                if let (Some(level), Some(privilege)) = (level, privilege()) {
                    self.grants.push(Grant { level, privilege, command });
                }
            }
            _ => {}
        }
    }

    /// The accounts in order of entry.
    pub fn users(&self) -> &[User] {
        &self.users
    }

    /// The commands that users of lower privilege may use.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// What `enable` asks.
    pub fn enable_demand(&self) -> Demand {
        if self.enable.is_empty() {
            return if self.passwords.is_empty() {
                Demand::Nothing
            } else {
                Demand::Password(Method::Enable)
            };
        }
        self.demand(&self.enable)
    }

    /// What a session is asked at its beginning.
    pub fn login_demand(&self) -> Demand {
        if self.login.is_empty() {
            return match self.line_password {
                None => Demand::Nothing,
                Some(_) => Demand::Password(Method::Line),
            };
        }
        self.demand(&self.login)
    }

    /// The first of these that can be asked decides. Servers are not emulated, so they cannot.
    fn demand(&self, methods: &[Method]) -> Demand {
        let demands = methods.iter().filter_map(|method| match method {
            Method::Enable if !self.passwords.is_empty() => Some(Demand::Password(*method)),
            Method::Line if self.line_password.is_some() => Some(Demand::Password(*method)),
            Method::Local if !self.users.is_empty() => Some(Demand::Account),
            Method::None => Some(Demand::Nothing),
            _ => None,
        });
        demands.into_iter().next().unwrap_or(Demand::Impossible)
    }

    /// What a password that was asked for by [`Demand::Password`] is good for.
    pub fn password(&self, method: Method, password: &str) -> Option<Privilege> {
        if method == Method::Line {
            let stored = self.line_password.as_deref();
            return secret::verify(password, stored).then_some(Privilege::Full);
        }
        let mut found = None;
        for (privilege, stored) in &self.passwords {
            // All of them are tried, so that the time does not tell which one it is.
            let fits = secret::verify(password, Some(stored));
            found = found.or(fits.then_some(*privilege));
        }
        found
    }

    /// The user as which anybody may come in over SSH: there is no account, and nobody is asked who
    /// it is.
    pub fn open_to_all(&self, name: &str) -> Option<User> {
        let is_open = self.users.is_empty() && self.login_demand() == Demand::Nothing;
        is_open.then(|| User::named(name, Privilege::Full))
    }

    /// The user of an SSH session, which gives name and password before it begins. As soon as there
    /// is an account, only accounts come in, unless a password of the line is asked for.
    pub fn remote_user(&self, name: &str, password: &str) -> Option<User> {
        match self.login_demand() {
            Demand::Nothing if self.users.is_empty() => self.open_to_all(name),
            Demand::Nothing | Demand::Account => self.account(name, password).cloned(),
            Demand::Password(method) => {
                let privilege = self.password(method, password)?;
                Some(User::named(name, privilege))
            }
            Demand::Impossible => None,
        }
    }

    /// The account of that name and password.
    pub fn account(&self, name: &str, password: &str) -> Option<&User> {
        let user = self.users.iter().find(|user| user.name == name);
        let stored = user.and_then(|user| user.password.as_deref());
        // Also for a name that nobody has: an answer takes as long for it.
        let fits = secret::verify(password, stored);
        user.filter(|user| fits || user.password.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::Trees;
    use crate::config::load;

    fn access(text: &str) -> Access {
        let grammar = Grammar::built_in().unwrap();
        let mut trees = Trees::default();
        let report = load::load(&grammar, &mut trees, text);
        assert!(report.rejected.is_empty(), "{:?}", report.rejected);
        Access::read(&grammar, &trees.configuration)
    }

    #[test]
    fn what_is_asked_depends_on_who_can_be_asked() {
        assert_eq!(access("").enable_demand(), Demand::Nothing);
        let password = "enable read-only-password x\n";
        let user = "username a password b\n";
        let ask = |text: &str| access(text).enable_demand();
        assert_eq!(ask(password), Demand::Password(Method::Enable));
        let local = "aaa authentication enable default local\n";
        assert_eq!(ask(&format!("{local}{user}")), Demand::Account);
        assert_eq!(ask(local), Demand::Impossible);
        let servers = "aaa authentication enable default radius tacacs+ local enable none\n";
        assert_eq!(ask(servers), Demand::Nothing);
        assert_eq!(ask(&format!("{servers}{password}")), Demand::Password(Method::Enable));
        assert_eq!(access(user).login_demand(), Demand::Nothing);
        let telnet = "enable telnet authentication\n";
        assert_eq!(access(&format!("{telnet}{user}")).login_demand(), Demand::Account);
        let line = access("enable telnet password x\n");
        assert_eq!(line.login_demand(), Demand::Password(Method::Line));
        assert_eq!(line.password(Method::Line, "x"), Some(Privilege::Full));
    }

    #[test]
    fn who_may_come_in_over_ssh() {
        let comes = |text: &str, name: &str, password: &str| {
            let user = access(text).remote_user(name, password);
            user.map(|user| user.privilege)
        };
        assert_eq!(comes("", "anybody", "anything"), Some(Privilege::Full));
        let user = "username oper privilege 5 password two\n";
        assert_eq!(comes(user, "oper", "two"), Some(Privilege::Read));
        assert_eq!(comes(user, "oper", "one"), None);
        assert_eq!(comes(user, "anybody", "two"), None);
        let line = "enable telnet password x\n";
        assert_eq!(comes(line, "anybody", "x"), Some(Privilege::Full));
        assert_eq!(comes(line, "anybody", "y"), None);
        assert_eq!(comes("aaa authentication login default local\n", "a", ""), None);
        assert!(access("").open_to_all("anybody").is_some());
        for closed in [user, line, "aaa authentication login default local\n"] {
            assert!(access(closed).open_to_all("anybody").is_none(), "{closed}");
        }
    }

    #[test]
    fn each_password_has_its_level() {
        let access = access(
            "enable super-user-password all of it\nenable port-config-password ports\n\
             enable read-only-password read\n",
        );
        let of = |password: &str| access.password(Method::Enable, password);
        assert_eq!(of("all of it"), Some(Privilege::Full));
        assert_eq!(of("ports"), Some(Privilege::Ports));
        assert_eq!(of("read"), Some(Privilege::Read));
        assert_eq!(of("all"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn accounts_have_a_privilege_and_a_password() {
        let access = access(
            "username admin password one\nusername oper privilege 5 password two\n\
             username open nopassword\nusername old password 8 $1$abcdefgh$irWbblnpmw.5z7wgBnprh0\n",
        );
        let of = |name, password| access.account(name, password).map(|user| user.privilege);
        assert_eq!(of("admin", "one"), Some(Privilege::Full));
        assert_eq!(of("admin", "two"), None);
        assert_eq!(of("Admin", "one"), None);
        assert_eq!(of("oper", "two"), Some(Privilege::Read));
        assert_eq!(of("open", "anything"), Some(Privilege::Full));
        assert_eq!(of("old", "test"), Some(Privilege::Full));
        assert_eq!(of("old", "8 $1$abcdefgh$irWbblnpmw.5z7wgBnprh0"), None);
        assert_eq!(of("nobody", ""), None);
    }
}
