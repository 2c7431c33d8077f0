use super::*;

fn pixels(width: u32, height: u32, colour: impl Fn(u32, u32) -> [u8; 4]) -> Pixels {
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Pixels { width, height, data: places.flat_map(|(x, y)| colour(x, y)).collect() }
}

fn png_of(width: u32, height: u32) -> Vec<u8> {
    encode_png(&pixels(width, height, |x, _| [if x < width / 2 { 0 } else { 255 }, 10, 20, 255]))
        .unwrap()
}

/// Pixels that no encoder makes small.
fn noise(width: u32, height: u32) -> Pixels {
    let mut random = fastrand::Rng::with_seed(7);
    let count = (width * height) as usize;
    let data = (0..count).flat_map(|_| [random.u8(..), random.u8(..), random.u8(..), 255]);
    Pixels { width, height, data: data.collect() }
}

fn bytes_of(prepared: &PreparedImage) -> Vec<u8> {
    STANDARD.decode(&prepared.image.data).unwrap()
}

fn sides(prepared: &PreparedImage) -> (u32, u32) {
    match prepared.size {
        AttachmentSize::Pixels { width, height } => (width, height),
        other => panic!("{other:?}"),
    }
}

fn fault(bytes: Vec<u8>) -> String {
    prepare(bytes, "@a.png").unwrap_err().text(avocet_core::i18n::Lang::En)
}

#[test]
fn an_image_that_is_small_enough_is_sent_as_it_is() {
    let png = png_of(40, 30);
    let sent = prepare(png.clone(), "@a.png").unwrap();
    assert_eq!(sides(&sent), (40, 30));
    assert_eq!((sent.image.mime.as_str(), bytes_of(&sent)), ("image/png", png));
    let jpeg = encode_jpeg(&noise(64, 32)).unwrap();
    let sent = prepare(jpeg.clone(), "@a.jpg").unwrap();
    assert_eq!((sides(&sent), bytes_of(&sent)), ((64, 32), jpeg));
    assert_eq!(sent.image.mime, "image/jpeg");
}

#[test]
fn a_large_image_is_scaled_down_and_keeps_its_shape_and_colours() {
    let sent = prepare(png_of(3_136, 100), "@a.png").unwrap();
    assert_eq!(sides(&sent), (1_568, 50));
    let back = decode_png(&bytes_of(&sent)).unwrap();
    assert_eq!((back.width, back.height), (1_568, 50));
    assert_eq!(back.data[..4], [0, 10, 20, 255]);
    assert_eq!(back.data[back.data.len() - 4..], [255, 10, 20, 255]);
    let jpeg = encode_jpeg(&pixels(160, 1_700, |_, _| [200, 10, 20, 255])).unwrap();
    let sent = prepare(jpeg, "@a.jpg").unwrap();
    assert_eq!((sides(&sent), sent.image.mime.as_str()), ((147, 1_568), "image/jpeg"));
}

#[test]
fn an_image_whose_bytes_are_too_many_becomes_a_jpeg() {
    let sent = prepare(encode_png(&noise(800, 700)).unwrap(), "@a.png").unwrap();
    assert_eq!((sent.image.mime.as_str(), sides(&sent)), ("image/jpeg", (800, 700)));
    assert!(bytes_of(&sent).len() < SENT);
}

#[test]
fn what_is_transparent_stays_so_and_has_no_colour() {
    let clear = pixels(2, 1, |x, _| if x == 0 { [255, 0, 0, 0] } else { [0, 0, 255, 255] });
    assert_eq!(clear.mean((0, 2), (0, 1)), [0, 0, 255, 127]);
    assert_eq!(without_opacity(&clear), [255, 255, 255, 0, 0, 255]);
}

#[test]
fn a_picture_that_a_camera_took_sideways_is_turned() {
    let upright = pixels(2, 3, |x, y| [x as u8, y as u8, 0, 255]);
    let turned = upright.turned(1);
    assert_eq!((turned.width, turned.height), (3, 2));
    assert_eq!(turned.data[..4], [0, 2, 0, 255], "the lower left corner comes first");
    let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    assert_eq!(orientation(exif), Some(6));
    let mut jpeg = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut jpeg, 90);
    encoder.add_app_segment(1, exif.to_vec()).unwrap();
    encoder.encode(&[9; 60], 5, 4, jpeg_encoder::ColorType::Rgb).unwrap();
    let sent = prepare(jpeg, "@a.jpg").unwrap();
    assert_eq!(sides(&sent), (4, 5));
}

#[test]
fn a_small_file_with_very_many_pixels_is_refused_before_it_is_decoded() {
    let mut bomb = png_of(8, 8);
    bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let said = fault(bomb);
    assert!(said.contains("65536x65536"), "{said}");
    let mut gif = b"GIF89a".to_vec();
    gif.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0]);
    assert!(fault(gif).contains("65535x65535"));
}

#[test]
fn gif_and_webp_are_sent_as_they_are() {
    let gif = b"GIF89a\x10\0\x08\0\x80\0\0rest".to_vec();
    let sent = prepare(gif.clone(), "@a.gif").unwrap();
    assert_eq!((sides(&sent), sent.image.mime.as_str()), ((16, 8), "image/gif"));
    assert_eq!(bytes_of(&sent), gif);
    let webp = [b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0", &[15, 0, 0, 7, 0, 0][..]].concat();
    let sent = prepare(webp, "@a.webp").unwrap();
    assert_eq!((sides(&sent), sent.image.mime.as_str()), ((16, 8), "image/webp"));
}

#[test]
fn a_damaged_image_is_an_error_wherever_it_is_cut() {
    let png = png_of(1_600, 20);
    let jpeg = encode_jpeg(&noise(1_600, 8)).unwrap();
    for whole in [png, jpeg] {
        for cut in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let part = whole[..cut].to_vec();
            if let Ok(sent) = prepare(part, "@a") {
                assert_eq!(sides(&sent).0, 1_568, "what is left of it was decoded");
            }
            let mut damaged = whole.clone();
            damaged[cut] ^= 0x55;
            let _ = prepare(damaged, "@a");
        }
    }
    assert!(fault(b"\x89PNG\r\n\x1a\n".to_vec()).contains("@a.png"));
    assert!(!is_image(b"BM"));
}
