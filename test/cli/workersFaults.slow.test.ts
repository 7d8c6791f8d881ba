/** Workers that are stopped, that become more and fewer, and that get more connections than they have places for. */
import { writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { adminKey, ask, authorization, costUsd, manage, partsOf, provider, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()

const connections = Number(process.env["WORKER_CONNECTIONS"] ?? 2_000)
const stoppedMs = 10_000

const workersOf = (server: Serving): ReadonlyArray<number> =>
  partsOf(server.process.pid ?? 0)
    .filter(({ role }) => role === "worker")
    .map(({ pid }) => pid)

const limited = async (server: Serving, calls: number) => {
  const made = (await manage(server, "POST", "/api/keys", { name: `for ${calls}` })) as {
    readonly key: { readonly id: string }
    readonly secret: string
  }
  await manage(server, "POST", "/api/usage/budget", { apiKeyId: made.key.id, dailyLimitUsd: costUsd * calls })
  return made
}

const spentUsd = async (server: Serving, apiKeyId: string): Promise<number> => {
  const answer = (await manage(server, "GET", `/api/usage/budget?apiKeyId=${apiKeyId}`)) as {
    readonly spentUsd: number
  }
  return answer.spentUsd
}

const body = JSON.stringify({ model: "openai/gpt-4o", max_tokens: 20, messages: [{ role: "user", content: "hi" }] })
const requestText = [
  "POST /v1/chat/completions HTTP/1.1",
  "Host: 127.0.0.1",
  `Authorization: ${authorization}`,
  "Content-Type: application/json",
  `Content-Length: ${body.length}`,
  "Connection: close",
  "",
  body
].join("\r\n")

/** Asks on a connection of its own; returns what came, empty where the connection was refused or cut. */
const askOn = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    socket.setEncoding("utf8")
    socket.on("data", (part: string) => void (text += part))
    socket.on("error", () => resolve(""))
    socket.on("close", () => resolve(text))
    socket.write(requestText)
  })

const open = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(socket))
    socket.once("error", reject)
  })

describe.skipIf(process.platform !== "linux")("workers", () => {
  it("that are stopped and woken spend nothing on what they held before", async () => {
    const server = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }, "--workers", "3")
    await manage(server, "POST", "/api/providers", upstream.connection())
    const room = 60
    const { key, secret } = await limited(server, room)
    const before = upstream.calls()
    // Each holds a lease.
    assert.deepStrictEqual(
      await Promise.all(Array.from({ length: 24 }, () => ask(server, secret))),
      Array(24).fill(200)
    )
    const [stopped = -1] = workersOf(server)
    process.kill(stopped, "SIGSTOP")
    const time = { isOver: false }
    const client = async (): Promise<void> => {
      // What the stopped one has accepted waits until it is woken.
      while (!time.isOver) if ((await ask(server, secret).catch(() => 0)) !== 200) await sleep(50)
    }
    const clients = Promise.all(Array.from({ length: 20 }, client))
    await sleep(stoppedMs)
    process.kill(stopped, "SIGCONT")
    await until(() => upstream.calls() - before >= room - 2, "what it had held came back")
    // Time for calls beyond the room, if there were any.
    await sleep(2_000)
    time.isOver = true
    await clients
    const calls = upstream.calls() - before
    assert.isAtMost(calls, room)
    await until(async () => (await spentUsd(server, key.id)) >= costUsd * calls - 1e-12, "all of it is booked")
    assert.isAtMost(await spentUsd(server, key.id), costUsd * room + 1e-12)
    assert.strictEqual(await ask(server), 200)
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 240_000)

  it("keep a budget while the machine's clock goes back an hour, and come back with it", async () => {
    const DATA_DIR = dataDir()
    const CLOCK_FILE = join(DATA_DIR, "clock")
    const hourMs = 3_600_000
    // Half past noon, so that the day stays the same.
    const noonMs = 12.5 * hourMs - (Date.now() % (24 * hourMs))
    const move = (offsetMs: number): void => writeFileSync(CLOCK_FILE, String(offsetMs), { mode: 0o600 })
    move(noonMs)
    const NODE_OPTIONS = `--import ${new URL("../support/movedClock.mjs", import.meta.url).href}`
    const server = await serve({ DATA_DIR, GATEWAY_ADMIN_KEY: adminKey, CLOCK_FILE, NODE_OPTIONS }, "--workers", "3")
    await manage(server, "POST", "/api/providers", upstream.connection())
    const room = 60
    const { key, secret } = await limited(server, room)
    const before = upstream.calls()
    const asked = (count: number) => Promise.all(Array.from({ length: count }, () => ask(server, secret)))
    assert.deepStrictEqual(await asked(20), Array(20).fill(200))
    move(noonMs - hourMs)
    assert.deepStrictEqual(await asked(20), Array(20).fill(200))
    await until(async () => {
      await asked(4)
      return upstream.calls() - before >= room - 2
    }, "what is left is spent")
    await asked(40)
    assert.isAtMost(upstream.calls() - before, room)
    move(noonMs)
    await asked(40)
    const calls = upstream.calls() - before
    assert.isAtMost(calls, room)
    await until(async () => (await spentUsd(server, key.id)) >= costUsd * calls - 1e-12, "all of it is booked")
    assert.isAtMost(await spentUsd(server, key.id), costUsd * room + 1e-12)
    const { logs } = (await manage(
      server,
      "GET",
      `/api/usage/logs?limit=1000&apiKeyId=${key.id}&outcome=completed`
    )) as {
      readonly logs: ReadonlyArray<object>
    }
    assert.lengthOf(logs, calls)
    assert.lengthOf(workersOf(server), 3)
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 240_000)

  it("become more and fewer with the settings file, while they serve", async () => {
    const DATA_DIR = dataDir()
    const write = (count: number): void =>
      writeFileSync(join(DATA_DIR, ".env"), `GATEWAY_WORKERS=${count}\n`, { mode: 0o600 })
    write(2)
    const server = await serve({ DATA_DIR, GATEWAY_ADMIN_KEY: adminKey })
    await manage(server, "POST", "/api/providers", upstream.connection())
    assert.lengthOf(workersOf(server), 2)
    for (const count of [6, 1]) {
      write(count)
      process.kill(server.process.pid ?? -1, "SIGHUP")
      await until(() => workersOf(server).length === count, `${count} workers are there, and no other`)
      await until(async () => (await ask(server)) === 200, "they answer")
    }
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 240_000)

  it(`answer ${connections} connections that come at once, or say when to come again`, async () => {
    const server = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }, "--workers", "2")
    await manage(server, "POST", "/api/providers", upstream.connection())
    const port = Number(new URL(server.url).port)
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
    const answers = await Promise.all(sockets.map(askOn))
    const served = answers.filter((text) => text.startsWith("HTTP/1.1 200 "))
    const refused = answers.filter((text) => /^HTTP\/1\.1 503 [^]*\r\nRetry-After: \d+/i.test(text))
    assert.strictEqual(
      served.length + refused.length,
      connections,
      answers.find((text) => !/^HTTP\/1\.1 (200|503)/.test(text))
    )
    assert.isAbove(served.length, connections / 4)
    assert.strictEqual(await ask(server), 200)
    assert.lengthOf(workersOf(server), 2)
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 240_000)
})
