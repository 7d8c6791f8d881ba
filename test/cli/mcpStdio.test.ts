/** `gateway --mcp`: the official client over stdio, with the built program. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import * as TestGateway from "../support/TestGateway.ts"
import { fed, freePort, program } from "./support.ts"
import { nodeFlags } from "./built.ts"

const { dataDir, main, run, serve } = program()

const initialize = {
  jsonrpc: "2.0",
  id: "first",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
}
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }
const list = { jsonrpc: "2.0", id: 2, method: "tools/list" }

/** Lines that the program writes for these, parsed, and what it says beside. */
const spoken = async (
  environment: Readonly<Record<string, string>>,
  messages: ReadonlyArray<unknown>,
  args: ReadonlyArray<string> = ["--mcp"]
) => {
  const lines = messages.map((message) => (typeof message === "string" ? message : JSON.stringify(message)))
  const home = { PATH: process.env["PATH"] ?? "", HOME: environment["DATA_DIR"] ?? "", ...environment }
  const { code, stderr, stdout } = await fed(main, args, home, lines.map((line) => `${line}\n`).join(""))
  const answers = stdout
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return { code, stderr, answers }
}

const toolsIn = (answers: ReadonlyArray<{ readonly id?: unknown; readonly result?: { readonly tools?: unknown } }>) => {
  const tools = answers.find(({ id }) => id === 2)?.result?.tools
  return Array.isArray(tools) ? tools.map(({ name }: { readonly name: string }) => name) : null
}

describe("gateway --mcp", () => {
  it.scopedLive("serves a client that starts it, and says so when no gateway runs", () =>
    Effect.gen(function* () {
      const { url } = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const connect = async (address: string) => {
          const client = new Client({ name: "test", version: "1.0.0" })
          const transport = new StdioClientTransport({
            command: process.execPath,
            args: [...nodeFlags, main, "--mcp", "--url", address, "--gateway-key", TestGateway.adminKey],
            stderr: "ignore"
          })
          await client.connect(transport)
          return client
        }
        const client = await connect(url)
        const { tools } = await client.listTools()
        assert.isAbove(tools.length, 30)
        const results = await Promise.all(
          Array.from({ length: 5 }, () => client.callTool({ name: "gateway_get_health", arguments: {} }))
        )
        for (const { isError } of results) assert.isNotTrue(isError)
        await client.close()
        const refused = await connect("http://127.0.0.1:1").then(
          () => "",
          (error: unknown) => String(error)
        )
        assert.match(refused, /No gateway answers/)
      })
    })
  )

  it("works beside a running gateway without a key, and with an ordinary or an admin key that the caller gives", async () => {
    const DATA_DIR = dataDir()
    const server = await serve({ DATA_DIR })
    const messages = [initialize, initialized, list]
    const made = async (...args: ReadonlyArray<string>) => {
      const { code, stderr, stdout } = await run(["key", "add", ...args], { DATA_DIR })
      assert.strictEqual(code, 0, stderr)
      return stdout.trim()
    }
    const plain = await made("plain")
    const operator = await made("operator", "--scope", "manage")
    for (const args of [["--mcp"], ["mcp", "serve"]]) {
      const owner = await spoken({ DATA_DIR }, messages, args)
      assert.deepStrictEqual(
        owner.answers.map(({ id }) => id),
        ["first", 2],
        owner.stderr
      )
      assert.isAbove(toolsIn(owner.answers)?.length ?? 0, 30)
      const ordinary = toolsIn((await spoken({ DATA_DIR, GATEWAY_API_KEY: plain }, messages, args)).answers)
      assert.lengthOf(ordinary ?? [], 7)
      assert.include(ordinary ?? [], "gateway_route_request")
      const admin = toolsIn((await spoken({ DATA_DIR, GATEWAY_API_KEY: operator }, messages, args)).answers)
      assert.isAbove(admin?.length ?? 0, 30)
      const byFlag = toolsIn((await spoken({ DATA_DIR }, messages, [...args, "--gateway-key", plain])).answers)
      assert.lengthOf(byFlag ?? [], 7)
      // For a client its own variable counts, whatever the operator's says.
      const both = { DATA_DIR, GATEWAY_API_KEY: plain, GATEWAY_ADMIN_KEY: operator }
      assert.lengthOf(toolsIn((await spoken(both, messages, args)).answers) ?? [], 7)
    }
    const few = await spoken({ DATA_DIR }, messages, ["--mcp", "--toolsets", "cache", "--schemas", "full"])
    assert.lengthOf(toolsIn(few.answers) ?? [], 3)
    // The other commands ask with what the caller gives, too; --local is the owner.
    const refused = await run(["key", "list"], { DATA_DIR, GATEWAY_API_KEY: plain })
    assert.strictEqual(refused.code, 4)
    assert.match(refused.stderr, /GATEWAY_API_KEY was used.*--local/)
    assert.strictEqual((await run(["key", "list", "--local"], { DATA_DIR, GATEWAY_API_KEY: plain })).code, 0)
    assert.strictEqual((await run(["key", "list"], { DATA_DIR, GATEWAY_API_KEY: operator })).code, 0)
    // What the settings file of the data folder has is the machine's, not the caller's.
    assert.strictEqual((await run(["env", "set", "GATEWAY_API_KEY", plain], { DATA_DIR })).code, 0)
    assert.strictEqual((await run(["key", "list"], { DATA_DIR })).code, 0)
    await server.stop("SIGTERM")
  }, 180_000)

  it("answers every request that is refused by its id, and no notification", async () => {
    const DATA_DIR = dataDir()
    const server = await serve({ DATA_DIR, GATEWAY_ADMIN_KEY: "admin-key-of-the-test-0123", REQUIRE_API_KEY: "true" })
    const messages = [initialize, initialized, list, '{"jsonrpc":"2.0","id":9,"method":', "no json"]
    for (const environment of [
      { GATEWAY_URL: server.url, GATEWAY_API_KEY: "gw_wrong" },
      { GATEWAY_URL: "http://127.0.0.1:1", GATEWAY_API_KEY: "gw_wrong" }
    ]) {
      const { answers } = await spoken({ DATA_DIR: dataDir(), ...environment }, messages)
      assert.sameMembers(
        answers.map(({ id }) => id),
        ["first", 2, 9, null]
      )
      assert.isTrue(answers.every(({ error }) => typeof error.message === "string"))
    }
    await server.stop("SIGTERM")
  }, 120_000)

  it("goes on when the gateway is started anew", async () => {
    const DATA_DIR = dataDir()
    const port = String(await freePort())
    const again = () => serve({ DATA_DIR })
    const before = await again()
    const child = spawn(process.execPath, [...nodeFlags, main, "--mcp"], {
      // Where no gateway is found, the one at the configured port is asked.
      env: { PATH: process.env["PATH"], HOME: DATA_DIR, DATA_DIR, PORT: port },
      stdio: ["pipe", "pipe", "ignore"]
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const asked = async (message: unknown) => {
      child.stdin.write(`${JSON.stringify(message)}\n`)
      return JSON.parse((await lines.next()).value ?? "null")
    }
    assert.strictEqual((await asked(initialize)).id, "first")
    child.stdin.write(`${JSON.stringify(initialized)}\n`)
    assert.isArray((await asked(list)).result.tools)
    await before.stop("SIGTERM")
    const gone = await asked({ ...list, id: 3 })
    assert.deepStrictEqual([gone.id, typeof gone.error.message], [3, "string"])
    const after = await again()
    const found = await asked({ ...list, id: 4 })
    assert.isArray(found.result?.tools, JSON.stringify(found))
    const ended = once(child, "exit")
    child.stdin.end()
    await ended
    await after.stop("SIGTERM")
  }, 120_000)
})
