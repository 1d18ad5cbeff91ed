//! Sessions played against the fake appliance.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::fake::Fake;
use super::*;

/// Plays a text; the outcome, and the text as it was shown.
pub(super) fn shown(
    text: &str,
    subject: &mut dyn Subject,
    comparison: Comparison,
) -> (Outcome, String) {
    let file = SessionFile::from_bytes(Path::new("x.session"), text.into()).unwrap();
    let mut screen = Vec::new();
    let outcome = play(&file, subject, comparison, &mut screen).unwrap();
    (outcome, String::from_utf8(screen).unwrap())
}

fn outcome(text: &str) -> Outcome {
    shown(text, &mut Fake::new(), Comparison::Strict).0
}

/// The kinds of the differences and their lines.
fn differences(text: &str) -> Vec<(DifferenceKind, usize)> {
    outcome(text).differences.iter().map(|found| (found.kind, found.line)).collect()
}

fn error(text: &str) -> String {
    SessionFile::from_bytes(Path::new("x.session"), text.into())
        .and_then(|file| play(&file, &mut Fake::new(), Comparison::Strict, &mut std::io::sink()))
        .unwrap_err()
        .to_string()
}

const OUTPUT: DifferenceKind = DifferenceKind::Output { keep: None };

const SESSION: &str = "\
@ A site and its weight.
@from \"guide p. 41\"
ServerIronADX#conf t
ServerIronADX(config)#gslb ?
  dns    Configure DNS zones
  site   Configure a site
ServerIronADX(config)#gslb site SanJose

@ The weight has a limit.
ServerIronADX(config-gslb-site-SanJose)#we<TAB>
ServerIronADX(config-gslb-site-SanJose)#weight 101
Error - 101 not between 0 and 100
ServerIronADX(config-gslb-site-SanJose)#weight 50
ServerIronADX(config-gslb-site-SanJose)#<^Z>
ServerIronADX#show sites
Sites:
...
  SanJose [..] 50
...
System uptime is [UPTIME]
@query www.gslb.com
NOERROR aa  answer 1
www.gslb.com. 10 IN A 1.1.1.80
@counters
lines typed: 5
@counters
ServerIronADX#say @home\\nServerIronADX: up
@@home
ServerIronADX: up
";

/// The session without the blank line, which strict comparison takes for output.
fn session() -> String {
    SESSION.replace("\n\n", "\n")
}

#[test]
fn a_session_is_typed_as_it_is_written() {
    let mut fake = Fake::new();
    let (outcome, _) = shown(&session(), &mut fake, Comparison::Strict);
    assert!(outcome.agrees(), "{outcome:#?}");
    assert_eq!(outcome.steps, 12);
    assert_eq!(
        fake.calls,
        [
            "line conf t",
            "help gslb ",
            "line site SanJose",
            "complete we",
            "line 101",
            "line weight 50",
            "end",
            "line show sites",
            "emulate query www.gslb.com",
            "line say @home\\nServerIronADX: up",
        ]
    );
    assert!(shown(SESSION, &mut Fake::new(), Comparison::Lenient).0.agrees());
    assert_eq!(differences(SESSION), [(OUTPUT, 7)]);
}

#[test]
fn a_session_shown_is_a_session() {
    let (_, screen) = shown(&session(), &mut Fake::new(), Comparison::Strict);
    assert!(screen.contains("\n  SanJose    weight 50\n!\nSystem uptime is 3 days 4 hours\n"));
    let (outcome, again) = shown(&screen, &mut Fake::new(), Comparison::Strict);
    assert!(outcome.agrees(), "{outcome:#?}");
    assert_eq!(again, screen);
}

#[test]
fn a_wrong_output_is_reported_and_the_session_goes_on() {
    let text = "ServerIronADX#conf t\nnothing\nServerIronADX(config)#gslb site a\n\
                ServerIronADX(config-gslb-site-a)#weight x\nServerIronADX(config-gslb-site-a)#end\n";
    assert_eq!(differences(text), [(OUTPUT, 1), (OUTPUT, 4)]);
}

#[test]
fn a_wrong_mode_is_reported_at_its_line() {
    let text = "ServerIronADX#conf t\nServerIronADX#end\nServerIronADX>exit\n";
    let prompt = DifferenceKind::Prompt;
    assert_eq!(differences(text), [(prompt, 2), (prompt, 3)]);
    let found = &outcome(text).differences[0];
    assert_eq!(
        (&found.old[0][..], &found.new[0][..]),
        ("ServerIronADX#end", "ServerIronADX(config)#end")
    );
    assert_eq!(found.typed, "end");
}

#[test]
fn the_way_into_the_session_matters_in_strict_comparison_only() {
    let text = "telnet@ServerIronADX# conf t\nServerIronADX (config)#end\n";
    let prompts = [(DifferenceKind::Prompt, 1), (DifferenceKind::Prompt, 2)];
    assert_eq!(differences(text), prompts);
    assert!(shown(text, &mut Fake::new(), Comparison::Lenient).0.agrees());
}

#[test]
fn only_the_present_name_makes_a_prompt_line() {
    let text = "ServerIronADX#say other#1\nother#1\nServerIronADX#conf t\n\
                ServerIronADX(config)#hostname other\nother(config)#say ServerIronADX#x\n\
                ServerIronADX#x\nother(config)#end\n";
    assert!(outcome(text).agrees(), "{:#?}", outcome(text));
}

#[test]
fn a_session_of_another_name_is_played_all_the_same() {
    let text = "lab1#conf t\nlab1(config)#hostname lab1\nlab1(config)#end\n";
    let prompt = DifferenceKind::Prompt;
    assert_eq!(differences(text), [(prompt, 1), (prompt, 2)]);
}

#[test]
fn text_left_on_the_line_must_be_written_again() {
    let list = "  dns    Configure DNS zones\n  site   Configure a site\n";
    let text =
        format!("ServerIronADX#gslb ?\n{list}ServerIronADX#conf t\nServerIronADX(config)#end\n");
    assert_eq!(differences(&text), [(DifferenceKind::Standing, 2 + 2)]);
    let text = format!(
        "ServerIronADX#gslb ?\n{list}@clock advance 1\nServerIronADX#gslb <^C>\nServerIronADX#conf t\n"
    );
    assert!(outcome(&text).agrees());
    // The blank at the end of what stands there may be missing.
    let text = format!(
        "ServerIronADX#gslb ?\n{list}ServerIronADX#gslb\nInvalid input -> gslb \nType ? for a list\n"
    );
    assert!(outcome(&text).agrees(), "{:#?}", outcome(&text));
}

#[test]
fn keys_answer_the_pager() {
    let text = |keys: &str, output: &str| {
        format!(
            "@page 3{keys}\nServerIronADX#say 1\\n2\\n3\\n4\\n5\n{output}\nServerIronADX#say 1\\n2\\n3\n1\n2\n3\n"
        )
    };
    for (keys, output) in [
        ("", "1\n2\n--More--"),
        (" <CR>", "1\n2\n--More--\n3\n--More--"),
        (" <CR> <SPACE> <SPACE>", "1\n2\n--More--\n3\n--More--\n4\n--More--\n5"),
        (" <^C>", "1\n2\n--More--"),
    ] {
        let outcome = outcome(&text(keys, output));
        assert!(outcome.agrees(), "{keys} {outcome:#?}");
    }
}

#[test]
fn a_broken_step_must_differ() {
    assert!(outcome("@broken not yet\nServerIronADX#say a\nb\n").agrees());
    assert!(outcome("@broken not yet\nServerIronADX>say a\na\n").agrees());
    let text = "@broken not yet\nServerIronADX#say a\na\n";
    assert_eq!(differences(text), [(DifferenceKind::NoLongerBroken, 2)]);
}

#[test]
fn broken_invariants_are_reported() {
    let mut fake = Fake::new();
    fake.broken.push("the configuration read back differs".into());
    let (outcome, _) = shown("ServerIronADX#conf t\n", &mut fake, Comparison::Strict);
    assert!(!outcome.agrees());
}

#[test]
fn rules_that_only_playing_can_tell() {
    for (text, message) in [
        ("\n\nhello\n", "3: this output belongs to no step; the prompt is `ServerIronADX#`"),
        ("ServerIronADX#say a\n@ remark\na\n", "3: this output belongs to no step"),
        ("@quarry x\nServerIronADX#\n", "1: unknown directive `@quarry`"),
        ("ServerIronADX#\n@pin\n", "2: `@pin` has no step after it"),
        ("@broken x\n@ remark\n@broken y\nServerIronADX#\n", "3: `@broken` stands twice"),
        ("@page 3\n@counters\n", "2: `@page` must be followed by a line"),
        ("@page 3\nServerIronADX#?\n", "2: `@page` must be followed by a line"),
        ("ServerIronADX#end<^Z>\n", "1: `<^Z>` must be typed on an empty line"),
        ("ServerIronADX#a<TAB>b\n", "1: `<TAB>` must end the line"),
        ("@load no-such.cfg\n", "1: cannot load: no-such.cfg: "),
        ("@load /dev/null\n", "1: cannot load: /dev/null: not a file"),
        ("@lab /dev/null\n", "1: cannot load: /dev/null: not a folder"),
        ("@ remark\n", "1: the session has no step"),
        ("", "1: the session has no step"),
    ] {
        let error = error(text);
        assert!(error.starts_with(&format!("x.session:{message}")), "{error}");
    }
}

/// A folder of session files.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}

/// Plays paths against fresh fakes; the status and what is written.
fn run_all<P: AsRef<Path>>(paths: &[P], options: Options) -> (Status, String) {
    let mut out = Vec::new();
    let mut fresh = || Box::new(Fake::new()) as Box<dyn Subject>;
    let status = run(paths, &mut fresh, options, &mut out).unwrap();
    (status, String::from_utf8(out).unwrap())
}

const REWRITE: Options = Options { strict: false, show: false, rewrite: true };

#[test]
fn files_are_loaded_from_beside_the_session() {
    let folder = Folder::new();
    folder.write("two/a.cfg", "east\n");
    folder.write("sub/lab/b.cfg", "west\n");
    let text = "@load ../two/a.cfg\neast#conf t\neast(config)#end\n@lab lab\ntwo appliances\n";
    let path = folder.write("sub/x.session", text);
    assert_eq!(
        run_all(&[path], Options::default()),
        (Status::Agree, "1 session: 1 agrees\n".into())
    );
}

#[test]
fn sessions_are_found_in_folders() {
    let folder = Folder::new();
    let b = folder.write("b.session", "");
    let a = folder.write("deep/er/a.session", "");
    let other = folder.write("other.txt", "");
    folder.write("empty/README.md", "");
    assert_eq!(find(&[folder.0.path()]).unwrap(), [b.clone(), a]);
    assert_eq!(find(&[&other, &b, &b]).unwrap(), [b, other]);
    let error = |path: &str| find(&[folder.0.path().join(path)]).unwrap_err();
    assert!(matches!(error("empty"), Error::NoSession { .. }));
    assert!(matches!(error("missing"), Error::Read { .. }));
}

#[test]
fn the_status_is_the_worst_of_all() {
    let folder = Folder::new();
    let agrees = folder.write("a.session", "ServerIronADX#say  a\na\n");
    let differs = folder.write("b.session", "ServerIronADX#say a\n b \n");
    let not_utf8 = folder.0.path().join("c.session");
    fs::write(&not_utf8, b"\n\xff").unwrap();

    let (status, out) = run_all(&[&agrees], Options::default());
    assert_eq!((status.code(), &out[..]), (0, "1 session: 1 agrees\n"));
    let (status, out) = run_all(&[&agrees, &differs], Options::default());
    assert_eq!(status.code(), 1);
    assert!(out.ends_with("2 sessions: 1 agrees, 1 differs\n"), "{out}");
    let (status, out) = run_all(&[folder.0.path()], Options::default());
    assert_eq!(status.code(), 2);
    assert!(out.contains("c.session:2: not UTF-8\n"), "{out}");
    assert!(out.ends_with("3 sessions: 1 agrees, 1 differs, 1 unreadable\n"), "{out}");
    let missing = folder.0.path().join("missing");
    assert_eq!(run_all(&[&missing, &agrees], Options::default()).0, Status::Unreadable);
    #[cfg(unix)]
    assert!(run_all(&["/dev/zero"], Options::default()).1.starts_with("/dev/zero: not a file\n"));
}

#[test]
fn a_report_is_a_diff_of_the_session_file() {
    let folder = Folder::new();
    let path = folder.write(
        "ours/x.session",
        "ServerIronADX#conf t\nServerIronADX(config)#say 1\\n2\\n3\n1\ntwo\n3\nServerIronADX(config)#end\n",
    );
    let (_, out) = run_all(&[&path], Options::default());
    let path = path.display();
    assert_eq!(
        out,
        format!(
            "{path}:2: the output differs\n  typed: say 1\\n2\\n3\n  mode:  (config)\n--- {path}\n\
             +++ {path} as played\n@@ -2,4 +2,4 @@\n ServerIronADX(config)#say 1\\n2\\n3\n 1\n-two\n\
             +2\n 3\nto accept: ADXEMU_BLESS=1 cargo test --test transcripts\n\
             1 session: 0 agree, 1 differs\n"
        )
    );
}

#[test]
fn at_most_three_differences_are_shown() {
    let folder = Folder::new();
    let path = folder.write("x.session", &"ServerIronADX#say a\nb\n".repeat(5));
    let (_, out) = run_all(&[&path], Options::default());
    assert_eq!(out.matches("the output differs").count(), 3);
    assert!(out.contains("x.session: 2 more differences\n"), "{out}");
}

#[test]
fn rewriting_replaces_only_what_no_longer_fits() {
    let folder = Folder::new();
    let text = "@ Weights.\nServerIronADX#conf t\nServerIronADX(config)#gslb site a\n\
                ServerIronADX(config-gslb-site-a)#weight 101\nError - 101 not between 0 and 99\n\
                @ Elided.\nServerIronADX(config-gslb-site-a)#show sites\n...\n!\n...\n\
                @pin\nServerIronADX(config-gslb-site-a)#say a\nb\n\
                @broken later\nServerIronADX(config-gslb-site-a)#say a\nb\n\
                @query x\nServerIronADX(config-gslb-site-a)#say @a\\nServerIronADX#b";
    let path = folder.write("x.session", text);
    let (status, out) = run_all(&[&path], REWRITE);
    assert_eq!(status, Status::Differ);
    assert!(out.contains("x.session: rewritten\n"), "{out}");
    let expected = text
        .replace("and 99", "and 100")
        .replace("@query x\n", "@query x\nNOERROR aa  answer 1\nx. 10 IN A 1.1.1.80\n")
        + "\n@@a\n[..]#b\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);

    // The second time only the pinned output still differs, and nothing changes.
    let (status, out) = run_all(&[&path], REWRITE);
    assert_eq!(status, Status::Differ);
    assert!(out.contains("the output is pinned") && !out.contains("rewritten\n"), "{out}");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn rewriting_twice_changes_nothing() {
    let folder = Folder::new();
    for ours in ["ours/x.session", "regress/x.session"] {
        let path = folder.write(ours, &SESSION.replace("  dns ", "  DNS ").replace(" 100", " 99"));
        assert_eq!(run_all(&[&path], REWRITE).0, Status::Differ);
        let once = fs::read_to_string(&path).unwrap();
        assert_eq!(run_all(&[&path], REWRITE).0, Status::Agree);
        assert_eq!(fs::read_to_string(&path).unwrap(), once);
    }
}

#[test]
fn evidence_and_sessions_out_of_step_are_never_rewritten() {
    let folder = Folder::new();
    let output = "ServerIronADX#say a\nb\n";
    for (name, text, reason) in [
        ("manual/x.session", output.to_owned(), "this session is evidence"),
        ("a/manual/b/ours/x.session", output.to_owned(), "this session is evidence"),
        ("prompt.session", format!("{output}ServerIronADX>\n"), "mend the prompts"),
        ("name.session", format!("{output}other#say c\n"), "line 3 may be a prompt line"),
    ] {
        let path = folder.write(name, &text);
        let (status, out) = run_all(&[&path], REWRITE);
        assert_eq!(status, Status::Differ);
        assert!(out.contains(reason) && !out.contains("to accept"), "{out}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    #[cfg(unix)]
    {
        let link = folder.0.path().join("link.session");
        std::os::unix::fs::symlink("manual/x.session", &link).unwrap();
        run_all(&[&link], REWRITE);
        assert_eq!(fs::read_to_string(&link).unwrap(), output);
    }
}

#[test]
fn line_ends_and_permissions_survive_rewriting() {
    let folder = Folder::new();
    let path = folder.write("x.session", "ServerIronADX#say a\r\nb\r\nServerIronADX#end\r\n");
    let permissions = fs::metadata(&path).unwrap().permissions();
    run_all(&[&path], REWRITE);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "ServerIronADX#say a\r\na\r\nServerIronADX#end\r\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions(), permissions);
}

#[test]
fn a_shown_session_goes_to_the_same_writer() {
    let folder = Folder::new();
    let path = folder.write("x.session", "@ A remark.\nServerIronADX#say a\n...\n");
    let options = Options { show: true, ..Options::default() };
    let (_, out) = run_all(&[&path], options);
    assert_eq!(out, "@ A remark.\nServerIronADX#say a\na\n1 session: 1 agrees\n");
}

/// Lines of which hostile sessions are made, the prompts right and wrong.
const HOSTILE: [&str; 22] = [
    "ServerIronADX#conf t",
    "ServerIronADX(config)#hostname other",
    "other(config)#say ServerIronADX#x\\nother(config)#y",
    "ServerIronADX(config)#gslb ?",
    "ServerIronADX(config)#gslb site a",
    "ServerIronADX(config)#gslb <^C>",
    "other(config)#<^Z>",
    "ServerIronADX#co<TAB>",
    "ServerIronADX#configure terminal",
    "ServerIronADX#say @a\\n...\\n[..]\\n",
    "ServerIronADX#say a\\n\\nb\\r\\nc#d",
    "#",
    "a#b",
    "...",
    "[..]a[PORT]",
    "Error - x not between 0 and 100",
    "",
    "@ remark",
    "@pin",
    "@broken x",
    "@page 2 <CR>",
    "@query a",
];

proptest! {
    #[test]
    fn no_file_panics_and_rewriting_twice_changes_nothing(
        lines in prop::collection::vec(prop::sample::select(&HOSTILE[..]), 0..20),
        strict: bool,
    ) {
        let path = Path::new("x.session");
        let comparison = if strict { Comparison::Strict } else { Comparison::Lenient };
        let rewritten = |text: String| {
            let file = SessionFile::from_bytes(path, text.into()).ok()?;
            let outcome = play(&file, &mut Fake::new(), comparison, &mut std::io::sink()).ok()?;
            rewrite::rewritten(&file, &outcome)
        };
        if let Some(once) = rewritten(lines.join("\n")) {
            prop_assert_eq!(rewritten(once.clone()), None, "{}", once);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(file) = SessionFile::from_bytes(Path::new("x.session"), bytes) {
            let _ = play(&file, &mut Fake::new(), Comparison::Lenient, &mut std::io::sink());
        }
    }
}
