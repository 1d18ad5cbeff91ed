//! Flash memory: two places for an image of the software (base-cli 3.2).
//!
//! What an image holds is of no use here; it is kept so that it can be copied back. The emulator
//! stays the version that it is, whichever image it is restarted from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::names::named_enum;

/// The largest image that is taken, bytes: more than the code flash of the product line holds.
pub const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What one dot stands for while an image is written, bytes.
const DOT: usize = 8192;

/// Dots that stand on one line.
const LINE_OF_DOTS: usize = 78;

/// The image that the device comes with.
const FACTORY_LABEL: &str = "ASR12400.bin";
const FACTORY_BYTES: usize = 21_300_115;

/// What is left for images, bytes, when both places are empty.
const ROOM: usize = 134_217_635;

named_enum! {
    /// A place for an image.
    pub enum Slot {
        /// The one that the device starts from.
        Primary = "primary",
        /// The other one.
        Secondary = "secondary",
    }
}

/// An image of the software.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The name of the file that it came from.
    pub label: String,
    /// Its size in bytes.
    pub size: usize,
    /// What is in it; nothing of the image that the device comes with.
    contents: Option<Arc<[u8]>>,
}

/// Why an image cannot be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlashError {
    /// Another image is being written.
    #[error("Flash memory is being written")]
    Busy,
    /// It is larger than [`MOST_BYTES`].
    #[error("Image is larger than {MOST_BYTES} bytes")]
    TooLarge,
    /// There is nothing in the file.
    #[error("File is empty")]
    Empty,
    /// There is no image in that place.
    #[error("There is no image")]
    NoImage,
    /// The image came with the device, so nobody has what is in it.
    #[error("The emulator holds no copy of the image that the device comes with")]
    Factory,
}

/// The flash memory of a device.
#[derive(Debug, Default)]
pub struct Flash {
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    primary: Option<Image>,
    secondary: Option<Image>,
    /// What is being written.
    writing: Option<(Slot, Image)>,
}

impl Default for Memory {
    fn default() -> Self {
        let image = Image { label: FACTORY_LABEL.to_owned(), size: FACTORY_BYTES, contents: None };
        Memory { primary: Some(image.clone()), secondary: Some(image), writing: None }
    }
}

impl Flash {
    /// Begins to write an image; it is there when [`Flash::finish`] says so.
    ///
    /// # Errors
    ///
    /// The memory is busy, or this cannot be an image.
    pub fn write(&self, slot: Slot, label: &str, contents: Vec<u8>) -> Result<(), FlashError> {
        let image = match contents.len() {
            0 => return Err(FlashError::Empty),
            size if size > MOST_BYTES => return Err(FlashError::TooLarge),
            size => Image { label: label.to_owned(), size, contents: Some(Arc::from(contents)) },
        };
        self.begin(slot, image)
    }

    /// Begins to copy the image of the other place.
    ///
    /// # Errors
    ///
    /// The memory is busy, or the other place is empty.
    pub fn copy_to(&self, slot: Slot) -> Result<(), FlashError> {
        let other = match slot {
            Slot::Primary => Slot::Secondary,
            Slot::Secondary => Slot::Primary,
        };
        let image = self.image(other).ok_or(FlashError::NoImage)?;
        self.begin(slot, image)
    }

    fn begin(&self, slot: Slot, image: Image) -> Result<(), FlashError> {
        let mut memory = self.memory();
        if memory.writing.is_some() {
            return Err(FlashError::Busy);
        }
        memory.writing = Some((slot, image));
        Ok(())
    }

    /// Ends what was begun, if anything was; gives its dots, in lines.
    pub fn finish(&self) -> Option<String> {
        let mut memory = self.memory();
        let (slot, image) = memory.writing.take()?;
        let mut dots = String::new();
        let mut left = image.size.div_ceil(DOT);
        while left > 0 {
            let line = left.min(LINE_OF_DOTS);
            dots.push_str(&".".repeat(line));
            dots.push('\n');
            left -= line;
        }
        *memory.place(slot) = Some(image);
        Some(dots)
    }

    /// Removes an image.
    ///
    /// # Errors
    ///
    /// The memory is busy, or there is none.
    pub fn erase(&self, slot: Slot) -> Result<(), FlashError> {
        let mut memory = self.memory();
        if memory.writing.is_some() {
            return Err(FlashError::Busy);
        }
        memory.place(slot).take().map(drop).ok_or(FlashError::NoImage)
    }

    /// The image in a place.
    pub fn image(&self, slot: Slot) -> Option<Image> {
        self.memory().place(slot).clone()
    }

    /// What is in an image.
    ///
    /// # Errors
    ///
    /// There is none, or nobody has what is in it.
    pub fn contents(&self, slot: Slot) -> Result<Arc<[u8]>, FlashError> {
        let image = self.image(slot).ok_or(FlashError::NoImage)?;
        image.contents.ok_or(FlashError::Factory)
    }

    /// Room for more, bytes.
    pub fn free(&self) -> usize {
        let images = Slot::ALL.iter().filter_map(|slot| self.image(*slot));
        images.fold(ROOM, |free, image| free.saturating_sub(image.size))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn place(&mut self, slot: Slot) -> &mut Option<Image> {
        match slot {
            Slot::Primary => &mut self.primary,
            Slot::Secondary => &mut self.secondary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_there_when_it_is_written() {
        let flash = Flash::default();
        assert_eq!(flash.finish(), None);
        assert_eq!(flash.contents(Slot::Primary), Err(FlashError::Factory));
        flash.write(Slot::Secondary, "ASM12501.bin", vec![7; 79 * DOT - 1]).unwrap();
        assert_eq!(flash.write(Slot::Primary, "x", vec![1]), Err(FlashError::Busy));
        assert_eq!(flash.erase(Slot::Primary), Err(FlashError::Busy));
        assert_eq!(flash.image(Slot::Secondary).unwrap().label, FACTORY_LABEL);
        assert_eq!(flash.finish().unwrap(), format!("{}\n.\n", ".".repeat(78)));
        assert_eq!(flash.image(Slot::Secondary).unwrap().label, "ASM12501.bin");
        assert_eq!(flash.free(), ROOM - FACTORY_BYTES - 79 * DOT + 1);
        flash.copy_to(Slot::Primary).unwrap();
        flash.finish().unwrap();
        assert_eq!(flash.contents(Slot::Primary).unwrap().len(), 79 * DOT - 1);
        flash.erase(Slot::Secondary).unwrap();
        assert_eq!(flash.erase(Slot::Secondary), Err(FlashError::NoImage));
        assert_eq!(flash.copy_to(Slot::Primary), Err(FlashError::NoImage));
        assert_eq!(flash.contents(Slot::Secondary), Err(FlashError::NoImage));
    }

    #[test]
    fn what_cannot_be_an_image() {
        let flash = Flash::default();
        assert_eq!(flash.write(Slot::Primary, "x", Vec::new()), Err(FlashError::Empty));
        let large = vec![0; MOST_BYTES + 1];
        assert_eq!(flash.write(Slot::Primary, "x", large), Err(FlashError::TooLarge));
    }
}
