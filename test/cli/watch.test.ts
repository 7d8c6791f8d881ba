/** The live feed on a terminal, and what needs a person. */
import { assert, describe, it } from "@effect/vitest"
import { eventually } from "../support/eventually.ts"
import { program } from "./support.ts"

const patienceMs = 120_000
const slow = { withinMs: 60_000, everyMs: 50 }
const { dataDir, run, serve } = program()
const adminKey = "watch-admin-key-of-this-test"

const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }

interface Item {
  readonly severity: string
  readonly subject: { readonly type: string; readonly name: string }
  readonly text: string
  readonly actions: ReadonlyArray<unknown>
}

const listeners = async (url: string): Promise<number> =>
  ((await (await fetch(`${url}/api/live`, { headers })).json()) as { readonly clients: number }).clients

describe("gateway watch", () => {
  it(
    "shows the chosen channels as lines of JSON or as a table, and ends with the gateway",
    async () => {
      const environment = { DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }
      const server = await serve(environment)
      const watching = run(["watch", "config", "--events", "2", "--json"], environment)
      const forPeople = run(["watch", "--events", "1", "config"], environment)
      const toTheEnd = run(["watch", "budget", "jobs"], environment)
      await eventually(
        "three listeners",
        () => listeners(server.url),
        (count) => count === 3,
        slow
      )
      const made = await run(["keys", "create", "watched", "--json"], environment)
      assert.strictEqual(made.code, 0, made.stderr)
      const { id } = JSON.parse(made.stdout).key
      const renamed = await run(["keys", "edit", "watched", "--name", "renamed"], environment)
      assert.strictEqual(renamed.code, 0, renamed.stderr)

      const told = await watching
      assert.strictEqual(told.code, 0, told.stderr)
      const frames = told.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.lengthOf(frames, 2)
      for (const { channel, data, event, type } of frames) {
        assert.deepStrictEqual(
          [type, channel, event, data.kind, data.id],
          ["event", "config", "config.changed", "key", id]
        )
      }
      assert.isAbove(frames[1].data.version, frames[0].data.version)

      const table = await forPeople
      assert.strictEqual(table.code, 0, table.stderr)
      const [head = "", row = ""] = table.stdout.split("\n")
      assert.match(head, /^TIME +CHANNEL +EVENT +WHAT/)
      assert.match(row, /^\d\d:\d\d:\d\d +config +config\.changed +kind=key/)

      await server.stop("SIGTERM")
      const ended = await toTheEnd
      assert.strictEqual(ended.code, 1)
      assert.include(ended.stderr, "closed the feed")
    },
    patienceMs
  )

  it(
    "says who is not let in, and what is no channel",
    async () => {
      const environment = { DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }
      const server = await serve(environment)
      const wrong = await run(["watch", "nothing"], environment)
      assert.strictEqual(wrong.code, 2, wrong.stderr)
      const stranger = await run(["watch", "--url", server.url, "--gateway-key", "gw_wrong_0123456789"], environment)
      assert.notInclude([0, 2], stranger.code, stranger.stderr)
      await server.stop("SIGTERM")
    },
    patienceMs
  )
})

describe("gateway attention", () => {
  it(
    "lists what is wrong with what can be done, and ends with 1 for an error",
    async () => {
      const environment = { DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }
      const server = await serve(environment)
      const call = async (method: string, path: string, body: unknown): Promise<unknown> => {
        const answer = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) })
        assert.isBelow(answer.status, 300, path)
        return answer.json()
      }
      const calm = await run(["attention", "--json"], environment)
      assert.deepStrictEqual([calm.code, JSON.parse(calm.stdout).items], [0, []], calm.stderr)
      const empty = await run(["attention"], environment)
      assert.strictEqual(empty.code, 0, empty.stderr)

      // A list of models that nobody answers.
      await call("POST", "/api/providers", { provider: "ollama", name: "cellar", baseUrl: "http://127.0.0.1:9" })
      const items = async (): Promise<ReadonlyArray<Item>> =>
        JSON.parse((await run(["attention", "--json"], environment)).stdout).items
      const [item = assert.fail("none")] = await eventually(
        "the list of models has failed",
        items,
        (all) => all.length === 1,
        slow
      )
      assert.deepInclude(item.subject, { type: "connection", name: "cellar" })
      assert.isNotEmpty(item.actions)
      const shown = await run(["attention"], environment)
      assert.strictEqual(shown.code, item.severity === "error" ? 1 : 0, shown.stderr)
      assert.include(shown.stdout, "cellar")
      assert.include(shown.stdout, item.text.slice(0, 20))
      const errors = await run(["attention", "--severity", "error", "--json"], environment)
      assert.strictEqual(JSON.parse(errors.stdout).items.length, item.severity === "error" ? 1 : 0)
      const status = await run(["status"], environment)
      assert.match(`${status.stdout}${status.stderr}`, /attention/i)
      await server.stop("SIGTERM")
    },
    patienceMs
  )
})
