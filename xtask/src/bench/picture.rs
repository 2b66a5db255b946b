//! The picture of `bench --torch`: how many times faster each program is traced, as bars.
use std::fmt::Write;

const LEFT: f64 = 180.0;
const WIDTH: f64 = 520.0;
const ROW: f64 = 30.0;
const TOP: f64 = 52.0;

/// Colours of light and dark pages; the picture itself has no ground.
const STYLE: &str = "text{font:12px sans-serif;fill:#24292f}.grid{stroke:#d0d7de}.plain{fill:#0969da}.fx{fill:#8250df}\
    @media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#30363d}.plain{fill:#58a6ff}.fx{fill:#bc8cff}}";

/// An SVG document of names and factors; bars are on a logarithmic scale from 1 on.
pub fn render(rows: &[(&str, [f64; 2])]) -> String {
    let most = rows.iter().flat_map(|(_, factors)| factors).fold(10.0_f64, |most, factor| most.max(*factor));
    let scale = |factor: f64| WIDTH * factor.max(1.0).ln() / most.ln();
    let height = TOP + ROW * rows.len() as f64 + 10.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" role=\"img\">\n<title>How many times faster than \
         TorchDynamo slotrt traces</title>\n<style>{STYLE}</style>\n",
        LEFT + WIDTH + 60.0
    );
    for (index, (class, text)) in
        [("plain", "times faster than TorchDynamo"), ("fx", "with a GraphModule")].iter().enumerate()
    {
        let x = LEFT + 230.0 * index as f64;
        let _ = writeln!(svg, "<rect class=\"{class}\" x=\"{x}\" y=\"6\" width=\"10\" height=\"10\"/>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"15\">{text}</text>", x + 16.0);
    }
    for mark in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0].into_iter().filter(|mark| *mark <= most) {
        let x = LEFT + scale(mark);
        let _ =
            writeln!(svg, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{height}\"/>", TOP - 8.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{mark}</text>", TOP - 14.0);
    }
    for (index, (name, factors)) in rows.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 8.0, y + 16.0, escaped(name));
        for (bar, (class, factor)) in ["plain", "fx"].iter().zip(factors).enumerate() {
            let (y, width) = (y + 11.0 * bar as f64, scale(*factor));
            let _ =
                writeln!(svg, "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"10\"/>");
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{}\">{factor:.1}</text>", LEFT + width + 5.0, y + 9.0);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
