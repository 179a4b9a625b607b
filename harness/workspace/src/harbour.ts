import { Berth } from "./berth";
import { convoy, Ship } from "./ship";

/** A harbour, which finds a berth for every ship that arrives. */
export class Harbour {
  readonly #berths: Berth[];

  constructor(berths: Berth[]) {
    this.#berths = berths;
  }

  /** Moors the ship at the first berth that accepts it. */
  admit(ship: Ship): Berth | undefined {
    const berth = this.#berths.find((candidate) => candidate.accepts(ship));
    berth?.moor(ship);
    return berth;
  }

  admitAll(ships: readonly Ship[]): number {
    return ships.filter((ship) => this.admit(ship) !== undefined).length;
  }
}

export function example(): number {
  const harbour = new Harbour([new Berth(8, 120), new Berth(12, 300)]);
  const coaster = new Ship("Möwe 🐦", 90).load("timber");
  const liner = new Ship("Aurora", 280).load("grain").load("wool");
  return harbour.admitAll(convoy(coaster, liner));
}
