// References through the gateway beside those of the language server asked directly.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { GatewayClient, Location } from "../../harness/clients/gateway-client.ts";
import type { LanguageServer } from "../../harness/languages/language-server.ts";
import { describePlace, type Place } from "../../harness/languages/sample.ts";

/**
 * With declarations the gateway has to give what the server gives, and without them that minus what the server calls a
 * definition or a declaration there (D9). How far the server's own way of leaving them out is from that is reported.
 */
export async function compareReferences(
  t: TestContext,
  client: GatewayClient,
  server: LanguageServer,
  places: readonly Place[],
): Promise<void> {
  const seen = { empty: 0, full: 0, references: 0, leftOut: 0 };
  const own = { places: 0, missing: 0, added: 0 };
  for (const place of places) {
    const { uri, position } = place;
    const all = await server.references(uri, position);
    assert.deepEqual(await client.references(uri, position), all, describePlace(place));
    const declared = texts(await server.declared(uri, position));
    const expected = all.filter((item) => !declared.has(JSON.stringify(item)));
    assert.deepEqual(
      await client.references(uri, position, false),
      expected,
      `without declarations: ${describePlace(place)}`,
    );
    seen[all.length === 0 ? "empty" : "full"] += 1;
    seen.references += all.length;
    seen.leftOut += all.length - expected.length;

    const [ours, theirs] = [texts(expected), texts(await server.references(uri, position, false))];
    const missing = [...ours].filter((item) => !theirs.has(item)).length;
    const added = [...theirs].filter((item) => !ours.has(item)).length;
    own.places += missing + added > 0 ? 1 : 0;
    own.missing += missing;
    own.added += added;
  }
  t.diagnostic(
    `${places.length} positions, ${seen.empty} of them without references; ${seen.references} references, ${seen.leftOut} of them definitions or declarations`,
  );
  t.diagnostic(
    `the server's own includeDeclaration: false gives another set at ${own.places} positions: ${own.missing} references fewer, ${own.added} more`,
  );
  assert.ok(seen.full > seen.empty, `Most of the positions mean something: ${JSON.stringify(seen)}`);
  assert.ok(seen.leftOut > 0, "There is something to leave out.");
}

function texts(locations: readonly Location[]): Set<string> {
  return new Set(locations.map((location) => JSON.stringify(location)));
}
