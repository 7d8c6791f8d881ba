import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { afterAll, beforeAll } from "vitest"
import { typed } from "../unit/cli/inProcess.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, run, serve, start } = program()

const admin = { GATEWAY_ADMIN_KEY: "admin-of-the-test" }
const server: { current: Serving | null } = { current: null }
beforeAll(async () => {
  server.current = await serve({ DATA_DIR: dataDir(), ...admin })
})
afterAll(async () => {
  assert.strictEqual(await server.current?.stop("SIGTERM"), 0)
})

/** Elsewhere than the server's data folder, so that only the network connects them. */
const environment = () => ({ DATA_DIR: dataDir(), GATEWAY_URL: server.current?.url ?? "" })
const operate = (...args: ReadonlyArray<string>) => run(args, { ...environment(), ...admin })

const json = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await Effect.runPromise(
    // In the process of the test: what it starts as a program is shown by the others.
    typed([...args, "--json", "--url", server.current?.url ?? "", "--gateway-key", admin.GATEWAY_ADMIN_KEY])
  )
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
}

describe("against a running gateway", () => {
  it("shows its state, with and without a key", async () => {
    const open = await run(["status", "--json"], environment())
    assert.strictEqual(open.code, 0)
    assert.deepInclude(JSON.parse(open.stdout), { status: "ok", gateway: null })
    assert.strictEqual((await json("status")).gateway.status, "ok")
    assert.strictEqual((await json("health")).status, "ok")
  })

  it("exits 4 without a key, and with a wrong one", async () => {
    const none = await run(["keys", "list"], environment())
    assert.deepStrictEqual([none.code, none.stdout], [4, ""])
    assert.include(none.stderr, "GATEWAY_ADMIN_KEY")
    const wrong = await run(["keys", "list", "--gateway-key", "wrong"], environment())
    assert.strictEqual(wrong.code, 4)
    assert.notInclude(wrong.stderr, "wrong\n")
  })

  it("makes a key whose secret is alone on stdout, and that then works", async () => {
    const made = await operate("keys", "add", "script", "--scope", "manage")
    assert.strictEqual(made.code, 0, made.stderr)
    assert.match(made.stdout, /^gw_\w+\n$/)
    const listed = await run(["keys", "list", "--json", "--gateway-key", made.stdout.trim()], environment())
    assert.strictEqual(listed.code, 0, listed.stderr)
    assert.notInclude(listed.stdout, made.stdout.trim())

    assert.strictEqual((await operate("keys", "remove", "script")).code, 0)
    assert.strictEqual((await run(["keys", "list", "--gateway-key", made.stdout.trim()], environment())).code, 4)
    assert.strictEqual((await operate("keys", "remove", "script")).code, 2)
  })

  it("refuses to manage with a key without scope", async () => {
    const made = await operate("keys", "add", "inference-only")
    assert.strictEqual((await run(["combo", "list", "--gateway-key", made.stdout.trim()], environment())).code, 4)
  })

  it("connects a provider and lists its models", async () => {
    const { connection } = await json(
      "provider",
      "add",
      "openai",
      "--api-key",
      "sk-0123456789abcdef",
      "--name",
      "work",
      "--no-verify"
    )
    assert.deepInclude(connection, { provider: "openai", name: "work" })
    assert.lengthOf((await json("provider", "list")).connections, 1)
    const { data } = await json("models", "openai")
    assert.isAbove(data.length, 0)
    for (const model of data) assert.isTrue(model.id.startsWith("openai/"), model.id)

    const unknown = await operate("provider", "add", "nobody")
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.stderr, "nobody")
  })

  it("makes, switches and deletes a combo", async () => {
    const { combo } = await json("combo", "create", "fast", "openai/gpt-4.1", "groq/llama-3.3-70b-versatile")
    assert.strictEqual(combo.strategy, "priority")
    const switched = await json("combo", "switch", "fast", "groq/llama-3.3-70b-versatile")
    assert.strictEqual(switched.combo.targets[0].model, "groq/llama-3.3-70b-versatile")
    assert.lengthOf(switched.combo.targets, 2)
    assert.strictEqual((await operate("combo", "switch", "fast", "nobody/none")).code, 2)
    assert.strictEqual((await operate("combo", "create", "fast", "openai/gpt-4.1")).code, 1)
    assert.strictEqual((await operate("combo", "delete", "fast")).code, 0)
    assert.deepStrictEqual((await json("combo", "list")).combos, [])
  })

  it("shows requests, finds them by a text, and follows new ones", async () => {
    const ask = (model: string) =>
      fetch(`${server.current?.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${admin.GATEWAY_ADMIN_KEY}` },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] })
      })
    const follower = start(["logs", "--follow", "--json"], { ...environment(), ...admin })
    const lines = createInterface({ input: follower.stdout! })[Symbol.asyncIterator]()
    await ask("nowhere/one")
    const first = await lines.next()
    assert.strictEqual(JSON.parse(first.value).requestedModel, "nowhere/one")
    await ask("nowhere/two")
    const second = await lines.next()
    assert.strictEqual(JSON.parse(second.value).requestedModel, "nowhere/two")
    follower.kill("SIGINT")
    const [code] = await once(follower, "exit")
    assert.strictEqual(code, 130)

    assert.lengthOf((await json("logs", "--search", "NOWHERE/ONE")).logs, 1)
    const people = await operate("logs")
    assert.include(people.stdout, "nowhere/two")
  })
})
