/** Work that one of several gateways on a database does, as processes: each thing once, and by the next one when the first is killed. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { once } from "node:events"
import { createServer } from "node:http"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, ask, authorization, manage, provider, until } from "./processes.ts"
import { emptyDatabase } from "./postgres.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()

/** A receiver of webhooks: how often each event has come. */
const makeReceiver = () => {
  const events = new Map<string, number>()
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const { id } = JSON.parse(Buffer.concat(parts).toString()) as { readonly id: string }
      events.set(id, (events.get(id) ?? 0) + 1)
      response.end()
    })
  })
  let port = 0
  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    port = typeof address === "object" && address !== null ? address.port : 0
  })
  afterAll(() => void server.close())
  return { events, url: () => `http://127.0.0.1:${port}/in` }
}

const receiver = makeReceiver()

const worksAt = async (server: Serving): Promise<boolean> => {
  const { nodes } = (await manage(server, "GET", "/api/cluster")) as {
    readonly nodes: ReadonlyArray<{ readonly self: boolean; readonly background: boolean }>
  }
  return nodes.some(({ background, self }) => background && self)
}

const there = isPostgresThere()

describe.skipIf(!there)(`work of one of two gateways${there ? "" : noPostgres}`, () => {
  it("delivers each event once, whichever it happened at, and goes on when the one that delivers is killed", async () => {
    const database = await emptyDatabase()
    const shared = {
      GATEWAY_DATABASE_URL: database.url,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
      OUTBOUND_SSRF_GUARD_ENABLED: "false"
    }
    const folder = dataDir()
    const one = await serve({ ...shared, DATA_DIR: folder })
    const two = await serve({ ...shared, DATA_DIR: dataDir() })
    await manage(one, "POST", "/api/providers", upstream.connection())
    let rows = 0
    const asked = async (server: Serving): Promise<void> => {
      rows += 1
      assert.strictEqual(await ask(server), 200)
    }
    await until(async () => {
      rows += 1
      return (await ask(two)) === 200
    }, "the other has the connection")
    await manage(two, "POST", "/api/webhooks", { url: receiver.url(), events: ["request.completed"] })
    /** Until each request has its row, with which its event is written, and no event waits. */
    const settled = async (what: string): Promise<number> => {
      await until(async () => {
        const [row] = await database.rows(
          "SELECT (SELECT COUNT(*) FROM usage_log) AS rows, (SELECT COUNT(*) FROM webhook_outbox) AS waiting"
        )
        return Number(row?.["rows"]) === rows && Number(row?.["waiting"]) === 0
      }, what)
      return receiver.events.size
    }
    // Both have heard of it when an event of each has arrived.
    for (const server of [one, two]) {
      const before = receiver.events.size
      await until(async () => {
        await asked(server)
        return receiver.events.size > before
      }, "an event of each arrives")
    }
    const before = await settled("nothing is under way")
    await Promise.all(Array.from({ length: 40 }, (_, n) => asked(n % 2 === 0 ? one : two)))
    assert.strictEqual(await settled("each event has arrived"), before + 40)
    assert.isTrue(await worksAt(one))

    await one.stop("SIGKILL")
    for (let n = 0; n < 5; n += 1) await asked(two)
    assert.strictEqual(await settled("the other goes on"), before + 45)
    assert.isTrue(await worksAt(two))

    // The first comes back, and leaves it to the other.
    const again = await serve({ ...shared, DATA_DIR: folder })
    await asked(again)
    assert.strictEqual(await settled("an event of it"), before + 46)
    assert.isFalse(await worksAt(again))

    // The one that delivers is stopped: the other goes on, and the first finds that it is not its work any more when it is woken.
    two.process.kill("SIGSTOP")
    for (let n = 0; n < 5; n += 1) await asked(again)
    assert.strictEqual(await settled("the other goes on"), before + 51)
    two.process.kill("SIGCONT")
    for (let n = 0; n < 6; n += 1) await asked(n % 2 === 0 ? two : again)
    assert.strictEqual(await settled("events of both"), before + 57)
    assert.isTrue(await worksAt(again))
    assert.isFalse(await worksAt(two))
    assert.deepStrictEqual(
      [...receiver.events.values()].filter((times) => times !== 1),
      []
    )
  }, 300_000)

  it("leaves batches and evaluations to the gateway that has begun them", async () => {
    const database = await emptyDatabase()
    const shared = {
      GATEWAY_DATABASE_URL: database.url,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters"
    }
    const folder = dataDir()
    const one = await serve({ ...shared, DATA_DIR: folder })
    await manage(one, "POST", "/api/providers", upstream.connection())
    await until(async () => (await ask(one)) === 200, "it serves")
    const before = upstream.calls()

    upstream.hold()
    const lines = ["a", "b", "c"].map((id) =>
      JSON.stringify({
        custom_id: id,
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: "openai/gpt-4o", messages: [{ role: "user", content: id }] }
      })
    )
    const form = new FormData()
    form.append("purpose", "batch")
    form.append("file", new Blob([lines.join("\n")]), "lines.jsonl")
    const uploaded = await fetch(`${one.url}/v1/files`, { method: "POST", headers: { authorization }, body: form })
    const { id: input } = (await uploaded.json()) as { readonly id: string }
    const batch = (await manage(one, "POST", "/v1/batches", {
      input_file_id: input,
      endpoint: "/v1/chat/completions",
      completion_window: "24h"
    })) as { readonly id: string }
    const { suite } = (await manage(one, "POST", "/api/evals/suites", {
      name: "Mine",
      cases: [
        {
          name: "greets",
          input: { messages: [{ role: "user", content: "hi" }] },
          expected: { strategy: "contains", value: "hi" }
        }
      ]
    })) as { readonly suite: { readonly id: string } }
    await manage(one, "POST", "/api/evals", { suiteId: suite.id, target: { type: "model", id: "openai/gpt-4o" } })
    const state = async () => {
      const [row] = await database.rows(
        `SELECT (SELECT status FROM batches) AS batch, (SELECT status FROM eval_runs) AS run, (SELECT completed FROM batches) AS completed,
          (SELECT COUNT(*) FROM cluster_claims WHERE name LIKE 'batch %' OR name LIKE 'evaluation %') AS claims`
      )
      return {
        batch: row?.["batch"],
        run: row?.["run"],
        completed: Number(row?.["completed"]),
        claims: Number(row?.["claims"])
      }
    }
    await until(() => upstream.held() > 1, "both ask")

    // Another one starts meanwhile, and one more.
    const two = await serve({ ...shared, DATA_DIR: dataDir() })
    const three = await serve({ ...shared, DATA_DIR: dataDir() })
    for (const server of [two, three]) {
      await until(async () => (await fetch(`${server.url}/v1/models`)).ok, "it serves")
    }
    assert.deepInclude(await state(), { batch: "in_progress", run: "running", claims: 2 })
    upstream.release()
    await until(async () => (await state()).batch === "completed" && (await state()).run === "completed", "both end")
    assert.deepStrictEqual(await state(), { batch: "completed", run: "completed", completed: 3, claims: 0 })
    assert.strictEqual(upstream.calls() - before, 4)
    const { output_file_id: output } = (await manage(one, "GET", `/v1/batches/${batch.id}`)) as {
      readonly output_file_id: string
    }
    const content = await fetch(`${one.url}/v1/files/${output}/content`, { headers: { authorization } })
    assert.lengthOf((await content.text()).trim().split("\n"), 3)

    // Of one that was killed another makes nothing; it goes on when it is back.
    upstream.hold()
    await manage(one, "POST", "/v1/batches", {
      input_file_id: input,
      endpoint: "/v1/chat/completions",
      completion_window: "24h"
    })
    await until(() => upstream.held() > 0, "a second batch asks")
    await one.stop("SIGKILL")
    upstream.release()
    const four = await serve({ ...shared, DATA_DIR: dataDir() })
    await until(async () => (await fetch(`${four.url}/v1/models`)).ok, "it serves")
    const open = "SELECT status FROM batches WHERE status = 'in_progress'"
    assert.lengthOf(await database.rows(open), 1)
    await serve({ ...shared, DATA_DIR: folder })
    await until(
      async () => (await database.rows("SELECT id FROM batches WHERE status = 'completed'")).length === 2,
      "both"
    )
  }, 300_000)
})
