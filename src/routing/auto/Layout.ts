/**
 * Which candidates share a connection, and which connections a provider: found once for a list of targets and kept until another list
 * comes. With it the ranking of the last decision, from which the next one differs little. What is kept makes no decision different.
 */
import type { Candidate } from "../candidate/Candidate.ts"
import type { Target } from "../resolve/ModelResolver.ts"

export interface Layout {
  readonly targets: ReadonlyArray<Target>
  /** Of each candidate: the number of its connection. */
  readonly connections: Int32Array
  /** Of each connection: the number of its provider. */
  readonly providers: Int32Array
  readonly connectionCount: number
  readonly providerCount: number
  /** The candidates' places in the list, best first when they were last ranked. */
  readonly ranking: Int32Array
}

/** By the first target of the list. */
const layouts = new WeakMap<Target, Layout>()

const numberIn = (numbers: Map<string, number>, id: string): number => {
  const known = numbers.get(id)
  if (known !== undefined) return known
  numbers.set(id, numbers.size)
  return numbers.size - 1
}

const made = (candidates: ReadonlyArray<Candidate>): Layout => {
  const connectionNumbers = new Map<string, number>()
  const providerNumbers = new Map<string, number>()
  const connections = new Int32Array(candidates.length)
  const providers = new Int32Array(candidates.length)
  for (const [index, { target }] of candidates.entries()) {
    const { connection, spec } = target.account
    const known = connectionNumbers.size
    const number = numberIn(connectionNumbers, connection.id)
    connections[index] = number
    if (number === known) providers[number] = numberIn(providerNumbers, spec.id)
  }
  return {
    targets: candidates.map(({ target }) => target),
    connections,
    providers,
    connectionCount: connectionNumbers.size,
    providerCount: providerNumbers.size,
    ranking: Int32Array.from(candidates, (_, index) => index)
  }
}

const fits = ({ targets }: Layout, candidates: ReadonlyArray<Candidate>): boolean => {
  if (targets.length !== candidates.length) return false
  for (let index = 0; index < targets.length; index += 1) {
    if (targets[index] !== candidates[index]?.target) return false
  }
  return true
}

/** Hot. `candidates` must not be empty. */
export const layoutOf = (candidates: ReadonlyArray<Candidate>): Layout => {
  const first = candidates[0]?.target
  const known = first === undefined ? undefined : layouts.get(first)
  if (known !== undefined && fits(known, candidates)) return known
  const layout = made(candidates)
  if (first !== undefined) layouts.set(first, layout)
  return layout
}
