import { execFile } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { useWorld } from "./Fixture.ts"
import type { Fetched } from "./hosts/fetches.ts"
import { addresses, login, proxyNames, targetName } from "./Network.ts"
import { skipped } from "./Prerequisites.ts"
import { startProxies, startProxy } from "./Proxies.ts"
import { builtFolder } from "./World.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const port = 20_128
const adminKey = "admin-key-of-the-network-tests"
const offset = 20_000
const danted = { type: "socks5", host: proxyNames.v4, port: 1081, ...login }

describe.skipIf(skipped !== null)("the gateway behind a proxy", () => {
  const world = useWorld(({ certificates, network }) => startProxies(network, certificates))
  const dist = skipped === null ? builtFolder(root) : ""
  let secret = ""

  const ask = (method: string, path: string, body: object | null, key: string, stream?: string): Promise<Fetched> =>
    world().fetch(
      {
        url: `http://127.0.0.1:${port}${path}`,
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: body === null ? null : JSON.stringify(body)
      },
      stream
    )

  const manage = async (method: string, path: string, body: object | null = null): Promise<Record<string, unknown>> => {
    const { status, text } = await ask(method, path, body, adminKey)
    assert.isBelow(status, 300, `${method} ${path}: ${text}`)
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

  const chat = (stream?: string): Promise<Fetched> => {
    const messages = [{ role: "user", content: "Hello" }]
    const body = { model: "faraway/far", messages, stream: stream !== undefined }
    return ask("POST", "/v1/chat/completions", body, secret, stream)
  }

  const addProxy = async (proxy: object): Promise<string> => {
    const { proxy: made } = await manage("POST", "/api/v1/management/proxies", proxy)
    return (made as { readonly id: string }).id
  }
  const assign = (proxyId: string | null) =>
    manage("PUT", "/api/v1/management/proxies/assignments", { scope: "provider", scopeId: "faraway", proxyId })

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, ["bin/build.mjs", "--out", join(dist, "dist")], { cwd: root })
    const { certificates, network } = world()
    network.start(
      "client",
      [process.execPath, join(dist, "dist/main.cjs"), "serve", "--port", String(port), "--no-open"],
      {
        env: {
          DATA_DIR: join(network.folder, "data"),
          GATEWAY_ADMIN_KEY: adminKey,
          GATEWAY_ENV_CONNECTIONS: "false",
          NODE_EXTRA_CA_CERTS: certificates.authority
        }
      }
    )
    await network.listening("client", [port])
    const baseUrl = `https://${targetName}/v1`
    const node = { name: "Far away", prefix: "faraway", type: "openai-compatible", baseUrl, wires: ["chat"] }
    await manage("POST", "/api/provider-nodes", node)
    // Before there is an account that is asked for its models.
    await assign(await addProxy({ name: "far office", ...danted, family: "ipv4" }))
    await manage("POST", "/api/providers", { provider: "faraway", apiKey: "sk-far", models: ["far"] })
    secret = String((await manage("POST", "/api/keys", { name: "network" }))["secret"])
  })
  afterAll(() => dist !== "" && rmSync(dist, { recursive: true, force: true }))

  /** What the gateway's host sent since the last look; the gateway talks to itself on another link. */
  const nothingDirect = async (): Promise<void> => {
    const { dns, target } = await world().network.packets()
    assert.deepStrictEqual({ dns, target }, { dns: 0, target: 0 })
    const asked = await world().questions()
    assert.deepStrictEqual(
      asked.filter(({ from, name }) => from !== addresses.proxy.v4 && name.includes("target")),
      []
    )
  }

  it("answers through the proxy of the provider, by the family it is pinned to, and says so", async () => {
    const answer = await chat()
    assert.deepInclude(answer, { status: 200, egress: "far office" }, answer.text)
    assert.include(answer.text, "hello from afar")
    const packets = await world().network.packets()
    assert.isAbove(packets.v4, 0)
    // Since the gateway's start: with it everything it did for the account.
    assert.deepInclude(packets, { v6: 0, target: 0, dns: 0 })
    await nothingDirect()
  })

  it("tests a proxy by the address that the target sees", async () => {
    const { proxies } = await manage("GET", "/api/v1/management/proxies")
    const [{ id } = { id: "" }] = proxies as ReadonlyArray<{ readonly id: string }>
    const url = `https://${targetName}/ip`
    const result = await manage("POST", "/api/settings/proxy/test", { proxyId: id, url })
    assert.deepInclude(result, { ok: true, error: null })
    assert.include(Object.values<unknown>(addresses.exit), result["egressIp"])
    await nothingDirect()
  })

  it("tells the client when the proxy is killed in mid-stream, and then refuses", async () => {
    const { certificates, network } = world()
    const children = await startProxy(network, certificates, "danted", offset)
    await assign(await addProxy({ name: "second", ...danted, port: danted.port + offset, family: "auto" }))
    const begun = await chat("killed")
    assert.deepInclude(begun, { status: 200, egress: "second" }, begun.text)
    await network.packets()
    await Promise.all(children.map(network.kill))
    const ended = await world().fetched("killed")
    assert.include(ended.text, "first")
    assert.match(ended.text, /error/)
    await nothingDirect()
    const refused = await chat()
    assert.strictEqual(refused.status, 503, refused.text)
    assert.include(refused.text, "PROXY_UNAVAILABLE")
    await nothingDirect()
  })

  it("refuses when the proxy has no address of its family", async () => {
    await assign(await addProxy({ name: "third", ...danted, family: "ipv6" }))
    const refused = await chat()
    assert.strictEqual(refused.status, 503, refused.text)
    assert.include(refused.text, "PROXY_FAMILY_UNAVAILABLE")
    await nothingDirect()
  })

  it("goes directly when no proxy is assigned any more: what the counters would have shown", async () => {
    await assign(null)
    await world().network.packets()
    const answer = await chat()
    assert.notStrictEqual(answer.status, 200)
    // The name is known to the proxy only.
    assert.isAbove((await world().network.packets()).dns, 0)
  })
})
