// docs/PERFORMANCE.md: the figures of one run, and what each of them means.

import { cpus, loadavg, release, type } from "node:os";
import type { Paging } from "./paging.ts";
import { isMet, type Row, table } from "./table.ts";

/** As the benchmark found the machine. Work of others takes its toll of the ratios too, least where turns are long. */
const LOAD_BEFORE = loadavg()[0] ?? Number.NaN;

export function performanceDocument(rows: readonly Row[], paging: Paging): string {
  const missed = rows.filter((row) => !isMet(row));
  return `${[
    "# Performance",
    INTRODUCTION,
    "## The last run",
    machine(),
    table(rows),
    floor(paging),
    missed.length === 0 ? "Every bar is met." : `Missed: ${missed.length} of ${rows.length} bars. ${MISSED}`,
    EXPLANATION,
    PROFILES,
    NOT_YET,
  ].join("\n\n")}\n`;
}

function machine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? "unknown";
  const date = new Date().toISOString().slice(0, 10);
  return [
    `On ${date}, with ${processors.length} processors (${model}), ${type()} ${release()}, Node ${process.versions.node}. Before`,
    `the run the machine's load average was ${LOAD_BEFORE.toFixed(1)}: above 0.5 somebody else was at work, and the figures are worth less.`,
  ].join("\n");
}

function floor({ floor: figures, bytes }: Paging): string {
  const each = figures.map(
    ({ connections, perSecond }) =>
      `${perSecond.toFixed(0)} requests a second over ${connections} ${connections === 1 ? "connection" : "connections"}`,
  );
  return `The floor returned a body of ${bytes} bytes for ${each.join(", ")}.`;
}

const INTRODUCTION = `A server inside an editor must not slow the editor down, and an agent is as fast as its slowest tool. This page says what
the gateway costs. \`npm run bench\` measures all of it anew and writes this page; \`npm run bench -- --quick\` takes about
a minute and only prints the table; \`-- --json FILE\` writes the rows as JSON as well.

Every value is a ratio of two figures of the same run, or a share of a limit, since absolute times say more about a machine
than about a program. What is compared takes turns, round after round, so that whatever else the machine does meets both
sides. A value is the median of at least seven rounds, but for the one about a million calls, which is one long round. A
bar is what we hold ourselves to; \`NO\` in the last column is a bar that is missed.`;

const MISSED = "What profiles show about them is told below.";

const EXPLANATION = `## What the rows mean

### A page of 100 references

An agent that reads a long list asks for it page by page. The full list is held, so a page takes nothing but looking it up.
The row compares how many such pages the gateway answers in a second with what the **floor** answers: the smallest axum
server there can be, in a process of its own, which checks the same bearer token and returns a stored body of as many bytes
for the same request. The gateway is the built addon in a Node process, with the default settings. Both have two threads.
The load generator is a third process, which sends the next request over a connection as soon as the last answer is there.
**p99** is the time that 99 of 100 answers stay below.

That the floor is a fair one has a row of its own: checking the token may cost it no more than a tenth of its throughput.

Between the floor and the gateway lie, for each page: parsing the message and checking the arguments against the tool's
schema; the session's MAC; resolving the real paths of the roots and of the document anew, on a thread that may block,
because a link may have been moved since the last call; and a line in the log, which goes to JavaScript's thread.

### 20,000 references in 2,000 files

A provider's answer crosses from JavaScript to Rust packed into one text and one array of numbers. Packing is the only work
that grows with the answer on the thread that every extension of the window shares. The row compares it with a bare loop
that reads the five fields of each object (the text of the URI, and two lines and two characters) and keeps nothing. The
objects are like VS Code's: getters over private fields, and a URI object for each item, each with a copy of its own of the
text. Handing text and numbers over to Rust, two copies of memory, is not in it.

Rust then unpacks, resolves the real path of each file, leaves out what lies outside the roots, sorts, removes duplicates,
encodes all items as JSON, takes a fingerprint of the set, retains it and writes the first page. The row compares that with
the two things that nobody could leave out: resolving 2,000 real paths and sorting 20,000 plain structs.

Twice the references should take twice the time. The growth rows compare 20,000 references with twenty times the time for
1,000, on either side of the boundary.

### 20,000 workspace symbols, 5,000 files of workspace diagnostics

The largest answers that the contract allows: 20,000 symbols, each with a name of its own; and four diagnostics in each of
5,000 files. The value is the share of the limit of two seconds that a whole call takes, as a client sees it, from the
request to the last byte of the first page. The provider's own time is not in it, since a stand-in answers at once.

### Memory

What the process that holds the addon keeps resident, after collecting what can be collected. Ten answers of 20,000
references with paths of 80 bytes are retained one after the other; the value is how much each adds, on the line that fits
best. The last row compares what is resident after a million calls (nine pages for each hover and each definition, over 16
connections) with what is resident after ten thousand of them: whatever leaks shows here.`;

/** Of the code as it was when the profiles were taken; to be taken anew when a row moves. */
const PROFILES = `## What profiles showed

Taken on the machine that the benchmark was first run on, before anything but the packing was changed.

**A page.** \`perf\` over the Node process while 16 connections page: 92 % of the processor time is spent on the server's own
threads, the rest on JavaScript's. Of the former a third is the kernel's, and the largest part of that is putting threads to
sleep and waking them (the futex calls alone are 12 % of all): each page goes to a thread that may block and back, each call
is a task of its own, and its line in the log wakes JavaScript's thread. Resolving the paths itself is 4 %. Another quarter
is allocating, freeing and copying memory. With the log at \`warn\`, and both gateways taking turns, pages came 1.14 times as
fast over 16 connections and 1.18 times over one. So the hops between threads come first, what is allocated on the way
second, and the log's way to JavaScript third.

**Rust's time for references.** \`perf\` over the engine: resolving the paths 33 %, as much as in the floor; encoding items as
JSON 27 %; turning 2,000 URIs into paths and giving them names 13 %; checking the resolved paths against the roots and turning
them into URIs 12 %; putting the items in order 6 %; the fingerprint 4 %; unpacking 2 %.

**Packing.** \`--cpu-prof\`: looking up the text of each URI 35 %, the ranges 20 %, joining the strings and copying the rows
18 %, the loop around them the rest. Providers return references file by file, so comparing a URI's text with the one before
it has taken the place of most look-ups; that halved the time (7.7 ms to 3.5 ms, where the bare loop takes 1.1 ms).

**A million calls.** After ordinary collections, tens of megabytes more stayed resident while neither JavaScript's heap nor
the native one had grown: V8 keeps pages that it has emptied in a pool. The benchmark therefore collects as V8 does when
memory is scarce, which empties the pool. What is left comes from calls that ask the editor, and levels off: pages alone
stay within 1.2 % from 10,000 calls to 300,000; hovers and definitions alone rise by 19 % up to 200,000 calls and then no
further (106.6, 123.1, 126.5 and 126.3 MB after 10,000, 100,000, 200,000 and 300,000). With \`MALLOC_ARENA_MAX=1\`, hovers
alone rise by 10 % up to 100,000 calls and by 0.2 % in 300,000 more. So nothing was seen to leak; 10,000 calls are too few
to have reached what the process settles at.`;

const NOT_YET = `## Not measured yet

Two figures need a real VS Code and are not part of this command yet: how much longer the extension host's event loop is
delayed while 16 clients page at full speed, and how much longer a definition or a hover takes than the same command called
inside the extension host. What our extension costs when a window opens is measured by \`npm run bench:start\`.`;
