/** Codes by which a browser of this machine gets a session: each counts once, for a minute. Pure. */

export const codeLivesMs = 60_000
/** Codes that wait at the same time; a further one ends the oldest. */
export const mostCodes = 8

/** Hashes of the codes that wait, the oldest first, with the epoch milliseconds at which they end. */
export type OneTimeCodes = ReadonlyMap<string, number>

export const none: OneTimeCodes = new Map()

const alive = (codes: OneTimeCodes, nowMs: number): ReadonlyArray<readonly [string, number]> =>
  [...codes].filter(([, endsAtMs]) => nowMs < endsAtMs)

/** Adds a code by its hash. */
export const issue = (codes: OneTimeCodes, hash: string, nowMs: number): OneTimeCodes =>
  new Map([...alive(codes, nowMs).slice(1 - mostCodes), [hash, nowMs + codeLivesMs]])

/** Takes a code out; `isGood` when it was there and had not ended. */
export const redeem = (
  codes: OneTimeCodes,
  hash: string,
  nowMs: number
): { readonly codes: OneTimeCodes; readonly isGood: boolean } => {
  const left = alive(codes, nowMs)
  return { codes: new Map(left.filter(([other]) => other !== hash)), isGood: left.some(([other]) => other === hash) }
}
