/**
 * State of accounts and providers that each process keeps for itself and tells the others: breakers, cooldowns, lockouts, holds, quotas, the target
 * that answered last. What is told is what has happened, and every process draws its own conclusions from it by the same rules: failures add up, a
 * longer rest is kept. In one process nothing is told. Workers hear within 50 ms (docs/workers.md), gateways on one database mostly within 300 (docs/cluster.md).
 */
import * as Context from "effect/Context"

export interface ReplicaShape {
  /**
   * Makes a function run in every process. `apply` runs here at once; the others are told when `changes` says that it has changed something; absent:
   * always. Arguments have to be JSON. In one process it is `apply` itself.
   */
  readonly shared: <Args extends ReadonlyArray<unknown>, A>(
    name: string,
    apply: (...args: Args) => A,
    changes?: () => number
  ) => (...args: Args) => A
  /**
   * The same for what clients and models have said, whose bytes `weigh` tells: what is large stays here, and what leaves the machine is encrypted. A
   * process that was not told has less to go on from, as one that has just started.
   */
  readonly kept: <Args extends ReadonlyArray<unknown>, A>(
    name: string,
    apply: (...args: Args) => A,
    weigh: (...args: Args) => number
  ) => (...args: Args) => A
  /** False where there are no other processes. */
  readonly isShared: boolean
  /** True where the others are gateways on one database; false where they are workers, whose requests that name an id go to one of them. */
  readonly isOverNodes: boolean
}

export const alone: ReplicaShape = {
  shared: (_, apply) => apply,
  kept: (_, apply) => apply,
  isShared: false,
  isOverNodes: false
}

export class Replica extends Context.Reference<Replica>()("gateway/plane/state/Replica", {
  defaultValue: () => alone
}) {}

/** Something that has happened: the name of a function and its arguments. */
export type Happened = readonly [name: string, args: ReadonlyArray<unknown>]

/** Time for which what has happened is gathered, in milliseconds. */
export const gatheredMs = 50

/** Most that is gathered; of more the oldest is not told. */
const mostGathered = 10_000

/** Names of functions whose arguments are content begin with it. */
export const keptPrefix = "kept."

/** Most bytes of content that one call tells the others, and that all calls of the time for which they are gathered do. */
export const mostKeptBytes = 262_144
export const mostGatheredBytes = 8 * 1_048_576

/** Runs shared functions here, gathers what has happened, and applies what others tell. */
export class SharedFunctions implements ReplicaShape {
  readonly isShared = true
  readonly isOverNodes: boolean
  readonly #functions = new Map<string, (...args: ReadonlyArray<never>) => unknown>()
  readonly #after: (delayMs: number, run: () => void) => void
  readonly #tell: (happened: ReadonlyArray<Happened>) => void
  readonly #gatheredMs: number
  #gathered: Array<Happened> = []
  #keptBytes = 0
  #isApplying = false

  constructor(
    after: (delayMs: number, run: () => void) => void,
    tell: (happened: ReadonlyArray<Happened>) => void,
    over: { readonly gatheredMs: number; readonly isOverNodes: boolean } = { gatheredMs, isOverNodes: false }
  ) {
    this.#after = after
    this.#tell = tell
    this.#gatheredMs = over.gatheredMs
    this.isOverNodes = over.isOverNodes
  }

  readonly shared: ReplicaShape["shared"] = (name, apply, changes) => {
    this.#functions.set(name, apply as (...args: ReadonlyArray<never>) => unknown)
    return (...args) => {
      const before = changes?.()
      const result = apply(...args)
      if (!this.#isApplying && (before === undefined || before !== changes?.())) this.#gather([name, args])
      return result
    }
  }

  readonly kept: ReplicaShape["kept"] = (name, apply, weigh) => {
    const kept = `${keptPrefix}${name}`
    this.#functions.set(kept, apply as (...args: ReadonlyArray<never>) => unknown)
    return (...args) => {
      const bytes = weigh(...args)
      if (bytes <= mostKeptBytes && this.#keptBytes + bytes <= mostGatheredBytes) {
        this.#keptBytes += bytes
        this.#gather([kept, args])
      }
      return apply(...args)
    }
  }

  /** Applies what another process has told. What this one does not know comes of another version, and is left out. */
  apply(happened: ReadonlyArray<Happened>): void {
    this.#isApplying = true
    try {
      for (const [name, args] of happened) this.#functions.get(name)?.(...(args as ReadonlyArray<never>))
    } finally {
      this.#isApplying = false
    }
  }

  /** Tells at once what is gathered. */
  flush(): void {
    const all = this.#gathered
    this.#gathered = []
    this.#keptBytes = 0
    if (all.length > 0) this.#tell(all)
  }

  #gather(happened: Happened): void {
    if (this.#gathered.push(happened) > mostGathered) this.#gathered.shift()
    if (this.#gathered.length > 1) return
    this.#after(this.#gatheredMs, () => this.flush())
  }
}
