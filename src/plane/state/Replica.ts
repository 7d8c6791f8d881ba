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
  /** False where there are no other processes. */
  readonly isShared: boolean
}

export const alone: ReplicaShape = { shared: (_, apply) => apply, isShared: false }

export class Replica extends Context.Reference<Replica>()("gateway/plane/state/Replica", {
  defaultValue: () => alone
}) {}

/** Something that has happened: the name of a function and its arguments. */
export type Happened = readonly [name: string, args: ReadonlyArray<unknown>]

/** Time for which what has happened is gathered, in milliseconds. */
export const gatheredMs = 50

/** Most that is gathered; of more the oldest is not told. */
const mostGathered = 10_000

/** Runs shared functions here, gathers what has happened, and applies what others tell. */
export class SharedFunctions implements ReplicaShape {
  readonly isShared = true
  readonly #functions = new Map<string, (...args: ReadonlyArray<never>) => unknown>()
  readonly #after: (delayMs: number, run: () => void) => void
  readonly #tell: (happened: ReadonlyArray<Happened>) => void
  readonly #gatheredMs: number
  #gathered: Array<Happened> = []
  #isApplying = false

  constructor(
    after: (delayMs: number, run: () => void) => void,
    tell: (happened: ReadonlyArray<Happened>) => void,
    forMs: number = gatheredMs
  ) {
    this.#after = after
    this.#tell = tell
    this.#gatheredMs = forMs
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
    if (all.length > 0) this.#tell(all)
  }

  #gather(happened: Happened): void {
    if (this.#gathered.push(happened) > mostGathered) this.#gathered.shift()
    if (this.#gathered.length > 1) return
    this.#after(this.#gatheredMs, () => this.flush())
  }
}
