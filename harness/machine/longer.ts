/** How much of something a test does: `npm run test:all` has it do more than it usually does. */
export function unlessLonger(usually: number, longer: number): number {
  return process.env["GATEWAY_LONGER"] === undefined ? usually : longer;
}
