import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Files from "../../../src/subjects/files/service.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { reposInMemory } from "../store/fixtures.ts"

const settings = Layer.provideMerge(GatewaySettings.layer, reposInMemory)

const scenario = (
  name: string,
  run: (files: typeof Files.Files.Service, folder: string) => Effect.Effect<void, unknown>
): void => {
  it.scoped(name, () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2035, 0, 1))
      const dataDir = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "gateway-sweep-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const around = Layer.mergeAll(AppConfig.layerOf({ dataDir }), IdGen.layer)
      const built = Layer.provide(Layer.effect(Files.Files, Files.make), Layer.merge(settings, around))
      const files = Context.get(yield* Layer.build(built), Files.Files)
      yield* run(files, join(dataDir, "files"))
    })
  )
}

const put = (files: typeof Files.Files.Service, keptMs: number | null = null) => {
  const upload = files.begin("", 1_000)
  upload.write(Buffer.from("text"))
  return upload.finish({ filename: "a.txt", purpose: "user_data", keptMs })
}

const listed = (files: typeof Files.Files.Service) =>
  Effect.map(files.list("", { limit: 10, after: null, order: "desc", purpose: null }), (page) =>
    page.files.map(({ id }) => id)
  )

describe("a sweep of files", () => {
  scenario("removes what has expired, and what has no row", (files, folder) =>
    Effect.gen(function* () {
      const kept = yield* put(files)
      yield* put(files, 3_600_000)
      writeFileSync(join(folder, "file-orphan"), "x")
      writeFileSync(join(folder, "file-unfinished.part"), "x")
      yield* TestClock.adjust("1 hour")
      yield* files.sweep
      assert.deepStrictEqual(readdirSync(folder), [kept.id])
      assert.deepStrictEqual(yield* listed(files), [kept.id])
    })
  )

  scenario("removes the row of a body that is gone, but nothing when all of them are", (files, folder) =>
    Effect.gen(function* () {
      const kept = yield* put(files)
      yield* TestClock.adjust("1 second")
      const lost = yield* put(files)
      const elsewhere = `${folder}-elsewhere`
      renameSync(folder, elsewhere)
      yield* Effect.exit(files.sweep)
      assert.deepStrictEqual(yield* listed(files), [lost.id, kept.id])
      renameSync(elsewhere, folder)
      for (const { id } of [kept, lost]) renameSync(join(folder, id), join(folder, `..`, id))
      yield* files.sweep
      assert.deepStrictEqual(yield* listed(files), [lost.id, kept.id])
      renameSync(join(folder, `..`, kept.id), join(folder, kept.id))
      yield* files.sweep
      assert.deepStrictEqual(yield* listed(files), [kept.id])
    })
  )
})
