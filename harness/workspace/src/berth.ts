import type { Ship, Vessel } from "./ship";

/** A place at the quay. */
export class Berth {
  readonly depth: number;
  readonly #maximumLength: number;
  #occupant: Vessel | undefined;

  constructor(depth: number, maximumLength: number) {
    this.depth = depth;
    this.#maximumLength = maximumLength;
  }

  get isFree(): boolean {
    return this.#occupant === undefined;
  }

  /** Whether the vessel fits and nobody else is here. */
  accepts(vessel: Vessel): boolean {
    return this.isFree && vessel.length <= this.#maximumLength;
  }

  moor(ship: Ship): void {
    this.#occupant = ship;
  }

  castOff(): void {
    this.#occupant = undefined;
  }
}
