/**
 * Attacks on the built program, by class. `npm run attack` makes every attempt and prints the table; a slow test run makes every
 * seventh of each class, a plain one every 23rd. `ATTACK=words,browsers` makes all attempts of the classes whose names contain a word.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Arena from "./Arena.ts"
import type { Attempt, AttackClass } from "./Attempt.ts"
import { access } from "./classes/access.ts"
import { bounds } from "./classes/bounds.ts"
import { codes } from "./classes/codes.ts"
import { browsers } from "./classes/browsers.ts"
import { expanding } from "./classes/expanding.ts"
import { impossible } from "./classes/counts.ts"
import { directories } from "./classes/directories.ts"
import { logins } from "./classes/logins.ts"
import { peopleBeyondTheirRole } from "./classes/roles.ts"
import { signIns } from "./classes/signIns.ts"
import { doors } from "./classes/doors.ts"
import { injection } from "./classes/injection.ts"
import { keepers } from "./classes/keepers.ts"
import { management } from "./classes/management.ts"
import { models } from "./classes/models.ts"
import { outbound } from "./classes/outbound.ts"
import { pools } from "./classes/pools.ts"
import { protocol } from "./classes/protocol.ts"
import { readings } from "./classes/readings.ts"
import { resent } from "./classes/resent.ts"
import { returned } from "./classes/returned.ts"
import { secrets } from "./classes/secrets.ts"
import { longStalls } from "./classes/stalls.ts"
import { sessionsWhereModelsAreAsked } from "./classes/sessions.ts"
import { sockets } from "./classes/sockets.ts"
import { start } from "./classes/start.ts"
import { storedKeys } from "./classes/storedKeys.ts"
import { usageOfOthers } from "./classes/usageOfOthers.ts"
import { words } from "./classes/words.ts"
import { longestStall } from "./Stalls.ts"
import { render, type Tried } from "./Table.ts"

const all: ReadonlyArray<AttackClass> = [
  storedKeys,
  words,
  browsers,
  bounds,
  expanding,
  models,
  start,
  secrets,
  management,
  access,
  codes,
  sessionsWhereModelsAreAsked,
  outbound,
  resent,
  injection,
  protocol,
  sockets,
  readings,
  doors,
  pools,
  returned,
  impossible,
  keepers,
  usageOfOthers,
  directories,
  signIns,
  logins,
  peopleBeyondTheirRole,
  longStalls
]

/** `all`, or words that the names of the wanted classes contain. */
const wanted = process.env["ATTACK"] ?? ""
const wantedWords = wanted.split(",").filter((word) => word !== "" && word !== "all")
const isWanted = ({ name }: AttackClass): boolean =>
  wantedWords.length === 0 || wantedWords.some((word) => name.includes(word))

/** One attempt of so many is made; a prime, so that no row or column of a grid is left out. */
const oneOf = 7
const attemptsOf = ({ attempts }: AttackClass): ReadonlyArray<Attempt> =>
  wanted === "" ? attempts.filter((_, index) => index % oneOf === 0) : attempts

describe("attacks", () => {
  const tried: Array<Tried> = []
  const scope = Effect.runSync(Scope.make())
  let arena: Arena.Arena

  beforeAll(async () => {
    arena = await Effect.runPromise(Scope.extend(Arena.start, scope))
  })

  afterAll(async () => {
    if (wanted !== "" || tried.some(({ verdict }) => verdict !== null))
      process.stdout.write(`\n${render(tried)}\n${longestStall()}\n`)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("there are at least a thousand", () => {
    assert.isAtLeast(
      all.reduce((sum, { attempts }) => sum + attempts.length, 0),
      1_000
    )
  })

  for (const attack of all.filter(isWanted)) {
    it(`${attack.name}`, { timeout: 600_000 }, async () => {
      const queue = [...attemptsOf(attack)]
      const worker = async (): Promise<void> => {
        for (let attempt = queue.shift(); attempt !== undefined; attempt = queue.shift()) {
          const verdict = await attempt.run(arena).catch((error: unknown) => `it failed: ${String(error)}`)
          tried.push({ attack, attempt, verdict })
        }
      }
      await Promise.all(Array.from({ length: attack.atOnce }, worker))
      const open = tried.filter((one) => one.attack === attack && one.verdict !== null)
      assert.isEmpty(open.map(({ attempt, verdict }) => `${attempt.name}: ${verdict}`).join("\n"))
    })
  }
})
