//! The thread that writes.

use std::task::{Context, Waker};

use super::*;

/// A recorder of a new session, its id, and where its errors arrive.
fn start(store: Store) -> (Recorder, String, UnboundedReceiver<SavingError>) {
    let (faults, errors) = unbounded_channel();
    let redactor = Arc::new(Redactor::new([("", ""); 0], [0; 16]));
    let header = SessionHeader::new("/work", None);
    let id = header.id.clone();
    (Recorder::start(store, header, redactor, faults), id, errors)
}

#[tokio::test]
async fn an_appended_event_is_visible_to_another_reader_at_once() {
    let fixture = StoreFixture::new();
    let (recorder, id, _faults) = start(fixture.store());
    recorder.append(&started(1, "hello")).await;
    assert_eq!(recorder.try_send(delta("text that grows")), None);
    recorder.append(&Event::ReplyStarted).await;
    let disk = Database::open(&fixture.store()).unwrap().0;
    let known = disk.find(&id).unwrap();
    let kept = events(&disk.event_page(known.key, None, 99).unwrap());
    assert_eq!(kept, [started(1, "hello"), delta("text that grows"), Event::ReplyStarted]);
    recorder.close().await;
}

#[tokio::test]
async fn an_early_start_event_is_written_once_and_before_it_is_awaited() {
    let fixture = StoreFixture::new();
    let (recorder, id, _faults) = start(fixture.store());
    let kept = || {
        let disk = Database::open(&fixture.store()).unwrap().0;
        let known = disk.find(&id).unwrap();
        events(&disk.event_page(known.key, None, 99).unwrap())
    };
    recorder.prepare(Some(started(1, "hello")));
    // Only to know that it was done.
    recorder.call(|_| ()).await.unwrap();
    assert_eq!(kept(), [started(1, "hello")]);
    recorder.append(&started(1, "hello")).await;
    assert_eq!(kept(), [started(1, "hello")]);
    // What is asked a second time is another question.
    recorder.append(&started(1, "hello")).await;
    recorder.prepare(Some(started(2, "and now?")));
    recorder.append(&started(2, "and now?")).await;
    assert_eq!(kept(), [started(1, "hello"), started(1, "hello"), started(2, "and now?")]);
    recorder.close().await;
}

#[tokio::test]
async fn an_ending_session_waits_for_no_slow_disk_and_still_writes_in_order() {
    let fixture = StoreFixture::new();
    let (recorder, id, _faults) = start(fixture.store());
    let (go_on, slow) = std::sync::mpsc::channel::<()>();
    let busy = recorder.clone();
    tokio::spawn(async move { busy.call(move |_| slow.recv().is_ok()).await });
    tokio::task::yield_now().await;
    let event = started(1, "hello");
    let mut appended = std::pin::pin!(recorder.append(&event));
    let mut context = Context::from_waker(Waker::noop());
    assert!(appended.as_mut().poll(&mut context).is_pending());
    recorder.begin_closing();
    assert!(appended.poll(&mut context).is_ready());
    go_on.send(()).unwrap();
    recorder.call(|_| ()).await.unwrap();
    let disk = Database::open(&fixture.store()).unwrap().0;
    let known = disk.find(&id).unwrap();
    assert_eq!(events(&disk.event_page(known.key, None, 99).unwrap()), [started(1, "hello")]);
}

#[tokio::test]
async fn an_in_memory_store_works_and_saves_nothing() {
    let (recorder, _, _faults) = start(Store::in_memory());
    recorder.append(&started(1, "hello")).await;
    let listed = recorder.call(|writer| writer.list(None, 9)).await.unwrap().unwrap();
    assert_eq!(listed.len(), 1);
}

#[tokio::test]
async fn a_fault_in_one_session_ends_no_other() {
    let fixture = StoreFixture::new();
    let store = fixture.store();
    let (first, _, _faults) = start(store.clone());
    let (second, id, _errors) = start(store.clone());
    second.append(&started(1, "hello")).await;
    let fault: Option<()> = first.call(|_| panic!("on purpose")).await;
    assert_eq!(fault, None);
    second.append(&started(2, "and now?")).await;
    let (third, later, _reports) = start(store.clone());
    third.append(&started(1, "also new")).await;
    assert_eq!((questions(&store, &id), questions(&store, &later)), (2, 1));
}
