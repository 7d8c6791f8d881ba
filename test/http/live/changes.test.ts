/** What the feed tells of changes: of the configuration by whatever way, of work in the background, and of health. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { type Client, open } from "../ws/support.ts"

const bearer = { authorization: `Bearer ${TestGateway.adminKey}` }

const listening = (channel: string) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const client = yield* open(gateway, "/api/live", bearer)
    yield* Effect.promise(async () => {
      await client.next()
      client.send({ type: "subscribe", channels: [channel] })
      await client.next()
    })
    return { gateway, client }
  })

const nextData = async (client: Client, where: (data: Record<string, unknown>) => boolean = () => true) => {
  for (;;) {
    const frame = await client.next()
    if (frame.type === "event" && where(frame.data)) return frame.data as Record<string, unknown>
  }
}

const connectionBody = { provider: "openai", name: "work", apiKey: "sk-of-a-test-1234567890", models: ["m"] }

describe("the channel of the configuration", () => {
  it.scopedLive("tells who changed what, in order, and nothing of what only looks or fails", () =>
    Effect.gen(function* () {
      const { client, gateway } = yield* listening("config")
      yield* Effect.promise(async () => {
        const { key } = await gateway.manage("POST", "/api/keys", { name: "k" })
        const created = await nextData(client)
        assert.deepInclude(created, { kind: "key", id: key.id, by: "admin-key", action: "keys.create" })
        await gateway.manage("GET", "/api/keys")
        await fetch(`${gateway.url}/api/combos`, { method: "POST", headers: bearer, body: "{}" })
        const { connection } = await gateway.manage("POST", "/api/providers", connectionBody)
        const connected = await nextData(client)
        assert.deepInclude(connected, { kind: "connection", id: connection.id })
        await gateway.combo("pair", "openai/m")
        assert.deepInclude(await nextData(client), { kind: "combo" })
        await gateway.manage("PATCH", "/api/settings", { metricsPublic: true })
        const settings = await nextData(client)
        assert.deepInclude(settings, { kind: "settings", id: "gatewaySettings", by: "admin-key" })
        await gateway.manage("DELETE", `/api/keys/${key.id}`)
        const removed = await nextData(client)
        assert.deepInclude(removed, { kind: "key", id: key.id, action: "keys.remove" })
        const versions = [created, connected, settings, removed].map(({ version }) => Number(version))
        assert.deepStrictEqual(
          versions,
          versions.toSorted((a, b) => a - b)
        )
        assert.strictEqual(new Set(versions).size, versions.length)
      })
    })
  )

  it.scopedLive("tells of what a file changes, and not of its rehearsal", () =>
    Effect.gen(function* () {
      const { client, gateway } = yield* listening("config")
      yield* Effect.promise(async () => {
        const body = { name: "fast", strategy: "priority", targets: [{ model: "openai/m" }] }
        const changes = [{ kind: "combo", action: "create", name: "fast", body }]
        await gateway.manage("POST", "/api/configuration/apply", { changes, dryRun: true })
        await gateway.manage("POST", "/api/configuration/apply", { changes })
        assert.deepInclude(await nextData(client), { kind: "combo", by: "admin-key", action: "combos.create" })
        await gateway.manage("POST", "/api/keys", { name: "after" })
        assert.deepInclude(await nextData(client), { kind: "key" })
      })
    })
  )
})

describe("the channel of work in the background", () => {
  it.scopedLive("tells of a backup, of the list of models of a connection, and of a batch line by line", () =>
    Effect.gen(function* () {
      const { client, gateway } = yield* listening("jobs")
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
      yield* Effect.promise(async () => {
        await gateway.manage("PUT", "/api/db-backups", {})
        const ofBackup = (data: Record<string, unknown>) => data["kind"] === "backup"
        assert.deepInclude(await nextData(client, ofBackup), { id: "manual", state: "running", done: 0, total: 1 })
        assert.deepInclude(await nextData(client, ofBackup), { id: "manual", state: "completed", done: 1, total: 1 })
        const { id } = await gateway.connect("up", upstream, "chat")
        const ofList = (data: Record<string, unknown>) => data["kind"] === "modelList" && data["id"] === id
        assert.deepInclude(await nextData(client, ofList), { state: "running" })
        assert.deepInclude(await nextData(client, ofList), { state: "failed" })
        const line = (n: number) =>
          JSON.stringify({
            custom_id: `c${n}`,
            method: "POST",
            url: "/v1/chat/completions",
            body: { model: "up/m", messages: [{ role: "user", content: "Hi" }] }
          })
        const form = new FormData()
        form.set("purpose", "batch")
        form.set("file", new Blob([`${line(1)}\n${line(2)}\n`]), "lines.jsonl")
        const file = await fetch(`${gateway.url}/v1/files`, { method: "POST", body: form })
        const batch = await gateway.post("/v1/batches", {
          input_file_id: ((await file.json()) as { id: string }).id,
          endpoint: "/v1/chat/completions",
          completion_window: "24h"
        })
        const { id: batchId } = (await batch.json()) as { id: string }
        const states: Array<unknown> = []
        const done: Array<number> = []
        while (states.at(-1) !== "completed") {
          const data = await nextData(client, (each) => each["kind"] === "batch")
          assert.strictEqual(data["id"], batchId)
          if (states.at(-1) !== data["state"]) states.push(data["state"])
          done.push(Number(data["done"]))
        }
        assert.deepStrictEqual(states, ["validating", "in_progress", "finalizing", "completed"])
        assert.strictEqual(done.at(-1), 2)
        assert.deepStrictEqual(
          done,
          done.toSorted((a, b) => a - b)
        )
      })
    })
  )
})

describe("the channel of health", () => {
  it.scopedLive("tells of breakers, of connections that rest, and of tests", () =>
    Effect.gen(function* () {
      const { client, gateway } = yield* listening("health")
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        const { id } = await gateway.connect("up", upstream, "chat")
        upstream.always(
          Fake.json({ error: { message: "slow down" } }, { status: 429, headers: { "retry-after": "60" } })
        )
        const ask = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }
        await (await gateway.post("/v1/chat/completions", ask)).arrayBuffer()
        const rests = await nextData(client, (data) => data["connectionId"] === id && "until" in data)
        assert.isNotNull(rests["until"])
        upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
        await gateway.manage("POST", `/api/providers/${id}/test`, {})
        const tested = await nextData(client, (data) => "ok" in data)
        assert.deepInclude(tested, { connectionId: id, ok: true, status: 200 })
        const asNew = await nextData(client, (data) => data["connectionId"] === id && "until" in data)
        assert.isNull(asNew["until"])
        upstream.always(Fake.json({ error: { message: "no" } }, { status: 500 }))
        let opened: Record<string, unknown> | null = null
        for (let n = 0; n < 12 && opened === null; n += 1) {
          await (await gateway.post("/v1/chat/completions", ask)).arrayBuffer()
          await gateway.manage("DELETE", "/api/resilience/cooldowns", { all: true })
          const { breakers } = await gateway.manage("GET", "/api/resilience/breakers")
          if (breakers.some(({ state }: { state: string }) => state === "OPEN")) opened = breakers[0]
        }
        assert.isNotNull(opened)
        const open = await nextData(client, (data) => data["state"] === "OPEN")
        assert.deepInclude(open, { provider: "up" })
        await gateway.manage("POST", "/api/resilience/reset", {})
        assert.deepInclude(await nextData(client, (data) => data["state"] === "CLOSED"), { provider: "up" })
      })
    })
  )
})
