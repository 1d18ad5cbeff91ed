//! Lines from a pipe or a file: each is echoed after its prompt, as a console log would have it.

use std::io::{self, BufRead, Write};

use crate::cli::session::{LONGEST_LINE, Session};
use crate::cli::words;
use crate::store;

/// Runs every line of `input`; ends at its end or when the session is over.
///
/// # Errors
///
/// Input or output fails. A reader that goes away ends the session without an error.
pub fn run(
    session: &mut Session,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<()> {
    match play(session, input, output) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn play(session: &mut Session, input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    while let Some(line) = read_line(input)? {
        for message in session.notices() {
            write!(output, "{message}")?;
        }
        let line = line.trim_end_matches(['\r', '\n']);
        let shown = if session.asks_secret() { "" } else { line };
        writeln!(output, "{}{shown}", session.prompt())?;
        // The help key acts at once and is no part of the line.
        let text = match line.strip_suffix('?') {
            Some(before) if !session.takes_text() && !words::is_inside_quotes(before) => {
                session.help(before)
            }
            _ => session.run(line),
        };
        output.write_all(text.as_bytes())?;
        output.flush()?;
        if session.is_over() {
            break;
        }
    }
    Ok(())
}

/// The next line; what is longer than a line may be is read in pieces and thrown away. A line that
/// is no UTF-8 is taken as Latin-1, as a file is.
fn read_line(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut any = false;
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            break;
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        let room = LONGEST_LINE.saturating_sub(line.len());
        line.extend_from_slice(&available[..taken.min(room)]);
        input.consume(taken);
        if end.is_some() {
            break;
        }
    }
    // The cut may have gone through a character.
    if let Err(error) = std::str::from_utf8(&line)
        && error.error_len().is_none()
        && line.len() == LONGEST_LINE
    {
        line.truncate(error.valid_up_to());
    }
    Ok(any.then(|| store::text_of(line)))
}
