// The list of calls. Only the rows in sight exist, and they are filled again as calls come in.

import { ANSWERED, type Call } from "./activity.ts";
import { element, foreign, setAttribute, setHidden, setText } from "./dom.ts";
import type { Root } from "./messages.ts";
import { about, clientName, duration, result, shortTool, spokenCall, timeOfDay } from "./wording.ts";

/** From this width on a call stands on one line. */
const ONE_LINE = 700;
/** How long the list keeps still after the pointer has moved over it. */
const POINTED_MILLIS = 4_000;

interface Row {
  readonly root: HTMLElement;
  readonly mark: HTMLElement;
  readonly tool: HTMLElement;
  readonly name: HTMLElement;
  readonly folder: HTMLElement;
  readonly duration: HTMLElement;
  readonly time: HTMLElement;
  readonly client: HTMLElement;
  readonly result: HTMLElement;
}

export interface Parts {
  /** The call was clicked, or Enter was pressed on it. */
  open(call: Call): void;
  /** So many calls are not shown yet, as somebody is at the list. */
  held(count: number): void;
}

export class CallList {
  /** A list box, as screen readers say each of its options as a whole when the arrow keys move to it. */
  readonly root = element("div", "calls");
  readonly #parts: Parts;
  readonly #sizer = element("div", "sizer");
  readonly #rows: Row[] = [];
  #roots: readonly Root[] = [];
  #calls: readonly Call[] = [];
  #shown: readonly Call[] = [];
  /** The number of the call that the keyboard is at. */
  #active: number | undefined;
  #pointedAt = Number.NEGATIVE_INFINITY;
  /** 0 while the list is not laid out. */
  #rowHeight = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.root.append(this.#sizer);
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "listbox");
    this.root.setAttribute("aria-label", "Calls, the latest first");
    this.root.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.root.addEventListener("focus", () => this.#draw());
    this.root.addEventListener("blur", () => this.#draw());
    this.root.addEventListener("pointermove", (event) => {
      this.#pointedAt = event.timeStamp;
    });
    this.root.addEventListener("pointerleave", () => {
      this.#pointedAt = Number.NEGATIVE_INFINITY;
    });
    this.#sizer.addEventListener("click", (event) => this.#click(event));
    new ResizeObserver(() => this.#measure()).observe(this.root);
  }

  /** Shows these calls, newest first, unless somebody is at the list, under whose hand nothing may move away. */
  show(calls: readonly Call[], roots: readonly Root[]): void {
    this.#calls = calls;
    this.#roots = roots;
    const isCleared = calls.length === 0 || (calls[0]?.number ?? 0) < (this.#shown[0]?.number ?? 0);
    if (isCleared || !this.#isHeld()) {
      this.catchUp();
    } else {
      const last = this.#shown[0]?.number ?? 0;
      this.#parts.held(calls.filter(({ number }) => number > last).length);
      this.#draw();
    }
  }

  /** Shows what there is, whoever is at the list. */
  catchUp(): void {
    this.root.scrollTop = 0;
    this.#shown = this.#calls;
    if (!this.#shown.some(({ number }) => number === this.#active)) {
      this.#active = undefined;
    }
    this.#parts.held(0);
    this.#draw();
  }

  #isHeld(): boolean {
    const isAtKeyboard = document.hasFocus() && document.activeElement === this.root && this.#active !== undefined;
    return isAtKeyboard || performance.now() - this.#pointedAt < POINTED_MILLIS || this.root.scrollTop > 0;
  }

  #measure(): void {
    this.root.classList.toggle("one-line", this.root.clientWidth >= ONE_LINE);
    const row = this.#rows[0] ?? this.#addRow();
    setHidden(row.root, false);
    this.#rowHeight = row.root.offsetHeight;
    // With another height of its rows the list may end before where it is scrolled to.
    this.#stretch();
    this.#draw();
  }

  #draw(): void {
    if (this.#rowHeight === 0) {
      // Once it has a size, it is measured and drawn before anybody sees it.
      return;
    }
    // Read before anything is written, after which the page would have to be laid out to know.
    const { scrollTop, clientHeight } = this.root;
    const first = Math.max(0, Math.floor(scrollTop / this.#rowHeight));
    const inSight = this.#shown.slice(first, first + Math.ceil(clientHeight / this.#rowHeight) + 1);
    this.#stretch();
    while (this.#rows.length < inSight.length) {
      this.#addRow();
    }
    for (const [at, row] of this.#rows.entries()) {
      const call = inSight[at];
      setHidden(row.root, call === undefined);
      if (call !== undefined) {
        this.#write(row, call, first + at);
      }
    }
    const active = this.#rows.findIndex((_, at) => inSight[at]?.number === this.#active);
    if (active < 0) {
      this.root.removeAttribute("aria-activedescendant");
    } else {
      setAttribute(this.root, "aria-activedescendant", `row-${active}`);
    }
  }

  #stretch(): void {
    this.#sizer.style.height = `${this.#shown.length * this.#rowHeight}px`;
  }

  #write(row: Row, call: Call, at: number): void {
    const isActive = call.number === this.#active;
    const top = `translateY(${at * this.#rowHeight}px)`;
    if (row.root.style.transform !== top) {
      row.root.style.transform = top;
    }
    row.root.classList.toggle("active", isActive);
    row.root.classList.toggle("open", call.open);
    setAttribute(row.root, "aria-selected", String(isActive));
    const key = `${call.number} ${call.at} ${at} ${this.#shown.length} ${this.#roots.length}`;
    if (row.root.dataset["call"] === key) {
      return;
    }
    row.root.dataset["call"] = key;
    const isAnswered = call.outcome === ANSWERED;
    const { name, folder } = about(call, this.#roots);
    const spoken = spokenCall(call, this.#roots);
    row.root.classList.toggle("failed", !isAnswered);
    setText(row.mark, isAnswered ? "✓" : "✕");
    setText(row.tool, shortTool(call.tool));
    setText(row.name, name);
    setText(row.folder, folder);
    setText(row.duration, duration(call.micros));
    setText(row.time, timeOfDay(call.at));
    setText(row.client, clientName(call.client));
    setText(row.result, result(call));
    setAttribute(row.root, "aria-label", call.open ? `${spoken}. Enter opens it.` : spoken);
    setAttribute(row.root, "aria-setsize", String(this.#shown.length));
    setAttribute(row.root, "aria-posinset", String(at + 1));
    setAttribute(row.root, "title", spoken);
  }

  #addRow(): Row {
    const row: Row = {
      root: element("div", "call"),
      mark: element("span", "mark"),
      tool: element("span", "tool"),
      name: foreign("name"),
      folder: foreign("folder"),
      duration: element("span", "duration"),
      time: element("span", "time"),
      client: foreign("client"),
      result: element("span", "result"),
    };
    const { root, mark, tool, name, folder, duration: took, time, client, result: outcome } = row;
    root.id = `row-${this.#rows.length}`;
    root.setAttribute("role", "option");
    const place = element("span", "place", name, folder);
    root.append(mark, tool, place, took, element("span", "more", time, client, outcome));
    this.#rows.push(row);
    this.#sizer.append(root);
    return row;
  }

  #click(event: MouseEvent): void {
    const at = this.#rows.findIndex(({ root }) => event.target instanceof Node && root.contains(event.target));
    const first = Math.floor(this.root.scrollTop / this.#rowHeight);
    const call = at < 0 ? undefined : this.#shown[first + at];
    if (call !== undefined) {
      this.#active = call.number;
      this.#draw();
      this.#open(call);
    }
  }

  #open(call: Call): void {
    if (call.open) {
      this.#parts.open(call);
    }
  }

  #key(event: KeyboardEvent): void {
    const at = this.#shown.findIndex(({ number }) => number === this.#active);
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.#rowHeight) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(0, at - 1),
      PageDown: at + page,
      PageUp: Math.max(0, at - page),
      Home: 0,
      End: this.#shown.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.#moveTo(Math.min(to, this.#shown.length - 1));
    } else if (event.key === "Escape") {
      this.#active = undefined;
      this.catchUp();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const call = this.#shown[at];
      if (call !== undefined) {
        this.#open(call);
      }
    }
  }

  #moveTo(at: number): void {
    const call = this.#shown[at];
    if (call === undefined) {
      return;
    }
    this.#active = call.number;
    const top = at * this.#rowHeight;
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop) {
      this.root.scrollTop = top;
    } else if (top + this.#rowHeight > scrollTop + clientHeight) {
      this.root.scrollTop = top + this.#rowHeight - clientHeight;
    }
    this.#draw();
  }
}
