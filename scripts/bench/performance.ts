// docs/PERFORMANCE.md: the figures of one run, and what each of them means.

import { cpus, loadavg, release, type } from "node:os";
import { isMet, type Row, table } from "../../harness/results/table.ts";
import type { Paging } from "./paging.ts";

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
sides. A value is the median of at least seven rounds. A bar is what we hold ourselves to; \`NO\` in the last column is a bar that is missed.`;

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

Between the floor and the gateway lie, for each page: reading the message and its arguments as strictly as the tool's schema
does; the session's MAC; the keys that bind a cursor to its request and to the state of the workspace; looking on the disk
whether the document and the roots are still what they were, because a link may have been moved since the last call; and
the line in the log. A request that is answered at once never leaves the thread that read it.

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

### A real VS Code

The benchmark packs the extension, starts a real VS Code with it on a generated TypeScript project, and puts the same load
on its gateway. While 16 clients page at full speed, the extension host's own histogram tells how late its event loop is,
which is how long every other extension of the window has to wait. The row takes off what the same host shows while the
same clients load the floor, in another process: what a busy machine does to anybody.

The other rows compare a definition and a hover over HTTP with VS Code's command for the same place, called inside the
extension host. Between the two lie HTTP, the way to JavaScript's thread and back, asking the language server whether it has
loaded the project, and looking whether the file has been written meanwhile. \`--quick\` leaves these rows out.

What our extension costs when a window opens is measured by \`npm run bench:start\`, as the median of ten starts. The bars are
50 ms for activating it, and 300 ms from there to the port that listens. How much later than the language server itself the
gateway has a whole answer is measured by \`npm run bench:readiness\`: the bar is 2 s, and no answer before may be a part that
does not say so.

What \`mcp-lsp-gateway\` costs beside a language server that is asked alone is measured by \`npm run bench:headless\`: how much
later the first whole answer comes on a fresh copy of a real project, how much longer a definition takes, and how much longer
each tool in few tokens than the same questions to the server (the bar is 1.15 times and 1 ms), for TypeScript 7, pyright,
clangd, rust-analyzer and gopls. A part that does not say so fails it.

What answers cost their reader is measured by \`npm run bench:tokens\` (Debian), in tokens of \`o200k_base\`: on 2026-11-23 all
418 uses of rxjs' class \`Observable\` were 19,073 tokens by \`vscode.lsp.references\` and 2,797 by \`vscode.lsp.usages\`, 8,651
with their lines and 1,208 as counts; the 12,154 uses of \`SyntaxKind\` in TypeScript's compiler 2,389 as counts; any symbol of its
largest file one call of 403 at most; and the eight tools themselves 1,597.

What the activity view costs with 100 calls a second is measured by \`npm run bench:view\` (Linux): the processor's time
of the extension host and of the browser while the view was never opened, while it is shown and while it is hidden. The bar
is 1 % of a core for showing it, and nothing that can be measured for having it hidden. A look at what is new takes
about 20 ms of processor time in the browser, which draws without a graphics card here, and comes every 5 s under that load. In
the last run of it (4 rounds of 30 s, in turn): never opened 4.73 % of a core, hidden 4.83, which is within what single values
differ by, and shown 0.43 above hidden (0.70, -0.02, 0.70 and 0.17).

### Memory

What the process that holds the addon keeps resident, after collecting what can be collected. Ten answers of 20,000
references with paths of 80 bytes are retained one after the other; the value is how much each adds, on the line that fits
best. The last row compares what is resident after a million calls (nine pages for each hover and each definition, over 16
connections) with what is resident after ten thousand of them: whatever leaks shows here.`;

/** Of the code as it was when the profiles were taken; to be taken anew when a row moves. */
const PROFILES = `## What profiles showed, and what was changed because of them

**A page: the hops.** At first a page came 0.15 to 0.3 times as fast as from the floor. \`perf\` over the Node process while 16
connections page: each page went to a thread that may block and back, each call was a task of its own, and its line in the
log woke JavaScript's thread, which took 8 % of the processor time. A third of the rest was the kernel's, mostly putting
threads to sleep and waking them, and a quarter went into allocating and copying. So now:

- The log is handed over ten times a second, in batches of at most 256 lines; what is beyond is counted and not even
  formatted. JavaScript's share fell from 8 % to 0.3 %.
- The kernel is asked for the document's path in a way in which it promises not to wait for a disk (\`openat2\` with
  \`RESOLVE_CACHED\` and \`RESOLVE_NO_SYMLINKS\`; Linux only). If it knows the whole path, and no part of it is a link, the
  path is its own real path, and vouches for the root above it. Otherwise the call takes the thread that may block, as
  every call did. A full resolution of a path of 80 bytes took 6.6 microseconds, this look 3.3.
- A message as nearly all clients write it is read into its fields, without a tree of values and without the general
  validator; a property test holds that nothing is read differently. What is out of the ordinary goes the long way.
- The items of a page are sent from where the set is held. Before, each page was copied three times, and blocks of that
  size are slow to allocate: copying and allocating fell from 7.6 to 3.4 microseconds for each page.
- No router and no middleware stand before the one endpoint.

A second profile showed a flat picture, in which much was done that the request before it had done already, and much that
made connections wait for each other:

- Each connection looked at three tokens of cancellation, at every turn; its place stood in a list behind a lock that each
  request took twice; and each line of the log asked two more locks whether it was wanted. What changes with each request
  is now in atomics of the connection's own, and a connection is told to end through a channel of its own.
- The MAC of the session's id was computed for each request. A connection remembers the id that it has named last, and that
  it was genuine; whether the session has ended meanwhile is still looked at, by the number of those that have.
- Both keys of a cursor were hashed anew: nine blocks of SHA-256 and the text to be hashed. A set that is held now comes with
  what its keys are made of, and that is compared. The state is looked at after the disk, as before.
- The Accept header was taken apart although nearly every client writes it in one of two ways, and so was the path, of which
  the set knows already how it is written.

On a machine busy with other work, where old and new took turns, the processor time of a page fell by about a fifth.

**A page: what is left.** \`perf\` over the Node process afterwards: a third of a page's time is the kernel's, nearly all of it
what the floor takes as well (the request read, the answer written, threads put to sleep and woken); its look at the path,
three calls, takes a fifteenth. A tenth goes into allocating, for the headers, the strings of the message and of the
cursor, and the pieces of the answer. The rest is spread over some 240 functions of which none takes more than 3
%: checking the headers 6 %, JSON 7, base64 2, writing what stands around the items 2, the clock 2, and so on.
The load generator takes as much of the same two processors as the floor does, and the floor reads no body, no argument and
no disk. To come nearer to the floor over many connections, something would have to be given up: the look at the disk
with every call, the check of the arguments, or the state that a cursor is bound to. None is worth a few microseconds to an
agent that waits for a model. The row of p99 was 0.96, 1.56, 1.79, 1.46 and 1.84 in five runs, with much the same code.

To leave out the timer that each request's head has was tried: on a busy machine 27.7 microseconds of processor time for a page
instead of 29.8 over one connection, 24.7 instead of 25.6 over 16, and 25.0 instead of 23.1 over 64. That is no gain to be sure
of, so it stays where the HTTP library has it.

An allocator of the addon's own (mimalloc) was tried and left out. It took a tenth off a page's processor time. But it made
the process 20 to 35 MB larger, or no larger only without huge pages; the large sets came from the kernel page by page more
often than before, so that Rust's time grew faster than the references; and it is another library in C to be built for
every platform.

**Rust's time for references.** At first three times the floor. \`perf\` over the engine: resolving the paths 33 %, as much as
in the floor; encoding items as JSON 27 %; turning 2,000 URIs into paths and giving them names 13 %; checking the resolved
paths against the roots and turning them into URIs 12 %; putting the items in order 6 %; the fingerprint 4 %; unpacking 2 %.
So now a folder is resolved once for each call, and a file in it is only looked at for being a link (Linux only; where
spellings can differ, each path is resolved in full); locations are written by hand, all before the first number copied
from what was written for their URI; and a path that is in normal form already is not taken apart.

**Packing.** \`--trace-deopt\`: the function that joins the strings was thrown away and compiled again with every call,
because of iterators in it; a plain loop is not. Of what was left, looking up each of 2,000 URIs in a map was a quarter, and
copying the rows a tenth. URIs come file by file, so they are now compared with the one before only, and the few that come
twice cross twice; when they come in no order, they are looked up. The rows are written to where they cross. The least time
of 40 rounds fell from 1.7 ms to 1.1, where the bare loop takes 0.6.

What lies above the loop was then measured by leaving out one thing at a time, in units of the loop: putting 2,000 URIs
into one text 0.3, comparing each URI with the one before 0.1, storing the numbers 0.1, and looking whether each object and
number is what it should be 0.1 to 0.2. Appending each URI as it comes takes as long as joining the list, once the engine has
copied what it appended into one piece, as crossing makes it. Nothing of this can be left out: the texts have to cross, and
no check can be given up.

Growing from 1,000 references to 20,000, packing costs no more for each. Rust's part did, by 1.25, 1.31 and 1.34 in three runs.
Timed part by part, most of that was in writing the JSON: 1.0 ms for twenty sets of 1,000, and 3.0 to 3.4 for one of 20,000. The
room for it was taken a fifth too large and what was over given back, so that the allocator did not have the right piece when the
next set came, and took new memory from the kernel, which counts 890 page faults a set. Now the digits are counted first and just
the room is taken that is filled: 79 page faults, and 1.0 to 1.6 ms. The first set of a process still pays for its memory. And
where each URI stands in the order was looked up by another search for its text, of which twenty times as many texts take more
than twenty times as long; it is noted now as they are sorted. What is left is in the floor too: the kernel finds 2,000 names
slower than 100, sorting grows by more than the items, and the processor's caches hold a set of 1,000 whole.

**A real VS Code.** At first each question crossed to JavaScript's thread three times: to open the document in step with the
disk, to ask whether its language is ready (D28), and to ask. On the way it took six looks at the file's stamp on the disk, 0.01
to 0.1 ms each, and waited for each; and each crossing left callbacks of native code on a promise. Now:

- A document that is known to be open is not asked for again, and the disk is looked at while the question is under way: what
  was found counts only if the file is the one that the document was last compared with.
- Whether the language is ready comes with the document, and so does the answer to the question, if nothing has changed
  between before and after (D23). So a definition or a hover crosses once.
- The answer comes back by a call, without a promise. With a stand-in for the extension's own code this took a third to half
  off the time of JavaScript's thread for each hover.

On a quiet machine a definition lay 1.24 ms and a hover 1.16 ms above the editor's own command before; afterwards 0.89 and
1.03. On a slow one, where old and new took turns, a definition 2.6 and 2.2 ms before and 1.5 to 2.4 now, a hover 3.3 and 2.4
before and 0.9 to 1.9 now. A trace inside the extension host, before the question went
along, says where 1.6 ms of a definition were: 0.5 in asking the language server whether it has loaded the project, 0.4 in HTTP
and in waking threads, 0.3 in the command itself, which takes longer than when it is called twice in a row, and the rest in two
crossings.

How far a run can be trusted here: on another day, when the machine was so slow that the editor's own hover took 16 to 19 ms,
three runs in a row of the same code gave 2.04, 1.93 and 1.21 ms for a definition, and 1.37, 1.44 and 1.41 for a hover.

To ask both at once would hide the 0.5 ms, and would be wrong now and then: while the project is loading, VS Code's extension puts
questions to a second server that knows single files only, and a load that ends just then would vouch for its answer. Both rows
grow with how slow the machine is, as what they are compared with does: a hover by the editor's own command took 13 to 20 ms then.

The event loop was no later at p99 than beside the floor; by 0.2, 0.7 and 3.9 ms in three runs in which a dozen other processes
shared the two processors, and the rounds differed by more than the bar.

**A million calls.** After ordinary collections, tens of megabytes more stayed resident while neither JavaScript's heap nor
the native one had grown: V8 keeps pages that it has emptied in a pool. The benchmark therefore collects as V8 does when
memory is scarce, which empties the pool. Pages are flat: 105.7, 106.0, 105.9 and 106.1 MB after 10,000, 30,000, 60,000 and
120,000 calls, and the mixture of the row 106.7, 107.0, 107.3 and 107.3 MB. Many hovers or definitions are flat as well, since
an answer comes by a call, and nothing is left behind for V8 to find. When each question had a promise that native code
waited for, small native objects belonged to it until V8 collected them. They lay in the heap that glibc's allocator keeps
for the main thread, which is JavaScript's; how far that heap reached depended on how many there ever were between two
collections, and what lay between them was not given back. In three processes of either kind, which took turns on a busy
machine, 88.4 to 88.7 MB were resident after 1,000 hovers and 90.3 to 91.1 after 100,000; with promises it had been 88.9 to
97.0, and 102.7 to 107.8. The thread that all extensions share worked 25 to 39 microseconds for each hover instead of 52 to
65.

What is left grows by one to two hundredths, and /proc/self/smaps shows where: in the two heaps that glibc's allocator keeps
for the server's two threads, from 1 to 2.4 and from 1.7 to 2.3 MB between 100,000 and 700,000 calls, back and forth and
towards an end. How much lies in them at a time depends on how many requests meet, and ever more of them have met.`;
