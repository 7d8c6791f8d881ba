/** `GET /api/attention` over HTTP: what is wrong in one call, and that what can be done about it does it. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import * as Layer from "effect/Layer"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as BackupSchedule from "../../../src/subjects/backups/BackupSchedule.ts"
import { AppConfig } from "../../../src/platform/AppConfig.ts"
import { Events, type GatewayEvent } from "../../../src/observe/Events.ts"
import { ModelLists } from "../../../src/plane/providers/ModelLists.ts"
import { layerOf, TestApp } from "./TestApp.ts"

interface Item {
  readonly id: string
  readonly kind: string
  readonly actions: ReadonlyArray<{ readonly method: string; readonly path: string; readonly body: unknown }>
}

const list = Effect.gen(function* () {
  const app = yield* TestApp
  const answer = yield* app.admin("/api/attention")
  assert.strictEqual(answer.status, 200, answer.text)
  const { items, total } = JSON.parse(answer.text) as { readonly items: ReadonlyArray<Item>; readonly total: number }
  assert.strictEqual(items.length, total)
  return items
})

const added = (name: string) =>
  Effect.gen(function* () {
    const app = yield* TestApp
    const body = { provider: "openai", name, apiKey: `sk-0123456789-${name}`, models: ["m"] }
    const answer = yield* app.admin("/api/providers", { method: "POST", body })
    assert.strictEqual(answer.status, 201, answer.text)
    return String(answer.at("connection.id"))
  })

layer(layerOf())("what needs a person", (it) => {
  it.effect("is nothing at first, then what is wrong, until what is named for it was done", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      assert.deepStrictEqual(yield* list, [])
      const id = yield* added("work")
      const lists = yield* ModelLists
      yield* lists.failed(id, "https://api.openai.com/v1/models", "The status is 500")
      const [failed] = yield* list
      assert.strictEqual(failed?.id, `modelListFailed:${id}`)
      assert.strictEqual((yield* app.call("/api/attention")).status, 401)

      const action = failed?.actions.find(({ method }) => method === "POST")
      assert.deepStrictEqual(action?.path, `/api/providers/${id}/test`)
      yield* lists.forget(id)
      assert.deepStrictEqual(yield* list, [])
    })
  )

  it.effect("tells who listens when it changes, and is not looked for while nobody does", () =>
    Effect.gen(function* () {
      const events = yield* Events
      const told = yield* Queue.unbounded<GatewayEvent>()
      const stop = events.listen((event) => {
        if (event.type === "attention.changed") told.unsafeOffer(event)
      })
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      const id = yield* added("second")
      const lists = yield* ModelLists
      yield* TestClock.adjust("1 minute")
      yield* lists.failed(id, "https://api.openai.com/v1/models", "The status is 500")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Queue.size(told), 0)
      events.wantAttention(true)
      yield* TestClock.adjust("5 seconds")
      yield* lists.forget(id)
      yield* Effect.iterate(0, {
        while: () => Queue.size(told).pipe(Effect.runSync) === 0,
        body: (tries) => Effect.as(TestClock.adjust("5 seconds"), tries + 1)
      }).pipe(Effect.timeout("1 hour"), Effect.ignore)
      const event = yield* Queue.take(told)
      assert.deepInclude(event, { type: "attention.changed", added: [], removed: [`modelListFailed:${id}`] })
      events.wantAttention(false)
    }).pipe(Effect.scoped)
  )
})

layer(layerOf())("a backup", (it) => {
  it.effect("that failed needs a person, until one was made as is named for it", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { dataDir } = yield* AppConfig
      const settings = { backup: { autoBackupEnabled: true, frequency: "hourly" } }
      const set = yield* app.admin("/api/settings", { method: "PATCH", body: settings })
      assert.strictEqual(set.status, 200, set.text)
      // The folder of the backups cannot be written.
      const folder = join(dataDir, "backups")
      rmSync(folder, { recursive: true, force: true })
      writeFileSync(folder, "")
      yield* Layer.build(BackupSchedule.layer)
      yield* TestClock.adjust("10 minutes")
      const [failed] = yield* list
      assert.strictEqual(failed?.kind, "backupFailed")
      rmSync(folder)
      for (const { method, path } of failed?.actions ?? []) {
        const answer = yield* app.admin(path, { method })
        assert.include([200, 201], answer.status, answer.text)
      }
      assert.deepStrictEqual(yield* list, [])
    }).pipe(Effect.scoped)
  )
})
