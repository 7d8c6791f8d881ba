/** Two editors by command line, each a process of its own: the second is told, with both versions. */
import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "vitest"
import { type Environment, program } from "./support.ts"

const adminKey = "admin-key-of-two-editors-0123456789"

/** A way to the gateway on which the changes of one command wait until they are let through. */
const slowWay = async (gateway: string) => {
  const waiting: Array<() => void> = []
  let isHeld = true
  const server = createServer((incoming, answer) => {
    const pass = (): void => {
      const onward = request(gateway + (incoming.url ?? "/"), { method: incoming.method, headers: incoming.headers })
      onward.on("response", (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(answer)
      })
      incoming.pipe(onward)
    }
    if (isHeld && incoming.method !== "GET") waiting.push(pass)
    else pass()
    server.emit("asked")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when a change waits. */
    held: async () => {
      while (waiting.length === 0) await once(server, "asked")
    },
    let: () => {
      isHeld = false
      for (const pass of waiting.splice(0)) pass()
    },
    close: () => void server.close()
  }
}

describe("two who edit the same by command line", () => {
  const { dataDir, run, serve } = program()

  const scene = async () => {
    const environment: Environment = {
      DATA_DIR: dataDir(),
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENV_CONNECTIONS: "false"
    }
    const gateway = await serve(environment)
    const at = (url: string, ...words: ReadonlyArray<string>) =>
      run([...words, "--url", url, "--gateway-key", adminKey], environment)
    const typed = (words: string, url = gateway.url) => at(url, ...words.split(" "))
    const post = async (path: string, body: unknown) => {
      const answer = await fetch(gateway.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      assert.strictEqual(answer.status, 201, await answer.text())
    }
    const node = { name: "near", prefix: "near", type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" }
    await post("/api/provider-nodes", node)
    await post("/api/providers", { provider: "near", name: "work", apiKey: "a-key-of-near", models: ["m", "n", "o"] })
    await post("/api/combos", { name: "team", targets: [{ model: "near/m" }] })
    return { gateway, typed }
  }

  it("tells the second, whose command had read it before the first wrote", async () => {
    const { gateway, typed } = await scene()
    const way = await slowWay(gateway.url)
    const second = typed("combo edit team --strategy random", way.url)
    await way.held()
    const first = await typed("combo edit team --strategy round-robin --add near/o")
    assert.strictEqual(first.code, 0, first.stderr)
    way.let()
    const told = await second
    way.close()
    assert.strictEqual(told.code, 1, told.stdout)
    assert.include(told.stderr, "changed by another")
    assert.match(told.stderr, /strategy: now "round-robin" \(was "priority"\), yours "random"/)
    assert.match(told.stderr, /targets: now .*near\/o/)
    const after = JSON.parse((await typed("combo show team --json")).stdout)
    assert.strictEqual(after.combo.strategy, "round-robin")
    await gateway.stop("SIGTERM")
  })

  it("tells the second who names the version that both have seen; settings and keys as well", async () => {
    const { gateway, typed } = await scene()
    assert.strictEqual((await typed("key add laptop")).code, 0)
    for (const [show, edit, other, field] of [
      ["combo show team", "combo edit team --strategy round-robin", "combo edit team --strategy random", "strategy"],
      ["key show laptop", "key edit laptop --no-log on", "key edit laptop --per-day 7", "maxRequestsPerDay"],
      ["provider show work", "provider edit work --priority 3", "provider edit work --priority 4", "priority"]
    ] as const) {
      const seen = await typed(`${show} --json`)
      assert.strictEqual(seen.code, 0, seen.stderr)
      const { etag } = JSON.parse(seen.stdout)
      assert.match(etag, /^"[\w-]{22}"$/, show)
      // Shells take the quotes away.
      const version = String(etag).replaceAll('"', "")
      assert.include((await typed(show)).stderr, version)
      const first = await typed(`${edit} --if-match ${version}`)
      assert.strictEqual(first.code, 0, first.stderr)
      const late = await typed(`${other} --if-match ${version}`)
      assert.strictEqual(late.code, 1, late.stdout)
      assert.match(late.stderr, new RegExp(`${field}: now .*, yours `))
      assert.strictEqual((await typed(other)).code, 0)
    }
    const { stderr } = await typed("settings show")
    const version = /Version (\S+)/.exec(stderr)?.[1] ?? ""
    const set = (name: string) => typed(`settings set corsOrigins=["https://${name}.example"] --if-match ${version}`)
    const first = await set("one")
    assert.strictEqual(first.code, 0, first.stderr)
    const late = await set("two")
    assert.strictEqual(late.code, 1)
    assert.match(late.stderr, /corsOrigins: now .*one\.example.*yours .*two\.example/)
    await gateway.stop("SIGTERM")
  })
})
