/** Registered MCP servers that are programs: who may name one, how it is started and how it ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { eventually } from "../../../support/eventually.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { connect } from "../Client.ts"
import { ask, foreign, program } from "./Servers.ts"

const password = "correct horse battery staple"
const command = process.execPath
const token = "token-of-the-service-1"
const argument = "argument-secret-123456"

interface Setting {
  readonly gateway: TestGateway.TestGateway
  readonly folder: string
  /** A management call by the session of a login; the status and the body. */
  readonly bySession: (method: string, path: string, body?: object, more?: object) => Promise<readonly [number, string]>
}

const setting = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const environment = new Map([
    ["PATH", "/usr/bin:/bin"],
    ["HOME", folder],
    ["SECRET_OF_THE_GATEWAY", "not for programs"]
  ])
  const gateway = yield* TestGateway.start({ environment, adminPassword: Redacted.make(password) })
  const login = yield* Effect.promise(() => gateway.post("/api/auth/login", { password }))
  const { csrfToken } = (yield* Effect.promise(() => login.json())) as { readonly csrfToken: string }
  const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
  const own = { cookie, "x-csrf-token": csrfToken, "content-type": "application/json" }
  const bySession: Setting["bySession"] = async (method, path, body, more = {}) => {
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { ...own, ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return [answer.status, await answer.text()]
  }
  return { gateway, folder, bySession }
})

const scenario = (name: string, run: (given: Setting) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setting, (given) => Effect.promise(() => run(given))), 30_000)
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const pidIn = (file: string): number => Number(readFileSync(file, "utf8"))

const definition = (pidFile: string, more: object = {}) => ({
  name: "files",
  command,
  args: [program, pidFile, "plain", argument],
  env: { SERVICE_TOKEN: token },
  ...more
})

describe("a registered MCP server that is a program", () => {
  scenario("is named, changed and tested at the machine by a session only", async ({ bySession, folder, gateway }) => {
    const { manage, post, url } = gateway
    const pidFile = join(folder, "pid")
    const body = definition(pidFile)
    const { secret } = await manage("POST", "/api/keys", { name: "manager", scopes: ["manage"] })
    for (const key of [TestGateway.adminKey, secret]) {
      const refused = await post("/api/mcp/servers", body, { authorization: `Bearer ${key}` })
      assert.strictEqual(refused.status, 403)
      assert.match(await refused.text(), /session_required/)
    }
    const elsewhere = { "x-forwarded-for": "203.0.113.9" }
    const forwarded = await bySession("POST", "/api/mcp/servers", body, elsewhere)
    assert.strictEqual(forwarded[0], 403, forwarded[1])
    for (const [wrong, message] of [
      [{ command: "node" }, /absolute path/],
      [{ command: join(folder, "none") }, /no program/],
      [{ command: folder }, /no program/],
      [{ command: `${command} --eval` }, /no program/],
      [{ url: "http://127.0.0.1:1/mcp" }, /url: does not go with a program/],
      [{ headers: { a: "b" } }, /headers: do not go with a program/],
      [{ args: ["a\0b"] }, /args/],
      [{ env: { "A=B": "c" } }, /env/]
    ] as const) {
      const [status, text] = await bySession("POST", "/api/mcp/servers", { ...body, ...wrong })
      assert.strictEqual(status, 400, JSON.stringify(wrong))
      assert.match(text, message)
    }
    const [status, text] = await bySession("POST", "/api/mcp/servers", body)
    assert.strictEqual(status, 201, text)
    const { server } = JSON.parse(text)
    assert.deepInclude(server, { transport: "stdio", url: null, command, envNames: ["SERVICE_TOKEN"] })
    const path = `/api/mcp/servers/${server.id}`
    const asAdmin = (method: string, at: string, given?: object) =>
      manage(method, at, given).then(
        () => "done",
        (error: Error) => error.message
      )
    assert.match(await asAdmin("PATCH", path, { args: ["-e", "0"] }), /403.+session_required/)
    assert.match(await asAdmin("PATCH", path, { enabled: false }), /403/)
    assert.match(await asAdmin("POST", `${path}/test`), /403/)
    assert.isFalse(existsSync(pidFile))
    assert.strictEqual((await bySession("POST", `${path}/test`, undefined, elsewhere))[0], 403)

    const connected = await connect(url)
    assert.deepStrictEqual(await foreign(connected), ["files__add", "files__facts", "files__repeat", "files__exit"])
    assert.deepInclude(await ask(connected, "files__add", { a: 1, b: 2 }), { isError: false, text: "3" })
    const repeated = await ask(connected, "files__repeat")
    assert.match(repeated.text, /^\[redacted\] \[redacted\] .{0,2}\[redacted\].{0,3} in \//)
    const { tools } = await connected.client.listTools()
    assert.include(JSON.stringify(tools), "Knows [redacted].")
    assert.notInclude(JSON.stringify([repeated, tools]), token)
    const facts = JSON.parse((await ask(connected, "files__facts")).text)
    assert.deepInclude(facts, { hasToken: true, hasSecret: true })
    assert.notInclude(facts.names, "SECRET_OF_THE_GATEWAY")
    assert.includeMembers(facts.names, ["HOME", "PATH", "SERVICE_TOKEN"])

    // What was shown may be sent back: the masked argument stays what it is.
    const [patched, shown] = await bySession("PATCH", path, { args: server.args, timeoutMs: 5_000 })
    assert.strictEqual(patched, 200, shown)
    assert.isTrue(JSON.parse((await ask(connected, "files__facts")).text).hasSecret)
    const told = JSON.stringify([
      await manage("GET", "/api/mcp/servers"),
      await manage("GET", "/api/compliance/audit-log"),
      text,
      shown
    ])
    assert.notInclude(told, token)
    assert.notInclude(told, argument)

    const pid = pidIn(pidFile)
    assert.isTrue(isAlive(pid))
    assert.strictEqual(await asAdmin("DELETE", path), "done")
    await eventually(
      "its end",
      () => isAlive(pid),
      (alive) => !alive
    )
    assert.deepStrictEqual(await foreign(connected), [])
  })

  scenario("is started again after its end, and its failures are told without secrets", async (given) => {
    const { bySession, folder, gateway } = given
    const add = async (name: string, more: object) => {
      const body = definition(join(folder, name), { name, timeoutMs: 2_000, ...more })
      const [status, text] = await bySession("POST", "/api/mcp/servers", body)
      assert.strictEqual(status, 201, text)
    }
    const node = (script: string) => ({ args: ["-e", script], env: {} })
    await add("files", {})
    await add("dies", { args: [program, join(folder, "dies"), "dies"] })
    await add("silent", node("setInterval(() => {}, 1000)"))
    await add("noisy", node("setInterval(() => console.log('hello'), 1)"))
    await add("long", node("process.stdout.write('x'.repeat(5000000)); setInterval(() => {}, 1000)"))
    const connected = await connect(gateway.url)
    await eventually(
      "their states",
      () => foreign(connected).then(() => gateway.manage("GET", "/api/mcp/servers")),
      ({ servers }) => servers.every(({ status }: { status: string }) => status !== "idle")
    )
    const { servers } = await gateway.manage("GET", "/api/mcp/servers")
    const errors = Object.fromEntries(
      servers.map(({ lastError, name }: { name: string; lastError: string | null }) => [name, lastError])
    )
    assert.isNull(errors.files)
    assert.strictEqual(errors.dies, "ended with 3: cannot start with [redacted]")
    assert.strictEqual(errors.silent, "did not answer within 2 seconds")
    assert.strictEqual(errors.noisy, "printed 101 lines that are no messages")
    assert.strictEqual(errors.long, "sent a line of more than 4194304 bytes")

    const first = pidIn(join(folder, "files"))
    const ended = await ask(connected, "files__exit")
    assert.deepInclude(ended, { isError: true, text: "'files' ended with 7." })
    assert.isFalse(isAlive(first))
    rmSync(join(folder, "files"))
    assert.deepInclude(await ask(connected, "files__add", { a: 2, b: 2 }), { isError: false, text: "4" })
    assert.notStrictEqual(pidIn(join(folder, "files")), first)
  })

  scenario("ends and begins anew with a restart of the MCP server, which ends all sessions", async (given) => {
    const { bySession, folder, gateway } = given
    const pidFile = join(folder, "pid")
    const [status, text] = await bySession("POST", "/api/mcp/servers", definition(pidFile))
    assert.strictEqual(status, 201, text)
    const [first, second] = [await connect(gateway.url), await connect(gateway.url)]
    assert.strictEqual((await ask(first, "files__add", { a: 1, b: 2 })).text, "3")
    const pid = pidIn(pidFile)

    const { secret } = await gateway.manage("POST", "/api/keys", { name: "ordinary" })
    for (const headers of [{ authorization: `Bearer ${secret}` }, { authorization: "Bearer nobody" }]) {
      const refused = await fetch(`${gateway.url}/api/mcp/restart`, { method: "POST", headers })
      assert.isAtLeast(refused.status, 401)
      assert.isAtMost(refused.status, 403)
    }
    assert.isTrue(isAlive(pid))
    const restarted = await gateway.manage("POST", "/api/mcp/restart")
    assert.deepStrictEqual(restarted, { restarted: true, sessions: 2, servers: 1 })
    assert.isFalse(isAlive(pid))
    assert.strictEqual((await gateway.manage("GET", "/api/mcp/status")).httpTransport.sessions, 0)
    // A session that is gone is told as such, so that its client begins another one.
    const { code } = await second.client.ping().then(
      () => ({ code: 0 }),
      (error: unknown) => error as { readonly code: number }
    )
    assert.strictEqual(code, 404)

    const again = await connect(gateway.url)
    assert.strictEqual((await ask(again, "files__add", { a: 2, b: 2 })).text, "4")
    assert.notStrictEqual(pidIn(pidFile), pid)
    assert.deepInclude(await gateway.manage("POST", "/api/mcp/restart"), { sessions: 1, servers: 1 })
  })

  it.scopedLive(
    "ends with the gateway, also when it does not want to",
    () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { bySession, folder, gateway } = yield* Scope.extend(setting, scope)
        const kept = yield* temporaryFolder
        const pids = yield* Effect.promise(async () => {
          for (const mode of ["plain", "stays"]) {
            const body = definition(join(kept, mode), { name: mode, args: [program, join(kept, mode), mode] })
            assert.strictEqual((await bySession("POST", "/api/mcp/servers", body))[0], 201)
          }
          const connected = await connect(gateway.url)
          assert.lengthOf(await foreign(connected), 8)
          await connected.client.close()
          return ["plain", "stays"].map((mode) => pidIn(join(kept, mode)))
        })
        assert.isTrue(pids.every(isAlive))
        assert.isTrue(existsSync(folder))
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(pids.map(isAlive), [false, false])
      }),
    30_000
  )
})
