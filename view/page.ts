// The page of the activity view: shows what the extension tells it, and asks for what the person wants.

import { Activity, ANSWERED, type Client, type Count, unpackNews } from "./activity.ts";
import { CallList } from "./call-list.ts";
import { button, element, fill, foreign, setAttribute, setHidden, setText } from "./dom.ts";
import { LatencyChart } from "./latency-chart.ts";
import type { StatusModel, Tidings, Wish } from "./messages.ts";
import { clientName, counted, shortTool, spokenClient } from "./wording.ts";

/** What VS Code gives to the page of a view. */
declare function acquireVsCodeApi(): { postMessage(message: Wish): void };

/** From this width on the list of calls stands beside the rest. */
const WIDE = 540;

const editor = acquireVsCodeApi();
const activity = new Activity();
let gateway: StatusModel | undefined;

const headline = element("h1", "headline");
headline.setAttribute("role", "status");
const detail = element("p", "detail");
const endpoint = button("", () => editor.postMessage({ kind: "run", action: "copyEndpoint" }), "endpoint");
endpoint.title = "Copy the address";
const roots = element("ul", "roots");
roots.setAttribute("aria-label", "Folders that clients may ask about");
const recover = button("", () => editor.postMessage({ kind: "run", action: "recover" }));
const head = element("header", "head", headline, detail, endpoint, roots, recover);

const clients = element("ul", "table clients");
const chart = new LatencyChart();
const tools = element("ul", "table tools");
const held = button("", () => list.catchUp(), "held");
held.hidden = true;
const list = new CallList({
  open: ({ number }) => editor.postMessage({ kind: "open", call: number }),
  held: (count) => {
    setHidden(held, count === 0);
    setText(held, `${count.toLocaleString("en")} new`);
  },
});
const hint = element("p", "");
const empty = element(
  "div",
  "empty",
  hint,
  button("Connect a Client…", () => editor.postMessage({ kind: "run", action: "connect" })),
);
const clientsPart = part("Clients", clients);
const chartPart = part("Latency", chart.root);
const toolsPart = part("Tools", tools);
const total = element("span", "total");
const calls = element(
  "section",
  "part calls-part",
  element("div", "part-head", element("h2", "", "Calls"), total, held),
  list.root,
);
document.body.append(element("main", "page", head, empty, clientsPart, chartPart, calls, toolsPart));

new ResizeObserver(() => document.body.classList.toggle("wide", document.body.clientWidth >= WIDE)).observe(
  document.body,
);
window.addEventListener("message", ({ data }: MessageEvent<Tidings>) => {
  switch (data.kind) {
    case "gateway":
      gateway = data.gateway;
      showGateway(data.gateway);
      break;
    case "news":
      activity.take(unpackNews(data.json), data.fresh);
      break;
  }
  showActivity();
});
editor.postMessage({ kind: "ready" });

function part(title: string, content: HTMLElement): HTMLDetailsElement {
  const made = element("details", "part", element("summary", "part-head", element("h2", "", title)), content);
  made.open = true;
  return made;
}

function showGateway({
  tone,
  headline: text,
  detail: more,
  endpoint: url,
  roots: folders,
  recoveryAction: title,
}: StatusModel) {
  setText(headline, text);
  setAttribute(head, "data-tone", tone);
  setText(detail, more);
  setHidden(detail, more === "");
  setText(endpoint, url ?? "");
  setHidden(endpoint, url === undefined);
  setText(recover, title ?? "");
  setHidden(recover, title === undefined);
  setHidden(roots, folders.length === 0);
  fill(
    roots,
    folders,
    () => element("li", "", foreign("root")),
    (item, { label, path }) => {
      setText(item.firstElementChild ?? item, label);
      setAttribute(item, "title", path);
    },
  );
}

function showActivity(): void {
  const hasCalls = activity.calls.length > 0;
  const isRunning = gateway?.endpoint !== undefined;
  setHidden(empty, !isRunning || hasCalls);
  const hasClients = activity.clients.length > 0;
  setText(
    hint,
    hasClients
      ? "Nobody has called yet. Ask your agent something about this code."
      : "No client has called yet. Connect your agent, then ask it something about this code.",
  );
  setHidden(clientsPart, !hasClients);
  setHidden(chartPart, !hasCalls);
  setHidden(toolsPart, !hasCalls);
  setHidden(calls, !hasCalls);
  // First, as it reads where it is scrolled to, which would have the page laid out if anything were written before.
  list.show(activity.calls, gateway?.roots ?? []);
  showClients();
  showTools();
  if (hasCalls) {
    chart.show(activity.slices, activity.slice);
  }
}

function showClients(): void {
  fill(
    clients,
    activity.clients,
    () => element("li", "", foreign("client"), element("span", "number"), element("span", "number bad")),
    (item, client: Client) => {
      const [name, number, bad] = item.children as unknown as readonly [Element, Element, Element];
      item.classList.toggle("ended", !client.open);
      setText(name, clientName([client.name, client.version]));
      setText(number, counted(client.calls, "call"));
      setText(bad, client.failed === 0 ? "" : `${client.failed.toLocaleString("en")} failed`);
      setAttribute(item, "title", spokenClient(client));
    },
  );
}

/** A tool and how its calls ended, those that were answered first. */
function showTools(): void {
  const byTool = Map.groupBy(activity.counts, ([tool]: Count) => tool);
  fill(
    tools,
    [...byTool],
    () => element("li", "", element("span", "tool"), element("span", "number"), element("span", "outcomes bad")),
    (item, [tool, counts]) => {
      const [name, number, outcomes] = item.children as unknown as readonly [Element, Element, Element];
      const answered = counts.find(([, outcome]) => outcome === ANSWERED)?.[2] ?? 0;
      setText(name, shortTool(tool));
      setText(number, `${answered.toLocaleString("en")} answered`);
      const failures = counts.filter(([, outcome]) => outcome !== ANSWERED);
      setText(outcomes, failures.map(([, outcome, count]) => `${count.toLocaleString("en")} ${outcome}`).join(" · "));
    },
  );
  const all = activity.counts.reduce((sum, [, , count]) => sum + count, 0);
  setText(
    total,
    all > activity.calls.length ? `last ${activity.calls.length} of ${all.toLocaleString("en")}` : `${all}`,
  );
}
