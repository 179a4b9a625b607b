import { Ship } from "./ship";

// The mistakes in this file are wanted: they are what the diagnostics tools have to report.

export const longboat: Ship = new Ship("Longboat", "twelve");

export function heaviest(ships: Ship[]): Ship {
  const unused = ships.length;
  return ships.reduce((one, other) => (one.tonnage > other.tonnage ? one : other));
}
