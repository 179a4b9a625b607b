// Elements with plain text in them: nothing here takes markup, so what clients write stays text.

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

/** Text in a direction of its own, that its surroundings do not follow. */
export function foreign(className: string, text = ""): HTMLElement {
  return element("bdi", className, text);
}

export function button(label: string, work: () => void, className = "button"): HTMLButtonElement {
  const made = element("button", className, label);
  made.type = "button";
  made.addEventListener("click", work);
  return made;
}

/**
 * Sets the text of what holds nothing but text, if it differs: even the same text again would have the page laid out anew.
 * A text that is there is changed and not replaced, as another text node would have the style around it computed anew too.
 */
export function setText(node: Element, text: string): void {
  const before = node.firstChild;
  if (before === null) {
    node.append(text);
  } else if (before.nodeValue !== text) {
    before.nodeValue = text;
  }
}

/** Hides it or shows it, if it is not: the same again would have its style computed anew. */
export function setHidden(node: HTMLElement, isHidden: boolean): void {
  if (node.hidden !== isHidden) {
    node.hidden = isHidden;
  }
}

export function setAttribute(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) {
    node.setAttribute(name, value);
  }
}

/** As many children as there are items, each made once and then filled again and again. */
export function fill<Item, Child extends Element>(
  parent: Element,
  items: readonly Item[],
  make: () => Child,
  write: (child: Child, item: Item) => void,
): void {
  while (parent.children.length > items.length) {
    parent.lastElementChild?.remove();
  }
  for (const [at, item] of items.entries()) {
    const child = (parent.children[at] ?? parent.appendChild(make())) as Child;
    write(child, item);
  }
}
