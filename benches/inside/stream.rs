//! What the stream adaptor costs: one large event, and many small ones.

use avocet::model::sse::{EVENT_CAP, events};
use divan::Bencher;
use divan::counter::BytesCount;
use futures_util::{FutureExt, StreamExt, stream};

/// What a read from the network usually brings.
const CHUNK: usize = 1_024;

#[divan::bench]
fn one_event_of_a_megabyte(bencher: Bencher<'_, '_>) {
    let bytes = format!("data: {}\n\n", "x".repeat(1 << 20));
    read(bencher, bytes.as_bytes(), 1);
}

#[divan::bench]
fn one_event_of_many_lines(bencher: Bencher<'_, '_>) {
    let bytes = format!("{}\n", "data: x\n".repeat(1 << 17));
    read(bencher, bytes.as_bytes(), 1);
}

#[divan::bench]
fn twenty_thousand_small_events(bencher: Bencher<'_, '_>) {
    let event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n";
    read(bencher, event.repeat(20_000).as_bytes(), 20_000);
}

fn read(bencher: Bencher<'_, '_>, bytes: &[u8], expected: usize) {
    bencher.counter(BytesCount::of_slice(bytes)).bench(|| {
        let chunks = stream::iter(bytes.chunks(CHUNK).map(Ok::<_, ()>));
        let count = events(chunks, EVENT_CAP).filter(|event| std::future::ready(event.is_ok()));
        assert_eq!(count.count().now_or_never(), Some(expected));
    });
}
