const FOLLOWING = 20;
const LAST_PORT = 65535;

/**
 * The ports to try, in order (D49): the wished one, the one this workspace had last, so that its clients find it again,
 * then the following 20.
 */
export function portCandidates(wished: number, last: number | undefined): number[] {
  const ports = new Set([wished]);
  if (last !== undefined && Number.isInteger(last) && last >= 1024 && last <= LAST_PORT) {
    ports.add(last);
  }
  for (let port = wished + 1; port <= Math.min(wished + FOLLOWING, LAST_PORT); port++) {
    ports.add(port);
  }
  return [...ports];
}
