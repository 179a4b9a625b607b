/** Something that floats and has a length. */
export interface Vessel {
  readonly name: string;
  /** In metres. */
  readonly length: number;
}

/** A vessel that carries cargo. */
export class Ship implements Vessel {
  readonly name: string;
  readonly length: number;
  readonly #cargo: string[] = [];

  constructor(name: string, length: number) {
    this.name = name;
    this.length = length;
  }

  /** Puts one more piece of cargo on board. */
  load(piece: string): this {
    this.#cargo.push(piece);
    return this;
  }

  get cargo(): readonly string[] {
    return this.#cargo;
  }
}

/** Two ships that travel together, the longer one first. */
export function convoy(first: Ship, second: Ship): readonly [Ship, Ship] {
  return first.length >= second.length ? [first, second] : [second, first];
}
