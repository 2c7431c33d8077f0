//! Speaks HTTP: builds clients, sends single requests whose answers are read whole, and opens
//! WebSockets.
//!
//! Model servers stream their answers; `model` does that with a client from here.

mod client;
mod form;
mod guarded;
mod http;
mod page;
mod websocket;

pub use client::{build_client, is_loopback, proxy_of, retry_after};
pub use form::{MultipartField, form};
pub use guarded::build_guarded_client;
pub use http::{HttpBody, HttpClient, HttpError, HttpRequest, HttpResponse};
pub use page::send_once;
pub use websocket::{SocketEvent, WebSocket};
