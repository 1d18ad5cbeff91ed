//! What is compressed is read as what it was: gzip and zstd, also several files put together.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The content of a file, whatever it is packed in.
pub(super) fn unpack(
    mut packed: impl BufRead + Send + 'static,
) -> io::Result<Box<dyn BufRead + Send>> {
    let start = packed.fill_buf()?;
    if start.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(packed))));
    }
    if start.starts_with(&ZSTD) {
        return Ok(Box::new(BufReader::new(Frames { source: Some(packed), frame: None })));
    }
    Ok(Box::new(packed))
}

/// The frames of a zstd file, one after another.
struct Frames<R: BufRead> {
    /// Where the next frame begins, between two of them.
    source: Option<R>,
    frame: Option<StreamingDecoder<R, FrameDecoder>>,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.source = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(source);
            self.frame = Some(frame.map_err(|error| io::Error::other(error.to_string()))?);
        }
    }
}
