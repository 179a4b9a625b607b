import assert from "node:assert/strict";
import { test } from "node:test";
import { type Framing, JsonRpcProcess, RpcError } from "../../harness/clients/json-rpc-process.ts";

/** Answers each request with its params, cut after every byte, behind a request and a notification of its own. */
const ECHO = `
const framed = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return FRAMING === "lines"
    ? Buffer.concat([body, Buffer.from("\\n")])
    : Buffer.concat([Buffer.from("Content-Type: x\\r\\ncontent-length: " + body.length + "\\r\\n\\r\\n"), body]);
};
let queue = Buffer.alloc(0);
const drip = () => {
  if (queue.length === 0) return;
  process.stdout.write(queue.subarray(0, 1), () => setImmediate(drip));
  queue = queue.subarray(1);
};
const send = (...messages) => {
  const idle = queue.length === 0;
  queue = Buffer.concat([queue, ...messages.map(framed)]);
  if (idle) drip();
};
let unread = Buffer.alloc(0);
let answered;
process.stdin.on("data", (bytes) => {
  unread = Buffer.concat([unread, bytes]);
  for (;;) {
    const text = unread.toString("latin1");
    const head = FRAMING === "lines" ? "" : (/^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text) ?? [])[0];
    const end = FRAMING === "lines" ? text.indexOf("\\n") : head && head.length + Number(/\\d+/.exec(head)[0]);
    if (end === undefined || end === -1 || end > unread.length) return;
    const message = JSON.parse(unread.subarray(head.length, end).toString());
    unread = unread.subarray(FRAMING === "lines" ? end + 1 : end);
    take(message);
  }
});
function take({ id, method, params, result }) {
  if (method === "die") { console.error("out of oil"); process.exit(3); }
  if (method === "fail") send({ id, error: { code: -32801, message: "content modified" } });
  else if (id === "mine") send({ id: answered.id, result: { params: answered.params, told: result } });
  else { answered = { id, params }; send({ method: "noted", params }, { id: "mine", method: "ask", params }); }
}
`;

function echo(framing: Framing): JsonRpcProcess {
  return new JsonRpcProcess({
    program: process.execPath,
    args: ["--eval", `const FRAMING = "${framing}";${ECHO}`],
    framing,
    asked: (method, params) => ({ method, of: params.text }),
  });
}

for (const framing of ["lines", "lengths"] as const) {
  test(`messages are counted in bytes and read however they are cut, by ${framing}`, async () => {
    const program = echo(framing);
    const text = 'Möwe 🐦 "\n"';
    const noted = program.notified("noted", ({ text: heard }) => heard === text);

    const result = await program.request("echo", { text });

    assert.deepEqual(result, { params: { text }, told: { method: "ask", of: text } });
    await noted;
    await program.end();
  });
}

test("an error is the answer to its request, and the next one is answered", async () => {
  const program = echo("lengths");

  await assert.rejects(
    program.request("fail"),
    (error) => error instanceof RpcError && error.code === -32801 && error.message === "content modified",
  );
  assert.deepEqual(await program.request("echo", { text: "a" }), {
    params: { text: "a" },
    told: { method: "ask", of: "a" },
  });
  await program.end();
});

test("what waits for a program that ends is told so with its last words, and so is what comes after", async () => {
  const program = echo("lines");
  const noted = program.notified("noted", () => true);

  await assert.rejects(program.request("die"), /has ended \(3\)\. out of oil/);
  await assert.rejects(noted, /has ended \(3\)/);
  await assert.rejects(program.request("echo", {}), /has ended \(3\)/);
  await program.end();
});

test("a program that is not there, or prints something else, is told", async () => {
  const missing = new JsonRpcProcess({ program: "/no/such/program", args: [], framing: "lines" });
  await assert.rejects(missing.request("echo"), /cannot be started/);

  const chatty = new JsonRpcProcess({
    program: process.execPath,
    args: ["--eval", 'console.log("ready!"); process.stdin.resume()'],
    framing: "lines",
  });
  await assert.rejects(chatty.request("echo"), /does not speak JSON-RPC/);
  await Promise.all([missing.end(), chatty.end()]);
  await assert.rejects(chatty.request("echo"), /does not speak JSON-RPC/, "the first reason stands");
});
