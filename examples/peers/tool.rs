//! One tool that is compared: how it is called and what its files say.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

/// A tool.
pub struct Tool {
    pub name: String,
    path: PathBuf,
    hyperfine: bool,
}

/// What one invocation brought, in seconds and bytes.
pub struct Facts {
    pub times: Vec<f64>,
    pub elapsed: f64,
    /// CPU time of the tool without that of the runs.
    pub own_cpu: f64,
    /// From the stamp of the last run to the end; 0 without a stamp.
    pub after: f64,
    pub peak: f64,
    /// Peak memory that the last runs report beyond that of the first.
    pub drift: f64,
}

impl Tool {
    pub fn new(name: &str, path: PathBuf) -> Self {
        let hyperfine = name.starts_with("hyperfine") || name.starts_with("hf");
        Self {
            name: name.into(),
            path,
            hyperfine,
        }
    }

    /// Runs a command so many times.
    pub fn measure(
        &self,
        command: &str,
        runs: usize,
        folder: &Path,
    ) -> Result<Facts, Box<dyn Error>> {
        let export = folder.join("export.json");
        let mut tool = Command::new(&self.path);
        tool.arg(if self.hyperfine { "-N" } else { "--shell=none" })
            .args(["-r", &runs.to_string(), "--style", "none", "--export-json"])
            .args([export.as_os_str(), command.as_ref()])
            .stdout(Stdio::null());
        let (begun, cpu) = (Instant::now(), cpu_of_children()?);
        let mut child = tool.spawn()?;
        let peak = watch(&mut child)?;
        let (elapsed, ended) = (begun.elapsed().as_secs_f64(), clock()?);
        let cpu = cpu_of_children()? - cpu;
        let document: Value = serde_json::from_slice(&std::fs::read(export)?)?;
        let result = &document["results"][0];
        let of = |key: &str| readings(&result["measurements"], key);
        let of_runs: f64 = ["user", "system"]
            .iter()
            .map(|key| result[key].as_f64().map(|mean| mean * runs as f64))
            .zip(["time_user", "time_system"])
            .map(|(sum, key)| sum.unwrap_or_else(|| of(key).iter().sum()))
            .sum();
        let mut times = numbers(&result["times"]);
        let mut sizes = numbers(&result["memory_usage_byte"]);
        if times.is_empty() {
            (times, sizes) = (of("time_wall_clock"), of("memory_peak_resident"));
        }
        Ok(Facts {
            times,
            elapsed,
            own_cpu: cpu - of_runs,
            after: stamp(folder).map_or(0.0, |stamp| ended - stamp),
            peak,
            drift: sizes.last().unwrap_or(&0.0) - sizes.first().unwrap_or(&0.0),
        })
    }
}

/// Waits for the end; the peak memory seen until then.
fn watch(child: &mut Child) -> Result<f64, Box<dyn Error>> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0;
    while child.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        peak = number.map_or(peak, |kib| kib * 1024.0);
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(peak)
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_f64).collect()
}

/// One reading of each run, as hyperfine 2 writes them.
fn readings(list: &Value, key: &str) -> Vec<f64> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|run| run[key]["value"].as_f64())
        .collect()
}

fn stamp(folder: &Path) -> Option<f64> {
    let bytes = std::fs::read(folder.join("stamp")).ok()?;
    let number = u64::from_ne_bytes(bytes.try_into().ok()?);
    Some(number as f64 * 1e-9)
}

fn clock() -> nix::Result<f64> {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)?;
    Ok(Duration::from(now).as_secs_f64())
}

fn cpu_of_children() -> nix::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}
