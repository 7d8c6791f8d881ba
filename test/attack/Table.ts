/** What came of the attempts, for people. */
import type { Attempt, AttackClass, Verdict } from "./Attempt.ts"

export interface Tried {
  readonly attack: AttackClass
  readonly attempt: Attempt
  readonly verdict: Verdict
}

/** Open attempts of one class that are told one by one; more only say the same. */
const mostTold = 12

export const render = (tried: ReadonlyArray<Tried>): string => {
  const classes = [...new Set(tried.map(({ attack }) => attack))]
  const width = Math.max(...classes.map(({ name }) => name.length)) + 2
  const lines = [`${"class".padEnd(width)}${"attempts".padStart(8)}${"open".padStart(8)}`]
  for (const attack of classes) {
    const own = tried.filter((one) => one.attack === attack)
    const open = own.filter(({ verdict }) => verdict !== null)
    lines.push(`${attack.name.padEnd(width)}${String(own.length).padStart(8)}${String(open.length).padStart(8)}`)
  }
  const open = tried.filter(({ verdict }) => verdict !== null)
  lines.push(`${"all".padEnd(width)}${String(tried.length).padStart(8)}${String(open.length).padStart(8)}`)
  for (const attack of classes) {
    const own = open.filter((one) => one.attack === attack)
    if (own.length === 0) continue
    lines.push("", attack.name)
    for (const { attempt, verdict } of own.slice(0, mostTold)) lines.push(`  ${attempt.name}: ${verdict}`)
    if (own.length > mostTold) lines.push(`  and ${own.length - mostTold} more`)
  }
  return lines.join("\n")
}
