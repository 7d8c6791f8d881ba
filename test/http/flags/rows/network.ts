/** Flags about addresses, proxies and certificates. */
import * as Fake from "../../../support/FakeUpstream.ts"
import * as ConnectProxy from "../../../support/ConnectProxy.ts"
import { getThroughProxy } from "../../capture/support.ts"
import { tlsServer } from "../../capture/TlsServer.ts"
import { proxies } from "../../proxies/world.ts"
import { asked, nothing, type Row, type Stage, toggle } from "./Row.ts"

const localOff = { GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "false" }

/** Whether a provider may be at each of these hosts. */
const taken =
  (...hosts: ReadonlyArray<string>) =>
  async ({ admin, gateway }: Stage) => {
    const { nodes } = await gateway.manage("GET", "/api/provider-nodes")
    const seen: Array<number> = []
    for (const host of hosts) {
      const prefix = `n${nodes.length + seen.length}`
      const node = { name: prefix, prefix, type: "openai-compatible", baseUrl: `http://${host}:9/v1` }
      seen.push((await admin("POST", "/api/provider-nodes", node)).status)
    }
    return seen
  }

/** A proxy of the gateway's list; its port is given back. */
const withProxy = async ({ gateway, run }: Stage) => {
  const proxy = await run(ConnectProxy.start)
  const body = { name: "office", type: "http", host: "127.0.0.1", port: proxy.port }
  const { proxy: made } = await gateway.manage("POST", proxies, body)
  return { id: String(made.id), proxy }
}

const inspector = "/api/tools/traffic-inspector"

export const network: ReadonlyArray<Row> = [
  toggle({
    flag: "OUTBOUND_SSRF_GUARD_ENABLED",
    environment: localOff,
    prepare: nothing,
    look: taken("127.0.0.1", "192.168.7.7", "169.254.169.254"),
    off: [201, 201, 400],
    on: [400, 400, 400]
  }),
  toggle({
    flag: "GATEWAY_ALLOW_PRIVATE_PROVIDER_URLS",
    environment: localOff,
    prepare: nothing,
    look: taken("192.168.7.7", "127.0.0.1"),
    off: [400, 400],
    on: [201, 400]
  }),
  toggle({
    flag: "GATEWAY_ALLOW_LOCAL_PROVIDER_URLS",
    prepare: nothing,
    look: taken("192.168.7.7", "127.0.0.1"),
    off: [400, 400],
    on: [201, 201]
  }),
  toggle({
    flag: "FREE_PROXY_ENABLED",
    environment: { OUTBOUND_SSRF_GUARD_ENABLED: "false" },
    prepare: async ({ gateway, upstream }) => {
      upstream.always(Fake.text("127.0.0.1:1\n"))
      const addresses = { freeSources: [`${upstream.origin}/list`], testUrl: `${upstream.origin}/ip` }
      await gateway.manage("PATCH", "/api/settings", { proxies: addresses })
    },
    look: async ({ admin, upstream }) => {
      const before = upstream.requests.length
      return [(await admin("POST", `${proxies}/free`)).status, upstream.requests.length > before]
    },
    off: [409, false],
    on: [200, true]
  }),
  toggle({
    flag: "PROXY_AUTO_SELECT_ENABLED",
    prepare: async (stage) => {
      await stage.gateway.connect("up", stage.upstream, "chat")
      await withProxy(stage)
    },
    look: async (stage) => (await asked(stage, "up/m", "Hi")).headers.get("x-gateway-egress"),
    off: "direct",
    on: "office"
  }),
  toggle({
    flag: "GATEWAY_CONTROL_PLANE_PROXY_DIRECT_FALLBACK",
    prepare: async (stage) => {
      await stage.gateway.connect("up", stage.upstream, "chat")
      stage.upstream.lists(Fake.json(Fake.models(["m"])))
      const { id, proxy } = await withProxy(stage)
      await stage.gateway.manage("PUT", `${proxies}/assignments`, { scope: "global", scopeId: null, proxyId: id })
      proxy.kill()
    },
    look: async ({ gateway, upstream }) => {
      const before = upstream.listRequests.length
      const body = { provider: "up", apiKey: "sk-candidate-of-the-test" }
      const { valid } = await gateway.manage("POST", "/api/providers/validate", body)
      return [valid, upstream.listRequests.length > before]
    },
    off: [false, false],
    on: [true, true]
  }),
  toggle({
    flag: "MITM_DISABLE_TLS_VERIFY",
    environment: { INSPECTOR_HTTP_PROXY_PORT: "0", MITM_PORT: "0" },
    prepare: nothing,
    look: async ({ gateway, run }) => {
      const server = await run(tlsServer)
      await gateway.manage("POST", `${inspector}/capture-modes/tls-intercept`, { enabled: true })
      const { port } = await gateway.manage("POST", `${inspector}/capture-modes/http-proxy`, { action: "start" })
      const headers = { authorization: "Bearer admin-key-of-the-tests-0123456789" }
      const ours = await (await fetch(`${gateway.url}/api/tools/agent-bridge/cert/download`, { headers })).text()
      const target = { host: "localhost", port: server.port, path: "/" }
      const { answer } = await getThroughProxy(port, target, ours)
      return [answer.slice(9, 12), server.seen.length]
    },
    off: ["502", 0],
    on: ["200", 1]
  })
]
