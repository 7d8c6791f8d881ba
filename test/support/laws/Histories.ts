/**
 * Laws of the store: the same history of calls of repositories, over both engines, has the same answers. A history is drawn from a seed, so that one
 * that fails is run again by its number.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as ReadWorker from "../../../src/store/engine/ReadWorker.ts"
import * as Reads from "../../../src/store/engine/postgres/Reads.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import * as Sql from "../../../src/store/Sql.ts"
import * as AuditRepo from "../../../src/subjects/audit/repo.ts"
import * as BillSumsRepo from "../../../src/subjects/bills/BillSumsRepo.ts"
import * as CallSumsRepo from "../../../src/subjects/usage/CallSumsRepo.ts"
import * as FacetsRepo from "../../../src/subjects/usage/FacetsRepo.ts"
import * as SeriesRepo from "../../../src/subjects/usage/SeriesRepo.ts"
import * as UsageSearchRepo from "../../../src/subjects/usage/UsageSearchRepo.ts"
import * as UsageHistoryRepo from "../../../src/subjects/usageHistory/repo.ts"
import { layerEmpty } from "../postgres/Schemas.ts"

const readers = Layer.mergeAll(
  AuditRepo.layer,
  BillSumsRepo.layer,
  CallSumsRepo.layer,
  FacetsRepo.layer,
  SeriesRepo.layer,
  UsageSearchRepo.layer,
  UsageHistoryRepo.layer
)

const all = readers.pipe(Layer.provideMerge(Repos.layer))
const secrets = Secrets.layerTest

/** All that a history may call. */
export type Store = Layer.Layer.Success<typeof all> | SqlClient.SqlClient

export const overSqlite: Layer.Layer<Store> = all.pipe(
  Layer.provide(ReadWorker.layerMemory),
  Layer.provideMerge(Layer.merge(Sql.layerMemory, secrets)),
  Layer.fresh
)

export const overPostgres = (url: string): Layer.Layer<Store> =>
  all.pipe(Layer.provide(Reads.layer), Layer.provideMerge(Layer.merge(layerEmpty(url), secrets)), Layer.fresh)

/** Numbers, texts and choices of a seed (mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** From 0 up to and without `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(part: number): boolean {
    return this.next() < part
  }

  of<A>(choices: ReadonlyArray<A>): A {
    const chosen = choices[this.below(choices.length)]
    if (chosen === undefined && !choices.includes(chosen as A)) throw new Error("Nothing to choose from")
    return chosen as A
  }

  orNull<A>(value: A): A | null {
    return this.chance(0.3) ? null : value
  }

  /** Texts that engines order, compare and quote in ways of their own. */
  text(): string {
    return this.of(texts) + this.of(["", "", String(this.below(5))])
  }
}

const texts = [
  "a",
  "A",
  "b",
  "Z",
  "_",
  "ä",
  "É",
  "ß",
  "名",
  "😀",
  "it's",
  'say "hi"',
  "100%",
  "a_b",
  "back\\slash",
  "new\nline",
  "?",
  "$1",
  " ",
  "{}",
  "null"
]

/** A call of a repository; the name is for the message of a difference. */
export interface Step {
  readonly name: string
  readonly run: Effect.Effect<unknown, unknown, Store>
}

/** A value without what differs by run: secrets as their text, maps and sets as lists. */
const plain = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return { secret: Redacted.value(value) }
  if (value instanceof Map) return [...value].map(plain)
  if (value instanceof Set) return [...value].map(plain).toSorted()
  if (value instanceof Uint8Array) return [...value]
  if (Array.isArray(value)) return value.map(plain)
  if (
    Predicate.isObject(value) &&
    Object.getPrototypeOf(value) !== null &&
    Object.getPrototypeOf(value) !== Object.prototype
  ) {
    return plain({ ...value })
  }
  if (Predicate.isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
  return value
}

const answerOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  if (Exit.isSuccess(exit)) return plain(exit.value)
  const failure = Option.getOrNull(Cause.failureOption(exit.cause))
  if (failure === null) return { defect: Cause.pretty(exit.cause).split("\n")[0] }
  // A row that collides twice is refused by either of the two.
  if (Predicate.isTagged(failure, "AlreadyStored")) return { failed: "AlreadyStored" }
  // Engines word a refused statement differently.
  if (Predicate.isTagged(failure, "StoreError"))
    return { failed: "StoreError", operation: (failure as { operation?: unknown }).operation }
  return { failed: plain(failure) }
}

const answers = (steps: ReadonlyArray<Step>, store: Layer.Layer<Store>) =>
  Effect.forEach(steps, ({ run }) => Effect.map(Effect.exit(run), answerOf)).pipe(Effect.provide(store))

/** Runs the history over both, and compares answer by answer. */
export const sameOverBoth = Effect.fnUntraced(function* (url: string, seed: number, steps: ReadonlyArray<Step>) {
  const [sqlite, postgres] = yield* Effect.all([answers(steps, overSqlite), answers(steps, overPostgres(url))])
  steps.forEach(({ name }, n) =>
    assert.deepStrictEqual(postgres[n], sqlite[n], `step ${n} of history ${seed}, ${name}, is another over Postgres`)
  )
  // Two stores that refuse everything are the same, too.
  const refused = sqlite.filter((answer) => Predicate.isRecord(answer) && answer["failed"] === "StoreError")
  assert.isAtMost(refused.length, steps.length / 10, "few calls fail")
  const reads = sqlite.filter(
    (answer) =>
      Predicate.isRecord(answer) &&
      ("defect" in answer || (Predicate.isRecord(answer["failed"]) && answer["failed"]["reason"] === "failed"))
  )
  assert.deepStrictEqual(reads, [])
  return sqlite
})

/** Steps of a history: `count` of them, each drawn by one of the makers. */
export const history = (
  seed: number,
  count: number,
  makers: ReadonlyArray<(dice: Dice) => Step>
): ReadonlyArray<Step> => {
  const dice = new Dice(seed)
  return Array.from({ length: count }, () => dice.of(makers)(dice))
}
