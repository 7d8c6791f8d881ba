/**
 * What each flag switches, in each of its positions, set by the environment and set in the database. A flag that is read at the start only is set in
 * a gateway whose folder the next one starts in.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { findFlag, flagCatalog } from "../../../src/subjects/flags/FlagCatalog.ts"
import { fake, start, temporary } from "./Scene.ts"
import { agents } from "./rows/agents.ts"
import { type LayerRow, layers } from "./rows/layers.ts"
import { network } from "./rows/network.ts"
import type { Row, Stage } from "./rows/Row.ts"
import { runtime } from "./rows/runtime.ts"
import { security } from "./rows/security.ts"

const rows: ReadonlyArray<Row> = [...security, ...network, ...runtime, ...agents]

/** It cannot be switched on. */
const refused = "ENABLE_TLS_FINGERPRINT"

/** A gateway with an upstream, in this folder; everything ends with the scope. */
const stageOf = (row: Row, environment: Readonly<Record<string, string>>, folder?: string) =>
  Effect.gen(function* () {
    const upstream = yield* fake
    const scene = yield* start({ ...row.environment, ...environment }, folder, row.config)
    const scope = yield* Effect.scope
    const stage: Stage = {
      ...scene,
      upstream,
      run: (effect) => Effect.runPromise(Effect.provideService(effect, Scope.Scope, scope))
    }
    yield* Effect.promise(() => row.prepare(stage))
    return stage
  })

const see = (row: Row, stage: Stage, value: string, way: string) =>
  Effect.promise(async () => {
    assert.deepStrictEqual(await row.look(stage, value), row.seen[value], `${row.flag}=${value} by ${way}`)
  })

/** A gateway with the flag from its start. */
const byEnvironment = (row: Row, value: string) =>
  Effect.scoped(Effect.flatMap(stageOf(row, { [row.flag]: value }), (stage) => see(row, stage, value, "environment")))

/** One whose flag is set against its environment before it starts. */
const bySetting = (row: Row, value: string, other: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* temporary
      const environment = { [row.flag]: other }
      yield* Effect.scoped(
        Effect.flatMap(start({ ...row.environment, ...environment }, folder), ({ set }) =>
          Effect.promise(() => set(row.flag, value))
        )
      )
      yield* see(row, yield* stageOf(row, environment, folder), value, "database")
    })
  )

/** One whose flag is set against its environment while it runs, and taken back. */
const whileItRuns = (row: Row, value: string, other: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const stage = yield* stageOf(row, { [row.flag]: other })
      yield* see(row, stage, other, "environment")
      yield* Effect.promise(() => stage.set(row.flag, value))
      yield* see(row, stage, value, "database")
      yield* Effect.promise(() => stage.set(row.flag, null))
      yield* see(row, stage, other, "environment again")
    })
  )

const positionsOf = (
  seen: Readonly<Record<string, unknown>>
): ReadonlyArray<readonly [value: string, other: string]> => {
  const values = Object.keys(seen)
  return values.map((value, at) => [value, values[(at + 1) % values.length] ?? value])
}

const shown = (row: Row) =>
  Effect.forEach(
    positionsOf(row.seen),
    ([value, other]) =>
      row.isFresh !== true && findFlag(row.flag)?.requiresRestart !== true
        ? whileItRuns(row, value, other)
        : Effect.zipRight(byEnvironment(row, value), bySetting(row, value, other)),
    { discard: true }
  )

const shownByLayers = ({ flag, look, seen, variable }: LayerRow) =>
  Effect.forEach(
    positionsOf(seen),
    ([value, other]) =>
      Effect.gen(function* () {
        const byVariable: unknown = yield* look(new Map([[flag, value]]), {})
        assert.deepStrictEqual(byVariable, seen[value], `${flag}=${value} by environment`)
        const stored = yield* look(new Map([[flag, variable ?? other]]), { [flag]: value })
        assert.deepStrictEqual(stored, seen[value], `${flag}=${value} by database`)
      }),
    { discard: true }
  )

describe("a flag in each position, by environment and by database", () => {
  for (const row of rows) it.live(`${row.flag} switches what its line says`, () => shown(row))
  for (const row of layers) it.effect(`${row.flag} switches what its line says`, () => shownByLayers(row))

  it.scopedLive(`${refused} cannot be switched on, and says so in both ways`, () =>
    Effect.gen(function* () {
      const { listed, put } = yield* start({ [refused]: "true" })
      yield* Effect.promise(async () => {
        const state = async () => (await listed(refused))?.effectiveValue
        assert.strictEqual(await state(), "false")
        assert.strictEqual((await put(refused, "true")).status, 409)
        assert.strictEqual(await state(), "false")
      })
    })
  )

  it("is here for all of them, with all that it can be set to", () => {
    assert.sameMembers(
      [...rows, ...layers].map(({ flag }) => flag).concat([refused]),
      flagCatalog.map(({ key }) => key)
    )
    for (const { flag, seen } of [...rows, ...layers]) {
      const { enumValues } = findFlag(flag) ?? { enumValues: null }
      assert.sameMembers(Object.keys(seen), [...(enumValues ?? ["true", "false"])], flag)
      assert.isAbove(new Set(Object.values(seen).map((each) => JSON.stringify(each))).size, 1, flag)
    }
  })
})
