/** The built gateway on a machine of its own: the transparent mode and custom hosts over the API, with the system's own trust store and names. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer as createTcp } from "node:net"
import { join } from "node:path"
import { eventually, lastWithin } from "../support/eventually.ts"
import { A, type Gateway, I, startGateway, startProvider } from "./Gateway.ts"
import {
  filesNow,
  hasJava,
  hostsBytes,
  javaAliases,
  machineNow,
  ownMachine,
  startNameServer,
  trustSlots
} from "./Machine.ts"
import { internet, prepare, rulesNow, run } from "./Namespace.ts"

const sessionSlot = join(trustSlots, "gateway-tproxy-ca.crt")
const names = ["api.example.test", "provider.example.test", "custom.example.test"]
const waitMs = 120_000

let provider: Awaited<ReturnType<typeof startProvider>>
let gateway: Gateway
let before = ""
let filesBefore = ""
let rulesBefore = ""
const closing: Array<() => void> = []

/** As any program of the machine: by name, and trusting what the system trusts. */
const curl = (url: string, ...more: ReadonlyArray<string>) => run("curl", ["-sS", "--max-time", "15", ...more, url])

beforeAll(async () => {
  prepare()
  ownMachine()
  provider = await startProvider()
  closing.push(provider.close, await startNameServer(Object.fromEntries(names.map((name) => [name, internet]))))
  before = machineNow()
  filesBefore = filesNow()
  rulesBefore = rulesNow()
  gateway = await startGateway(provider.caFile)
  assert.strictEqual((await gateway.ask("PUT", `${A}/upstream-ca`, { pem: provider.ca })).status, 200)
}, waitMs)

afterAll(async () => {
  await gateway.stop()
  for (const close of closing) close()
  assert.strictEqual(machineNow(), before)
}, waitMs)

const tproxy = (method: string, body?: unknown) => gateway.ask(method, `${A}/tproxy`, body)

describe("the transparent mode over the API", { timeout: waitMs }, () => {
  afterEach(async () => {
    await tproxy("DELETE")
    assert.strictEqual(machineNow(), before)
  }, waitMs)

  it("captures what programs send, over both families, and leaves nothing when it is stopped", async () => {
    const idle = (await tproxy("GET")).body
    assert.deepInclude(idle, { running: false, available: true, reason: null })
    const started = await tproxy("POST", {})
    assert.strictEqual(started.status, 201, JSON.stringify(started.body))
    assert.deepInclude(started.body, { running: true, onPort: 8443, ipv6: true, interceptCount: 0 })
    assert.isTrue(existsSync(sessionSlot))
    assert.isFalse(existsSync(join(trustSlots, "gateway-mitm-ca.crt")))
    assert.isFalse(existsSync(join(gateway.dataDir, "capture/authority")), "the session's key is in no file")
    if (hasJava()) assert.lengthOf(javaAliases(), 1)

    for (const family of ["-4", "-6"]) {
      const question = JSON.stringify({ model: "far", messages: [{ role: "user", content: `question ${family}` }] })
      const asked = await curl(
        `https://api.example.test/v1/chat/completions?by=${family}`,
        family,
        "-H",
        "content-type: application/json",
        "-d",
        question
      )
      assert.strictEqual(asked.code, 0, asked.stderr)
      assert.include(asked.stdout, "hello /v1/chat/completions")
    }
    const [six, four] = await eventually(
      "two records",
      () => gateway.records("source=tproxy"),
      (found) => found.length === 2 && found.every(({ status }) => status === 200)
    )
    for (const [record, family, address] of [
      [four, "-4", internet.v4],
      [six, "-6", internet.v6]
    ] as const) {
      assert.deepInclude(record, {
        source: "tproxy",
        method: "POST",
        scheme: "https",
        host: "api.example.test",
        path: `/v1/chat/completions?by=${family}`,
        detectedKind: "llm",
        error: null
      })
      assert.include(record.requestBody, `question ${family}`)
      assert.include(record.responseBody, "hello /v1/chat/completions")
      assert.isString(address)
    }
    assert.strictEqual((await tproxy("GET")).body.interceptCount, 2)

    const stopped = await tproxy("DELETE")
    assert.deepStrictEqual([stopped.status, stopped.body.running], [200, false])
    assert.strictEqual(machineNow(), before)
    const direct = await curl("https://api.example.test/direct", "--cacert", provider.caFile)
    assert.strictEqual(direct.code, 0, direct.stderr)
    assert.deepStrictEqual((await tproxy("DELETE")).body, { running: false, brokenConnections: 0 })
    assert.lengthOf(await gateway.records("source=tproxy"), 2)
  })

  it("captures none of a hundred calls of the gateway to a provider, and none of them fails", async () => {
    await gateway.ask("DELETE", `${I}/requests`)
    const baseUrl = "https://provider.example.test/v1"
    const node = { name: "Far", prefix: "far", type: "openai-compatible", baseUrl, wires: ["chat"] }
    assert.isBelow((await gateway.ask("POST", "/api/provider-nodes", node)).status, 300)
    const account = { provider: "far", apiKey: "sk-far", models: ["far"] }
    assert.isBelow((await gateway.ask("POST", "/api/providers", account)).status, 300)
    const { secret } = (await gateway.ask("POST", "/api/keys", { name: "native" })).body
    const port = (await gateway.ask("POST", `${I}/capture-modes/http-proxy`, { action: "start" })).body.port
    await tproxy("POST", {})
    const served = provider.seen.length
    const call = (at: number) =>
      gateway.ask(
        "POST",
        "/v1/chat/completions",
        { model: "far/far", messages: [{ role: "user", content: `number ${at}` }] },
        secret
      )
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => call(round * 10 + at)))
      for (const { body, status } of answers) {
        assert.strictEqual(status, 200, JSON.stringify(body))
        assert.include(body.choices[0].message.content, "hello")
      }
    }
    assert.isAtLeast(provider.seen.length - served, 100)
    assert.lengthOf(await gateway.records("source=tproxy"), 0)
    // The proxy's connections are the gateway's own as well.
    const proxied = await curl(
      "https://provider.example.test/by-proxy",
      "--proxy",
      `http://127.0.0.1:${port}`,
      "--cacert",
      provider.caFile
    )
    assert.strictEqual(proxied.code, 0, proxied.stderr)
    assert.lengthOf(await gateway.records("source=tproxy"), 0)
    // The same server is captured for everyone else.
    const other = await curl("https://provider.example.test/v1/models")
    assert.strictEqual(other.code, 0, other.stderr)
    await eventually(
      "a record",
      () => gateway.records("source=tproxy"),
      (found) => found.length === 1
    )
    await gateway.ask("POST", `${I}/capture-modes/http-proxy`, { action: "stop" })
  })

  it("refuses a second start, also while the first is under way, and stops what is about to start", async () => {
    const both = await Promise.all([tproxy("POST", {}), tproxy("POST", {})])
    assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [201, 409])
    const refused = await tproxy("POST", {})
    assert.deepStrictEqual([refused.status, refused.body.error.code], [409, "already_running"])
    assert.include(refused.body.error.message, "already running")
    await tproxy("DELETE")
    assert.strictEqual(machineNow(), before)

    const starting = tproxy("POST", {})
    await eventually("the start", () => existsSync(sessionSlot), Boolean)
    const stopped = await tproxy("DELETE")
    assert.deepStrictEqual([stopped.status, stopped.body.running], [200, false])
    assert.strictEqual((await starting).status, 201)
    assert.isFalse((await tproxy("GET")).body.running)
    assert.strictEqual(machineNow(), before)
  })

  it("executes nothing for values that cannot be used, a table, mark or port that is in use", async () => {
    for (const [given, field] of [
      [{ mark: 7, bypassMark: 7 }, "bypassMark"],
      [{ dport: 0 }, "dport"],
      [{ dport: 65_536 }, "dport"],
      [{ onPort: 0 }, "onPort"],
      [{ onPort: 65_536 }, "onPort"],
      [{ routeTable: 0 }, "routeTable"]
    ] as const) {
      const { body, status } = await tproxy("POST", given)
      assert.strictEqual(status, 400, JSON.stringify(given))
      assert.include(
        body.error.details.map((detail: { readonly field: string }) => detail.field),
        field
      )
      assert.strictEqual(filesNow(), filesBefore)
    }
    const conflict = async (code: string): Promise<void> => {
      const now = rulesNow()
      const { body, status } = await tproxy("POST", {})
      assert.deepStrictEqual([status, body.error.code], [409, code])
      assert.strictEqual(rulesNow(), now)
      assert.isFalse(existsSync(sessionSlot))
    }
    await run("ip", ["route", "add", "local", "203.0.113.0/24", "dev", "lo", "table", "233"])
    await conflict("table_in_use")
    await run("ip", ["route", "flush", "table", "233"])
    await run("ip", ["rule", "add", "fwmark", "0x2333", "lookup", "50"])
    await conflict("mark_in_use")
    await run("ip", ["rule", "del", "fwmark", "0x2333", "lookup", "50"])
    const taken = createTcp().listen(8443, "127.0.0.1")
    await once(taken, "listening")
    await conflict("port_in_use")
    taken.close()
  })
})

describe("custom hosts", { timeout: waitMs }, () => {
  it("are captured for all programs by their name, over both families, and the hosts file is as it was afterwards", async () => {
    await gateway.ask("DELETE", `${I}/requests`)
    const host = "custom.example.test"
    const added = await gateway.ask("POST", `${I}/hosts`, { host, kind: "custom" })
    assert.strictEqual(added.status, 201)
    assert.isUndefined(added.body.warning)
    const { mitm } = (await gateway.ask("GET", `${I}/capture-modes`)).body
    assert.deepStrictEqual(mitm, { running: true, port: 443 })
    assert.include(readFileSync("/etc/hosts", "latin1"), `127.0.0.1 ${host}`)
    const caFile = join(gateway.dataDir, "capture/authority/ca.crt")
    for (const family of ["-4", "-6"]) {
      const asked = await curl(`https://${host}/things${family}`, family, "--cacert", caFile, "-d", "what I send")
      assert.strictEqual(asked.code, 0, asked.stderr)
      assert.include(asked.stdout, `hello /things${family}`)
    }
    const records = await eventually(
      "two records",
      () => gateway.records("source=custom-host"),
      (found) => found.length === 2 && found.every(({ status }) => status === 200)
    )
    for (const [record, path] of [
      [records[1], "/things-4"],
      [records[0], "/things-6"]
    ] as const) {
      assert.deepInclude(record, { host, path, detectedKind: "custom", requestBody: "what I send" })
    }
    // Both at once: the gateway's call to the real server is not captured a second time.
    assert.strictEqual((await tproxy("POST", {})).status, 201)
    const again = await curl(`https://${host}/both`, "--cacert", caFile)
    assert.strictEqual(again.code, 0, again.stderr)
    assert.include(again.stdout, "hello /both")
    await tproxy("DELETE")
    assert.lengthOf(await gateway.records("source=tproxy"), 0)

    assert.strictEqual((await gateway.ask("DELETE", `${I}/hosts/${host}`)).status, 204)
    assert.strictEqual(readFileSync("/etc/hosts", "latin1"), hostsBytes)
    assert.strictEqual(machineNow(), before)
    const direct = await curl(`https://${host}/direct`, "--cacert", provider.caFile)
    assert.strictEqual(direct.code, 0, direct.stderr)
  })
})

const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)

describe("a gateway that is killed while it captures", { timeout: 300_000 }, () => {
  it("has its rules taken back at once, and its authority, links and Java's alias after that", async () => {
    const own = await startGateway(provider.caFile)
    assert.strictEqual((await own.ask("POST", `${A}/tproxy`, {})).status, 201)
    assert.notStrictEqual(machineNow(), before)
    const killedAt = performance.now()
    await own.kill()
    const rules = await lastWithin(rulesNow, (now) => now === rulesBefore, { withinMs: 5_000, everyMs: 10 })
    process.stdout.write(`rules of the gateway gone after kill -9: ${(performance.now() - killedAt).toFixed(0)} ms\n`)
    assert.strictEqual(rules, rulesBefore)
    const left = await lastWithin(machineNow, (now) => now === before, { withinMs: 60_000, everyMs: 200 })
    assert.strictEqual(left, before)
  })

  it("together with its watchdog leaves it to the next start", async () => {
    const own = await startGateway(provider.caFile)
    assert.strictEqual((await own.ask("POST", `${A}/tproxy`, {})).status, 201)
    assert.strictEqual((await own.ask("POST", `${I}/hosts`, { host: "custom.example.test" })).status, 201)
    const watchdog =
      childrenOf(own.program.pid).find((child) =>
        readFileSync(`/proc/${child}/cmdline`, "latin1").includes("watchdog")
      ) ?? assert.fail("there is no watchdog")
    // Stopped, it cannot take anything back before it is killed itself.
    process.kill(watchdog, "SIGSTOP")
    await own.kill()
    process.kill(watchdog, "SIGKILL")
    assert.notStrictEqual(machineNow(), before)
    const next = await startGateway(provider.caFile, { dataDir: own.dataDir })
    // It takes up the host, which is turned on; nothing of the transparent mode comes back.
    await eventually(
      "no session's authority",
      () => existsSync(sessionSlot),
      (found) => !found
    )
    await next.ask("DELETE", `${I}/hosts/custom.example.test`)
    const left = await lastWithin(machineNow, (now) => now === before, { withinMs: 60_000, everyMs: 200 })
    await next.stop()
    assert.strictEqual(left, before)
  })
})
