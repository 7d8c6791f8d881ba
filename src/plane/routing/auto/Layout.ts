/**
 * Maps candidates to connections, and connections to providers: made once for a list of targets and kept until another list comes. With it
 * the ranking of the last decision, from which the next one differs little, and the numbers of all candidates side by side: few candidates
 * change from one decision to the next, and the others need not be fetched from memory. None of it changes a decision.
 */
import type { Candidate } from "../candidate/Candidate.ts"
import { Columns } from "./Columns.ts"
import type { Target } from "../resolve/ModelResolver.ts"

export interface Layout {
  readonly targets: ReadonlyArray<Target>
  /** Number of each candidate's connection. */
  readonly connections: Int32Array
  /** Number of each connection's provider. */
  readonly providers: Int32Array
  /** Numbers of connections, and of providers, by id. */
  readonly connectionNumbers: ReadonlyMap<string, number>
  readonly providerNumbers: ReadonlyMap<string, number>
  readonly connectionCount: number
  readonly providerCount: number
  /** The candidates' places in the list, best first when they were last ranked. */
  readonly ranking: Int32Array
  /** Columns of the candidates that were given last. */
  readonly columns: Columns
}

/** Layouts by the first target of the list. */
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
    connectionNumbers,
    providerNumbers,
    connectionCount: connectionNumbers.size,
    providerCount: providerNumbers.size,
    ranking: Int32Array.from(candidates, (_, index) => index),
    columns: new Columns(candidates)
  }
}

/** False when the candidates are those of other targets. */
const follow = ({ columns, targets }: Layout, candidates: ReadonlyArray<Candidate>): boolean => {
  if (targets.length !== candidates.length) return false
  for (let index = 0; index < targets.length; index += 1) {
    const candidate = candidates[index]
    if (candidate === undefined || columns.holds(index, candidate)) continue
    if (targets[index] !== candidate.target) return false
    columns.put(index, candidate)
  }
  return true
}

/** Hot. `candidates` must not be empty. */
export const layoutOf = (candidates: ReadonlyArray<Candidate>): Layout => {
  const first = candidates[0]?.target
  const known = first === undefined ? undefined : layouts.get(first)
  if (known !== undefined && follow(known, candidates)) return known
  const layout = made(candidates)
  if (first !== undefined) layouts.set(first, layout)
  return layout
}
