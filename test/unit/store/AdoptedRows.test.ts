/** Rows of workers at the owner: told once each, however often they come and whatever the table does meanwhile. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StoreError } from "../../../src/store/Errors.ts"
import * as UsageRepo from "../../../src/subjects/usage/repo.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { onDisk, refuseRows, temporaryFolder, usageRow } from "./fixtures.ts"

const ids = Effect.flatMap(UsageRepo.UsageRepo, (repo) =>
  Effect.map(repo.page({ limit: 100, cursor: null }), ({ rows }) => rows.map(({ id }) => id).toSorted())
)

const world = <A, E>(
  run: (dataDir: string) => Effect.Effect<A, E, SqlClient.SqlClient | UsageRepo.UsageRepo | AppConfigNeeded>
) =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    yield* run(dataDir).pipe(Effect.provide(UsageRepo.layer.pipe(Layer.provideMerge(onDisk(dataDir)))))
  })

type AppConfigNeeded = Effect.Effect.Context<ReturnType<typeof UsageJournal.makeAdopting>>

describe("rows of workers", () => {
  it.scoped("are told once, also when they come twice at once, or again after the table has refused them", () =>
    world(() =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const told: Array<string> = []
        const { adopt } = yield* UsageJournal.makeAdopting<string>((of, { id }) => void told.push(`${of} ${id}`))
        const [first, second, third] = [usageRow(1), usageRow(2), usageRow(3)]
        yield* Effect.all([adopt("1.1", [first]), adopt("1.1", [first, second])], { concurrency: 2 })
        yield* refuseRows
        assert.instanceOf(yield* Effect.flip(adopt("2.1", [third])), StoreError)
        yield* Effect.flip(adopt("2.1", [third]))
        yield* sql`DROP TRIGGER refusal`
        yield* adopt("2.1", [third])
        yield* adopt("2.1", [third])
        assert.deepStrictEqual(told, [`1.1 ${first.id}`, `1.1 ${second.id}`, `2.1 ${third.id}`])
        assert.deepStrictEqual(yield* ids, [first.id, second.id, third.id].toSorted())
      })
    )
  )

  it.scoped("that an ended worker has left are told where they are new, and its folder goes", () =>
    world((dataDir) =>
      Effect.gen(function* () {
        const told: Array<string> = []
        const { adopt, recover } = yield* UsageJournal.makeAdopting<string>((_, { id }) => void told.push(id))
        const folder = join(dataDir, "left")
        yield* recover("1.1", folder)
        mkdirSync(folder)
        yield* adopt("1.1", [usageRow(1)])
        const lines = [usageRow(1), usageRow(2)].map((row) => `${JSON.stringify(row)}\n`).join("")
        writeFileSync(join(folder, "0000000001.jsonl"), lines)
        yield* recover("1.1", folder)
        assert.deepStrictEqual(told, [usageRow(1).id, usageRow(2).id])
        assert.isFalse(existsSync(folder))
      })
    )
  )
})
