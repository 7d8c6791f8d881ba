/** Everything that is kept of a person, and its erasure: the sums of what the person's keys have used stay, without a name. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { AuditLog } from "../auth/AuditLog.ts"
import type { Session } from "../auth/entity.ts"
import { Sessions } from "../auth/sessions/Sessions.ts"
import { totalOf, billed, type Sums } from "../bills/rules.ts"
import { Bills } from "../bills/service.ts"
import type { ApiKey } from "../keys/entity.ts"
import { Keys } from "../keys/service.ts"
import type { Memory } from "../memory/entity.ts"
import { MemoryRepo } from "../memory/repo.ts"
import type { Bounds } from "../people/Bounds.ts"
import { People } from "../people/People.ts"
import { type AuditedAct, ErasureRepo } from "./ErasureRepo.ts"
import { type ObservedUser, Users } from "./service.ts"

export interface PersonsData {
  readonly user: ObservedUser
  readonly teams: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly keys: ReadonlyArray<ApiKey>
  readonly sessions: ReadonlyArray<Session>
  /** Memories that were learned from the person's requests. */
  readonly memories: ReadonlyArray<Memory>
  readonly acts: ReadonlyArray<AuditedAct>
  /** Of all time. */
  readonly usage: Sums
}

export interface Erased {
  readonly keys: number
  readonly memories: number
  readonly acts: number
}

/** Rows of the audit log in an answer, the newest. */
export const mostActs = 10_000

/** Name in the place of one that was erased. */
export const erasedName = "erased person"

/** Makes what reads and erases, of the services of the management plane. */
export const makePersonalData = Effect.gen(function* () {
  const audit = yield* AuditLog
  const bills = yield* Bills
  const keys = yield* Keys
  const memories = yield* MemoryRepo
  const people = yield* People
  const repo = yield* ErasureRepo
  const sessions = yield* Sessions
  const users = yield* Users

  /** Writes what waits to be written of the audit log. */
  const written = audit.page({}, 1, 0)

  const keysOf = (id: string) => Effect.map(keys.list, (all) => all.filter(({ userId }) => userId === id))

  const memoryIdsOf = (own: ReadonlyArray<ApiKey>) =>
    Effect.map(
      Effect.forEach(own, ({ id }) => memories.ids({ apiKeyId: id })),
      (found) => found.flat()
    )

  const of = Effect.fn("PersonalData.of")(function* (id: string) {
    const user = yield* users.get(id)
    const own = yield* keysOf(id)
    const nowMs = yield* Clock.currentTimeMillis
    const spent = yield* bills.spent({ fromMs: 0, untilMs: nowMs + 1 })
    const lines = spent.lines.filter(({ person }) => person === id)
    yield* written
    return {
      user,
      teams: [...people.directory().teams.values()]
        .filter(({ members }) => members.includes(id))
        .map((team) => ({ id: team.id, name: team.name })),
      keys: own,
      sessions: sessions.list(nowMs).filter(({ userId }) => userId === id),
      memories: yield* Effect.flatMap(memoryIdsOf(own), memories.byIds),
      acts: yield* repo.acts(id, mostActs),
      usage: totalOf(billed(lines, spent.rates))
    } satisfies PersonsData
  })

  /** Removes the person, the keys with what was learned from their requests, and the name from the audit log. */
  const erase = Effect.fn("PersonalData.erase")(function* (id: string, bounds: Bounds | null) {
    const own = yield* keysOf(id)
    const learned = yield* memoryIdsOf(own)
    // The person first: it says whether the caller may.
    yield* users.remove(id, bounds)
    for (const memory of learned) yield* memories.remove(memory)
    for (const key of own) yield* Effect.catchTag(keys.remove(key.id), "EntityNotFound", () => Effect.void)
    yield* written
    return { keys: own.length, memories: learned.length, acts: yield* repo.rename(id, erasedName) } satisfies Erased
  })

  return { of, erase }
})
