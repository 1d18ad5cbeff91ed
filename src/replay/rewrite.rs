//! Putting the output of the subject into the session file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::error::Error;
use super::notation::SessionFile;
use super::place::Place;
use super::player::{DifferenceKind, Outcome};

/// The text of the file with every block replaced that no longer fits; `None` if nothing is.
///
/// Input, remarks, directives and pinned output stay. A file under a folder `manual` is never
/// rewritten, nor one whose session went another way than it is written.
pub(super) fn rewritten(file: &SessionFile, outcome: &Outcome) -> Option<String> {
    if Place::of(file.path()).manual || !outcome.is_in_step() {
        return None;
    }
    let text = file.text();
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    let blocks = outcome
        .differences
        .iter()
        .filter(|difference| difference.kind == DifferenceKind::Output { keep: None });
    for block in blocks {
        let start = file.start(block.first - 1);
        result.push_str(&text[copied..start]);
        if !result.is_empty() && !result.ends_with('\n') {
            result.push_str(line_end);
        }
        for line in &block.new {
            result.push_str(line);
            result.push_str(line_end);
        }
        copied = file.start(block.first - 1 + block.old.len());
    }
    result.push_str(&text[copied..]);
    (result != text).then_some(result)
}

/// Puts a text in the place of a file: either all of it is there afterwards, or the old file.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), Error> {
    replace_atomically(path, text)
        .map_err(|source| Error::Rewrite { path: path.to_owned(), source })
}

fn replace_atomically(path: &Path, text: &str) -> io::Result<()> {
    // The file that a link leads to, not the link.
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
