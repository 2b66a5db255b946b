//! Fetches a release tarball from python.org.
use crate::ui::Step;
use anyhow::{Context, Result, ensure};
use slotgen::source::Pin;
use std::io::Read;
use std::time::Duration;

/// No release tarball comes near this.
const LARGEST: u64 = 256 << 20;

/// The tarball's bytes.
pub fn fetch(pin: &Pin) -> Result<Vec<u8>> {
    let url = pin.url();
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_resolve(Some(Duration::from_secs(10)))
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_global(Some(Duration::from_secs(600)))
        .build()
        .into();
    let mut response = agent.get(&url).call().with_context(|| url.clone())?;
    let length = response.body().content_length();
    let step = Step::bytes(format!("Downloading {}", pin.archive), length);
    let mut bytes = Vec::new();
    let mut reader = response.body_mut().as_reader().take(LARGEST);
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = reader.read(&mut chunk).with_context(|| format!("{url} broke off"))?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&chunk[..read]);
        step.advance(read as u64);
    }
    ensure!(length.is_none_or(|length| length == bytes.len() as u64), "{url} broke off after {} bytes", bytes.len());
    step.done("");
    Ok(bytes)
}
