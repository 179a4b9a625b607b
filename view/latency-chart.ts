// The chart of latency, with a line of text for the slice that the pointer or the keyboard is at.

import { MAX_SLICES, SLICE_SECONDS, type Slice } from "./activity.ts";
import { chartOf, HEIGHT, sliceAt, WIDTH } from "./chart.ts";
import { element, fill, setAttribute, setText } from "./dom.ts";
import { spokenSlice } from "./wording.ts";

const SVG = "http://www.w3.org/2000/svg";

export class LatencyChart {
  readonly #plot = element("div", "plot");
  readonly #lines = element("div", "lines");
  readonly #reading = element("div", "reading");
  readonly #half = path("half");
  readonly #most = path("most");
  readonly #failed = path("slice-failed");
  readonly root: HTMLElement;
  #slices: readonly Slice[] = [];
  #now = 0;
  /** The part of the width that is pointed at. */
  #pointed: number | undefined;

  constructor() {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    svg.append(this.#most, this.#half, this.#failed);
    this.#plot.append(this.#lines, svg);
    this.#plot.tabIndex = 0;
    this.#plot.setAttribute("role", "slider");
    this.#plot.setAttribute("aria-orientation", "horizontal");
    this.#plot.setAttribute("aria-label", "Latency over the last ten minutes");
    this.#plot.setAttribute("aria-valuemin", String(1 - MAX_SLICES));
    this.#plot.setAttribute("aria-valuemax", "0");
    this.#plot.addEventListener("pointermove", (event) => this.#point(event.offsetX / this.#plot.clientWidth));
    this.#plot.addEventListener("pointerleave", () => this.#point(undefined));
    this.#plot.addEventListener("blur", () => this.#point(undefined));
    this.#plot.addEventListener("keydown", (event) => this.#key(event));
    const axis = element("div", "axis", element("span", "", "10 min ago"), element("span", "", "now"));
    this.root = element("div", "chart", this.#plot, axis, this.#reading);
  }

  show(slices: readonly Slice[], now: number): void {
    this.#slices = slices;
    this.#now = now;
    const chart = chartOf(slices, now);
    setAttribute(this.#half, "d", chart.half);
    setAttribute(this.#most, "d", chart.most);
    setAttribute(this.#failed, "d", chart.failed);
    fill(
      this.#lines,
      chart.lines,
      () => element("span", "line"),
      (line, { micros, height }) => {
        setText(line, micros < 1e6 ? `${micros / 1e3} ms` : `${micros / 1e6} s`);
        const bottom = `${(height * 100).toFixed(2)}%`;
        if (line.style.bottom !== bottom) {
          line.style.bottom = bottom;
        }
      },
    );
    this.#read();
  }

  #point(part: number | undefined): void {
    this.#pointed = part;
    this.#read();
  }

  #key(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) {
      return;
    }
    event.preventDefault();
    // From one slice with calls in it to the next.
    const at = this.#slices.indexOf(this.#slice() as Slice);
    const next = this.#slices[Math.min(Math.max(0, at + step), this.#slices.length - 1)];
    if (next !== undefined) {
      this.#point((next.index - this.#now + MAX_SLICES - 0.5) / MAX_SLICES);
    }
  }

  #slice(): Slice | undefined {
    return sliceAt(this.#slices, this.#now, this.#pointed ?? 1) ?? this.#slices[0];
  }

  #read(): void {
    const slice = this.#slice();
    const text =
      slice === undefined ? "No calls in the last ten minutes." : `${this.#when(slice)}: ${spokenSlice(slice)}`;
    setText(this.#reading, text);
    setAttribute(this.#plot, "aria-valuenow", String((slice?.index ?? this.#now) - this.#now));
    setAttribute(this.#plot, "aria-valuetext", text);
  }

  #when({ index }: Slice): string {
    const seconds = (this.#now - index) * SLICE_SECONDS;
    if (seconds === 0) {
      return "Now";
    }
    return seconds < 60 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
  }
}

function path(className: string): SVGPathElement {
  const made = document.createElementNS(SVG, "path");
  made.setAttribute("class", className);
  return made;
}
