//! Minimal HTTP for the tests: a client that sends a POST, and a server that always sends the same response.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Sends a POST and returns the body of the response.
pub(crate) fn post(url: &str, key: &str, body: &str) -> String {
    let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("an address");
    let mut stream = TcpStream::connect(host).expect("a connection");
    let length = body.len();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("an answer");
    response.split_once("\r\n\r\n").expect("a body").1.to_owned()
}

/// Starts a server that responds to every request with status 201 and this body. Returns the server's URL.
pub(crate) fn start_fixed_response_server(body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let length = body.len();
    let response = format!(
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = Vec::new();
            while !is_complete_request(&request) {
                let mut part = [0; 4096];
                match stream.read(&mut part) {
                    Ok(read @ 1..) => request.extend(part.iter().take(read)),
                    _ => break,
                }
            }
            // Writing fails if the client has closed the connection, which is no error here.
            let _ = stream.write_all(response.as_bytes());
        }
    });
    url
}

fn is_complete_request(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().filter_map(|line| line.split_once(": "));
    let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    body.len() >= length.next().and_then(|(_, length)| length.parse().ok()).unwrap_or(0)
}
