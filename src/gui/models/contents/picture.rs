//! A picture: what its header claims, checked before anything is decoded, and its pixels.

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use egui::{ColorImage, Context, TextureFilter, TextureHandle, TextureOptions};
use image::metadata::Orientation;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits,
};

use crate::base::size::grouped;
use crate::base::text::printable;
use crate::jobs::catch_panic;

/// Pixels of a side at most: what common graphics drivers take as one texture.
const MOST_SIDE: u32 = 8_192;
/// Pixels at most: 64 MiB as they are shown, and up to twice that while they are decoded.
const MOST_PIXELS: u64 = 16 << 20;
/// Bytes that a decoder may ask for, apart from the pixels it returns.
const MOST_DECODER_BYTES: u64 = 160 << 20;
/// Bytes of a compressed color profile in an icon, whose decoder has no limit of its own; a profile has some kilobytes.
/// These become 64 MiB at most.
const MOST_PROFILE: u32 = 64 << 10;

/// The format that bytes begin with, if pictures of it are shown.
pub(super) fn format(bytes: &[u8]) -> Option<ImageFormat> {
    image::guess_format(bytes).ok().filter(ImageFormat::reading_enabled)
}

/// The name of a format.
pub(super) const fn title(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Gif => "GIF",
        ImageFormat::Bmp => "BMP",
        ImageFormat::Ico => "ICO",
        ImageFormat::WebP => "WebP",
        _ => "Other",
    }
}

/// Whether so few bytes tell the format that other files begin with them too.
pub(super) const fn is_weak(format: ImageFormat) -> bool {
    matches!(format, ImageFormat::Bmp | ImageFormat::Ico)
}

/// Whether a file of this name is a picture of a kind that is shown.
pub(super) fn is_named(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let endings: [&[u8]; 8] = [b".png", b".jpg", b".jpeg", b".gif", b".bmp", b".ico", b".cur", b".webp"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// A decoded picture.
pub struct Picture {
    /// Format, size and kind of pixels in words.
    pub about: String,
    /// Width and height.
    pub size: [usize; 2],
    /// Whether some of it can be seen through.
    pub has_alpha: bool,
    pixels: Mutex<Pixels>,
}

/// Pixels are in memory until the first frame that shows them, and then with the graphics driver only.
enum Pixels {
    Decoded(ColorImage),
    Loaded(TextureHandle),
    Gone,
}

impl Picture {
    /// Decodes a whole file; of an animation its first frame, of an icon its best entry. Nothing is decoded if the
    /// header claims more than the limits of this module.
    ///
    /// # Errors
    /// Why it cannot be shown, in words.
    pub fn decode(format: ImageFormat, bytes: &[u8]) -> Result<Self, String> {
        // Decoders are foreign code on bytes from anywhere.
        catch_panic(|| decode(format, bytes)).unwrap_or_else(|panic| Err(format!("decoder failed: {panic}")))
    }

    /// The texture; `None` if the graphics driver takes none of this size.
    pub fn texture(&self, context: &Context) -> Option<TextureHandle> {
        let side = context.input(|input| input.max_texture_side);
        if self.size.iter().any(|size| *size > side) {
            return None;
        }
        let mut pixels = self.pixels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Pixels::Decoded(_) = &*pixels
            && let Pixels::Decoded(decoded) = std::mem::replace(&mut *pixels, Pixels::Gone)
        {
            let options =
                TextureOptions { mipmap_mode: Some(TextureFilter::Linear), ..TextureOptions::LINEAR };
            *pixels = Pixels::Loaded(context.load_texture("picture of a file", decoded, options));
        }
        match &*pixels {
            Pixels::Loaded(texture) => Some(texture.clone()),
            Pixels::Decoded(_) | Pixels::Gone => None,
        }
    }
}

fn decode(format: ImageFormat, bytes: &[u8]) -> Result<Picture, String> {
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(MOST_DECODER_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    if format == ImageFormat::Ico && has_large_profile(bytes) {
        return Err("a color profile in it is too large".to_owned());
    }
    let words = |error: ImageError| match error {
        ImageError::Limits(_) => too_large(None),
        error => printable(&error.to_string()),
    };
    let mut decoder = reader.into_decoder().map_err(words)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err("its header claims no pixels".to_owned());
    }
    let pixels = u64::from(width) * u64::from(height);
    if width.max(height) > MOST_SIDE || pixels > MOST_PIXELS {
        return Err(too_large(Some((width, height))));
    }
    let kind = kind(decoder.original_color_type());
    let has_alpha = decoder.color_type().has_alpha();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(words)?;
    image.apply_orientation(orientation);
    let image = image.into_rgba8();
    let size = [image.width() as usize, image.height() as usize];
    let cut =
        if format == ImageFormat::Jpeg && is_cut(bytes) { ", cut short: the rest is missing" } else { "" };
    let about = format!(
        "{} picture{}, {} × {} pixels{kind}{cut}",
        title(format),
        match format {
            ImageFormat::Gif => ", first frame",
            ImageFormat::Ico => ", largest entry",
            _ => "",
        },
        grouped(size[0] as u64),
        grouped(size[1] as u64)
    );
    let decoded = ColorImage::from_rgba_unmultiplied(size, image.as_raw());
    Ok(Picture { about, size, has_alpha, pixels: Mutex::new(Pixels::Decoded(decoded)) })
}

/// Whether an icon has PNG data with a color profile beyond the limit: a length, and the name of that chunk.
fn has_large_profile(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, b"iCCP").any(|at| {
        let length = at.checked_sub(4).and_then(|start| bytes[start..at].try_into().ok());
        length.is_some_and(|length| u32::from_be_bytes(length) > MOST_PROFILE)
    })
}

/// Whether a JPEG ends before its end marker: the decoder shows what is there, the rest gray.
fn is_cut(bytes: &[u8]) -> bool {
    let mut at = 2;
    // Segments before the scan have lengths, and thumbnails with end markers of their own.
    while let Some(&[0xff, marker, high, low]) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        if marker == 0xff {
            at += 1;
            continue;
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
        if marker == 0xda {
            break;
        }
    }
    bytes.get(at..).is_none_or(|scan| memchr::memmem::rfind(scan, b"\xff\xd9").is_none())
}

fn too_large(size: Option<(u32, u32)>) -> String {
    let claimed = size.map_or_else(String::new, |(width, height)| {
        format!("{} × {} pixels: ", grouped(width.into()), grouped(height.into()))
    });
    format!(
        "{claimed}larger than {} pixels a side or {} pixels in all",
        grouped(MOST_SIDE.into()),
        grouped(MOST_PIXELS)
    )
}

/// What a pixel is in the file; empty where no words are short enough.
fn kind(color: ExtendedColorType) -> &'static str {
    match color {
        ExtendedColorType::L1 => ", 1-bit gray",
        ExtendedColorType::L8 => ", 8-bit gray",
        ExtendedColorType::La8 => ", 8-bit gray with alpha",
        ExtendedColorType::L16 => ", 16-bit gray",
        ExtendedColorType::La16 => ", 16-bit gray with alpha",
        ExtendedColorType::Rgb8 => ", 8-bit RGB",
        ExtendedColorType::Rgba8 => ", 8-bit RGBA",
        ExtendedColorType::Rgb16 => ", 16-bit RGB",
        ExtendedColorType::Rgba16 => ", 16-bit RGBA",
        ExtendedColorType::Cmyk8 => ", CMYK",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

    use super::{MOST_SIDE, Picture, format};

    fn written(form: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let image = RgbImage::from_fn(24, 16, |x, y| Rgb([x as u8 * 10, y as u8 * 10, 90]));
        let image = match form {
            ImageFormat::Ico | ImageFormat::Gif => DynamicImage::from(image).into_rgba8().into(),
            _ => DynamicImage::from(image),
        };
        image.write_to(&mut bytes, form).unwrap();
        bytes.into_inner()
    }

    /// A PNG of a claimed size, without pixels.
    fn claimed(width: u32, height: u32) -> Vec<u8> {
        let mut head = b"IHDR".to_vec();
        head.extend(width.to_be_bytes());
        head.extend(height.to_be_bytes());
        head.extend([8, 6, 0, 0, 0]);
        let mut crc = flate2::Crc::new();
        crc.update(&head);
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
        bytes.extend(head);
        bytes.extend(crc.sum().to_be_bytes());
        bytes.extend(b"\0\0\x10\0IDAT");
        bytes
    }

    #[test]
    fn every_format_is_decoded() {
        let formats = [
            (ImageFormat::Png, "PNG picture, 24 × 16 pixels, 8-bit RGB"),
            (ImageFormat::Jpeg, "JPEG picture, 24 × 16 pixels, 8-bit RGB"),
            (ImageFormat::Gif, "GIF picture, first frame, 24 × 16 pixels"),
            (ImageFormat::Bmp, "BMP picture, 24 × 16 pixels"),
            (ImageFormat::Ico, "ICO picture, largest entry, 24 × 16 pixels"),
            (ImageFormat::WebP, "WebP picture, 24 × 16 pixels, 8-bit RGB"),
        ];
        for (form, about) in formats {
            let bytes = written(form);
            assert_eq!(format(&bytes), Some(form));
            let picture = Picture::decode(form, &bytes).unwrap();
            assert!(picture.about.starts_with(about), "{}", picture.about);
            assert_eq!(picture.size, [24, 16]);
        }
        assert_eq!(format(b"II*\0"), None, "TIFF is not shown");
    }

    #[test]
    fn what_a_header_claims_allocates_nothing() {
        let cases = [
            (claimed(u32::MAX >> 1, u32::MAX >> 1), ImageFormat::Png),
            (claimed(MOST_SIDE, MOST_SIDE), ImageFormat::Png),
            (claimed(60_000, 60_000), ImageFormat::Png),
            (claimed(MOST_SIDE + 1, 1), ImageFormat::Png),
            (resized(ImageFormat::Gif, |bytes| bytes[6..10].fill(0xff)), ImageFormat::Gif),
            (resized(ImageFormat::Bmp, |bytes| bytes[18..26].fill(0x7f)), ImageFormat::Bmp),
            (
                resized(ImageFormat::Jpeg, |bytes| {
                    let frame = bytes.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
                    bytes[frame + 5..frame + 9].fill(0xff);
                }),
                ImageFormat::Jpeg,
            ),
            (resized(ImageFormat::WebP, |bytes| bytes[21..25].fill(0xff)), ImageFormat::WebP),
        ];
        for (bytes, form) in cases {
            let mut error = None;
            let used = allocation_counter::measure(|| error = Picture::decode(form, &bytes).err());
            let error = error.unwrap();
            assert!(error.contains("larg") || form == ImageFormat::WebP, "{form:?}: {error}");
            assert!(used.bytes_max < 2 << 20, "{form:?} took {} bytes", used.bytes_max);
        }
    }

    fn resized(form: ImageFormat, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
        let mut bytes = written(form);
        change(&mut bytes);
        bytes
    }

    #[test]
    fn broken_pictures_say_why() {
        for form in
            [ImageFormat::Png, ImageFormat::Gif, ImageFormat::Bmp, ImageFormat::Ico, ImageFormat::WebP]
        {
            let bytes = written(form);
            for part in [0, 3, 12, bytes.len() / 2] {
                let error = Picture::decode(form, &bytes[..part]).err();
                assert!(error.is_some_and(|error| !error.is_empty()), "{form:?} of {part} bytes");
            }
        }
        let whole = written(ImageFormat::Jpeg);
        assert!(Picture::decode(ImageFormat::Jpeg, &whole[..40]).is_err());
        // Its decoder shows what is there.
        let shown = Picture::decode(ImageFormat::Jpeg, &whole[..whole.len() - 20]).unwrap();
        assert!(shown.about.ends_with("8-bit RGB, cut short: the rest is missing"), "{}", shown.about);
        // The end marker of a thumbnail is not that of the picture.
        let mut thumbnail = whole[..2].to_vec();
        thumbnail.extend(b"\xff\xe1\0\x06\xff\xd8\xff\xd9");
        thumbnail.extend(&whole[2..whole.len() - 20]);
        let shown = Picture::decode(ImageFormat::Jpeg, &thumbnail).unwrap();
        assert!(shown.about.contains("cut short"), "{}", shown.about);
    }

    /// An icon of one PNG.
    fn icon(png: &[u8]) -> Vec<u8> {
        let mut bytes = b"\0\0\x01\0\x01\0\0\0\0\0\x01\0\x20\0".to_vec();
        bytes.extend(u32::try_from(png.len()).unwrap().to_le_bytes());
        bytes.extend(22_u32.to_le_bytes());
        bytes.extend(png);
        bytes
    }

    #[test]
    fn icons_are_bounded_too() {
        let mut packed = flate2::write::ZlibEncoder::new(b"name\0\0".to_vec(), flate2::Compression::best());
        for _ in 0..512 {
            packed.write_all(&[0; 1 << 20]).unwrap();
        }
        let mut profile = b"iCCP".to_vec();
        profile.extend(packed.finish().unwrap());
        let mut crc = flate2::Crc::new();
        crc.update(&profile);
        let mut bomb = claimed(16, 16)[..33].to_vec();
        bomb.extend((profile.len() as u32 - 4).to_be_bytes());
        bomb.extend(profile);
        bomb.extend(crc.sum().to_be_bytes());
        bomb.extend(&written(ImageFormat::Png)[33..]);
        let cases = [
            (icon(&bomb), "profile"),
            (icon(&claimed(u32::MAX >> 1, 1)), ""),
            (icon(&claimed(60_000, 60_000)), "larger"),
        ];
        for (bytes, reason) in cases {
            let mut error = None;
            let used =
                allocation_counter::measure(|| error = Picture::decode(ImageFormat::Ico, &bytes).err());
            let error = error.unwrap();
            assert!(error.contains(reason), "{error}");
            assert!(used.bytes_max < 2 << 20, "{error}: {} bytes", used.bytes_max);
        }
    }
}
