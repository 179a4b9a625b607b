// The short notations of the cases under test/golden, and what they stand for. test/golden/README.md describes them; the
// tests in Rust write them out by code of their own.

type Members = Readonly<Record<string, unknown>>;

/** The value with each notation replaced by what it stands for. */
export function writtenOut(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.flatMap(itemsWrittenOut);
  }
  if (!isObject(value)) {
    return value;
  }
  return isRepeatedText(value) ? textOf(value.text) : withEach(value, (_, member) => writtenOut(member));
}

/** What an item of a list stands for: itself, or the same on so many lines or for so many files. */
export function itemsWrittenOut(item: unknown): unknown[] {
  if (!isObject(item)) {
    return [writtenOut(item)];
  }
  const { onLines, ids, numbered, of, ...rest } = item;
  if (typeof onLines === "number") {
    return Array.from({ length: onLines }, (_, line) => ({
      ...(Array.isArray(ids) ? { id: ids[line] } : {}),
      ...(writtenOut(movedDown(rest, line)) as object),
    }));
  }
  if (typeof numbered === "number") {
    return Array.from({ length: numbered }, (_, number) => writtenOut(withNumber(of, String(number))));
  }
  return [writtenOut(item)];
}

function isRepeatedText(value: Members): value is { text: [string, number][] } {
  return Object.keys(value).length === 1 && Array.isArray(value["text"]);
}

function textOf(parts: [string, number][]): string {
  return parts.map(([text, times]) => text.repeat(times)).join("");
}

function movedDown(value: unknown, lines: number): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => movedDown(item, lines));
  }
  if (!isObject(value)) {
    return value;
  }
  return withEach(value, (name, member) =>
    name === "line" && typeof member === "number" ? member + lines : movedDown(member, lines),
  );
}

function withNumber(value: unknown, number: string): unknown {
  if (typeof value === "string") {
    return value.replaceAll("#", number);
  }
  if (Array.isArray(value)) {
    return value.map((item) => withNumber(item, number));
  }
  return isObject(value) ? withEach(value, (_, member) => withNumber(member, number)) : value;
}

function withEach(object: Members, change: (name: string, member: unknown) => unknown): Members {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, change(name, member)]));
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
