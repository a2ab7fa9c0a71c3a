//! A picture of one or several reports, as an SVG that needs nothing else: bars for what was done in a
//! second, and beside them how long a call took, on a scale on which each step is ten times the one
//! before. Light or dark as the reader's screen is.

use crate::report::{Load, Outcome, Report, grouped, time};
use crate::scenario::Scenario;
use std::fmt::Write;

const WIDTH: f64 = 1040.0;
const MARGIN: f64 = 32.0;
/// Where the bars begin, and the widest one ends.
const BARS: (f64, f64) = (292.0, 560.0);
/// Where the scale of the latencies begins and ends.
const TIMES: (f64, f64) = (720.0, WIDTH - MARGIN);
const TOP: f64 = 132.0;
const LINE: f64 = 22.0;
const GAP: f64 = 14.0;
const BAR_HEIGHT: f64 = 13.0;
/// Colours by report, for light and for dark.
const COLOURS: [(&str, &str); 4] = [
    ("#0f766e", "#2dd4bf"),
    ("#b45309", "#fbbf24"),
    ("#6d28d9", "#a78bfa"),
    ("#be123c", "#fb7185"),
];

/// One line of the picture: a result, and whose it is.
struct Line<'a> {
    report: usize,
    outcome: &'a Outcome,
}

/// The lines of one scenario.
struct Group<'a> {
    title: &'static str,
    lines: Vec<Line<'a>>,
}

/// The picture.
pub fn svg(reports: &[Report]) -> String {
    let groups = groups(reports);
    let all = || groups.iter().flat_map(|group| &group.lines).map(|line| line.outcome);
    let most = all().map(done).fold(1.0, f64::max);
    let scale = Scale::over(all());
    let height = groups.iter().fold(TOP, |y, group| y + group.lines.len() as f64 * LINE + GAP);
    let mut out = String::new();
    open(&mut out, height + 56.0);
    head(&mut out, reports);
    scale.draw(&mut out, TOP - 22.0, height - GAP + 4.0);
    let mut y = TOP;
    for group in &groups {
        text(&mut out, (MARGIN, y + 11.0), "name", group.title);
        for line in &group.lines {
            bar(&mut out, y, line, most, reports.len() > 1);
            scale.latency(&mut out, y, line);
            y += LINE;
        }
        y += GAP;
    }
    foot(&mut out, reports, height + 16.0);
    out.push_str("</svg>\n");
    out
}

/// What was done in a second: messages where they are what is counted, else calls.
fn done(outcome: &Outcome) -> f64 {
    outcome.messages_per_second.unwrap_or(outcome.calls_per_second)
}

/// Scenario by scenario, load by load, report by report.
fn groups(reports: &[Report]) -> Vec<Group<'_>> {
    let mut names: Vec<&str> = vec![];
    for outcome in reports.iter().flat_map(|report| &report.results) {
        if !names.contains(&outcome.scenario.as_str()) {
            names.push(&outcome.scenario);
        }
    }
    let group = |name: &&str| {
        let mut lines = vec![];
        for (report, it) in reports.iter().enumerate() {
            let outcomes = it.results.iter().filter(|outcome| outcome.scenario == **name);
            lines.extend(outcomes.map(|outcome| Line { report, outcome }));
        }
        lines.sort_by(|one, other| order(one).total_cmp(&order(other)));
        Group { title: Scenario::title(name), lines }
    };
    names.iter().map(group).collect()
}

/// Closed loops by their callers, then open ones by their rate; a sort keeps reports in their order.
fn order(line: &Line<'_>) -> f64 {
    match line.outcome.load {
        Load::Callers(callers) => f64::from(callers),
        Load::Rate(rate) => 1e9 + rate,
    }
}

fn open(out: &mut String, height: f64) {
    let of = |dark: bool| -> String {
        let colours = COLOURS.iter().enumerate().map(|(at, (light, night))| {
            let colour = if dark { night } else { light };
            format!(".r{at} {{ fill: {colour}; stroke: {colour}; }}")
        });
        colours.collect::<Vec<_>>().join(" ")
    };
    push(
        out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         width=\"{WIDTH}\" height=\"{height:.0}\" role=\"img\" \
         aria-label=\"throughput and latency by scenario\">\n\
         <style>\n\
         svg {{ font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }}\n\
         .page {{ fill: #ffffff; }} text {{ fill: #1f2937; }} .quiet {{ fill: #6b7280; }}\n\
         .title {{ font-size: 20px; font-weight: 650; }} .name {{ font-weight: 600; }}\n\
         .small {{ font-size: 11px; }} .grid {{ stroke: #e5e7eb; }} {}\n\
         .bar, .dot {{ stroke: none; }} .spread {{ stroke-width: 5; stroke-linecap: round; opacity: .55; }}\n\
         .tail {{ stroke-width: 1.5; opacity: .55; }} .key {{ stroke: none; }}\n\
         @media (prefers-color-scheme: dark) {{\n\
         .page {{ fill: #111827; }} text {{ fill: #e5e7eb; }} .quiet {{ fill: #9ca3af; }}\n\
         .grid {{ stroke: #374151; }} {}\n\
         }}\n\
         </style>\n\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height:.0}\" rx=\"10\"/>\n",
            of(false),
            of(true)
        ),
    );
}

fn head(out: &mut String, reports: &[Report]) {
    text(out, (MARGIN, 46.0), "title", "Durable calls");
    let mut x = MARGIN;
    for (at, report) in reports.iter().enumerate() {
        let colour = at % COLOURS.len();
        push(
            out,
            format_args!(
                "<rect class=\"key r{colour}\" x=\"{x:.1}\" y=\"62\" width=\"12\" height=\"12\" rx=\"3\"/>\n"
            ),
        );
        text(out, (x + 18.0, 73.0), "", &report.label);
        // About as wide as letters of this size are.
        x += 46.0 + 7.2 * report.label.chars().count() as f64;
    }
    text(out, (BARS.0, TOP - 28.0), "small quiet", "done in a second");
    text(out, (TIMES.0, TOP - 44.0), "small quiet", "latency: dot p50, band to p99, line to p99.9");
}

fn bar(out: &mut String, y: f64, line: &Line<'_>, most: f64, several: bool) {
    let Line { report, outcome } = line;
    let width = ((BARS.1 - BARS.0) * done(outcome) / most).max(2.0);
    let colour = report % COLOURS.len();
    // The load is said once, where several reports have it.
    if !several || *report == 0 {
        end_text(out, (BARS.0 - 10.0, y + 11.0), "small quiet", &outcome.load.name());
    }
    push(
        out,
        format_args!(
            "<rect class=\"bar r{colour}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\" rx=\"3\"/>\n",
            BARS.0
        ),
    );
    text(out, (BARS.0 + width + 8.0, y + 11.0), "small", &outcome.headline());
}

/// A scale of powers of ten, in microseconds.
struct Scale {
    from: i32,
    to: i32,
}

impl Scale {
    fn over<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> Scale {
        let answered = outcomes.clone().filter(|it| it.calls > 0);
        let least = answered.map(|it| it.latency_us.p50).fold(f64::MAX, f64::min);
        let most = outcomes.map(|it| it.latency_us.p999).fold(1.0, f64::max);
        let from = least.clamp(1.0, most).log10().floor() as i32;
        Scale { from, to: (most.log10().ceil() as i32).max(from + 1) }
    }

    fn x(&self, us: f64) -> f64 {
        let whole = f64::from(self.to - self.from);
        let at = (us.max(1.0).log10() - f64::from(self.from)) / whole;
        TIMES.0 + at.clamp(0.0, 1.0) * (TIMES.1 - TIMES.0)
    }

    fn draw(&self, out: &mut String, top: f64, bottom: f64) {
        for power in self.from..=self.to {
            let us = 10f64.powi(power);
            let x = self.x(us);
            push(
                out,
                format_args!(
                    "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>\n"
                ),
            );
            let name = match power {
                ..3 => format!("{us:.0} us"),
                3..6 => format!("{:.0} ms", us / 1e3),
                _ => format!("{:.0} s", us / 1e6),
            };
            middle_text(out, (x, top - 5.0), "small quiet", &name);
        }
    }

    fn latency(&self, out: &mut String, y: f64, line: &Line<'_>) {
        if line.outcome.calls == 0 {
            return;
        }
        let it = line.outcome.latency_us;
        let colour = line.report % COLOURS.len();
        let (y, [p50, p99, p999]) = (y + 6.5, [it.p50, it.p99, it.p999].map(|us| self.x(us)));
        push(
            out,
            format_args!(
                "<g><title>p50 {}, p90 {}, p99 {}, p99.9 {}, at most {}</title>\
             <line class=\"tail r{colour}\" x1=\"{p50:.1}\" y1=\"{y:.1}\" x2=\"{p999:.1}\" y2=\"{y:.1}\"/>\
             <line class=\"spread r{colour}\" x1=\"{p50:.1}\" y1=\"{y:.1}\" x2=\"{p99:.1}\" y2=\"{y:.1}\"/>\
             <circle class=\"dot r{colour}\" cx=\"{p50:.1}\" cy=\"{y:.1}\" r=\"5\"/></g>\n",
                time(it.p50),
                time(it.p90),
                time(it.p99),
                time(it.p999),
                time(it.max)
            ),
        );
    }
}

fn foot(out: &mut String, reports: &[Report], y: f64) {
    let Some(first) = reports.first() else {
        return;
    };
    let machine = &first.machine;
    let mut said = format!(
        "{} cores, {}, Linux {}; {} s for each",
        machine.cores,
        machine.cpu,
        machine.kernel,
        grouped(first.measured_seconds)
    );
    for report in reports {
        if let Some(rss) = report.rss_peak_bytes {
            let mib = rss as f64 / f64::from(1 << 20);
            // Writing to a text cannot fail.
            let _ = write!(said, "; {}: {mib:.0} MiB at most", report.label);
        }
    }
    text(out, (MARGIN, y), "small quiet", &said);
}

fn text(out: &mut String, at: (f64, f64), class: &str, said: &str) {
    anchored(out, at, class, "start", said);
}

fn end_text(out: &mut String, at: (f64, f64), class: &str, said: &str) {
    anchored(out, at, class, "end", said);
}

fn middle_text(out: &mut String, at: (f64, f64), class: &str, said: &str) {
    anchored(out, at, class, "middle", said);
}

fn anchored(out: &mut String, (x, y): (f64, f64), class: &str, anchor: &str, said: &str) {
    let said = said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    push(
        out,
        format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{said}</text>\n"
        ),
    );
}

fn push(out: &mut String, said: std::fmt::Arguments<'_>) {
    out.write_fmt(said).expect("a text can be written to");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Latency, Machine};

    fn report(label: &str, speed: f64) -> Report {
        let outcome = |scenario: &str, load: Load, calls_per_second: f64| Outcome {
            scenario: scenario.to_owned(),
            load,
            calls: 1000,
            failed: 0,
            calls_per_second,
            latency_us: Latency {
                p50: 1e6 / calls_per_second,
                p90: 2e6 / calls_per_second,
                p99: 4e6 / calls_per_second,
                p999: 9e6 / calls_per_second,
                max: 9.5e6 / calls_per_second,
            },
            server_cpu_us: Some(100.0),
            service_cpu_us: None,
            mib_per_second: (scenario == "large").then_some(150.0),
            messages_per_second: None,
        };
        Report {
            label: label.to_owned(),
            at: 0,
            machine: Machine { cores: 2, cpu: "one <of> them & more".into(), kernel: "6.1".into() },
            measured_seconds: 5.0,
            results: vec![
                outcome("echo", Load::Callers(32), 8000.0 * speed),
                outcome("echo", Load::Callers(1), 1000.0 * speed),
                outcome("large", Load::Callers(4), 80.0 * speed),
                outcome("echo", Load::Rate(4000.0), 4000.0),
            ],
            rss_peak_bytes: Some(60 << 20),
            threads: Some(7),
            disk_bytes: None,
        }
    }

    /// The names of elements that were opened and not closed, and how many there were.
    fn unclosed(svg: &str) -> (Vec<String>, usize) {
        let (mut open, mut count) = (vec![], 0);
        for tag in svg.split('<').skip(1) {
            let inside = tag.split('>').next().unwrap();
            let name = inside.split([' ', '/']).find(|word| !word.is_empty()).unwrap();
            if inside.starts_with('/') {
                assert_eq!(open.pop().as_deref(), Some(name), "near {inside}");
            } else if !inside.ends_with('/') {
                open.push(name.to_owned());
            }
            count += 1;
        }
        (open, count)
    }

    #[test]
    fn a_picture_holds_all_results() {
        let reports = [report("ours", 1.0), report("theirs & others", 0.25)];
        let svg = svg(&reports);
        let (open, elements) = unclosed(&svg);
        assert!(open.is_empty() && elements > 60, "{open:?} {elements}");
        assert_eq!(svg.matches("class=\"bar ").count(), 8);
        assert_eq!(svg.matches("<circle").count(), 8);
        for said in
            ["8,000/s", "2,000/s", "150 MiB/s", "4,000/s due", "theirs &amp; others", "dark"]
        {
            assert!(svg.contains(said), "{said}");
        }
        assert!(svg.contains("one &lt;of&gt; them"), "what is said is escaped");
    }

    #[test]
    fn nothing_lies_outside_of_the_picture() {
        let svg = svg(&[report("ours", 1.0)]);
        let numbers = |name: &str| -> Vec<f64> {
            let attribute = format!(" {name}=\"");
            let parts = svg.split(&attribute).skip(1);
            parts.filter_map(|part| part.split('"').next()?.parse().ok()).collect()
        };
        for name in ["x", "x1", "x2", "cx"] {
            let found = numbers(name);
            assert!(!found.is_empty());
            assert!(found.iter().all(|x| (0.0..=WIDTH).contains(x)), "{name}: {found:?}");
        }
    }
}
