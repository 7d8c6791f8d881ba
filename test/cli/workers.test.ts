/** `gateway serve --workers`: the built program as several processes, one of which is killed, and all of which are replaced. */
import { assert, describe, it } from "vitest"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { adminKey, answered, ask, authorization, costUsd, manage, partsOf, provider, until } from "./processes.ts"
import { password, signIn } from "../support/AdminSession.ts"
import { program } from "./support.ts"

interface Workers {
  readonly wanted: number
  readonly running: number
  readonly processes: ReadonlyArray<{ readonly place: number; readonly pid: number; readonly replaced: number }>
}

const { dataDir, run, serve } = program()
const upstream = provider()

// The processes are found by /proc.
describe.skipIf(process.platform !== "linux")("a gateway with workers", () => {
  it("answers as one process does, and goes on when any of its processes is killed or all are replaced", async () => {
    const DATA_DIR = dataDir()
    const environment = { DATA_DIR, GATEWAY_ADMIN_KEY: adminKey, GATEWAY_DISABLE_BACKGROUND_SERVICES: "true" }
    const server = await serve(environment, "--workers", "2")
    const first = server.process.pid ?? 0
    const now = () => partsOf(first).map(({ life, place, role }) => `${role} ${place}.${life}`)
    assert.sameMembers(now(), ["owner 0.1", "worker 1.1", "worker 2.1"])

    // A change is in force in every process when its answer is there.
    await manage(server, "POST", "/api/providers", upstream.connection())
    assert.deepStrictEqual(await Promise.all(Array.from({ length: 12 }, () => ask(server))), Array(12).fill(200))
    const made = (await manage(server, "POST", "/api/keys", { name: "ci" })) as {
      readonly key: { readonly id: string }
      readonly secret: string
    }
    const { key, secret } = made
    assert.deepStrictEqual(await Promise.all(Array.from({ length: 8 }, () => ask(server, secret))), Array(8).fill(200))
    await manage(server, "PUT", `/api/keys/${key.id}`, { isActive: false })
    assert.deepStrictEqual(await Promise.all(Array.from({ length: 8 }, () => ask(server, secret))), Array(8).fill(401))
    // Refusals without a call have a row, too.
    assert.isAtLeast(await answered(server), 20)

    // Whose connection it was is known behind the worker.
    const rows = (await manage(server, "GET", "/api/compliance/audit-log?limit=1")) as ReadonlyArray<{
      readonly ip: string
    }>
    assert.match(rows[0]?.ip ?? "", /^(?:::ffff:)?127\.0\.0\.1$/)
    const status = await run(["status", "--json"], { DATA_DIR })
    assert.strictEqual(status.code, 0, status.stderr)
    const ids = partsOf(first)
      .filter(({ role }) => role === "worker")
      .map(({ pid }) => pid)
    const { gateway } = JSON.parse(status.stdout) as { readonly gateway: { readonly workers: Workers } }
    assert.deepInclude(gateway.workers, { wanted: 2, running: 2 })
    assert.sameMembers(
      gateway.workers.processes.map(({ pid }) => pid),
      ids
    )
    const shown = await run(["health"], { DATA_DIR })
    assert.match(shown.stdout, /Workers\s+2 of 2 \(process ids \d+, \d+\)/)
    const doctor = await run(["doctor", "--json"], { DATA_DIR, GATEWAY_WORKERS: "64" })
    assert.match(doctor.stdout, /64 workers, for \d+ cores?: more workers than cores make nothing faster/)

    // A budget is one budget, however many processes spend of it: 0.000225 USD a call.
    const limited = (await manage(server, "POST", "/api/keys", { name: "limited" })) as typeof made
    const budget = { apiKeyId: limited.key.id, dailyLimitUsd: 0.009 }
    await manage(server, "POST", "/api/usage/budget", budget)
    const outcomes = await Promise.all(Array.from({ length: 120 }, () => ask(server, limited.secret)))
    // What was only reserved is spent by those that come one after the other.
    for (let more = 0; more < 45; more++) outcomes.push(await ask(server, limited.secret))
    const calls = outcomes.filter((status) => status === 200).length
    assert.isAtMost(calls, 40)
    assert.isAtLeast(calls, 35)
    const spent = (await manage(server, "GET", `/api/usage/budget?apiKeyId=${limited.key.id}`)) as {
      readonly spentUsd: number
    }
    assert.closeTo(spent.spentUsd, costUsd * calls, 1e-9)

    // What is under way in a worker is seen, and its decision; so are the figures of all.
    upstream.hold()
    const waiting = ask(server)
    const running = async () =>
      (
        (await manage(server, "GET", "/api/requests/running")) as {
          readonly requests: ReadonlyArray<{ readonly requestId: string }>
        }
      ).requests
    await until(async () => (await running()).length === 1 && upstream.held() === 1, "it is under way")
    const [{ requestId } = { requestId: "" }] = await running()
    const stateOf = async () =>
      (
        (await manage(server, "GET", `/api/routing/decisions/${requestId}`)) as {
          readonly decision: { readonly state: string }
        }
      ).decision.state
    assert.strictEqual(await stateOf(), "running")
    upstream.release()
    assert.strictEqual(await waiting, 200)
    assert.strictEqual(await stateOf(), "ended")
    const counted = async (): Promise<number> => {
      const page = await (await fetch(`${server.url}/metrics`, { headers: { authorization } })).text()
      const counts = page.matchAll(/^gateway_requests_total\{[^}]*outcome="completed"[^}]*\} (\d+)$/gmu)
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
    }
    await until(async () => (await counted()) === 12 + 8 + calls + 1, "every request is counted, once")
    const page = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization } })).text()
    await until(
      async () => /^gateway_worker_resident_memory_bytes\{worker="2"\} \d+$/mu.test(await page()),
      "its figures"
    )
    assert.match(await page(), /^gateway_workers\{state="running"\} 2$/mu)
    upstream.hold()
    const held = ask(server)
    await until(async () => /^gateway_requests_in_flight 1$/mu.test(await page()), "the sum has what a worker does")
    upstream.release()
    assert.strictEqual(await held, 200)

    const before = await answered(server)
    const kill = async (part: string, next: string): Promise<void> => {
      const [role, name] = part.split(" ")
      const found = partsOf(first).find((one) => `${one.role} ${one.place}.${one.life}` === `${role} ${name}`)
      process.kill(found?.pid ?? -1, "SIGKILL")
      await until(() => now().includes(next), `${next} is there`)
      await until(async () => (await ask(server)) === 200, "it answers")
    }
    await kill("worker 1.1", "worker 1.2")
    await kill("owner 0.1", "owner 0.2")
    await until(async () => (await answered(server)) > before, "rows are counted")

    process.kill(first, "SIGHUP")
    await until(() => now().includes("worker 2.2") && now().includes("owner 0.3"), "all are replaced")
    await until(async () => (await ask(server)) === 200, "it answers")
    // The new owner serves: else what workers have on file would be read at the next start.
    await answered(server)
    assert.strictEqual(await server.stop("SIGTERM"), 0)
    assert.deepStrictEqual(partsOf(first), [])
    // Nothing is left to be read at the next start.
    for (const folder of ["usage-journal", "reservations"]) {
      const left = readdirSync(join(DATA_DIR, folder), { recursive: true }).filter((name) =>
        String(name).endsWith(".jsonl")
      )
      assert.deepStrictEqual(left, [], folder)
    }
  }, 240_000)

  it("knows whoever runs it, sessions and recorded requests, whichever process takes the connection", async () => {
    const DATA_DIR = dataDir()
    const server = await serve(
      { DATA_DIR, GATEWAY_ADMIN_PASSWORD: password, GATEWAY_ADMIN_KEY: adminKey, REQUIRE_API_KEY: "true" },
      "--workers",
      "2"
    )
    await manage(server, "POST", "/api/providers", upstream.connection())
    for (let each = 0; each < 4; each++) {
      const asked = await run(["chat", "-m", "openai/gpt-4o", "ping"], { DATA_DIR })
      assert.deepStrictEqual([asked.code, asked.stdout], [0, "hi\n"], asked.stderr)
    }

    const session = await signIn({
      post: (path, body) =>
        fetch(`${server.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body)
        })
    })
    const ofPage = (): Promise<number> => ask(server, null, session)
    assert.deepStrictEqual(await Promise.all([ofPage(), ofPage(), ofPage(), ofPage()]), [200, 200, 200, 200])
    const { "x-csrf-token": _, ...unproved } = session
    assert.strictEqual(await ask(server, null, unproved), 401)

    const mode = "/api/tools/traffic-inspector/capture-modes/gateway"
    await manage(server, "POST", mode, { enabled: true })
    assert.deepStrictEqual(await Promise.all([ofPage(), ofPage(), ofPage()]), [200, 200, 200])
    const recorded = async () =>
      (
        (await manage(server, "GET", "/api/tools/traffic-inspector/requests")) as {
          readonly requests: ReadonlyArray<object>
        }
      ).requests.length
    await until(async () => (await recorded()) === 3, "all three are recorded")
    await manage(server, "POST", mode, { enabled: false })
    assert.strictEqual(await ofPage(), 200)
    assert.strictEqual(await recorded(), 3)
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 120_000)

  it("says what is wrong with their number, and with an address that is in use, once", async () => {
    const DATA_DIR = dataDir()
    for (const workers of ["0", "65", "many"]) {
      const flag = await run(["serve", "--workers", workers], { DATA_DIR })
      assert.strictEqual(flag.code, 2, flag.stderr)
      assert.include(flag.stderr, "1 to 64 or auto")
      const variable = await run(["serve"], { DATA_DIR, GATEWAY_WORKERS: workers })
      assert.strictEqual(variable.code, 1)
      assert.include(variable.stderr, "GATEWAY_WORKERS must be 'auto' or a whole number from 1 to 64")
    }
    const port = String(upstream.port())
    const taken = await run(["serve", "--workers", "2", "--port", port], { DATA_DIR })
    assert.strictEqual(taken.code, 1)
    assert.include(taken.stderr, `Port ${port} on 127.0.0.1 is already in use`)
  }, 120_000)
})
