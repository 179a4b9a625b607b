//! The load: clients that send the same requests over and over, each as soon as its last answer is there.

use std::io::{self, BufRead as _};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::{Failure, runtime};

const OK: &[u8] = b"HTTP/1.1 200 ";

/// One line of standard input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Order {
    port: u16,
    connections: usize,
    /// Whole HTTP requests, sent in turn over every connection. Each is answered by as many bytes every time.
    requests: Vec<String>,
    /// When to stop.
    millis: u64,
    /// After how many requests to stop, if that is earlier.
    most: u64,
}

/// One line of standard output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    count: usize,
    seconds: f64,
    /// Of one answer, in microseconds.
    p50: f64,
    /// Of one answer, in microseconds.
    p99: f64,
}

/// Carries out the orders that come in, one after the other.
pub(crate) fn run() -> Result<(), Failure> {
    let runtime = runtime()?;
    for line in io::stdin().lock().lines() {
        let report = runtime.block_on(load(Arc::new(serde_json::from_str(&line?)?)))?;
        println!("{}", serde_json::to_string(&report)?);
    }
    Ok(())
}

async fn load(order: Arc<Order>) -> Result<Report, Failure> {
    let ready = Arc::new(Barrier::new(order.connections + 1));
    let sent = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    for _ in 0..order.connections {
        clients.spawn(client(Arc::clone(&order), Arc::clone(&ready), Arc::clone(&sent)));
    }
    // A client that fails before it is ready would leave the others waiting for it.
    tokio::select! {
        _ = ready.wait() => {}
        Some(ended) = clients.join_next() => {
            ended??;
        }
    }
    let started = Instant::now();
    let mut latencies = Vec::new();
    while let Some(ended) = clients.join_next().await {
        latencies.extend(ended??);
    }
    let seconds = started.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let at = |hundredths: usize| {
        let index = (latencies.len() * hundredths / 100).min(latencies.len().saturating_sub(1));
        latencies.get(index).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e6)
    };
    Ok(Report { count: latencies.len(), seconds, p50: at(50), p99: at(99) })
}

/// Sends the requests in turn until it is time, and returns how long each answer took.
async fn client(order: Arc<Order>, ready: Arc<Barrier>, sent: Arc<AtomicU64>) -> Result<Vec<Duration>, Failure> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, order.port)).await?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 65_536];
    let mut turns = Vec::new();
    for request in &order.requests {
        stream.write_all(request.as_bytes()).await?;
        turns.push((request.as_bytes(), first_answer(&mut stream).await?));
    }
    ready.wait().await;
    let deadline = Instant::now() + Duration::from_millis(order.millis);
    let mut latencies = Vec::new();
    for &(request, length) in turns.iter().cycle() {
        let begun = Instant::now();
        if begun >= deadline || sent.fetch_add(1, Ordering::Relaxed) >= order.most {
            break;
        }
        stream.write_all(request).await?;
        let mut received = 0;
        while received < length {
            let count = stream.read(&mut buffer).await?;
            if received == 0 && !buffer.starts_with(OK) || count == 0 {
                return Err("a request was refused under load".into());
            }
            received += count;
        }
        if received > length {
            return Err("an answer under load was not the one before it".into());
        }
        latencies.push(begun.elapsed());
    }
    Ok(latencies)
}

/// How many bytes an answer has, which the next ones will have as well.
async fn first_answer(stream: &mut TcpStream) -> Result<usize, Failure> {
    let mut answer = Vec::new();
    loop {
        if stream.read_buf(&mut answer).await? == 0 {
            return Err("the connection was closed".into());
        }
        let text = String::from_utf8_lossy(&answer);
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        if !answer.starts_with(OK) {
            return Err(format!("a request was refused: {head}").into());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).ok_or("no content-length")?;
        let whole = head.len() + 4 + length.parse::<usize>()?;
        if answer.len() >= whole {
            return Ok(whole);
        }
    }
}
