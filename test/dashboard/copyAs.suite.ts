/** "Copy as": every command that the dashboard can show runs as it is typed, and makes the call that it stands for. */
import { execFile } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer, request as forward, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { commandOf, curlOf, type ShownCall } from "../../src/dashboard/ui/copy/callText.ts"
import { commands } from "../../src/dashboard/ui/copy/commands.ts"
import { builtFolder, nodeFlags } from "../cli/built.ts"
import { adminKey, browserPath, world } from "./world.ts"

interface Seen {
  readonly method: string
  readonly url: URL
  readonly body: string
}

describe.skipIf(browserPath === null)("copy as", () => {
  const { dataDir, enter, gateway, manage, upstream } = world({ OUTBOUND_SSRF_GUARD_ENABLED: "false" })
  const seen: Array<Seen> = []
  let recorder: Server
  let folder = ""

  /** Runs a line as a person does, against the gateway behind a recorder. */
  const typed = async (line: string): Promise<{ readonly stdout: string; readonly calls: ReadonlyArray<Seen> }> => {
    seen.length = 0
    const url = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`
    const { stdout } = await promisify(execFile)("sh", ["-euc", line.replaceAll(gateway().url, url)], {
      env: {
        PATH: `${folder}:${process.env["PATH"] ?? ""}`,
        HOME: folder,
        DATA_DIR: join(folder, "elsewhere"),
        GATEWAY_URL: url,
        GATEWAY_ADMIN_KEY: adminKey,
        GATEWAY_API_KEY: adminKey
      }
    })
    return { stdout, calls: [...seen] }
  }

  beforeAll(async () => {
    recorder = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const { headers, method = "", url = "" } = request
        seen.push({ method, url: new URL(url, gateway().url), body: Buffer.concat(parts).toString() })
        const onward = forward(`${gateway().url}${url}`, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        })
        onward.end(Buffer.concat(parts))
      })
    }).listen(0, "127.0.0.1")
    folder = join(dataDir(), "..", `bin-${process.pid}`)
    mkdirSync(folder, { recursive: true })
    const program = `#!/bin/sh\nexec ${process.execPath} ${nodeFlags.join(" ")} ${join(builtFolder, "main.cjs")} "$@"\n`
    writeFileSync(join(folder, "gateway"), program)
    chmodSync(join(folder, "gateway"), 0o755)
  })
  afterAll(() => {
    recorder.closeAllConnections()
    recorder.close()
  })

  const connect = async (name: string): Promise<string> => {
    const made = await manage<{ connection: { id: string } }>("POST", "/api/providers", {
      name,
      provider: "openai",
      apiKey: "k",
      baseUrl: upstream().url
    })
    return made.connection.id
  }
  const key = async (name: string): Promise<string> =>
    (await manage<{ key: { id: string } }>("POST", "/api/keys", { name })).key.id

  const requestFilters = {
    status: "failed",
    provider: "openai",
    model: "gpt-4o",
    combo: "best",
    outcome: "failed",
    sessionId: "session-7",
    error: 'it\'s gone; $(rm -rf x) `x` "y"',
    minLatencyMs: 5_000,
    minCostUsd: 0.01,
    batchId: "batch_0199",
    search: "-dash \\ $HOME",
    cacheHit: "true"
  }

  /** A call for each command, with all that the command can say. */
  const examples = async (): Promise<Readonly<Record<string, Omit<ShownCall, "method" | "path">>>> => {
    const [kept, removed, client, gone] = [
      await connect("kept"),
      await connect("gone"),
      await key("client"),
      await key("gone")
    ]
    const combo = async (name: string): Promise<string> =>
      (
        await manage<{ combo: { id: string } }>("POST", "/api/combos", {
          name,
          strategy: "priority",
          targets: [{ model: "openai/gpt-4o" }]
        })
      ).combo.id
    const webhook = async (at: string): Promise<string> =>
      (
        await manage<{ webhook: { id: string } }>("POST", "/api/webhooks", {
          url: `${upstream().url}/${at}`,
          events: ["request.failed"]
        })
      ).webhook.id
    const asked = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${adminKey}` },
      body: JSON.stringify({ model: "openai/gpt-4o", messages: [{ role: "user", content: "x" }] })
    })
    const requestId = asked.headers.get("x-gateway-request-id") ?? ""
    const logged = { ...requestFilters, apiKeyId: client, from: "2035-01-01", to: "2035-01-02T00:00:00.000Z" }
    return {
      "GET /api/attention": {},
      "GET /api/cache/stats": {},
      "DELETE /api/cache/stats": {},
      "GET /api/combos": {},
      "GET /api/combos/:id": { parts: { id: await combo("shown") } },
      "DELETE /api/combos/:id": { parts: { id: await combo("removed") } },
      "PUT /api/db-backups": {},
      "GET /api/db-backups": {},
      "GET /api/keys": {},
      "POST /api/keys": {
        body: {
          name: "it's new",
          scopes: ["self:usage", "execute:search"],
          allowedModels: ["gpt-*"],
          expiresAt: "2035-01-01T00:00:00.000Z"
        }
      },
      "GET /api/keys/:id": { parts: { id: client } },
      "PUT /api/keys/:id": {
        parts: { id: client },
        body: { name: "another", maxRequestsPerDay: 10, maxRequestsPerMinute: 2 }
      },
      "POST /api/keys/:id/rotate": { parts: { id: client }, body: { overlapSeconds: 60 } },
      "DELETE /api/keys/:id": { parts: { id: gone } },
      "GET /api/models/alias": {},
      "GET /api/pricing": {},
      "GET /api/providers": {},
      "GET /api/providers/:id": { parts: { id: kept } },
      "PUT /api/providers/:id": {
        parts: { id: kept },
        body: { name: "renamed", priority: 2, defaultModel: "gpt-4o" }
      },
      "POST /api/providers/:id/test": { parts: { id: kept } },
      "DELETE /api/providers/:id": { parts: { id: removed } },
      "GET /api/v1/management/proxies": {},
      "GET /api/quotas": {},
      "GET /api/requests/running": {},
      "GET /api/resilience": {},
      "POST /api/resilience/reset": { body: { provider: "openai" } },
      "DELETE /api/resilience/cooldowns": { body: { connectionId: kept } },
      "GET /api/routing/decisions/:requestId": { parts: { requestId } },
      "GET /api/settings": {},
      "GET /api/usage/budget": {},
      "POST /api/usage/budget": {
        body: {
          apiKeyId: client,
          dailyLimitUsd: 5,
          weeklyLimitUsd: 20,
          monthlyLimitUsd: 80,
          warningThreshold: 0.8,
          resetTime: "06:00",
          tz: "Europe/Zurich"
        }
      },
      "GET /api/usage/breakdown": {
        query: {
          by: "model",
          and: "apiKey",
          from: logged.from,
          to: logged.to,
          tz: "Europe/Zurich",
          top: 5,
          apiKeyId: client
        }
      },
      "GET /api/usage/series": {
        query: {
          by: "model",
          step: "day",
          from: logged.from,
          to: logged.to,
          tz: "Europe/Zurich",
          top: 5,
          apiKeyId: client
        }
      },
      "GET /api/usage/ledger": { query: { apiKeyId: client, requestId, limit: 5 } },
      "GET /api/usage/logs": { query: { ...logged, limit: 5 } },
      "GET /api/usage/logs/facets": { query: logged },
      "GET /api/webhooks": {},
      "POST /api/webhooks/:id/test": { parts: { id: await webhook("tested") } },
      "DELETE /api/webhooks/:id": { parts: { id: await webhook("removed") } }
    }
  }

  it(
    "shows a command of its own for each call of the table, which makes just that call",
    { timeout: 240_000 },
    async () => {
      const all = await examples()
      assert.sameMembers(Object.keys(all), Object.keys(commands))
      const problems: Array<string> = []
      for (const [name, call] of Object.entries(all)) {
        const [method = "", path = ""] = name.split(" ")
        const line = commandOf({ ...call, method, path })
        assert.notMatch(line, /^gateway api /, name)
        const { calls } = await typed(line).catch((error: Error) => {
          problems.push(error.message)
          return { calls: [] }
        })
        const wanted = path.replaceAll(/:(\w+)/g, (_all, part: string) => String(call.parts?.[part] ?? ""))
        const made = calls.find((one) => one.method === method && one.url.pathname === wanted)
        if (made === undefined) {
          problems.push(`${line}: ${calls.map((one) => `${one.method} ${one.url.pathname}`).join(", ")}`)
          continue
        }
        for (const [field, value] of Object.entries(call.query ?? {})) {
          const sent = made.url.searchParams.get(field)
          // A day is sent as the moment when it begins.
          const isSent = field === "from" || field === "to" ? sent?.startsWith("2035-01") : sent === String(value)
          if (isSent !== true) problems.push(`${line}: ${field}=${sent}`)
        }
        const body = JSON.parse(made.body === "" ? "{}" : made.body) as Readonly<Record<string, unknown>>
        for (const [field, value] of Object.entries(call.body ?? {})) {
          if (JSON.stringify(body[field]) !== JSON.stringify(value)) problems.push(`${line}: ${field} in ${made.body}`)
        }
      }
      assert.deepStrictEqual(problems, [])
    }
  )

  it("writes any other call as gateway api and curl, with hostile values, and both do the same", async () => {
    const name = `it's "${"x".repeat(20)}" $(touch hacked) \`id\` \\ é 日`
    const call = {
      method: "POST",
      path: "/api/combos",
      body: { name: "odd", strategy: "priority", models: ["a/b"], description: name }
    }
    const line = commandOf({ ...call, path: "/api/keys", body: { name, noLog: true } })
    assert.match(line, /^gateway api POST \/api\/keys --data '/)
    const turned = commandOf({ method: "POST", path: "/api/keys", body: { name: "a\u202eb", noLog: true } })
    assert.include(turned, '"a\\u202eb"')
    const { calls, stdout } = await typed(line)
    assert.deepStrictEqual(JSON.parse(calls[0]?.body ?? "null"), { name, noLog: true })
    assert.strictEqual(JSON.parse(stdout).key.name, name)
    const id = String(JSON.parse(stdout).key.id)
    const read = { method: "GET", path: "/api/keys", query: { search: name, view: "summary" } }
    const byCommand = JSON.parse((await typed(commandOf(read))).stdout) as { keys: ReadonlyArray<{ id: string }> }
    assert.deepStrictEqual(
      byCommand.keys.map((one) => one.id),
      [id]
    )
    const byCurl = curlOf({ ...call, method: "PUT", path: "/api/keys/:id", parts: { id }, body: { name: "plain" } })
    // In the page the address is that of the gateway it was loaded from.
    const address = new URL("../../src/api", import.meta.url).href.replace(/api$/, "")
    assert.include(byCurl, address)
    const answer = JSON.parse((await typed(byCurl.replace(address, `${gateway().url}/`))).stdout) as {
      key: { name: string }
    }
    assert.strictEqual(answer.key.name, "plain")
  })

  it("leaves secrets out of what is copied", () => {
    const body = { provider: "openai", apiKey: "sk-1", auth: { clientSecret: "s", tokens: ["t"] }, apiKeyId: "id" }
    const line = commandOf({ method: "POST", path: "/api/providers", body })
    assert.include(line, '"apiKey":"<apiKey>"')
    assert.include(line, '"clientSecret":"<clientSecret>"')
    assert.include(line, '"apiKeyId":"id"')
    assert.notInclude(line + curlOf({ method: "POST", path: "/api/providers", body }), "sk-1")
  })

  it("stands in the form of an operation, with what was typed", async () => {
    const page = await enter("system/keysCreate")
    await page.locator("#field-name").fill("from a form")
    const region = page.getByRole("region", { name: "gateway" })
    await region.getByText("gateway key add 'from a form'").waitFor()
    const line = await region.innerText()
    assert.strictEqual((await typed(line)).calls.at(-1)?.method, "POST")
    const curl = await page.getByRole("region", { name: "curl" }).innerText()
    assert.include(curl, `${gateway().url}/api/keys`)
  })
})
